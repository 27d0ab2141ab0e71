"""Toolset trace: the cursor protocol of elspais, for going through results item by item."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.compat.elspais.cursor import MOST_ITEMS, CursorState
from clew.compat.elspais.items import CursorContents, written_out
from clew.compat.elspais.queries import decoded
from clew.compat.elspais.results import CursorBatch, CursorInfo, CursorOpened
from clew.operation.budget import HARD_TOKENS, Budget, fit, longest_page
from clew.operation.call import Call
from clew.operation.declare import MaxTokens, Operation, Toolset

Query = Literal[
    "subtree", "search", "hierarchy", "query_nodes", "test_coverage", "uncovered_assertions", "scoped_search"
]
CursorId = Annotated[
    Annotated[str, Meta(min_length=1, max_length=100)] | None,
    Meta(description="As returned when the cursor was opened; needed only where the connection keeps no session"),
]


class OpenCursor(
    Operation,
    tool="open_cursor",
    toolset=Toolset.TRACE,
    title="Go through results one by one",
    idempotent=False,
    example={"query": "subtree", "params": {"root_id": "REQ-p00001"}, "batch_size": 0},
):
    """Runs a query, keeps its results and returns the first; cursor_next returns the following ones. Use it to look at
    many items without reading all, and stop when you know enough. params are those of get_subtree, `search`,
    get_hierarchy, query_nodes, get_test_coverage, get_uncovered_assertions or scoped_search. A session has one cursor;
    opening another closes it. It ends after 30 minutes without use."""

    query: Annotated[Query, Meta(description="The query")]
    params: Annotated[dict[str, Any], Meta(description="Arguments of that query's own tool")] = msgspec.field(
        default_factory=dict
    )
    batch_size: Annotated[
        Literal[-1, 0, 1],
        Meta(description="-1: assertions as items of their own; 0: nodes with assertions; 1: and a preview below"),
    ] = 1
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> CursorOpened:
        graph = call.project.graph
        asked = decoded(self.query, self.params)
        state = CursorState.on(
            CursorContents(graph, call.project.trace).entries(asked, self.batch_size, call.check),
            query=self.query,
            params=self.params,
            batch_size=self.batch_size,
            fingerprint=graph.state.fingerprint,
        )
        first = written_out(graph, state, 0, 1)
        opened = CursorOpened(
            success=True,
            cursor_id=state.id,
            query=state.query,
            params=state.params,
            batch_size=state.batch_size,
            total=len(state.items),
            position=state.position,
            remaining=state.remaining,
            current=first[0] if first else None,
            left_out=state.left_out,
        )
        _check_room(opened, self.max_tokens)
        call.project.open_cursors.open(call.session, state, call.credential)
        return opened


class CursorNext(
    Operation,
    tool="cursor_next",
    toolset=Toolset.TRACE,
    title="Next items of the cursor",
    idempotent=False,
):
    """The next `count` items of the open cursor; the cursor moves by as many as were returned. truncated says that
    max_tokens (default 20,000) left some for the next call. An empty list means the end. is_stale says that the graph
    changed since it was opened; open again for current results."""

    count: Annotated[int, Meta(ge=1, le=MOST_ITEMS, description="Items at most")] = 1
    cursor_id: CursorId = None
    max_tokens: MaxTokens = HARD_TOKENS

    def run(self, call: Call) -> CursorBatch:
        """The cursor moves by exactly as many items as there is room for in the answer."""
        with call.project.open_cursors.reading(call.session, self.cursor_id, call.credential) as reading:
            batch = longest_page(lambda count: _batch(call, reading.state, count), self.count, self.max_tokens)
            wanted = min(self.count, reading.state.remaining)
            batch = msgspec.structs.replace(batch, truncated=batch.count < wanted)
            _check_room(batch, self.max_tokens)
            reading.take(batch.count)
        return batch


class GetCursorInfo(
    Operation,
    tool="cursor_info",
    toolset=Toolset.TRACE,
    title="Where the cursor stands",
):
    """Position, total and remaining items of the open cursor, without moving it, and whether the graph changed since it
    was opened. Without an open cursor it is an error; open_cursor opens one."""

    cursor_id: CursorId = None

    def run(self, call: Call) -> CursorInfo:
        state = call.project.open_cursors.current(call.session, self.cursor_id, call.credential)
        return CursorInfo(
            cursor_id=state.id,
            position=state.position,
            total=len(state.items),
            remaining=state.remaining,
            query=state.query,
            batch_size=state.batch_size,
            is_stale=_is_stale(call, state),
            left_out=state.left_out,
        )


def _check_room(answer: msgspec.Struct, max_tokens: int | None) -> None:
    """Raises Refused for an item that cannot fit an answer, before the cursor has moved, so that nothing is lost."""
    fit(msgspec.to_builtins(answer), (), Budget.of(max_tokens))


def _batch(call: Call, state: CursorState, count: int) -> CursorBatch:
    items = written_out(call.project.graph, state, state.position, count)
    position = state.position + len(items)
    return CursorBatch(
        items=items,
        count=len(items),
        position=position,
        total=len(state.items),
        remaining=len(state.items) - position,
        is_stale=_is_stale(call, state),
    )


def _is_stale(call: Call, state: CursorState) -> bool:
    return state.fingerprint != call.project.graph.state.fingerprint
