"""Groups of commands, such as `clew specs`: what they list, what their names mean, and where options may stand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.operation.listing import all_verbs
from clew.surfaces.cli.main import main
from clew.surfaces.cli.verbs import parser_of

Clew = Callable[..., Any]

COMMANDS = {
    "links": {"suggest", "review", "apply", "reject"},
    "eval": {"retrieval", "links", "memory"},
    "specs": {"overview", "list", "show", "search", "validate", "index", "format"},
    "change": {
        *("list", "status", "show", "diff", "validate", "conflicts", "rebase", "new", "task", "apply", "archive"),
        *("unarchive", "artefacts", "instructions"),
    },
    "kb": {"status", "index", "reconcile", "search", "ask", "show", "graph"},
    "req test": {"record", "run", "list"},
}


# Verifies: REQ-o00006-A
@pytest.mark.parametrize("group", COMMANDS)
def test_the_help_of_a_group_lists_its_commands(group: str, clew: Clew, tmp_path: Path) -> None:
    shown = clew(tmp_path, *group.split(), "--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith(f"usage: clew {group} [OPTIONS] ")
    listed = shown.stdout.partition("commands:\n")[2].partition("\n\n")[0]
    assert {line.split()[0] for line in listed.splitlines()} == COMMANDS[group]
    for command in COMMANDS[group]:
        own = clew(tmp_path, *group.split(), command, "--help")
        assert own.returncode == 0
        assert own.stdout.startswith(f"usage: clew {group} {command}")


# Verifies: REQ-o00006-F
@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("specs serach tide", "search"),
        ("change lst", "list"),
        ("kb serach tide", "search"),
        ("kb --limit 1 serach tide", "search"),
        ("links sugest", "suggest"),
        ("eval retreival", "retrieval"),
        ("req lsit", "list"),
        ("req test recrod", "record"),
        ("serach tide", "search"),
    ],
)
def test_a_word_that_is_no_command_is_refused_with_the_one_that_is_probably_meant(
    line: str, meant: str, clew: Clew, demo: Path
) -> None:
    done = clew(demo, *line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no command 'clew " in done.stderr
    assert f"Did you mean '{meant}'?" in done.stderr
    assert "--help` lists them." in done.stderr


# Verifies: REQ-o00006-F
@pytest.mark.parametrize("group", ["links", "eval", "req", "req test"])
def test_a_group_whose_name_is_no_command_says_which_words_may_follow(group: str, clew: Clew, tmp_path: Path) -> None:
    done = clew(tmp_path, *group.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert f"usage: clew {group} " in done.stderr
    assert f"`clew {group}` needs one more word: " in done.stderr
    assert all(command in done.stderr for command in COMMANDS.get(group, ("add", "test", "validate")))


# Verifies: REQ-o00006-F
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("specs --rules openspec validate", "specs validate --rules openspec"),
        ("specs --strict --json validate tide-tables", "specs validate tide-tables --strict --json"),
        ("specs --limit 1 list", "specs list --limit 1"),
        ("specs --limit 1 search tide", "specs search --limit 1 tide"),
        ("specs --lim 1 search tide", "specs search tide --limit 1"),
        ("change --full show add-neap-warning", "change show add-neap-warning --full"),
        ("change --rules spox --json validate", "change validate --rules spox --json"),
        (
            "change --take change --dry-run archive add-neap-warning",
            "change archive add-neap-warning --dry-run --take change",
        ),
        ("kb --limit 1 search tide", "kb search tide --limit 1"),
        ("kb --tag guide --json ask tide", "kb ask tide --tag guide --json"),
        ("kb --json", "kb status --json"),
        ("change --json", "change list --json"),
        ("specs --json", "specs overview --json"),
        ("links --limit 2 suggest tests", "links suggest tests --limit 2"),
        ("req --file project.req --json list", "req list --file project.req --json"),
        ("req --json test --file project.req list 1", "req test list 1 --file project.req --json"),
    ],
)
def test_options_may_stand_before_the_command_of_a_group(before: str, after: str, clew: Clew, demo: Path) -> None:
    with (demo / "clew.toml").open("a", encoding="utf-8") as file:
        file.write('\n[embedder]\nkind = "none"\n')
    done = clew(demo, *before.split())
    assert done == clew(demo, *after.split())
    assert "usage" not in done.stderr


# Verifies: REQ-o00006-F
def test_the_value_of_an_option_is_no_command(clew: Clew, demo: Path) -> None:
    done = clew(demo, "change", "--title", "list", "new", "add-ferry")
    assert done.returncode == 0, done.stderr
    assert "list" in (demo / "openspec/changes/add-ferry/proposal.md").read_text(encoding="utf-8")


# Verifies: REQ-o00006-F
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("change list extra", "clew change list: error: unrecognized arguments: extra"),
        ("kb --nothing search tide", "clew kb: error: unrecognized arguments: --nothing"),
        ("specs list --strict", "clew specs list: error: unrecognized arguments: --strict"),
        ("specs --strict list", "clew specs list: error: unrecognized arguments: --strict"),
    ],
)
def test_what_a_command_does_not_take_is_refused_in_its_name(line: str, says: str, clew: Clew, demo: Path) -> None:
    done = clew(demo, *line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


# Verifies: REQ-o00006-F
def test_an_option_takes_a_value_in_all_commands_of_a_group_or_in_none() -> None:
    """Otherwise nobody could say where the command begins."""
    takes: dict[tuple[str, str], set[bool]] = {}
    for verb, listed in all_verbs().items():
        for flag, option in parser_of(listed.operation)._option_string_actions.items():
            takes.setdefault((verb.split()[0], flag), set()).add(option.nargs == 0)
    assert {key for key, kinds in takes.items() if len(kinds) > 1} == set()


# Verifies: REQ-o00006-A
def test_the_folder_may_stand_before_the_command(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["specs", "-C", str(demo), "--json", "list"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["specs", "list", "-C", str(demo), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert first["count"] == first["total"]
