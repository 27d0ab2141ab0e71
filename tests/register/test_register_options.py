"""Options of `clew req` that users of req have in their fingers."""

import json
from pathlib import Path

import pytest
from tests.register.shell import ADD, Shell

from clew.surfaces.cli.main import main


# Verifies: REQ-d00237-A
def test_the_register_may_be_named_before_or_after_the_command(shell: Shell, tmp_path: Path) -> None:
    shell.run("init", "-n", "other", "-o", "other.req")
    shell.run("--file", "other.req", "add", *ADD)
    assert shell.json("--file", "other.req", "status")["total"] == 1
    assert shell.json("status", "--file", "other.req")["total"] == 1
    assert shell.json("status")["total"] == 0
    assert shell.json("-C", str(tmp_path), "status")["total"] == 0


# Verifies: REQ-d00237-A
@pytest.mark.parametrize("option", ["-v", "-V", "--version"])
def test_the_version_is_asked_in_three_ways(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["req", option])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("clew ")


# Verifies: REQ-d00237-B
def test_every_answer_can_be_data(shell: Shell, tmp_path: Path) -> None:
    shell.run("add", *ADD)
    assert shell.json("export", "-f", "csv")["text"].startswith("id,title,")
    assert shell.json("export", "-o", str(tmp_path / "out.md"))["wrote"].endswith("out.md")
    assert shell.json("export", "-o", str(tmp_path / "no" / "out.md"), code=2)["code"] == "REQ-E-INVALID-INPUT"
    assert len(shell.json("help", "all")) == 20
    advice = shell.json("help", "agents")["structured"]
    assert {"when": "When tests ran", "call": "req_test_run with the log, promote=true"} in advice
    assert shell.json("schema")["$id"].endswith(":add")


# Verifies: REQ-d00237-C
def test_what_a_forced_beginning_replaces_is_kept_beside_it(shell: Shell, tmp_path: Path) -> None:
    shell.run("add", *ADD)
    before = (tmp_path / "project.req").read_bytes()
    assert shell.json("init", "-n", "again", "--purpose", "x" * 501, "--force", code=2)["code"] == "REQ-E-INVALID-INPUT"
    assert shell.json("init", "-n", " ", "--force", code=2)["code"] == "REQ-E-INVALID-INPUT"
    assert (tmp_path / "project.req").read_bytes() == before

    shell.run("init", "-n", "again", "--force")

    assert (tmp_path / "project.req.bak-replaced").read_bytes() == before
    assert json.loads((tmp_path / "project.req").read_bytes())["name"] == "again"


# Verifies: REQ-d00237-C
def test_a_folder_that_is_begun_again_is_kept_too_and_is_not_a_second_register(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "project.req").unlink()
    shell.run("init", "-n", "demo", "--layout", "directory", "-o", "many")
    shell.run("add", *ADD)
    for arguments in ((), ("--force",), ("-o", "many")):
        assert shell.json("init", "-n", "again", *arguments, code=2)["code"] == "REQ-E-DUPLICATE"

    said = shell.run("init", "-n", "again", "--force", "-o", "many")

    assert f"What was there is now {tmp_path / 'many.bak-replaced'}." in said
    assert shell.json("list") == []
    assert not (tmp_path / "project.req").exists()
    assert [each["title"] for each in shell.json("list", "--file", "many.bak-replaced")] == ["Lock the account"]


# Verifies: REQ-d00237-C
def test_a_register_is_begun_only_where_one_can_be(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for arguments in (("--layout", "directory", "--force"), ("-o", "docs")):
        refused = shell.json("init", "-n", "again", *arguments, code=2)
        assert refused["code"] == "REQ-E-INVALID-INPUT"
        assert "--output" in refused["hint"] or "docs/project.req" in refused["hint"]
    shell.run("init", "-n", "beside", "-o", "docs", "--layout", "directory")
    assert shell.json("status", "--file", "docs")["project"] == "beside"


# Verifies: REQ-d00237-D
def test_people_are_told_whether_evidence_holds_and_what_an_update_makes_doubtful(shell: Shell) -> None:
    shell.run("add", *ADD)
    assert "warning: [statement] 'fast' cannot be tested" in shell.run(
        "update", "1", "-s", "The system shall lock the account fast after five failed logins.", "--reason", "speed"
    )
    shell.run("verify", "1", "--by", "inspection", "--notes", "looked at it")
    assert "Evidence: Pass (Inspection) at (no git), unknown: looked at it" in shell.run("show", "1")
    assert "evidence_state" not in shell.json("show", "1")
