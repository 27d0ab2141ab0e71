"""What both say to a call of a tool of elspais, in a form that can be compared: what neither means to be the same, such
as times, versions, absolute paths and scores, is left out."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

Said = Mapping[str, Any]
Compared = Callable[[Any], object]

FILE = "file:REQ:spec/clock.md"
NAMES = ("id", "title", "level", "status")


def ids(items: Any, key: str = "id") -> list[str]:
    return sorted({each[key] for each in items})


def summaries(items: Any) -> list[tuple[str, ...]]:
    return sorted(tuple(each[name] for name in NAMES) for each in items)


def requirement(said: Said) -> object:
    named = [each for each in said["children"] if each["id"].startswith("REQ-")]
    return {
        **{name: said[name] for name in (*NAMES, "hash")},
        "assertions": [(each["id"], each["label"], " ".join(each["text"].split())) for each in said["assertions"]],
        "parents": ids(each for each in said["parents"] if each["id"].startswith("REQ-")),
        "children": ids(named),
    }


def node(said: Said) -> object:
    parts = [each for each in said["children"] if each["kind"] in ("assertion", "step")]
    sections = [each["text"] for each in said["children"] if each["kind"] == "remainder"]
    told = said["properties"].get("sections") or []
    return {
        **{name: said[name] for name in ("id", "kind", "title", "namespace")},
        "parts": [(each["kind"], each["id"], " ".join(each["text"].split())) for each in parts],
        "sections": sorted(sections or [each["content"] for each in told]),
    }


def uses(said: Said) -> object:
    """Where a term is used; of a section elspais tells another line than the one with the term."""
    return sorted(
        (each["node_id"], each["line"] if each["node_id"].startswith("file:") else 0, each["marked"])
        for each in said["references"]
    )


def results(said: Any) -> object:
    return ids(said["results"] if isinstance(said, Mapping) else said)


def coverage(said: Said) -> object:
    names = ("covered_assertions", "uncovered_assertions", "total_assertions", "covered_count")
    journeys = ids(said["uat"]["jny_nodes"])
    return {**{name: said[name] for name in names}, "tests": ids(said["test_nodes"]), "journeys": journeys}


def findings(said: Said) -> object:
    """How many findings a check has; elspais puts them below the check."""
    check = said if "findings" in said else said["checks"][0]
    return len(check["findings"])


def gaps(said: Said) -> object:
    return ids(said["requirements"], "req_id")


def mutation(said: Said) -> object:
    return (
        said["success"],
        said["mutation"]["operation"],
        said["mutation"]["target_id"],
        said["mutation"]["affects_hash"],
    )


def fault(said: Any) -> bool:
    """Whether a call failed; the words are each program's own."""
    return isinstance(said, Mapping) and (bool(said.get("error")) or said.get("success") is False)


CALLS: tuple[tuple[str, dict[str, Any], Compared], ...] = (
    *(
        ("get_requirement", {"req_id": id}, requirement)
        for id in ("REQ-p00001", "REQ-o00001", "REQ-d00001", "REQ-d00002")
    ),
    ("get_requirement", {"req_id": "REQ-d00001::REQ-p00002"}, requirement),
    ("get_requirement", {"req_id": "REQ-p09999"}, fault),
    *(("get_node", {"node_id": id}, node) for id in ("REQ-p00001", "REQ-p00001-A", "JNY-Reader-01", "JNY-Reader-01/1")),
    ("get_node", {"node_id": "REQ-d00001::REQ-p00002"}, node),
    ("get_node", {"node_id": "nothing"}, fault),
    *(
        ("get_hierarchy", {"req_id": id}, lambda said: (ids(said["ancestors"]), ids(said["children"])))
        for id in ("REQ-p00001", "REQ-d00001", "REQ-d00002")
    ),
    ("search", {"query": "hands", "field": "title"}, results),
    ("search", {"query": "REQ-d00001", "field": "id"}, results),
    ("search", {"query": "^Bell", "field": "title", "regex": True}, results),
    ("scoped_search", {"query": "hands", "scope_id": "REQ-p00001", "field": "title"}, results),
    ("query_nodes", {"kind": "requirement", "level": "dev"}, results),
    ("query_nodes", {"kind": "journey"}, results),
    ("discover_assertions", {"query": "hour"}, lambda said: [each["id"] for each in said["assertions"]][:1]),
    ("find_assertions_by_keywords", {"keywords": ["hour"]}, lambda said: ids(said["assertions"])),
    ("get_test_coverage", {"req_id": "REQ-d00001"}, coverage),
    ("get_test_coverage", {"req_id": "REQ-p00001"}, coverage),
    ("get_uncovered_assertions", {"source": "uat"}, gaps),
    ("get_uncovered_assertions", {}, gaps),
    ("get_project_summary", {}, lambda said: said["requirements_by_level"]["all"]["dev"]),
    ("get_project_summary", {}, lambda said: said["requirements_by_level"]["all"]["prd"]),
    ("get_graph_status", {}, lambda said: {kind: said["node_counts"][kind] for kind in ("code", "test", "journey")}),
    ("get_workspace_info", {}, lambda said: (said["project_name"], said["config_summary"]["prefix"])),
    ("get_changed_requirements", {}, lambda said: ids(said["requirements"])),
    ("get_unlinked_nodes", {}, lambda said: said["by_kind"]),
    ("get_unresolved_references", {}, lambda said: len(said["unresolved_references"])),
    ("get_terms", {}, lambda said: [(each["term"], each["ref_count"]) for each in said["terms"]]),
    (
        "get_term_detail",
        {"term": "hand"},
        lambda said: (said["definition"], said["definition_hash"], said["defined_in"], uses(said)),
    ),
    ("get_term_detail", {"term": "nothing"}, fault),
    ("search_terms", {"query": "clock"}, lambda said: [each["term"] for each in said["results"]]),
    ("get_versions", {"node_ids": ["REQ-p00001"]}, lambda said: list(said.get("versions", said))),
    ("get_subtree", {"root_id": "REQ-p00001", "format": "flat"}, lambda said: "REQ-d00001" in ids(said["nodes"])),
    ("minimize_requirement_set", {"req_ids": ["REQ-p00001", "REQ-d00002"]}, lambda said: ids(said["minimal_set"])),
    ("discover_requirements", {"query": "bells", "scope_id": "REQ-p00001"}, results),
    ("get_orphaned_nodes", {}, lambda said: said["count"]),
    ("get_check_findings", {"check": "references.unknown_requirement"}, findings),
    ("get_check_findings", {"check": "nothing"}, fault),
    ("find_by_keywords", {"keywords": ["bells"]}, results),
    ("get_all_keywords", {}, lambda said: "bells" in said["keywords"]),
    ("suggest_links", {"limit": 5}, lambda said: said["suggestions"]),
    *(
        (tool, arguments, lambda said: {name: said[name] for name in ("success", "position", "total", "remaining")})
        for tool, arguments in (
            ("open_cursor", {"query": "search", "params": {"query": "hands"}}),
            ("cursor_info", {}),
            ("cursor_next", {"count": 1}),
        )
    ),
    ("refresh_graph", {}, lambda said: said["success"]),
    ("list_safety_branches", {}, lambda said: said["count"]),
    ("agent_instructions", {}, lambda said: (said["instructions"], said["count"], bool(said["concurrency_protocol"]))),
    ("docs", {}, lambda said: {"assertions", "linking", "satisfies", "terms", "concurrency"} <= {*said["topics"]}),
    ("docs", {"topic": "terms"}, lambda said: (said["topic"], bool(said["content"]))),
    ("faq", {}, lambda said: "linking" in {each["topic"] for each in said["entries"]}),
    ("get_mutation_log", {}, lambda said: said["total"]),
)
"""Questions, with what is compared of the answers."""

MORE: tuple[tuple[str, dict[str, Any]], ...] = (
    *(
        ("get_workspace_info", {"detail": detail})
        for detail in ("testing", "code-refs", "coverage", "retrofit", "manager", "worktree", "all")
    ),
    ("get_uncovered_assertions", {"req_id": "REQ-p00001"}),
    ("get_subtree", {"root_id": "REQ-p00001", "format": "nested"}),
    ("faq", {"topic": "linking"}),
)
"""Questions of which only the keys of the answers are compared."""


def asked() -> Iterator[tuple[str, dict[str, Any], str]]:
    """Every question and change, each with the node whose version guards it, if any."""
    for tool, arguments, _ in CALLS:
        yield tool, arguments, ""
    for tool, arguments in MORE:
        yield tool, arguments, ""
    for tool, guarded, arguments, _ in CHANGES:
        yield tool, arguments, guarded


Call = Callable[..., Any]


def writes(call: Call) -> Iterator[tuple[str, object]]:
    """What becomes of a folder that the tools which write are called on, one after another."""

    def version(id: str) -> str:
        said = call("get_versions", node_ids=[id])
        return str(said.get("versions", said).get(id, ""))

    def tip() -> str:
        return str(call("get_mutation_log", limit=1)["current_tip"] or "")

    def retitle(title: str) -> Any:
        return call("mutate_update_title", node_id="REQ-d00001", new_title=title, if_version=version("REQ-d00001"))

    other = "file:REQ:spec/bells.md"
    retitle("Fingers")
    yield "undo_last_mutation", mutation(call("undo_last_mutation", if_mutation_id=tip()))
    first = retitle("Fingers")["mutation"]["id"]
    retitle("Pointers")
    said = call("undo_to_mutation", mutation_id=first, if_tip_mutation_id=tip())
    yield "undo_to_mutation", (said["success"], said["mutations_undone"])
    section = {"node_id": "REQ-p00001:section:0", "if_version": version("REQ-p00001"), "confirm": True}
    yield "mutate_delete_remainder", mutation(call("mutate_delete_remainder", **section))
    moving = {"node_id": "REQ-d00002", "target_file_id": other, "if_version": version("REQ-d00002")}
    files = {"if_source_file_version": version(FILE), "if_target_version": version(other)}
    yield "mutate_move_node_to_file", mutation(call("mutate_move_node_to_file", **moving, **files))
    said = call("save_mutations", if_tip_mutation_id=tip(), save_branch=True, message="Bells")
    yield "save_mutations", (said["success"], said["saved_count"], said["conflicts"], said["errors"], said["skipped"])
    yield "list_safety_branches", call("list_safety_branches")["count"]
    kind = {"req_id": "REQ-d00001", "target_id": "REQ-o00001", "new_type": "REFINES"}
    yield "change_reference_type", call("change_reference_type", **kind, if_version=version("REQ-d00001"))["success"]
    said = call("move_requirement", req_id="REQ-o00001", target_file="spec/bells.md", if_version=version("REQ-o00001"))
    yield "move_requirement", (said["success"], said["source_empty"], said["dry_run"])
    link = {"file_path": "tests/test_clock.py", "line": 1, "requirement_id": "REQ-d00001-B"}
    wrong = call("apply_link", **link, if_version="wrong")
    yield "apply_link with another version", fault(wrong)
    said = call("apply_link", **link, if_version=version("file:REQ:tests/test_clock.py"))
    yield "apply_link", {name: said[name] for name in ("success", "comment", "line", "requirement_id")}
    renaming = {"file_id": other, "new_relative_path": "spec/chimes.md", "if_version": version(other)}
    yield "mutate_rename_file", call("mutate_rename_file", **renaming)["success"]
    call("save_mutations", if_tip_mutation_id=tip(), message="Chimes")
    for id in ("REQ-p00001", "REQ-o00001", "REQ-d00001", "REQ-d00002"):
        yield f"{id} afterwards", (requirement(call("get_requirement", req_id=id)), _place(call, id))
    yield (
        "restore_from_safety_branch",
        fault(call("restore_from_safety_branch", branch_name="x", if_tip_mutation_id="")),
    )


def declarations(call: Call, folder: Path) -> Iterator[tuple[str, object, str]]:
    """What the tools for declarations say, one after another, and what stands in the settings afterwards."""
    file, names = "file:REQ:.elspais.toml", "decl:REQ:.elspais.toml:scopes:"

    def version(id: str) -> str:
        said = call("get_versions", node_ids=[id])
        return str(said.get("versions", said).get(id, ""))

    adding = {"config_file_id": file, "table": "scopes"}
    board = {"name": "board", "settings": {"level": ["prd"], "status": ["Active"], "match_status_roles": True}}
    for tool, id, arguments in (
        ("mutate_add_declaration", file, {**adding, **board}),
        ("mutate_add_declaration", file, {**adding, **board, "name": "BOARD"}),
        ("mutate_add_declaration", file, {**adding, **board, "name": "a b"}),
        ("mutate_add_declaration", file, {**adding, **board, "table": "levels"}),
        ("mutate_add_declaration", file, {**adding, "name": "other", "settings": {"nothing": ["prd"]}}),
        ("mutate_add_declaration", file, {**adding, "name": "empty", "settings": {}}),
        ("mutate_update_declaration", f"{names}board", {"settings": {"level": ["prd", "ops"], "values": ["tested"]}}),
        ("mutate_update_declaration", f"{names}all", {"settings": {"level": ["dev"], "not_status": ["Draft"]}}),
        ("mutate_rename_declaration", f"{names}all", {"new_name": "everybody"}),
        ("mutate_rename_declaration", f"{names}board", {"new_name": "Everybody"}),
        ("mutate_delete_declaration", f"{names}board", {}),
        ("mutate_delete_declaration", f"{names}board", {}),
    ):
        own = {} if id == file else {"declaration_id": id}
        said = call(tool, **own, **arguments, if_version=version(id))
        if tip := call("get_mutation_log", limit=1)["current_tip"]:
            call("save_mutations", if_tip_mutation_id=tip, message="Scopes")
        text = (folder / ".elspais.toml").read_text(encoding="utf-8")
        yield f"{tool} {id}", (bool(said.get("success")), said.get("declaration_id")), text


def _place(call: Call, id: str) -> str:
    """The file that holds a requirement; elspais may give an absolute path."""
    return str(call("get_requirement", req_id=id)["source"]["path"]).rpartition("spec/")[2]


CHANGES: tuple[tuple[str, str, dict[str, Any], Compared], ...] = (
    ("mutate_update_title", "REQ-d00001", {"node_id": "REQ-d00001", "new_title": "Long hands"}, mutation),
    ("mutate_change_status", "REQ-o00001", {"node_id": "REQ-o00001", "new_status": "Draft"}, mutation),
    ("mutate_add_assertion", "REQ-o00001", {"req_id": "REQ-o00001", "text": "It SHALL tick."}, mutation),
    ("mutate_update_assertion", "REQ-p00001", {"assertion_id": "REQ-p00001-A", "new_text": "It SHALL show."}, mutation),
    ("mutate_update_remainder", "REQ-p00001", {"node_id": "REQ-p00001:section:0", "text": "So."}, mutation),
    ("mutate_set_stereotype", "REQ-p00002", {"node_id": "REQ-p00002", "is_template": False}, fault),
    (
        "mutate_update_journey_field",
        "JNY-Reader-01",
        {"node_id": "JNY-Reader-01", "field_name": "goal", "value": "Know"},
        mutation,
    ),
    ("mutate_rename_assertion", "REQ-o00001", {"old_id": "REQ-o00001-A", "new_label": "C"}, mutation),
    ("mutate_delete_assertion", "REQ-d00001", {"assertion_id": "REQ-d00001-B", "confirm": True}, mutation),
    ("mutate_add_remainder", "REQ-d00001", {"req_id": "REQ-d00001", "heading": "Notes", "text": "Some."}, mutation),
    *(
        (tool, "REQ-d00002", {"source_id": "REQ-d00002", "target_id": "REQ-o00001", **more}, mutation)
        for tool, more in (
            ("mutate_add_edge", {"edge_kind": "refines"}),
            ("mutate_change_edge_kind", {"new_kind": "implements"}),
            ("mutate_change_edge_targets", {"assertion_targets": ["C"]}),
            ("mutate_delete_edge", {"confirm": True}),
        )
    ),
    (
        *("mutate_fix_broken_reference", "REQ-d00002"),
        {"source_id": "REQ-d00002", "old_target_id": "REQ-p00099", "new_target_id": "REQ-o00001"},
        mutation,
    ),
    (
        *("mutate_journey_section", "JNY-Reader-01"),
        {"node_id": "JNY-Reader-01", "action": "add", "name": "Notes", "content": "Some."},
        mutation,
    ),
    ("mutate_add_journey", FILE, {"journey_id": "JNY-Reader-02", "title": "More", "file_id": FILE}, mutation),
    ("mutate_delete_journey", "JNY-Reader-01", {"node_id": "JNY-Reader-01", "confirm": True}, mutation),
    ("mutate_rename_node", "REQ-d00002", {"old_id": "REQ-d00002", "new_id": "REQ-d00012"}, mutation),
    (
        *("mutate_add_requirement", "REQ-p00001"),
        {"req_id": "REQ-d00020", "title": "New", "level": "dev", "parent_id": "REQ-p00001"},
        mutation,
    ),
    ("mutate_delete_requirement", "REQ-d00003", {"node_id": "REQ-d00003"}, fault),
    ("mutate_delete_requirement", "REQ-d00003", {"node_id": "REQ-d00003", "confirm": True}, fault),
)
"""Mutations: tool, the node whose version guards it, arguments, and what is compared."""
