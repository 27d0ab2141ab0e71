"""Tags of documents by the folders that tell them apart."""

import pytest

from clew.kb.ingest.prepare import dividing_folder


# Verifies: REQ-d00824-D
@pytest.mark.parametrize(
    ("paths", "level"),
    [
        ([*(f"docs/{topic}/{n}.md" for topic in ("net", "disk") for n in range(20)), "tools/a.md"], 2),
        (["docs/a.md", "docs/b.md", "tools/a.md", "tools/b.md"], 1),
        (["docs/net/a.md", "docs/disk/b.md"], 2),
        ([*(f"docs/{n}.md" for n in range(40)), "tools/a.md"], 1),
        (["README.md"], 2),
    ],
)
def test_a_folder_that_holds_nearly_everything_is_no_tag(paths: list[str], level: int) -> None:
    assert dividing_folder(paths) == level
