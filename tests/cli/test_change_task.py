"""`clew change task`: one box of tasks.md."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

CHANGE = "add-neap-warning"


# Verifies: REQ-d00424-A
def test_a_task_is_ticked_and_opened_and_nothing_else_changes(demo: Path, clew: Callable[..., Any]) -> None:
    tasks = demo / "openspec" / "changes" / CHANGE / "tasks.md"
    tasks.write_bytes(tasks.read_bytes().replace(b"\n", b"\r\n"))
    before = tasks.read_bytes()
    shown = clew(demo, "change", "task", CHANGE, "1.2", "--dry-run")
    assert shown.returncode == 0
    assert "+- [x] 1.2 Compute the height" in shown.stdout
    assert tasks.read_bytes() == before
    done = clew(demo, "change", "task", CHANGE, "1.2")
    assert "done, 2 of 8" in done.stdout
    assert tasks.read_bytes() == before.replace(b"[ ] 1.2", b"[x] 1.2")
    assert "as before" in clew(demo, "change", "task", CHANGE, "1.2").stdout
    by_text = "Compute the height to spare at the best moment of a window"
    assert "open, 1 of 8" in clew(demo, "change", "task", CHANGE, by_text, "--open").stdout
    assert tasks.read_bytes() == before


# Verifies: REQ-d00424-A
def test_a_task_that_no_box_or_several_are_called_is_refused(demo: Path, clew: Callable[..., Any]) -> None:
    tasks = demo / "openspec" / "changes" / CHANGE / "tasks.md"
    tasks.write_text(tasks.read_text() + "- [ ] 3.3 Once more\n")
    before = tasks.read_bytes()
    for name, said in (("9.9", "No task is called '9.9'"), ("3.3", "Several tasks are called '3.3'")):
        refused = clew(demo, "change", "task", CHANGE, name)
        assert refused.returncode == 1
        assert said in refused.stderr
    assert "unheard-of" in clew(demo, "change", "task", "unheard-of", "1.1").stderr
    assert tasks.read_bytes() == before
