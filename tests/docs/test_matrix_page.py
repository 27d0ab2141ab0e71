"""The commands of docs/matrix.md run, and print what the page shows."""

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.docs.markdown import fences

PAGE = (Path(__file__).parents[2] / "docs" / "matrix.md").read_text(encoding="utf-8")

Clew = Callable[[list[str], Path], "subprocess.CompletedProcess[str]"]


# Verifies: REQ-d00066-A
def test_the_commands_run(workplace: Path, clew: Clew) -> None:
    (block,) = [fence.text for fence in fences(PAGE) if fence.language == "sh"]
    for line in block.splitlines():
        done = clew(shlex.split(line)[1:], workplace)
        assert done.returncode == 0, done.stderr
    assert (workplace / "matrix.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


# Verifies: REQ-d00066-C
def test_the_output_is_what_is_printed(workplace: Path, clew: Clew) -> None:
    (block,) = [fence.text for fence in fences(PAGE) if fence.language == "console"]
    command, *shown = block.removeprefix("$ ").splitlines()
    printed = clew(shlex.split(command)[1:], workplace).stdout
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in shown)
    assert re.fullmatch(pattern, printed), printed


# Verifies: REQ-d00066-B
def test_the_same_project_gives_the_same_bytes(workplace: Path, clew: Clew) -> None:
    first, second = (clew(["trace", "--format", "html", "-C", "examples/demo"], workplace).stdout for _ in range(2))
    assert first == second
