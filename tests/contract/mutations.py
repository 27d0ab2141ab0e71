"""Calls of the mutation tools that suit the demo."""

from typing import Any

from tests.contract.elspais import Ask, pages

MUTATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "mutate_rename_node": ("rename_node", {"old_id": "REQ-d00001", "new_id": "REQ-d00099"}),
    "mutate_update_title": ("update_title", {"node_id": "REQ-d00001", "new_title": "Tables"}),
    "mutate_change_status": ("change_status", {"node_id": "REQ-d00001", "new_status": "Deprecated"}),
    "mutate_add_requirement": (
        "add_requirement",
        {"req_id": "REQ-d00099", "title": "New", "level": "dev", "parent_id": "REQ-o00001", "edge_kind": "refines"},
    ),
    "mutate_delete_requirement": ("delete_requirement", {"node_id": "REQ-d00001", "confirm": True}),
    "mutate_add_assertion": ("add_assertion", {"req_id": "REQ-d00001", "label": "D", "text": "It SHALL."}),
    "mutate_update_assertion": ("update_assertion", {"assertion_id": "REQ-d00001-A", "new_text": "It SHALL."}),
    "mutate_delete_assertion": ("delete_assertion", {"assertion_id": "REQ-d00001-A", "confirm": True}),
    "mutate_rename_assertion": ("rename_assertion", {"old_id": "REQ-d00001-A", "new_label": "Q"}),
    "mutate_add_edge": (
        "add_edge",
        {
            "source_id": "REQ-d00001",
            "target_id": "REQ-o00001",
            "edge_kind": "refines",
            "assertion_targets": ["A"],
        },
    ),
    "mutate_change_edge_kind": (
        "change_edge_kind",
        {"source_id": "REQ-d00001", "target_id": "REQ-o00002", "new_kind": "refines"},
    ),
    "mutate_delete_edge": ("delete_edge", {"source_id": "REQ-d00001", "target_id": "REQ-o00002", "confirm": True}),
    "mutate_fix_broken_reference": ("fix_broken_reference", {}),
}
"""Of each tool: the operation that it logs, and arguments for the demo."""


def broken_references(ask: Ask) -> list[dict[str, Any]]:
    return pages(ask, "get_broken_references", "broken_references")


def arguments_for(ask: Ask, tool: str) -> dict[str, Any]:
    if tool == "mutate_fix_broken_reference":
        (broken,) = broken_references(ask)
        old, new = broken["target_id"], "REQ-o00001-A"
        return {"source_id": broken["source_id"], "old_target_id": old, "new_target_id": new}
    return MUTATIONS[tool][1]
