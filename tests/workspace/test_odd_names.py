"""Files with names that are hard to say: any bytes, quotes, line feeds, and names that look like another's spelling."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.project import Project
from clew.workspace.paths import Glob, display, raw

Open = Callable[[Path], Project]

PIECES = ["\\", "x", "u", "5c", "ff", "\udcff", "\udc80", "\ud800", "dcff", "d800", "/", "a", "ü", "\n", '"']


@given(st.lists(st.sampled_from(PIECES)).map("".join) | st.text(st.characters()))
def test_every_name_has_a_spelling_of_its_own_that_leads_back_to_it(name: str) -> None:
    spelled = display(name)
    spelled.encode("utf-8")
    assert raw(spelled) == name


def test_a_name_that_is_text_is_spelled_as_it_is() -> None:
    for name in ("spec/a.md", "spec/ü ä.md", 'a"b\nc.md', "back\\slash", "C:\\new\\users", "\\xyz", "\\x41"):
        assert display(name) == name
    assert display("b\udcff.md") == "b\\xff.md"
    assert display("b\\xff.md") == "b\\x5cxff.md"


@pytest.mark.parametrize(
    ("pattern", "path", "matches", "covers"),
    [
        ("a/*/c", "a/b/c", True, True),
        ("a/*/c", "a/b/c/d", False, True),
        ("a/*/c", "a/b/b/c", False, False),
        ("a/**/c", "a/c", True, True),
        ("a/**/c", "a/b/b/c", True, True),
        ("**/*.py", "x.py", True, True),
        ("**/**/**/x", "a/b/c/d/e", False, False),
        ("./a/", "a", True, True),
        (".", "a/b", False, True),
        ("a/[!b]?", "a/cd", True, True),
    ],
)
def test_a_glob_knows_folders(pattern: str, path: str, matches: bool, covers: bool) -> None:
    glob = Glob.of(pattern)
    assert (glob.matches(path), glob.covers(path)) == (matches, covers)


# Verifies: REQ-d00004-C
@pytest.mark.skipif(os.name != "posix", reason="such names cannot be on Windows")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"b\xff.md", "spec/b\\xff.md"),
        (b"b\\xff.md", "spec/b\\x5cxff.md"),
        (b"a\nb.md", "spec/a\nb.md"),
        (b"q\"u'o.md", "spec/q\"u'o.md"),
        (b"\xfe\xfd/x.md", "spec/\\xfe\\xfd/x.md"),
    ],
)
def test_a_file_of_any_name_is_read_answered_cached_and_followed(
    small: Path, opened: Open, name: bytes, shown: str
) -> None:
    place = Path(os.fsdecode(os.fsencode(small / "spec") + b"/" + name))
    place.parent.mkdir(exist_ok=True)
    place.write_text("# REQ-p00007: First\n\nText.\n\n*End* *First*\n", encoding="utf-8")
    project = opened(small)
    project.ensure_graph()
    answer = project.trace.requirement("REQ-p00007")
    assert answer.source is not None
    assert answer.source.path == shown
    assert b"First" in msgspec.json.encode(answer)
    msgspec.json.encode(project.trace.findings())
    assert not project.context.builder.is_stale()
    place.write_text("# REQ-p00007: Second\n\nText.\n\n*End* *Second*\n", encoding="utf-8")
    assert project.context.builder.is_stale()
    project.refresh()
    assert project.trace.requirement("REQ-p00007").title == "Second"
    again = opened(small)
    again.ensure_graph()
    assert again.trace.requirement("REQ-p00007").title == "Second"
    place.unlink()
    project.refresh()
    assert list(project.graph.nodes_in_file(shown)) == []
