"""The tools that elspais got after February 2026."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.contract.elspais_today import FILES, SPEC
from tests.mcp_client import McpClient, Options

from clew.project import Project

Opened = Callable[[Path], Project]

BYTES_OF_ELSPAIS = 64_309
"""What the listing of elspais 0.127.13 takes on the wire, for 72 tools; that of 0.121.218 took 59 kB for 67."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def agent(root: Path, opened: Opened) -> Iterator[McpClient]:
    with McpClient(opened(root), Options(profile="elspais")) as client:
        yield client


# Verifies: REQ-d00390-A
def test_two_profiles_list_the_tools_of_today_and_of_the_specification(root: Path, opened: Opened) -> None:
    project = opened(root)
    sizes = {}
    names = {}
    for profile in ("elspais", "elspais-45"):
        with McpClient(project, Options(profile=profile)) as client:
            names[profile] = set(client.tools)
            listed = [tool.model_dump(by_alias=True, exclude_none=True) for tool in client.tools.values()]
            sizes[profile] = len(json.dumps(listed, separators=(",", ":"), ensure_ascii=False).encode())
    assert len(names["elspais-45"]) == 45
    assert names["elspais"] > names["elspais-45"]
    assert {"get_node", "get_terms", "mutate_journey_section"} <= names["elspais"] - names["elspais-45"]
    assert sizes["elspais"] < BYTES_OF_ELSPAIS
    assert sizes["elspais-45"] < 59_000


# Verifies: REQ-d00390-B
def test_nodes_of_every_kind_are_shown(agent: McpClient) -> None:
    requirement = agent("get_node", node_id="REQ-p00001")
    parts = [(each["kind"], each["id"]) for each in requirement["children"][:4]]
    assert parts == [
        ("remainder", "REQ-p00001:section:0"),
        ("remainder", "REQ-p00001:section:1"),
        ("assertion", "REQ-p00001-A"),
        ("assertion", "REQ-p00001-B"),
    ]
    lines = SPEC.split("\n")
    assert lines[requirement["children"][1]["line"] - 1] == "### Rationale"
    section = agent("get_node", node_id="REQ-p00001:section:1")
    assert section["properties"] == {"heading": "Rationale", "text": "People ask for it."}
    step = agent("get_node", node_id="JNY-Reader-01/1")
    assert (step["kind"], step["title"]) == ("step", "Look at the clock.")
    assert [each["id"] for each in step["children"]] == ["test:tests/test_clock.py::test_step"]
    journey = agent("get_node", node_id="JNY-Reader-01")["properties"]
    assert [each["name"] for each in journey["sections"]] == ["Steps", "Outcome"]
    file = agent("get_node", node_id="file:REQ:spec/clock.md")
    assert "REQ-d00001" in [each["id"] for each in file["children"]]
    copy = agent("get_node", node_id="REQ-d00001::REQ-p00002")
    assert copy["properties"]["stereotype"] == "instance"
    assert agent.error("get_node", node_id="REQ-p00001:section:9")["code"] == "not_found"
    versions = agent("get_versions", node_ids=["REQ-p00001", "REQ-p00001-A", "REQ-p00001:section:0", "nope"])
    assert versions["versions"] == dict.fromkeys(
        ("REQ-p00001", "REQ-p00001-A", "REQ-p00001:section:0"), requirement["version"]
    )


# Verifies: REQ-d00390-C
def test_what_stands_around_assertions_is_changed_and_nothing_else(agent: McpClient, root: Path) -> None:
    version = agent("get_versions", node_ids=["REQ-p00001"])["versions"]["REQ-p00001"]
    added = agent(
        "mutate_add_remainder", req_id="REQ-p00001", heading="Notes", text="One.\n\n- two", if_version=version
    )
    assert added["mutation"]["after_state"]["id"] == "REQ-p00001:section:2"
    refused = agent.error("mutate_update_remainder", node_id="REQ-p00001:section:1", text="x", if_version=version)
    assert refused["code"] == "conflict"
    agent("mutate_update_remainder", node_id="REQ-p00001:section:1", text="They do.", heading="Reasons")
    agent("mutate_update_remainder", node_id="REQ-p00001:section:0", text="It keeps time.")
    agent("mutate_set_stereotype", node_id="REQ-p00001", is_template=True)
    agent("mutate_update_journey_field", node_id="JNY-Reader-01", field_name="goal", value="Know it")
    agent("mutate_update_journey_field", node_id="JNY-Reader-01", field_name="context", value="At home")
    agent("mutate_journey_section", node_id="JNY-Reader-01", action="update", name="steps", content="1. Look.")
    agent("mutate_journey_section", node_id="JNY-Reader-01", action="delete", name="Outcome")
    agent("mutate_journey_section", node_id="JNY-Reader-01", action="add", name="Notes", content="Quick.")
    agent("mutate_add_journey", journey_id="JNY-Reader-02", title="Winding", file_id="file:REQ:spec/more.md")
    agent("mutate_change_edge_targets", source_id="REQ-d00001", target_id="REQ-p00001", assertion_targets=["B"])
    agent("mutate_move_node_to_file", node_id="REQ-d00002", target_file_id="file:REQ:spec/more.md")
    agent("save_mutations")
    bells = SPEC[SPEC.index("## REQ-d00002") : SPEC.index("---\n\n## JNY")]
    expected = (
        SPEC.replace(bells + "---\n\n", "")
        .replace("The clock keeps time with its *Hand*.", "It keeps time.")
        .replace("### Rationale\n\nPeople ask for it.\n", "### Reasons\n\nThey do.\n\n### Notes\n\nOne.\n\n- two\n")
        .replace("**Status**: Active | **Implements**: -", "**Status**: Active | **Template** | **Implements**: -")
        .replace("**Goal**: Know the time\n", "**Goal**: Know it\n**Context**: At home\n")
        .replace("1. Look at the clock.\n2. Say the hour.", "1. Look.")
        .replace("### Outcome\n\nThe hour is known.", "### Notes\n\nQuick.")
        .replace("REQ-p00001-A+B", "REQ-p00001-B")
    )
    assert (root / "spec/clock.md").read_text(encoding="utf-8") == expected
    made = (root / "spec/more.md").read_text(encoding="utf-8")
    assert made.startswith("## JNY-Reader-02: Winding\n\n*End* *JNY-Reader-02*\n")
    assert bells.rstrip() in made


# Verifies: REQ-o00044-B
def test_a_new_requirement_is_written_as_the_others_of_its_file(agent: McpClient, root: Path) -> None:
    agent("mutate_add_requirement", req_id="REQ-d00009", title="New", level="dev", parent_id="REQ-p00001")
    agent("mutate_add_edge", source_id="REQ-d00009", target_id="REQ-d00001", edge_kind="refines")
    agent("save_mutations")
    fields = "**Level**: dev | **Status**: Draft | **Implements**: REQ-p00001\n**Refines**: REQ-d00001\n"
    assert f"## REQ-d00009: New\n\n{fields}" in (root / "spec/clock.md").read_text(encoding="utf-8")


# Verifies: REQ-d00390-C
def test_such_drafts_can_be_undone(agent: McpClient, root: Path) -> None:
    agent("mutate_delete_remainder", node_id="REQ-p00001:section:0", confirm=True)
    agent("mutate_delete_remainder", node_id="REQ-p00001:section:0", confirm=True)
    agent("mutate_delete_journey", node_id="JNY-Reader-01", confirm=True)
    agent("mutate_move_node_to_file", node_id="REQ-d00002", target_file_id="spec/more.md")
    assert [each["kind"] for each in agent("get_node", node_id="REQ-p00001")["children"][:1]] == ["assertion"]
    assert agent("save_mutations")["saved_count"] == 4
    for _ in range(4):
        agent("undo_last_mutation")
    agent("save_mutations")
    assert (root / "spec/clock.md").read_text(encoding="utf-8") == SPEC
    assert not (root / "spec/more.md").exists()


# Verifies: REQ-d00390-C
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("mutate_add_remainder", {"req_id": "REQ-p00001", "heading": "Notes", "text": "# REQ-d00009: Another"}),
        ("mutate_add_remainder", {"req_id": "REQ-p00001", "heading": "Notes", "text": "*End* *Keeping time*"}),
        ("mutate_add_remainder", {"req_id": "REQ-p00001", "heading": "Two\nlines", "text": "x"}),
        ("mutate_update_remainder", {"node_id": "REQ-p00001:section:1"}),
        ("mutate_update_remainder", {"node_id": "REQ-p00001", "text": "x"}),
        ("mutate_delete_remainder", {"node_id": "REQ-p00001:section:1"}),
        ("mutate_set_stereotype", {"node_id": "REQ-p00002", "is_template": False}),
        ("mutate_update_journey_field", {"node_id": "JNY-Reader-01", "field_name": "colour", "value": "x"}),
        ("mutate_update_journey_field", {"node_id": "REQ-p00001", "field_name": "goal", "value": "x"}),
        ("mutate_journey_section", {"node_id": "JNY-Reader-01", "action": "update", "name": "Nope", "content": "x"}),
        ("mutate_add_journey", {"journey_id": "REQ-d00009", "title": "x", "file_id": "spec/clock.md"}),
        ("mutate_add_journey", {"journey_id": "JNY-Reader-01", "title": "x", "file_id": "spec/clock.md"}),
        ("mutate_change_edge_targets", {"source_id": "d1", "target_id": "p1", "assertion_targets": ["Z"]}),
        ("mutate_move_node_to_file", {"node_id": "REQ-d00001", "target_file_id": "file:REQ:src/clock.py"}),
        ("mutate_move_node_to_file", {"node_id": "REQ-d00001", "target_file_id": "spec/clock.md"}),
        ("mutate_update_title", {"node_id": "REQ-d00001::REQ-p00002", "new_title": "x"}),
    ],
)
def test_what_would_not_read_as_meant_is_refused(agent: McpClient, tool: str, arguments: dict[str, object]) -> None:
    agent.error(tool, **arguments)
    assert agent("get_mutation_log")["total"] == 0


# Verifies: REQ-d00390-D
def test_a_file_is_renamed_at_once_or_not_at_all(agent: McpClient, root: Path) -> None:
    rename = {"file_id": "file:REQ:spec/clock.md", "new_relative_path": "spec/time.md"}
    draft = agent("mutate_update_title", node_id="REQ-d00001", new_title="Long hands")
    assert "drafts" in agent.error("mutate_rename_file", **rename)["message"]
    assert draft["success"]
    agent("undo_last_mutation")
    (root / "spec/time.md").write_text("Taken.\n", encoding="utf-8")
    assert "already" in agent.error("mutate_rename_file", **rename)["message"]
    (root / "spec/time.md").unlink()
    assert agent.error("mutate_rename_file", **rename, if_version="old")["code"] == "conflict"
    assert agent("mutate_rename_file", **rename)["dest_file"] == "spec/time.md"
    assert (root / "spec/time.md").read_text(encoding="utf-8") == SPEC
    assert not (root / "spec/clock.md").exists()
    assert agent("get_requirement", req_id="d1")["source"]["path"] == "spec/time.md"


# Verifies: REQ-d00399-A, REQ-d00399-C, REQ-d00399-D
def test_scopes_are_declared_in_the_settings(agent: McpClient, root: Path) -> None:
    config, settings = "file:REQ:.elspais.toml", root / ".elspais.toml"
    before = settings.read_text(encoding="utf-8") if settings.exists() else ""
    settings.write_text(before or '[project]\nname = "clock"\n', encoding="utf-8")
    before = settings.read_text(encoding="utf-8")
    version = agent("get_versions", node_ids=[config])["versions"][config]
    new = {"config_file_id": config, "table": "scopes", "name": "board", "settings": {"level": ["prd"]}}
    assert agent.error("mutate_add_declaration", **new, if_version="old")["code"] == "conflict"
    added = agent("mutate_add_declaration", **new, if_version=version)
    id = "decl:REQ:.elspais.toml:scopes:board"
    assert (added["success"], added["declaration_id"], added.get("shadowed_by")) == (True, id, None)
    assert settings.read_text(encoding="utf-8") == f'{before}\n[scopes.board]\nlevel = ["prd"]\n'
    assert agent("get_versions", node_ids=[id, "decl:x"])["versions"] == {id: added["version"]}
    shown = agent("get_node", node_id=id)
    assert (shown["kind"], shown["properties"], shown["version"]) == (
        "declaration",
        {"level": ["prd"]},
        added["version"],
    )
    assert [each["id"] for each in agent("get_node", node_id=config)["children"]] == [id]
    assert "case does not count" in agent.error("mutate_add_declaration", **{**new, "name": "BOARD"})["message"]
    assert "'levels'" in agent.error("mutate_add_declaration", **{**new, "table": "levels"})["message"]
    assert "nope" in agent.error("mutate_add_declaration", **{**new, "settings": {"nope": []}})["message"]
    wrong = agent.error("mutate_update_declaration", declaration_id=id, settings={}, if_version="old")
    assert wrong["code"] == "conflict"
    (root / ".elspais.local.toml").write_text('[scopes.Board]\nlevel = ["dev"]\n', encoding="utf-8")
    changed = agent("mutate_update_declaration", declaration_id=id, settings={"status": ["Active"]})
    assert (changed["shadowed_by"], changed["version"] != added["version"]) == (".elspais.local.toml", True)
    (root / ".elspais.local.toml").unlink()
    renamed = agent("mutate_rename_declaration", declaration_id=id.replace("board", "BOARD"), new_name="council")
    assert renamed["declaration_id"] == id.replace("board", "council")
    assert settings.read_text(encoding="utf-8") == f'{before}\n[scopes.council]\nstatus = ["Active"]\n'
    gone = agent("mutate_delete_declaration", declaration_id=renamed["declaration_id"], if_version=renamed["version"])
    assert "version" not in gone
    assert settings.read_text(encoding="utf-8") == before
    assert "There are: none" in agent.error("mutate_delete_declaration", declaration_id="decl:x")["hint"]


# Verifies: REQ-d00390-E, REQ-d00390-F
def test_lists_and_rules_are_answered(agent: McpClient, root: Path) -> None:
    found = agent("discover_assertions", query="hour")["assertions"]
    assert [(each["id"], each["direct_match"]) for each in found] == [("REQ-p00001-A", True), ("REQ-p00001-B", False)]
    assert agent("discover_assertions", query="log", scope_id="REQ-p00002")["stats"]["requirements_matched"] >= 1
    assert agent("get_unlinked_nodes")["by_kind"] == {"test": 1}
    assert {"clock", "rotate", "reader"} <= set(agent("get_all_keywords")["keywords"])
    stale = agent("get_check_findings", check="terms.unused")
    defined = [SPEC.split("\n").index(name) + 1 for name in ("Chime", "Gadgets")]
    assert [each["line"] for each in stale["findings"]] == defined
    assert "terms.unused" in stale["known_checks"]
    assert agent("get_unresolved_references")["total"] == 0
    assert agent("faq", topic="hash")["count"] >= 1
    assert "get_node" in agent("docs", topic="get_node")["content"]
    assert "if_version" in agent("agent_instructions")["concurrency_protocol"]


# Verifies: REQ-d00390-E
def test_changed_requirements_are_told_from_others(root: Path, opened: Opened) -> None:
    for words in (("init", "-qb", "main"), ("add", "-A"), ("commit", "-qm", "one")):
        somebody = ("-c", "user.name=T", "-c", "user.email=t@example.invalid")
        subprocess.run(("git", *somebody, *words), cwd=root, check=True)
    changed = SPEC.replace("Hands SHALL move.", "Hands SHALL turn.")
    (root / "spec/clock.md").write_text(changed, encoding="utf-8")
    with McpClient(opened(root), Options(profile="elspais")) as agent:
        found = agent("get_changed_requirements")
    assert [each["id"] for each in found["requirements"]] == ["REQ-d00001"]
    state = found["requirements"][0]["git_state"]
    assert (state["is_uncommitted"], state["is_modified"], state["is_new"]) == (True, True, False)
    assert found["summary"] == {"uncommitted": 1, "branch_changed": 0}


# Verifies: REQ-d00390-F
def test_the_rules_for_authors_are_those_that_the_settings_name(root: Path, opened: Opened) -> None:
    settings = FILES[".elspais.toml"] + '\n[rules]\ncontent_rules = ["RULES.md", "../secret.md"]\n'
    (root / ".elspais.toml").write_text(settings, encoding="utf-8")
    (root / "RULES.md").write_text("Write SHALL.\n", encoding="utf-8")
    with McpClient(opened(root), Options(profile="elspais")) as agent:
        told = agent("agent_instructions")
    assert told["instructions"] == [{"file": "RULES.md", "content": "Write SHALL.\n"}]
    assert "../secret.md" in told["notes"][0]


# Verifies: REQ-d00391-A, REQ-d00391-B
def test_what_satisfies_a_template_has_a_copy_of_it(agent: McpClient) -> None:
    children = [each["id"] for each in agent("get_requirement", req_id="d1")["children"]]
    assert children == ["REQ-d00001::REQ-o00002", "REQ-d00001::REQ-p00002"]
    copy = agent("get_requirement", req_id="REQ-d00001::REQ-p00002")
    assert [(each["id"], each["tested"]) for each in copy["assertions"]] == [
        ("REQ-d00001::REQ-p00002-A", True),
        ("REQ-d00001::REQ-p00002-B", False),
    ]
    assert (copy["coverage"]["tested"], copy["coverage"]["implemented_total_covered"]) == (1, 1)
    assert [each["id"] for each in copy["parents"]] == ["REQ-d00001"]
    part = agent("get_requirement", req_id="REQ-d00002::REQ-p00002")
    assert [each["label"] for each in part["assertions"]] == ["A"]
    assert agent.error("get_requirement", req_id="REQ-d00002::REQ-o00002")["code"] == "not_found"
    place = agent("get_hierarchy", req_id="REQ-d00001::REQ-p00002")
    assert [each["id"] for each in place["ancestors"]][:1] == ["REQ-d00001"]
    proved = agent("get_test_coverage", req_id="REQ-d00001::REQ-p00002")
    assert proved["covered_assertions"] == ["REQ-d00001::REQ-p00002-A"]
    assert [each["id"] for each in proved["test_nodes"]] == ["test:tests/test_clock.py::test_log"]
    assert agent("get_project_summary")["requirements_by_level"]["all"] == {"prd": 2, "ops": 1, "dev": 2}


# Verifies: REQ-d00392-A
def test_terms_are_read_with_their_uses(agent: McpClient) -> None:
    found = agent("get_terms")
    assert [(each["term"], each["ref_count"]) for each in found["terms"]] == [("Chime", 0), ("Gadgets", 0), ("Hand", 3)]
    hand = agent("get_term_detail", term="hand")
    assert hand["definition_hash"] == "a439f6f6"
    uses = [(each["node_id"], each["marked"]) for each in hand["references"]]
    assert uses == [
        ("rem:REQ:spec/clock.md:3", True),
        ("rem:REQ:spec/clock.md:3", False),
        ("REQ-p00001:section:0", True),
    ]
    assert [each["term"] for each in agent("search_terms", query="sound")["results"]] == ["Chime"]
    assert agent.error("get_term_detail", term="nothing")["code"] == "not_found"


# Verifies: REQ-d00393-A, REQ-d00393-B
def test_journeys_have_results_and_cover_assertions(agent: McpClient, root: Path) -> None:
    told = agent("get_test_coverage", req_id="REQ-p00001")["uat"]
    assert told["covered_assertions"] == told["validated_assertions"] == ["REQ-p00001-A"]
    assert (told["referenced_pct"], told["validated_pct"]) == (50.0, 50.0)
    assert told["jny_nodes"][0]["verdict"] == "passed"
    (root / "uat-results.csv").write_text("journey_id,status,by\nJNY-Reader-01,FAIL,Grace\n,x\n", encoding="utf-8")
    told = agent("get_test_coverage", req_id="REQ-p00001")["uat"]
    assert (told["validated_pct"], told["failed_assertions"]) == (0.0, ["REQ-p00001-A"])
