"""The source of req once more: what its acceptance found."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.mcp_client import McpClient, Options, ToolFailed, list_tools
from tests.register.served import GOOD, make_project

from clew.project import Project

REQ = Options(profile="req")


@contextmanager
def client(root: Path, options: Options = REQ, settings: str = "") -> Iterator[McpClient]:
    """A client of a project with an empty register."""
    make_project(root).close()
    with (root / "clew.toml").open("a", encoding="utf-8") as file:
        file.write(settings)
    project = Project.open(root)
    try:
        with McpClient(project, options) as opened:
            yield opened
    finally:
        project.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[McpClient]:
    with client(tmp_path) as opened:
        yield opened


# Verifies: REQ-d00822-A
@pytest.mark.parametrize("profile", ["req", None])
def test_the_instructions_say_when_to_call_the_tools(tmp_path: Path, profile: str | None) -> None:
    with client(tmp_path, Options(profile=profile)) as served:
        text, tools = served.instructions, set(served.tools)
    assert "req_add" in text
    assert profile is None or "req_validate" in text
    named = {word.strip(".,:;()") for word in text.split() if word.startswith("req_")}
    assert named <= tools


# Verifies: REQ-d00822-B
def test_null_is_an_absent_argument(served: McpClient) -> None:
    id = served("req_add", **GOOD, kind=None, priority=None, tags=None, parent=None)["id"]
    for tool, arguments in {
        "req_list": {"tag": None, "status": None, "kind": None, "query": None},
        "req_next": {"tag": None, "status": None},
        "req_update": {"id": id, "reason": "r", "add_tag": None, "remove_tag": None, "title": "Lock it well"},
        "req_export": {"format": None},
        "req_help": {"section": None},
        "req_review": {"base": None, "json": None, "gate": None, "staged": None},
        "req_coverage": {"path": None, "extensions": None, "by_file": None},
        "req_delete": {"id": id, "reason": "r", "hard": None},
    }.items():
        served(tool, **arguments)
    with pytest.raises(ToolFailed):
        served("req_show", id=None)


# Verifies: REQ-d00822-C
def test_next_with_a_finished_status_and_promotion_from_any(served: McpClient) -> None:
    id = served("req_add", **GOOD)["id"]
    number = id.rpartition("-")[2]
    (served.root / "run.log").write_text(f"test req_{number}_locks ... ok\n", encoding="utf-8")
    run = served("req_test_run", from_file="run.log", promote=True)
    assert run["promoted"] == [id]
    assert served("req_next", status="verified")["id"] == id
    assert served("req_next", status="obsolete")["found"] is False


# Verifies: REQ-d00822-D
@pytest.mark.parametrize(("compat", "state"), [("safe", "fresh"), ("strict", "drifted")])
def test_stale_compares_by_commit_where_req_is_followed(tmp_path: Path, compat: str, state: str) -> None:
    root = tmp_path / "project"

    def git(*words: str) -> None:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)

    with client(root, settings=f'[register]\ncompat = "{compat}"\n') as served:
        id = served("req_add", **GOOD)["id"]
        (root / "src").mkdir(exist_ok=True)
        (root / "src" / "lock.rs").write_text(f"// {id}: locks\n", encoding="utf-8")
        git("add", "-A")
        git("commit", "-qm", "One")
        served("req_test_record", id=id, result="pass")
        git("commit", "-q", "--allow-empty", "-m", "Two")
        (row,) = served("req_stale")["rows"]
        assert row["state"] == state


# Verifies: REQ-d00822-E
def test_the_version_tells_the_protocol_of_the_session(served: McpClient) -> None:
    told = served("req_version")
    assert (told["name"], told["package"]) == ("req", "clew-mcp")
    assert told["mcp_protocol"] == served.protocol_version


# Verifies: REQ-d00822-F
def test_lists_have_bounds(served: McpClient) -> None:
    with pytest.raises(ToolFailed) as raised:
        served("req_add", **{**GOOD, "acceptance": ["The sixth try is refused"] * 10_000})
    assert "200" in raised.value.answer.text
    assert served("req_list")["requirements"] == []


# Verifies: REQ-d00822-H
def test_the_29_tools_take_at_most_24_000_bytes() -> None:
    listed = list_tools(REQ)
    sent = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed.values()]
    size = len(json.dumps(sent, separators=(",", ":")).encode())
    assert len(listed) == 29
    assert size <= 24_000
