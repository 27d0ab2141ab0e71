"""Words of sessions that lie on this disk."""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.why.asking import Servers
from tests.why.histories import Repository

from clew.grants import Grant
from clew.operation.call import Call, carry_out
from clew.operation.listing import all_tools
from clew.operation.names import by_any_spelling
from clew.project import Project
from clew.trust import give

ID = "0b5f9a52-7c1e-4b60-9d53-2f1c8a7e6d40"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
WORDS = f"Open the lock only for ships, token {SECRET}"


@pytest.fixture
def servers() -> Iterator[Servers]:
    servers = Servers()
    yield servers
    servers.close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


def project_with(folder: Path, tool: str) -> Repository:
    repo = Repository(folder)
    repo.commit(f"Guard the lock\n\n{tool.capitalize()}-Session: {ID}", {"lock.py": "def open_lock():\n    return 1\n"})
    return repo


def transcript(home: Path, tool: str, folder: Path, words: str = WORDS) -> Path:
    if tool == "claude":
        place = home / ".claude" / "projects" / "any-name" / f"{ID}.jsonl"
        rows = [
            {"type": "user", "isMeta": True, "sessionId": ID, "cwd": str(folder), "message": {"content": "not this"}},
            {"type": "user", "sessionId": ID, "cwd": str(folder), "message": {"role": "user", "content": words}},
            {"type": "assistant", "sessionId": ID, "message": {"content": [{"type": "text", "text": "Done."}]}},
        ]
        text = "\n".join(map(json.dumps, rows)) + "\nnot json\n"
    elif tool == "codex":
        place = home / ".codex" / "sessions" / "2026" / "11" / "19" / f"rollout-2026-11-19T10-00-00-{ID}.jsonl"
        rows = [
            {"type": "session_meta", "payload": {"id": ID, "cwd": str(folder)}},
            {"type": "event_msg", "payload": {"type": "user_message", "message": words}},
        ]
        text = "\n".join(map(json.dumps, rows))
    else:
        name = hashlib.sha256(str(folder).encode()).hexdigest()
        place = home / ".gemini" / "tmp" / name / "chats" / f"session-2026-11-19T10-00-{ID[:8]}.json"
        chat = {"sessionId": ID, "messages": [{"type": "user", "content": words}, {"type": "gemini", "content": "Ok."}]}
        text = json.dumps(chat)
    place.parent.mkdir(parents=True)
    place.write_text(text, encoding="utf-8")
    return place


def asked_in(servers: Servers, folder: Path) -> str:
    data, text, is_error = servers.why(folder, "lock.py:2")
    assert not is_error, text
    section = next(each for each in data["sections"] if each["name"] == "asked_in")
    return "\n".join([*(each["text"] for each in section["facts"]), section.get("note", "")])


# Verifies: REQ-d00797-A
@pytest.mark.parametrize("tool", ["claude", "codex", "gemini"])
def test_words_on_this_disk_are_read_with_the_grant_alone(
    servers: Servers, tmp_path: Path, home: Path, tool: str
) -> None:
    project_with(tmp_path / "project", tool)
    transcript(home, tool, tmp_path / "project")
    before = asked_in(servers, tmp_path / "project")
    assert "Its words are not kept here." in before
    assert "clew trust --grant sessions" in before
    give(tmp_path / "project", Grant.SESSIONS, datetime.now(UTC))
    after = asked_in(servers, tmp_path / "project")
    assert "Open the lock only for ships" in after
    assert "its transcript on this disk" in after
    assert (SECRET in after, "not this" in after, "--grant" in after) == (False, False, False)


# Verifies: REQ-d00797-B
def test_a_session_of_another_project_is_not_read_out(servers: Servers, tmp_path: Path, home: Path) -> None:
    project_with(tmp_path / "project", "claude")
    other = project_with(tmp_path / "other", "claude")
    give(tmp_path / "project", Grant.SESSIONS, datetime.now(UTC))
    file = transcript(home, "claude", other.folder)
    assert "Open the lock" not in asked_in(servers, tmp_path / "project")
    file.write_text(file.read_text().replace(str(other.folder), str(tmp_path / "away")))
    Repository(tmp_path / "project").git("worktree", "add", "-q", "-b", "away", str(tmp_path / "away"))
    assert "Open the lock" in asked_in(servers, tmp_path / "project")


# Verifies: REQ-d00797-B
@pytest.mark.parametrize("caller", [{"session": None}, {"session": "abc"}, {"credential": "team"}, {"surface": "web"}])
def test_nobody_else_is_told(tmp_path: Path, home: Path, caller: dict[str, str | None]) -> None:
    project_with(tmp_path / "project", "claude")
    transcript(home, "claude", tmp_path / "project")
    give(tmp_path / "project", Grant.SESSIONS, datetime.now(UTC))
    project = Project.open(tmp_path / "project")
    try:
        why = by_any_spelling(all_tools())["why"]
        here = carry_out(why, {"target": "lock.py:2"}, Call(project, all_tools())).text
        there = carry_out(why, {"target": "lock.py:2"}, Call(project, all_tools(), **caller)).text  # type: ignore[arg-type]
        assert ("Open the lock" in here, "Open the lock" in there, "--grant" in there) == (True, False, False)
    finally:
        project.close()
