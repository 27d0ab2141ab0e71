"""`clew req` on the command line."""

import json
import sys
from pathlib import Path

from tests import forked
from tests.register.shell import ADD, Shell


# Verifies: REQ-o00031-G
def test_a_day_on_the_command_line(shell: Shell, tmp_path: Path) -> None:
    assert "Added REQ-0001." in shell.run("add", *ADD, "--tag", "auth")
    assert shell.json("add", *ADD, "--parent", "1")["links"] == [{"kind": "Parent", "target": "REQ-0001"}]
    assert "Lock the account" in shell.run("list", "--tag", "auth")
    assert len(shell.json("list")) == 2
    assert shell.json("update", "1", "--status", "approved", "--reason", "agreed")["changes"] == ["status→approved"]
    assert "agreed" in shell.run("show", "req-1")
    shell.run("link", "1", "2", "-k", "conflicts")
    assert shell.json("status")["by_status"]["approved"] == 1
    assert shell.json("next")["id"] == "REQ-0002"
    assert "Keep accounts safe" in shell.run("brief")
    assert "0 errors" in shell.run("validate")
    assert shell.json("verify", "1", "--by", "inspection", "--notes", "read it")["kind"] == "inspection"
    assert shell.json("test", "list", "1")[0]["notes"] == "read it"
    parts = ["-s", "The system shall do one thing now.", "-s", "The system shall do another thing later."]
    assert shell.json("split", "2", *parts)["parts"] == ["REQ-0003", "REQ-0004"]
    assert shell.json("delete", "4", "--hard")["deleted"] == "hard"
    shell.run("retire", "3", "--reason", "gone")
    shell.run("export", "-f", "html", "-o", "out.html")
    assert (tmp_path / "out.html").read_text().startswith("<!doctype html>")
    assert shell.run("export", "-f", "csv").startswith("id,title")
    assert shell.json("purpose", "New", code=2)["code"] == "REQ-E-INVALID-INPUT"
    assert shell.json("purpose", "New", "--reason", "it grew")["purpose"] == "New"
    assert "best-practice" in shell.run("help")
    assert shell.json("schema", "add")["type"] == "object"


# Verifies: REQ-o00031-G
def test_bulk_comes_from_files_and_standard_input(shell: Shell, tmp_path: Path) -> None:
    wish = {"title": "Lock the account", "statement": ADD[3], "rationale": "Guessing stops.", "acceptance": ["A b c"]}
    (tmp_path / "one.json").write_text(json.dumps(wish))
    (tmp_path / "batch.json").write_text(json.dumps({"mutations": [{"kind": "add", **wish}], "reason": "plan"}))
    (tmp_path / "import.json").write_text(json.dumps([wish, {**wish, "rationale": ""}]))
    shell.run("add", "--from-json", "one.json")
    assert shell.json("batch", "batch.json")["applied"] == 1
    assert shell.json("import", "-f", "json", "import.json", code=1)["accepted"][0]["id"] == "REQ-0003"
    piped = forked.run(
        [sys.executable, "-m", "clew", "req", "add", "--from-json", "-", "--json"],
        input=json.dumps(wish),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(piped.stdout)["id"] == "REQ-0004"


# Verifies: REQ-o00031-G
def test_exit_codes_and_errors_tell_scripts_what_happened(shell: Shell, tmp_path: Path) -> None:
    assert shell.json("show", "9", code=1)["code"] == "REQ-E-NOT-FOUND"
    assert shell.json("add", "-t", "x", code=2)["code"] == "REQ-E-INVALID-INPUT"
    assert "Did you mean 'draft'?" in shell.json("list", "--status", "darft", code=2)["hint"]
    assert shell.json("init", "-n", "again", code=2)["code"] == "REQ-E-DUPLICATE"
    assert shell.json("next", code=1)["found"] is False
    assert "clew: There is no requirement" in shell.run("show", "9", code=1)
    shell.run("add", *ADD)
    assert shell.json("coverage", "--strict")["drafts_unmarked"] == ["REQ-0001"]
    (tmp_path / "ghost.py").write_text("# REQ-0099\n")
    shell.run("coverage", "--strict", code=1)
    shell.run("coverage")


# Verifies: REQ-d00081-A
def test_repair_is_for_people_who_mean_it(shell: Shell, tmp_path: Path) -> None:
    shell.run("add", *ADD)
    place = tmp_path / "project.req"
    place.write_bytes(place.read_bytes().replace(b"five failed", b"nine failed"))
    assert shell.json("list", code=2)["code"] == "REQ-E-INTEGRITY"
    assert shell.json("repair", code=2)["code"] == "REQ-E-REFUSED"
    shell.run("repair", "--confirm-direct-edit")
    assert "nine failed" in shell.json("show", "1")["statement"]
    place.write_bytes(place.read_bytes().replace(b"shall", b"might"))
    assert shell.json("repair", "--confirm-direct-edit", code=2)["code"] == "REQ-E-VALIDATION"
    shell.run("repair", "--confirm-direct-edit", "--force")


def test_a_register_may_be_a_folder_or_lie_elsewhere(shell: Shell, tmp_path: Path) -> None:
    shell.run("init", "-n", "many", "-o", "many", "--layout", "directory", "--purpose", "Kept")
    shell.run("add", *ADD, "--file", "many")
    assert (tmp_path / "many" / "requirements" / "REQ-0001.req").exists()
    assert len(shell.json("list", "--file", "many")) == 1
    assert shell.json("purpose", "--file", "many")["purpose"] == "Kept"
    assert shell.json("list") == []
    assert not shell.json("migrate")["migrated"]
