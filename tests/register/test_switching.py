"""What users of req keep: whole answers in its shapes, the notes of its history, and evidence in its review."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_client import McpClient, Options
from tests.register.served import GOOD, Served, make_project

from clew.surfaces.cli.main import main

MANY = 150


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = make_project(tmp_path)
    mutations = [{"kind": "add", **GOOD, "title": f"Lock the account {number}"} for number in range(MANY)]
    made.call("req_batch", mutations=mutations, reason="start")
    made.commit()
    yield made
    made.close()


def as_json(capsys: pytest.CaptureFixture[str], root: Path, *words: str, code: int = 0) -> Any:
    assert main(["req", *words, "-C", str(root), "--json"]) == code
    return json.loads(capsys.readouterr().out)


# Verifies: REQ-d00386-A
def test_answers_of_the_profile_are_whole_and_have_no_pages(served: Served) -> None:
    with McpClient(served.project, Options(profile="req")) as client:
        listed = client("req_list")
        assert len(listed["requirements"]) == listed["count"] == MANY
        coverage = client("req_coverage")
        assert len(coverage["orphans"]) == MANY
        for tool, arguments in (("req_stale", {}), ("req_validate", {}), ("req_audit", {}), ("req_show", {"id": "1"})):
            assert not {"truncated", "next_cursor"} & client(tool, **arguments).keys()
        assert not {"truncated", "next_cursor"} & {*listed, *coverage}
    assert served.call("req_list")["next_cursor"] is not None


# Verifies: REQ-d00386-B
def test_commands_print_the_shapes_of_req(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    root = served.root
    listed = as_json(capsys, root, "list")
    assert len(listed) == MANY
    assert listed[0] == as_json(capsys, root, "show", "1")
    assert listed[0]["status"] == "Draft"
    (commit,) = as_json(capsys, root, "audit")
    assert commit["signature_status"] == "no-signature"
    assert as_json(capsys, root, "audit", "--gate").keys() == {"ok", "entries", "violations"}
    served.write("src/a.py", "# REQ-0001\ndef lock():\n    pass\n")
    coverage = as_json(capsys, root, "coverage")
    assert coverage["referenced"] == {"REQ-0001": ["src/a.py:1"]}
    assert coverage["orphans"] == []
    assert len(coverage["drafts_unmarked"]) == MANY - 1
    assert as_json(capsys, root, "coverage", "--by-file") == [{"file": "src/a.py", "req_ids": ["REQ-0001"]}]
    assert as_json(capsys, root, "coverage", "--by-req") == {"REQ-0001": ["src/a.py:1"]}
    assert as_json(capsys, root, "coverage", "--unlinked-files").keys() == {"scanned", "linked", "unlinked"}
    assert "truncated" not in as_json(capsys, root, "status")
    assert as_json(capsys, root, "version").keys() == {"file_format", "mcp_protocol", "name", "package", "version"}


# Verifies: REQ-d00386-B
def test_stale_evidence_is_an_exit_code_for_people_only(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    served.write("src/a.py", "# REQ-0001\ndef lock():\n    pass\n")
    served.commit()
    served.call("req_test_record", id="1", result="pass")
    served.write("src/a.py", "# REQ-0001\ndef lock():\n    return True\n")
    served.commit()
    assert as_json(capsys, served.root, "stale")["summary"]["stale"] == 1
    assert main(["req", "stale", "-C", str(served.root)]) == 1


# Verifies: REQ-d00386-C
def test_review_lists_what_got_only_evidence(served: Served) -> None:
    served.call("req_test_record", id="3", result="pass")
    served.call("req_update", id="4", reason="clearer", title="Lock every account")
    changed = served.call("req_review", base="HEAD")["changed"]
    assert [(each["id"], each["transitions"]) for each in changed] == [
        ("REQ-0003", ["evidence: 0 -> 1 records"]),
        ("REQ-0004", ["title changed", "history: 1 -> 2 entries"]),
    ]


# Verifies: REQ-d00386-D
def test_history_says_source_reason_and_batch(served: Served) -> None:
    served.write("new.json", json.dumps([{**GOOD, "title": "Imported lock"}]))
    made = served.call("req_import", format="json", source="new.json")["accepted"][0]["id"]
    assert served.call("req_show", id=made)["history"][0]["reason"] == "source: new.json"
    parts = ["The system shall lock it at once.", "The system shall tell the owner."]
    split = served.call("req_split", id="1", into=parts, reason="two things")["parts"]
    assert [served.call("req_show", id=id)["history"][0]["reason"] for id in split] == ["two things"] * 2
    served.call(
        "req_batch",
        mutations=[
            {"kind": "link", "from": "REQ-0002", "to": "REQ-0003"},
            {"kind": "delete", "id": "REQ-0005", "reason": "gone"},
        ],
    )
    assert served.call("req_show", id="2")["history"][-1]["action"] == "added parent link to REQ-0003 via batch"
    assert served.call("req_show", id="5")["history"][-1]["action"] == "marked obsolete via batch"
