"""The source of req: its tools, their parameters, the keys of their results and their errors."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import forked
from tests.mcp_client import Options, estimate_tokens, list_tools
from tests.register.served import GOOD, Served, make_project

REQ = Options(profile="req")

PARAMETERS = {
    "req_list": "status kind priority tag query",
    "req_show": "id",
    "req_add": "title statement rationale kind priority acceptance tags parent",
    "req_update": "id reason title statement rationale acceptance add_acceptance remove_acceptance kind priority "
    "status add_tag remove_tag",
    "req_delete": "id reason hard",
    "req_link": "from to kind remove",
    "req_validate": "",
    "req_coverage": "path extensions unlinked_files by_file",
    "req_export": "format",
    "req_help": "section",
    "req_status": "",
    "req_next": "status kind priority tag",
    "req_check": "base path",
    "req_diff": "spec",
    "req_stale": "path only_stale",
    "req_audit": "limit gate require_good_signature required_signers",
    "req_test_record": "id result notes",
    "req_test_run": "from_file dry_run promote",
    "req_verify": "id by notes cites promote",
    "req_batch": "reason mutations",
    "req_import": "format source dry_run strict",
    "req_schema": "which",
    "req_doctor": "",
    "req_version": "",
    "req_migrate": "",
    "req_review": "base path gate staged new all json",
    "req_split": "id into reason keep_original",
    "req_brief": "full json",
    "req_lint": "path json",
}
REQUIRED = {
    "req_show": "id",
    "req_add": "title statement rationale",
    "req_update": "id reason",
    "req_delete": "id reason",
    "req_link": "from to",
    "req_check": "base",
    "req_diff": "spec",
    "req_test_record": "id result",
    "req_test_run": "from_file",
    "req_verify": "id by notes",
    "req_batch": "mutations",
    "req_import": "format source",
    "req_split": "id into",
}

SAFETY = {f"req_{kind}_{verb}" for kind in ("hazard", "sf", "sreq") for verb in ("list", "show")} | {"req_trace"}
"""What req got after its source was written, and that only reads."""

SECTIONS = [
    *("overview", "concepts", "best-practice", "workflow", "file-format", "agents", "web", "tui", "integration"),
    *("version-control", "audit", "format-policy", "env", "verification", "lint", "testing", "errors", "mcp"),
    *("export", "safety"),
]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = make_project(tmp_path / "project")
    yield made
    made.close()


# Verifies: REQ-d00089-A
def test_the_profile_lists_exactly_the_29_tools_with_their_parameters() -> None:
    listed = list_tools(REQ)
    assert listed.keys() == PARAMETERS.keys()
    today = list_tools(Options(profile="req-safety"))
    assert today.keys() - listed.keys() == SAFETY
    for name, wanted in PARAMETERS.items():
        schema = listed[name].input_schema
        assert set(wanted.split()) <= schema.get("properties", {}).keys(), name
        assert set(schema.get("required", ())) == set(REQUIRED.get(name, "").split()), name
    alone, with_register = (list_tools(Options(toolsets=toolsets)) for toolsets in ((), ("register",)))
    assert with_register.keys() - alone.keys() == today.keys()


def test_tools_that_change_nothing_say_so() -> None:
    writes = {
        name for name, tool in list_tools(REQ).items() if tool.annotations and not tool.annotations.read_only_hint
    }
    assert writes == {
        *("req_add", "req_update", "req_delete", "req_link", "req_split", "req_batch", "req_import"),
        *("req_test_record", "req_test_run", "req_verify", "req_migrate"),
    }


# Verifies: REQ-d00089-B
def test_req_add_makes_a_draft_and_rejects_what_breaks_a_rule(served: Served) -> None:
    made = served.call(
        "req_add", **{**GOOD, "title": "Lock the account."}, kind="constraint", priority="must", tags=["a"]
    )
    assert made == {"id": "REQ-0001", "warnings": ["[title] The title ends with a full stop."]}
    child = served.call("req_add", **GOOD, parent="req-1")
    shown = served.call("req_show", id=child["id"])
    assert (shown["status"], shown["kind"], shown["priority"]) == ("Draft", "Functional", "Should")
    assert shown["links"] == [{"kind": "Parent", "target": "REQ-0001"}]
    assert shown["history"][0]["action"] == "created via MCP"
    assert shown["history"][0]["actor_kind"] == "Agent"

    rejected = served.error("req_add", **{**GOOD, "acceptance": []})
    assert rejected["code"] == "REQ-E-VALIDATION"
    assert rejected["message"].startswith("rejected: [acceptance]")
    assert served.error("req_add", **GOOD, parent="REQ-0099")["code"] == "REQ-E-NOT-FOUND"
    assert served.error("req_add", title="x")["code"] == "REQ-E-INVALID-INPUT"
    assert served.error("req_add", **GOOD, kind="wish")["code"] == "REQ-E-INVALID-INPUT"
    assert served.add() == "REQ-0003"


# Verifies: REQ-d00010-E
def test_words_are_understood_as_the_original_spells_them_anywhere(served: Served) -> None:
    for spelling in ("nonfunctional", "NonFunctional", "non_functional"):
        id = served.call("req_add", **{**GOOD, "title": f"Title by {spelling}"}, kind=spelling)["id"]
        assert served.call("req_show", id=id)["kind"] == "NonFunctional"
    assert served.call("req_list", kind="Non-Functional", status="Draft")["count"] >= 3
    error = served.error("req_list", kind="functionally")
    assert "functionally" in error["message"]
    assert "non-functional" in error["message"]


# Verifies: REQ-d00089-B
def test_req_list_filters_with_and(served: Served) -> None:
    served.add(tags=["a", "b"], priority="must")
    served.add(tags=["a"], kind="interface", title="Show the DOOR")
    found = served.call("req_list")
    assert {"count", "project", "requirements"} <= found.keys()
    assert (found["count"], found["project"]) == (2, "demo")
    assert found["requirements"][0] == {
        "id": "REQ-0001",
        "kind": "functional",
        "priority": "must",
        "status": "draft",
        "tags": ["a", "b"],
        "title": "Lock the account",
    }
    for arguments, ids in (
        ({"status": "draft"}, 2),
        ({"kind": "interface"}, 1),
        ({"priority": "must", "tag": ["a", "b"]}, 1),
        ({"tag": ["a", "z"]}, 0),
        ({"query": "door"}, 1),
        ({"status": "verified"}, 0),
    ):
        assert served.call("req_list", **arguments)["count"] == ids, arguments
    assert served.error("req_list", status="done")["code"] == "REQ-E-INVALID-INPUT"


# Verifies: REQ-d00089-C
def test_a_long_list_comes_in_pages_that_miss_nothing(served: Served) -> None:
    served.call("req_batch", mutations=[{"kind": "add", **GOOD} for _ in range(250)])
    seen: list[str] = []
    cursor = None
    while True:
        page = served.call("req_list", cursor=cursor) if cursor else served.call("req_list")
        seen += [row["id"] for row in page["requirements"]]
        assert page["count"] == 250
        cursor = page["next_cursor"]
        if cursor is None:
            break
        assert page["truncated"]
    assert seen == [f"REQ-{number:04d}" for number in range(1, 251)]
    first = served.call("req_list", limit=10)
    served.add()
    assert "changed" in served.error("req_list", limit=10, cursor=first["next_cursor"])["message"]


# Verifies: REQ-d00089-B
def test_req_show_has_everything_and_suggests_on_a_miss(served: Served) -> None:
    id = served.add()
    shown = served.call("req_show", id="1")
    assert list(shown)[:14] == [
        *("id", "title", "statement", "rationale", "acceptance", "kind", "priority", "status", "tags", "links"),
        *("created", "updated", "history", "tests"),
    ]
    missed = served.error("req_show", id="REQ-0003")
    assert missed["code"] == "REQ-E-NOT-FOUND"
    assert id in missed["hint"]


# Verifies: REQ-d00089-C
def test_of_a_long_history_the_newest_part_is_shown(served: Served) -> None:
    id = served.add()
    for number in range(60):
        served.call("req_update", id=id, reason=f"reason {number} " + "x" * 400, add_tag=[f"t{number}"])
    shown = served.call("req_show", id=id)
    assert shown["truncated"]
    assert shown["history_total"] == 61
    assert 0 < len(shown["history"]) < 61
    assert shown["history"][-1]["reason"].startswith("reason 59")


# Verifies: REQ-d00089-B
def test_req_update_tells_what_changed(served: Served) -> None:
    id = served.add()
    changed = served.call(
        "req_update", id=id, reason="review", title="Lock accounts", add_acceptance=["The owner gets a mail"]
    )
    assert changed["changes"] == ["title", '+acceptance: "The owner gets a mail"']
    assert changed["id"] == id
    assert served.call("req_update", id=id, reason="again", title="Lock accounts")["changes"] == []
    assert served.call("req_update", id=id, reason="r", remove_acceptance=[2])["changes"] == [
        '-acceptance #2: "The owner gets a mail"'
    ]
    for arguments, code in (
        ({"id": "9", "reason": "r", "title": "Another title"}, "REQ-E-NOT-FOUND"),
        ({"id": id, "title": "Another title"}, "REQ-E-INVALID-INPUT"),
        ({"id": id, "reason": "r", "remove_acceptance": [7]}, "REQ-E-INVALID-INPUT"),
        ({"id": id, "reason": "r", "statement": "It locks."}, "REQ-E-VALIDATION"),
        ({"id": id, "reason": "r", "status": "verified"}, "REQ-E-REFUSED"),
    ):
        assert served.error("req_update", **arguments)["code"] == code, arguments
    assert served.call("req_update", id=id, reason="r", status="verified", force=True)["changes"] == ["status→verified"]


# Verifies: REQ-d00089-B
def test_req_delete_retires_and_removes(served: Served) -> None:
    served.add()
    served.add(parent="1")
    refused = served.error("req_delete", id="1", reason="gone", hard=True)
    assert refused["code"] == "REQ-E-REFUSED"
    assert "REQ-0002" in refused["message"]
    assert served.call("req_delete", id="1", reason="gone") == {"deleted": "soft", "id": "REQ-0001"}
    assert served.call("req_delete", id="2", reason="gone", hard=True) == {"deleted": "hard", "id": "REQ-0002"}
    assert served.error("req_delete", id="2", reason="gone")["code"] == "REQ-E-NOT-FOUND"
    assert served.call("req_list", status="obsolete")["count"] == 1


# Verifies: REQ-d00089-B
def test_req_link_checks_both_ends_and_circles(served: Served) -> None:
    served.add()
    served.add()
    assert served.call("req_link", from_="1", to="2", kind="depends_on") == {
        "from": "REQ-0001",
        "kind": "depends-on",
        "removed": False,
        "to": "REQ-0002",
    }
    for arguments, code in (
        ({"from_": "1", "to": "2", "kind": "depends_on"}, "REQ-E-DUPLICATE"),
        ({"from_": "2", "to": "1", "kind": "depends_on"}, "REQ-E-CYCLE"),
        ({"from_": "1", "to": "1"}, "REQ-E-INVALID-INPUT"),
        ({"from_": "1", "to": "9"}, "REQ-E-NOT-FOUND"),
        ({"from_": "9", "to": "1"}, "REQ-E-NOT-FOUND"),
        ({"from_": "1", "to": "2", "remove": True}, "REQ-E-NOT-FOUND"),
        ({"from_": "1", "to": "2", "kind": "mitigates"}, "REQ-E-INVALID-INPUT"),
    ):
        assert served.error("req_link", **arguments)["code"] == code, arguments
    assert served.call("req_link", from_="1", to="2", kind="depends-on", remove=True)["removed"]


# Verifies: REQ-d00089-B
def test_req_validate_reports_every_finding(served: Served) -> None:
    served.add(title="Lock the account.")
    found = served.call("req_validate")
    assert (found["errors"], found["warnings"]) == (0, 1)
    assert {"id", "rule_code", "level", "field", "message"} <= found["findings"][0].keys()
    assert found["findings"][0]["rule_code"] == "REQ-V-0004"


# Verifies: REQ-d00089-B
@pytest.mark.parametrize("form", ["markdown", "json", "csv", "html"])
def test_req_export_returns_the_text_and_pages_through_it(served: Served, form: str) -> None:
    served.call("req_batch", mutations=[{"kind": "add", **GOOD} for _ in range(60)])
    command = [sys.executable, "-m", "clew", "req", "export", "--format", form, "-C", str(served.root), "-o", "whole"]
    forked.run(command, cwd=served.root, check=True, capture_output=True)
    whole = (served.root / "whole").read_text(encoding="utf-8")
    text, cursor = "", None
    while True:
        page = served.call("req_export", format=form, **({"cursor": cursor} if cursor else {}))
        text += page["text"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert text == whole
    assert whole.startswith(served.text("req_export", format=form)[:200])
    assert served.error("req_export", format="pdf")["code"] == "REQ-E-INVALID-INPUT"


# Verifies: REQ-d00089-B
def test_req_help_serves_every_section(served: Served) -> None:
    index = served.call("req_help")
    assert [each["name"] for each in index["sections"]] == SECTIONS
    assert all(each["summary"] for each in index["sections"])
    for name in SECTIONS:
        found = served.call("req_help", section=name.upper())
        assert {"body", "name", "summary"} <= found.keys()
        assert len(found["body"]) > 100
    assert "REQ-V-0034" in served.call("req_help", section="errors")["body"]
    assert served.error("req_help", section="nonsense")["code"] == "REQ-E-NOT-FOUND"
    assert set(re.findall(r"req_\w+", served.call("req_help", section="mcp")["body"])) == PARAMETERS.keys()


# Verifies: REQ-d00089-B
def test_req_status_next_and_brief_agree(served: Served) -> None:
    first, second = served.add(priority="must"), served.add()
    served.call("req_link", from_=first, to=second, kind="depends_on")
    state = served.call("req_status")
    assert {"project", "total", "by_status", "delivery_progress_pct", "non_obsolete", "done"} <= state.keys()
    assert state["by_status"] == {
        **dict.fromkeys(("proposed", "approved", "implemented", "verified", "obsolete"), 0),
        "draft": 2,
    }
    assert served.call("req_next")["id"] == second
    nothing = served.call("req_next", priority="must")
    assert (nothing["found"], nothing["blocked"][0]["waits_for"]) == (False, [second])
    brief = served.call("req_brief")
    assert brief.keys() >= {
        *("project", "purpose", "spine", "total", "by_status", "delivery_pct", "next", "implemented_unverified"),
        *("drafts", "verified_but_defective", "hook_mode", "last_spec_change"),
    }
    assert brief["next"]["id"] == second
    served.move(second, "approved", "implemented")
    assert served.call("req_next")["id"] == first
    assert served.call("req_status")["delivery_progress_pct"] == 50.0
    assert served.text("req_brief", json=False).startswith("demo: 2 requirements")
    assert estimate_tokens(served.text("req_brief")) < 600


# Verifies: REQ-d00089-B
def test_req_batch_is_all_or_nothing(served: Served) -> None:
    done = served.call("req_batch", mutations=[{"kind": "add", **GOOD}, {"kind": "delete", "id": "$1"}], reason="plan")
    assert (done["ok"], done["applied"]) == (True, 2)
    before = (served.root / "project.req").read_bytes()
    mutations: list[Any] = [{"kind": "add", **GOOD} for _ in range(99)]
    failed = served.error("req_batch", mutations=[*mutations, {"kind": "link", "from": "1", "to": "1"}])
    assert failed["code"] == "REQ-E-INVALID-INPUT"
    assert failed["message"].startswith("batch rolled back at mutation #100")
    assert (served.root / "project.req").read_bytes() == before
    assert served.call("req_batch", mutations=[])["applied"] == 0
    assert served.error("req_batch")["code"] == "REQ-E-INVALID-INPUT"


# Verifies: REQ-d00089-B
def test_req_import_reads_files_of_the_project_only(served: Served, tmp_path: Path) -> None:
    served.write("wishes.json", json.dumps([GOOD, {**GOOD, "rationale": ""}]))
    preview = served.call("req_import", format="json", source="wishes.json", dry_run=True)
    assert (preview["ok"], preview["dry_run"]) == (False, True)
    assert preview["accepted"][0]["would_allocate"] == "next"
    assert served.call("req_status")["total"] == 0
    refused = served.error("req_import", format="json", source="wishes.json", strict=True)
    assert refused["code"] == "REQ-E-VALIDATION"
    done = served.call("req_import", format="json", source="wishes.json")
    assert done["accepted"][0]["id"] == "REQ-0001"
    assert done["rejected"][0]["title"] == GOOD["title"]

    (tmp_path / "outside.json").write_text(json.dumps([GOOD]))
    for source, code in (
        ("../outside.json", "REQ-E-INVALID-INPUT"),
        (str(tmp_path / "outside.json"), "REQ-E-INVALID-INPUT"),
        ("none.json", "REQ-E-NOT-FOUND"),
    ):
        assert served.error("req_import", format="json", source=source)["code"] == code
    served.write("empty.md", "")
    assert served.error("req_import", format="markdown", source="empty.md")["code"] == "REQ-E-INVALID-INPUT"


# Verifies: REQ-d00089-B
def test_req_split_schema_version_and_migrate(served: Served) -> None:
    id = served.add()
    parts = ["The system shall lock the account at once.", "The system shall tell the owner by mail."]
    assert served.call("req_split", id=id, into=parts, reason="too much") == {
        "original": id,
        "parts": ["REQ-0002", "REQ-0003"],
        "retired": True,
    }
    assert served.error("req_split", id="2", into=parts[:1])["code"] == "REQ-E-INVALID-INPUT"
    assert served.error("req_split", id=id, into=parts)["code"] == "REQ-E-REFUSED"
    for which in ("add", "batch", "import"):
        assert served.call("req_schema", which=which)["$id"].endswith(which)
    version = served.call("req_version")
    assert version.keys() == {"file_format", "mcp_protocol", "name", "package", "version"}
    assert (version["name"], version["file_format"]) == ("req", "req-v3")
    migrated = served.call("req_migrate")
    assert (migrated["ok"], migrated["migrated"], migrated["from"]) == (True, False, "req-v3")


# Verifies: REQ-d00089-B, REQ-d00081-A
def test_a_tampered_register_is_refused_by_every_tool_that_reads_it(served: Served) -> None:
    served.add()
    place = served.root / "project.req"
    place.write_bytes(place.read_bytes().replace(b"five failed", b"nine failed"))
    for name, arguments in (
        ("req_list", {}),
        ("req_show", {"id": "1"}),
        ("req_add", dict(GOOD)),
        ("req_validate", {}),
        ("req_brief", {}),
        ("req_lint", {}),
        ("req_migrate", {}),
    ):
        if name == "req_migrate":
            continue
        failed = served.error(name, **arguments)
        assert failed["code"] == "REQ-E-INTEGRITY", name
        assert "repair --confirm-direct-edit" in failed["hint"]
    assert not served.call("req_doctor")["ok"]
    assert not any("repair" in name for name in list_tools(Options(toolsets=("all",))))


def test_without_a_register_the_way_to_make_one_is_said(tmp_path: Path) -> None:
    (tmp_path / "clew.toml").touch()
    served = Served(tmp_path)
    try:
        assert "clew req init" in served.error("req_list")["hint"]
    finally:
        served.close()


def test_two_registers_are_not_chosen_from(tmp_path: Path) -> None:
    served = make_project(tmp_path, place="one/project.req")
    try:
        assert served.call("req_list")["count"] == 0
    finally:
        served.close()
    other = make_project(tmp_path, place="two/project.req", git=False)
    try:
        failed = other.error("req_list")
        assert failed["code"] == "REQ-E-REFUSED"
        assert failed["data"]["registers"] == ["one/project.req", "two/project.req"]
    finally:
        other.close()


# Verifies: REQ-d00089-B
def test_the_file_is_what_the_original_would_write(served: Served) -> None:
    served.add()
    data = (served.root / "project.req").read_bytes()
    assert json.loads(data)["requirements"]["REQ-0001"]["title"] == GOOD["title"]
    assert json.dumps(json.loads(data), indent=2, sort_keys=True, ensure_ascii=False).encode() == data
