"""The seven queries that a cursor can be opened on: each takes the arguments of its own tool."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument
from clew.operation.call import decode_as
from clew.trace.operations.find import GetSubtree, GetTestCoverage, GetUncoveredAssertions, QueryNodes, ScopedSearch
from clew.trace.operations.read import GetHierarchy, SearchRequirements

CursorQuery = (
    GetSubtree
    | SearchRequirements
    | GetHierarchy
    | QueryNodes
    | GetTestCoverage
    | GetUncoveredAssertions
    | ScopedSearch
)

QUERIES: dict[str, type[CursorQuery]] = {
    "subtree": GetSubtree,
    "search": SearchRequirements,
    "hierarchy": GetHierarchy,
    "query_nodes": QueryNodes,
    "test_coverage": GetTestCoverage,
    "uncovered_assertions": GetUncoveredAssertions,
    "scoped_search": ScopedSearch,
}

LIMITED = ("search", "query_nodes", "scoped_search")
"""The queries of which somebody may want only the first results."""
OF_PAGES = ("limit", "cursor", "max_tokens", "format")
"""Arguments of the tools that say how an answer is cut and written; a cursor has no pages."""


class CursorRequest(msgspec.Struct, frozen=True):
    """The query of a cursor, with its limit and batch size."""

    query: CursorQuery
    limit: int | None
    """Results at most; None for all."""


class _Most(msgspec.Struct, frozen=True):
    limit: Annotated[int, Meta(ge=1)] | None = None


def decoded(name: str, params: Mapping[str, Any]) -> CursorRequest:
    """The arguments as those of the query's own tool, or an error that says which one breaks which rule."""
    about = f"The query {name}"
    most = {"limit": params["limit"]} if "limit" in params and name in LIMITED else {}
    others = {key: value for key, value in params.items() if key not in most}
    for key in others:
        if key in OF_PAGES:
            raise InvalidArgument(f"{about} has no argument '{key}'.", hint="cursor_next sets the number of items.")
    kinds = others.get("include_kinds")
    if isinstance(kinds, list):
        others["include_kinds"] = ",".join(map(str, kinds))
    return CursorRequest(decode_as(QUERIES[name], others, about), decode_as(_Most, most, about).limit)
