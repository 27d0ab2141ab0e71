"""`register.compat = "strict"`: the tools take over MCP what those of req take."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_client import McpClient, Options
from tests.register.served import GOOD, make_project
from tests.register.test_merge import merged, on, served  # noqa: F401 - a fixture

from clew.project import Project
from clew.surfaces.cli.main import main

Opened = Callable[[str], McpClient]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens the project with something more in its configuration."""
    made = make_project(tmp_path / "project")
    made.close()
    clients: list[McpClient] = []

    def client(settings: str) -> McpClient:
        file = made.root / "clew.toml"
        file.write_text(f'[project]\nname = "demo"\n{settings}', encoding="utf-8")
        clients.append(McpClient(Project.open(made.root), Options(profile="req")))
        return clients[-1]

    yield client
    for each in clients:
        each.close()
        each.project.close()


STRICT = '[register]\ncompat = "strict"\n'


# Verifies: REQ-d00541-A
def test_strict_takes_the_moves_and_deletes_of_req(opened: Opened) -> None:
    for settings in ("", STRICT):
        client = opened(settings)
        id = client("req_add", **GOOD)["id"]
        moved = client.result("req_update", id=id, status="verified", reason="done")
        assert moved.is_error is (settings == "")
        assert not client.result("req_delete", id=id, reason="gone").is_error
        assert client.result("req_delete", id=id, reason="gone again").is_error is (settings == "")
    history = client("req_show", id=id)["history"]
    assert [entry["reason"] for entry in history[-2:]] == ["gone", "gone again"]


# Verifies: REQ-d00541-B
def test_strict_passes_over_arguments_that_nobody_knows_or_that_have_another_type(opened: Opened) -> None:
    client = opened(STRICT)
    client("req_add", **GOOD, colour="red", tags="late")
    listed = client("req_list", stautus="draft", tag="late")
    assert [row["tags"] for row in listed["requirements"]] == [[]]
    wrong = client.result("req_list", status="lost")
    assert wrong.is_error
    assert "lost" in wrong.text


# Verifies: REQ-d00541-C
def test_strict_tells_errors_as_plain_text(opened: Opened) -> None:
    plain = opened(STRICT).result("req_show", id="REQ-0099")
    assert plain.is_error
    assert plain.data is None
    assert "\n" not in plain.text
    assert "REQ-0099" in plain.text
    assert opened("").error("req_show", id="REQ-0099")["code"] == "REQ-E-NOT-FOUND"


# Verifies: REQ-d00541-D
def test_strict_looks_where_req_looks(opened: Opened) -> None:
    client = opened(STRICT)
    client("req_add", **GOOD)
    (client.project.config.root / "notes.md").write_text("As REQ-0001 says.\n", encoding="utf-8")
    (client.project.config.root / "notes.txt").write_text("REQ-0077\n", encoding="utf-8")
    assert client("req_coverage")["referenced"] == {"REQ-0001": ["notes.md"]}
    assert opened("")("req_coverage")["referenced"] == {}


# Verifies: REQ-d00542-A
def test_an_agent_may_name_a_log_where_the_user_allowed_its_folder(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    log = logs / "run.txt"
    (tmp_path / "elsewhere.txt").write_text("test req_0001_locks ... ok\n", encoding="utf-8")
    log.write_text("test req_0001_locks ... ok\n", encoding="utf-8")
    (logs / "away.txt").symlink_to(tmp_path / "elsewhere.txt")
    settings = f'[register]\nlogs = ["{logs}"]\n'
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    client = opened(settings)
    client("req_add", **GOOD)
    refused = client.error("req_test_run", from_file=str(log))
    assert refused["code"] == "REQ-E-INVALID-INPUT"
    user = tmp_path / "config" / "clew" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text(settings, encoding="utf-8")
    recorded = opened("")("req_test_run", from_file=str(log))
    assert recorded["matched_requirements"] == 1
    assert opened("").result("req_test_run", from_file=str(logs / "away.txt")).is_error
    assert opened("").result("req_test_run", from_file=str(tmp_path / "elsewhere.txt")).is_error


# Verifies: REQ-d00542-B
def test_a_folder_of_logs_is_named_from_the_root(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = make_project(tmp_path / "project")
    user = tmp_path / "config" / "clew" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text('[register]\nlogs = ["logs"]\n', encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        assert main(["req", "list", "-C", str(made.root)]) == 2
    assert "'logs'" in capsys.readouterr().err


# Verifies: REQ-d00542-C
def test_markers_of_the_other_side_follow_a_merge_that_renumbers(served: Any, capsys: Any) -> None:  # noqa: F811
    on(served, "other", ("req_add", {**GOOD, "title": "From the other side"}))
    served.write("src/other.rs", "// REQ-0003: theirs\nfn other() {}\n")
    served.write("src/both.rs", "// REQ-0003\n")
    served.commit("markers of theirs")
    on(served, "main", ("req_add", {**GOOD, "title": "From this side"}))
    served.write("src/ours.rs", "// REQ-0003: ours\n")
    served.write("src/both.rs", "// REQ-0003\n")
    served.commit("markers of ours")
    told = merged(served)
    assert "--remap merge" in told.stdout + told.stderr

    def remapped(*more: str) -> str:
        assert main(["req", "coverage", "--remap", "merge", *more, "-C", str(served.root)]) == 0
        return str(capsys.readouterr().out)

    assert "src/other.rs:1  REQ-0003  ->  REQ-0004" in remapped()
    assert (served.root / "src/other.rs").read_text(encoding="utf-8").startswith("// REQ-0003: theirs")
    assert "src/both.rs:1: both sides have this line" in remapped("--apply")
    assert (served.root / "src/other.rs").read_text(encoding="utf-8") == "// REQ-0004: theirs\nfn other() {}\n"
    assert (served.root / "src/ours.rs").read_text(encoding="utf-8") == "// REQ-0003: ours\n"
    served.commit("follow")
    assert main(["req", "coverage", "--remap", "merge", "-C", str(served.root)]) == 2
    assert "HEAD is not a merge" in capsys.readouterr().err
