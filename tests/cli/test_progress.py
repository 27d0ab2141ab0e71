"""What long work tells about itself."""

import pytest

from clew.surfaces.cli import output


# Verifies: REQ-d00405-A
def test_long_work_tells_its_progress_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter((0.0, 1.0, 5.1, 5.1, 7.0, 10.3, 10.3))
    tell = output.progress(monotonic=lambda: next(times))
    for done in (1, 2, 3, 4):
        tell(done, 4, "docs/guide.md\x1b[0m")
    assert capsys.readouterr().err.splitlines() == [
        "clew: docs/guide.md␛[0m 50% 2/4",
        "clew: docs/guide.md␛[0m 100% 4/4",
    ]
