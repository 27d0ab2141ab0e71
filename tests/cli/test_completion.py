"""Completion: the words that may follow, and the shells that ask for them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from clew.errors import InvalidArgument
from clew.surfaces.cli.commands.completion import SCRIPTS
from clew.surfaces.cli.completing import completions
from clew.surfaces.cli.main import main, module_and_parser

HERE = Path(sys.executable).parent


def words(*typed: str) -> list[str]:
    return [word for word, _ in completions(list(typed))]


# Verifies: REQ-d00445-A
def test_commands_words_of_groups_options_and_choices_are_completed() -> None:
    assert {"show", "search", "serve"} <= set(words("s"))
    assert words("links", "r") == ["review", "reject"]
    assert words("req", "test", "") != []
    assert "--format" in words("check", "--")
    assert words("check", "--format", "s") == ["sarif"]
    assert words("completion", "") == ["bash", "zsh", "fish"]
    assert words("help", "sho") == ["show"]
    assert words("init", "--client", "z") == ["zed"]


# Verifies: REQ-d00445-B
def test_ids_are_completed_where_a_command_takes_them(demo: Path) -> None:
    assert words("show", "-C", str(demo), "REQ-d0000")[:2] == ["REQ-d00001", "REQ-d00002"]
    assert "add-neap-warning" in words("change", "show", "-C", str(demo), "")
    assert "tide-tables" in words("specs", "show", "-C", str(demo), "t")
    assert words("ask", "-C", str(demo), "REQ") == [":files"]
    assert main(["remember", "Tables are in UTC", "--why", "the office said so", "-C", str(demo)]) == 0
    (memory, *others) = words("memory", "forget", "-C", str(demo), "")
    assert len(memory) == 8
    assert others == [":files"]


# Verifies: REQ-d00445-A
def test_an_unknown_shell_is_refused_with_the_known_ones() -> None:
    module, parser = module_and_parser("completion")
    with pytest.raises(InvalidArgument, match="'tcsh'") as caught:
        module.run(parser.parse_args(["tcsh"]))
    assert "bash, zsh, fish" in caught.value.hint


ASKED = {
    "bash": (
        'COMP_LINE="$1"; COMP_POINT=${#1}; read -r -a COMP_WORDS <<< "$1"; '
        '[[ "$1" == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); '
        'compopt() { :; }; _clew; printf "%s\\n" "${COMPREPLY[@]}"'
    ),
    "zsh": (
        'compdef() { :; }; _describe() { print -rl -- "${described[@]%%:*}"; }; _files() { :; }; '
        'source "$2"; words=(${(s: :)1}); [[ "$1" == *" " ]] && words+=(""); CURRENT=${#words}; _clew'
    ),
    "fish": 'source $argv[2]; complete -C "$argv[1]" | string split -f1 \\t',
}


# Verifies: REQ-d00445-A+B
@pytest.mark.parametrize("shell", list(SCRIPTS))
@pytest.mark.parametrize(
    ("line", "expected"),
    [("clew comp", "completion"), ("clew links re", "review"), ("clew show REQ-d00006", "REQ-d00006")],
)
def test_the_shell_itself_completes(shell: str, line: str, expected: str, demo: Path, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / f"clew.{shell}"
    script.write_text(SCRIPTS[shell].lstrip("\n"))
    source = f'source "$2"; {ASKED[shell]}' if shell == "bash" else ASKED[shell]
    call = (
        [shell, "-c", source, "sh", line, str(script)] if shell != "fish" else [shell, "-c", source, line, str(script)]
    )
    environment = {**os.environ, "PATH": f"{HERE}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}

    done = subprocess.run(call, cwd=demo, env=environment, capture_output=True, encoding="utf-8", check=False)

    assert expected in done.stdout.split(), done.stderr
