"""Folders that are no project, and folders that are read only when somebody confirmed it."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import forked

from clew.config import find_root
from clew.errors import Refused
from clew.operation.listing import all_verbs
from clew.surfaces.cli.main import COMMANDS, main
from clew.surfaces.cli.verbs import parser_of
from clew.trust import Grant, is_granted
from clew.workspace import root as roots
from clew.workspace.root import admitted

MESSAGE = "There is no project here"
WITHOUT_PROJECT = {"init", "uninstall", "token", "tools", "completion", "hook", "lsp", "serve", "req init", "req setup"}
"""What needs no project, makes one, or is asked below: a server, an editor's and a hook."""


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in no project, in which commands are started."""
    folder = tmp_path / "nowhere"
    folder.mkdir()
    if roots.marked(str(folder)) is not None:
        pytest.skip("the temporary folder lies in a project")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.delenv("REQ_FILE", raising=False)
    monkeypatch.chdir(folder)
    return folder


def words_of(verb: str) -> list[str]:
    """A command with a word for each argument that it must have, and no folder."""
    operation = all_verbs()[verb].operation
    words = verb.split()
    for action in parser_of(operation)._actions:
        value = next(iter(action.choices), None) if action.choices else "7" if action.type is int else "word"
        if action.dest == "folder":
            continue
        if not action.option_strings and action.nargs not in ("?", "*"):
            words.append(str(value))
        elif action.option_strings and action.required:
            words += [action.option_strings[0], str(value)]
    return words


def asked() -> list[str]:
    found = [verb for verb in all_verbs() if all_verbs()[verb].operation.about.folder != "none"]
    return sorted({*found, *COMMANDS} - WITHOUT_PROJECT)


# Verifies: REQ-d00637-B
@pytest.mark.parametrize("verb", asked())
def test_every_command_says_what_a_project_is_and_does_nothing(
    nowhere: Path, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    extra = {"call": ["clew_brief"], "store": ["status"]}
    code = main([verb, *extra.get(verb, [])] if verb in COMMANDS else words_of(verb))
    printed = capsys.readouterr()
    said = " ".join((printed.out + printed.err).split())
    assert code == (1 if verb == "doctor" else 2), said
    assert MESSAGE in said
    assert all(name in said for name in (".git", "clew.toml", ".elspais.toml", "project.req", "openspec/", "-C FOLDER"))
    assert list(nowhere.iterdir()) == []
    assert not (nowhere.parent / "state").exists()


# Verifies: REQ-d00637-A
@pytest.mark.parametrize("mark", [".git", "clew.toml", ".elspais.toml", "project.req", "openspec"])
def test_a_folder_with_a_mark_is_a_project_and_so_is_what_is_in_it(nowhere: Path, mark: str) -> None:
    inner = nowhere / "inner"
    inner.mkdir()
    with pytest.raises(Refused, match=MESSAGE):
        admitted(inner, named=False)
    (nowhere / mark).touch() if "." in mark and mark != ".git" else (nowhere / mark).mkdir()
    assert admitted(inner, named=False) == nowhere == find_root(inner)


# Verifies: REQ-d00637-A
@pytest.mark.parametrize(
    "words", [["-C", ".", "status"], ["status", "-C", "."], ["status", "."], ["-C", "../nowhere", "status"]]
)
def test_a_folder_that_was_named_is_a_project(
    nowhere: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    (nowhere / "a.md").write_text("# A\n", encoding="utf-8")
    assert main(words) == 0, capsys.readouterr().err


# Verifies: REQ-d00637-A
def test_init_makes_a_folder_a_project(nowhere: Path) -> None:
    assert main(["init"]) == 0
    assert admitted(nowhere, named=False) == nowhere


# Verifies: REQ-d00637-C
def test_a_server_that_was_started_elsewhere_lists_its_tools_and_says_why_there_is_no_more(nowhere: Path) -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    with forked.Process(
        [sys.executable, "-m", "clew", "serve"],
        cwd=nowhere,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        numbers = iter(range(1, 9))

        def tell(method: str, **more: object) -> None:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, **more}) + "\n")
            server.stdin.flush()

        def ask(method: str, **params: object) -> dict[str, Any]:
            tell(method, id=next(numbers), params=params)
            answer: dict[str, Any] = json.loads(server.stdout.readline())["result"]
            return answer

        assert MESSAGE in ask("initialize", **client)["instructions"]
        tell("notifications/initialized")
        assert "search_everything" in {tool["name"] for tool in ask("tools/list")["tools"]}
        called = ask("tools/call", name="search_everything", arguments={"query": "tide"})
        assert called["isError"]
        assert MESSAGE in called["content"][0]["text"]
        assert ask("resources/list")["resources"] == []
        assert ask("prompts/list")["prompts"] == []
        server.stdin.close()
        assert server.wait() == 0
    assert list(nowhere.iterdir()) == []


# Verifies: REQ-d00637-B
def test_a_hook_elsewhere_does_nothing(nowhere: Path) -> None:
    event = {"session_id": "s", "cwd": str(nowhere), "prompt": "remember that the door is green"}
    done = forked.run(
        [sys.executable, "-m", "clew", "hook", "UserPromptSubmit", "--host", "claude-code"],
        input=json.dumps(event),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "CLEW_HOOK_SECONDS": "60"},
    )
    assert done.stdout.strip() in ("", "{}")
    assert list(nowhere.iterdir()) == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def refused(capsys: pytest.CaptureFixture[str]) -> str:
    said = " ".join(capsys.readouterr().err.split())
    found = re.search(r"`clew (trust \S+ --grant folder)`", said)
    assert found, said
    return found[1]


# Verifies: REQ-d00637-D
def test_the_home_is_read_only_when_it_was_named_and_confirmed(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = nowhere.parent / "home"
    (home / "letters.md").write_text("# Letters\n", encoding="utf-8")
    monkeypatch.chdir(home)
    assert main(["status"]) == 2
    assert MESSAGE in capsys.readouterr().err
    assert main(["-C", str(home), "status"]) == 2
    command = refused(capsys)
    assert sorted(each.name for each in home.iterdir()) == ["letters.md"]
    assert main([*command.split(), "--yes"]) == 0
    assert main(["-C", str(home), "status"]) == 0


# Verifies: REQ-d00637-D
@pytest.mark.parametrize(("said", "is_read"), [("y\n", True), ("n\n", False), ("", False)])
def test_at_a_terminal_somebody_is_asked(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str, is_read: bool
) -> None:
    home = nowhere.parent / "home"
    monkeypatch.setattr(sys, "stdin", Terminal(said))
    monkeypatch.setattr("clew.surfaces.cli.opening._is_terminal", lambda: True)
    assert main(["status", str(home)]) == (0 if is_read else 2)
    assert "Read it? [y/N]" in capsys.readouterr().err
    assert is_granted(home, Grant.FOLDER) is is_read
    assert (home / ".clew").exists() is is_read


# Verifies: REQ-d00637-D
def test_the_root_of_a_file_system_is_read_only_when_it_was_named_and_confirmed(
    nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-C", nowhere.anchor, "why", "x"]) == 2
    assert "root of a file system" in capsys.readouterr().err


# Verifies: REQ-d00637-D
def test_a_folder_of_very_many_files_is_read_only_when_it_was_confirmed_or_is_a_repository(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(roots, "MOST_FILES", 50)
    for number in range(60):
        (nowhere / f"{number}.md").touch()
    assert main(["status", str(nowhere)]) == 2
    assert "more than 50 files" in capsys.readouterr().err
    (nowhere / "project.req").touch()
    with pytest.raises(Refused, match="more than 50 files"):
        admitted(nowhere, named=False)
    subprocess.run(["git", "init", "-q", str(nowhere)], check=True)
    assert admitted(nowhere, named=False) == nowhere


# Verifies: REQ-d00637-E
def test_settings_kept_in_a_repository_of_the_home_make_no_project_of_what_is_below(nowhere: Path) -> None:
    home = nowhere.parent / "home"
    subprocess.run(["git", "init", "-q", str(home)], check=True)
    notes = home / "notes"
    notes.mkdir()
    with pytest.raises(Refused, match=MESSAGE):
        admitted(notes, named=False)
    assert admitted(notes, named=True) == notes
    with pytest.raises(Refused, match="your home folder"):
        admitted(home, named=False)
