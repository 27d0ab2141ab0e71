"""Server time of tool calls on the generated project: decoding, freshness, the handler, the budget."""

import json
import sys

from benchmarks.figures import Figure, Result, milliseconds
from benchmarks.workspace import Workspace, run

LIMITS_MS: dict[str, float | None] = {
    "get_requirement": 1.0,
    "get_hierarchy": 1.0,
    "get_graph_status": 1.0,
    "search, two words": 5.0,
    "search, phrase": 5.0,
    "search, pattern": 5.0,
    "get_project_summary": 20.0,
    "query_nodes, by level": 5.0,
    "query_nodes, keywords": 5.0,
    "get_test_coverage": 5.0,
    "get_uncovered_assertions, one requirement": 5.0,
    "get_uncovered_assertions, all": 30.0,
    "find_assertions_by_keywords": 5.0,
    "find_by_keywords": 5.0,
    "get_broken_references": 5.0,
    "get_orphaned_nodes": 30.0,
    "get_subtree, markdown": 5.0,
    "get_subtree, flat": 5.0,
    "get_subtree, nested": 5.0,
    "get_subtree, largest": 30.0,
    "minimize_requirement_set, 50 ids": 5.0,
    "scoped_search": 5.0,
    "discover_requirements": 5.0,
    "open_cursor, subtree": 5.0,
    "open_cursor, all assertions": 30.0,
    "cursor_next, 5 items": 5.0,
    "cursor_info": 1.0,
    "clew_brief": None,
}


def measure(space: Workspace, *, quick: bool) -> Result:
    rounds = {figure: _rounds(figure) // (5 if quick else 1) for figure in LIMITS_MS}
    module = "benchmarks.probes.call_tools"
    found = json.loads(run(sys.executable, "-m", module, str(space.generated), json.dumps(rounds)))
    return Result(
        f"Server time on {space.shape.requirements:,} requirements, in a git work tree",
        tuple(
            Figure(figure, "ms", milliseconds(found[figure]["seconds"]), limit, milliseconds(found[figure]["cpu"]))
            for figure, limit in LIMITS_MS.items()
        ),
    )


def _rounds(figure: str) -> int:
    """Calls that take microseconds are repeated more often."""
    return 1_000 if LIMITS_MS[figure] == 1.0 else 100
