"""The page on changing requirements shows what happens, command after command on one project."""

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.docs.markdown import fences

PAGE = Path(__file__).parents[2] / "docs" / "changing.md"

Clew = Callable[[list[str], Path], "subprocess.CompletedProcess[str]"]


# Verifies: REQ-o00021-B, REQ-d00047-B
def test_the_commands_of_the_page_print_what_it_shows_and_leave_the_files_as_they_were(
    workplace: Path, clew: Clew
) -> None:
    spec = workplace / "examples" / "demo" / "spec" / "dev-tides.md"
    before = spec.read_bytes()
    text = "\n".join(fence.text for fence in fences(PAGE.read_text()) if fence.language == "console")
    steps = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    assert len(steps) == 8
    for step in steps:
        command, _, output = step.partition("\n")
        done = clew(shlex.split(command)[1:], workplace)
        assert done.returncode == 0, done.stderr
        lines = (line for line in output.strip("\n").splitlines())
        pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in lines)
        assert re.fullmatch(pattern, done.stdout), f"{command} prints\n{done.stdout}"
    assert spec.read_bytes() == before
