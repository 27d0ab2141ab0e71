"""Groups of commands, such as `clew specs`: what they list, and what their names mean."""

import json
from pathlib import Path

import pytest

from clew.surfaces.cli.main import main


# Verifies: REQ-o00006-A
@pytest.mark.parametrize(
    ("group", "commands"),
    [
        ("specs", {"overview", "list", "show", "search", "validate", "index"}),
        ("change", {"list", "status", "show", "validate", "conflicts", "rebase", "new", "apply", "archive"}),
        ("kb", {"status", "index", "reconcile", "search", "ask", "show", "graph"}),
    ],
)
def test_the_help_of_a_group_lists_its_commands(
    group: str, commands: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([group, "--help"])
    listed = capsys.readouterr().out.partition("commands:")[2].partition("example:")[0]
    assert {line.split()[1] for line in listed.splitlines() if line.strip()} == commands
    for command in commands:
        with pytest.raises(SystemExit):
            main([group, command, "--help"])
        assert f"usage: clew {group} {command}" in capsys.readouterr().out


# Verifies: REQ-o00006-A
def test_a_word_that_is_no_command_of_its_group_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kb", "serach", "tide"]) == 2
    said = capsys.readouterr().err
    assert "There is no command 'clew kb serach'." in said
    assert "kb search" in said


# Verifies: REQ-o00006-A
def test_the_folder_may_stand_before_the_command(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["specs", "-C", str(demo), "--json", "list"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["specs", "list", "-C", str(demo), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert first["count"] == first["total"]
