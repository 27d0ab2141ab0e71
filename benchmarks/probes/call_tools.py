"""Calls tools in process, as the server does in a worker thread, and says how long each call took."""

import json
import random
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.probes.stopwatch import Stopwatch
from clew.graph.model import NodeKind
from clew.operation.call import Call, carry_out
from clew.operation.listing import all_tools
from clew.operation.names import by_any_spelling
from clew.project import Project

WARM_UP_CALLS = 3

WORDS = ("ledger invoice", "gateway payment", "telemetry permit", "audit record", "scheduler expired", "accept request")
PHRASES = ('"audit record"', '"every expired invoice"', '"without changing any other"', '"loses a voucher"')
KEYWORDS = (["ledger", "invoice"], ["voucher"], ["audit"], ["expired", "permit"])
LEVELS = ("prd", "ops", "dev")
PATTERNS = (r"SHALL (reject|refuse) every \w+ invoice", r"\b\d{2} days\b", r"REQ-d000[0-4]\d", r"telemetry.{0,40}log")


def calls(ids: Sequence[str]) -> dict[str, tuple[str, list[dict[str, Any]]]]:
    """By figure: the tool and the arguments of call after call."""
    by_id = [{"req_id": id} for id in ids]
    return {
        "get_requirement": ("get_requirement", by_id),
        "get_hierarchy": ("get_hierarchy", by_id),
        "get_graph_status": ("get_graph_status", [{}]),
        "search, two words": ("search", [{"query": query} for query in WORDS]),
        "search, phrase": ("search", [{"query": query} for query in PHRASES]),
        "search, pattern": ("search", [{"query": query, "regex": True} for query in PATTERNS]),
        "get_project_summary": ("get_project_summary", [{}]),
        **_lists(ids),
        "clew_brief": ("clew_brief", [{}]),
    }


def _lists(ids: Sequence[str]) -> dict[str, tuple[str, list[dict[str, Any]]]]:
    """The tools that list. Every subtree is that of another requirement; the largest is that of the first one."""
    by_id = [{"req_id": id} for id in ids]
    subtrees = [{"root_id": id} for id in ids]
    products = [id for id in ids if id.startswith("REQ-p")]
    return {
        "query_nodes, by level": ("query_nodes", [{"kind": "requirement", "level": name} for name in LEVELS]),
        "query_nodes, keywords": ("query_nodes", [{"kind": "requirement", "keywords": words} for words in KEYWORDS]),
        "get_test_coverage": ("get_test_coverage", by_id),
        "get_uncovered_assertions, one requirement": ("get_uncovered_assertions", by_id),
        "get_uncovered_assertions, all": ("get_uncovered_assertions", [{}]),
        "find_assertions_by_keywords": ("find_assertions_by_keywords", [{"keywords": words} for words in KEYWORDS]),
        "find_by_keywords": ("find_by_keywords", [{"keywords": words} for words in KEYWORDS]),
        "get_broken_references": ("get_broken_references", [{}]),
        "get_orphaned_nodes": ("get_orphaned_nodes", [{}]),
        "get_subtree, markdown": ("get_subtree", subtrees),
        "get_subtree, flat": ("get_subtree", [{**each, "format": "flat"} for each in subtrees]),
        "get_subtree, nested": ("get_subtree", [{**each, "format": "nested"} for each in subtrees]),
        "get_subtree, largest": ("get_subtree", [{"root_id": min(ids, key=lambda id: (id not in products, id))}]),
        "minimize_requirement_set, 50 ids": (
            "minimize_requirement_set",
            [{"req_ids": list(ids[start : start + 50])} for start in range(0, 1_000, 50)],
        ),
        "scoped_search": ("scoped_search", [{"query": "ledger", "scope_id": id} for id in products]),
        "discover_requirements": ("discover_requirements", [{"query": "ledger", "scope_id": id} for id in products]),
        "open_cursor, subtree": ("open_cursor", [{"query": "subtree", "params": each} for each in subtrees]),
        "open_cursor, all assertions": ("open_cursor", [{"query": "query_nodes", "params": {"kind": "assertion"}}]),
        "cursor_next, 5 items": ("cursor_next", [{"count": 5}]),
        "cursor_info": ("cursor_info", [{}]),
    }


def timed(project: Project, name: str, arguments: Sequence[Mapping[str, Any]], rounds: int) -> dict[str, list[float]]:
    tool = by_any_spelling(all_tools())[name]
    for given in arguments[:WARM_UP_CALLS]:
        carry_out(tool, given, Call(project, all_tools()))
    watch = Stopwatch()
    for number in range(rounds):
        given = arguments[number % len(arguments)]
        with watch.sample():
            carry_out(tool, given, Call(project, all_tools()))
    return watch.as_data()


def main() -> None:
    rounds: dict[str, int] = json.loads(sys.argv[2])
    project = Project.open(sys.argv[1])
    project.ensure_graph()
    ids = sorted(node.id for node in project.graph.nodes_by_kind(NodeKind.REQUIREMENT))
    random.Random(1).shuffle(ids)
    plan = calls(ids)
    found = {figure: timed(project, *plan[figure], rounds[figure]) for figure in rounds}
    project.close()
    print(json.dumps(found))


main()
