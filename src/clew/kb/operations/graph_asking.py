"""What every graph tool does before it answers: documents and graph in step with the files, and one state of both."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from clew.errors import Unavailable
from clew.kb.boundary import ScopeRequest
from clew.kb.operations.asking import brought_up_to_date, deadline_of, session_name
from clew.operation.call import Call
from clew.operation.registry import Request

if TYPE_CHECKING:
    from clew.kb.walk.answers import Asker
    from clew.kb.walk.walking import Snapshot

DISABLED = "Graph traversal is disabled (neo4j_disabled=true). Use kb.search or kb.retrieve_evidence instead."


class Standing(msgspec.Struct, frozen=True):
    """Where a call stands: a graph to walk in, and what has to be said about it."""

    call: Call
    ground: "Snapshot"
    notes: tuple[str, ...]

    def asker(self, request: Request, notes: tuple[str, ...] = ()) -> "Asker":
        """Who asks for a page with a signed cursor: it holds for this question and this state only."""
        from clew.kb.walk.answers import Asker

        cursor: str | None = getattr(request, "cursor", None)
        issue, redeem = self._cursors(request)
        return Asker(
            session=session_name(self.call, None),
            cursor=cursor,
            offset=redeem(cursor) if cursor else 0,
            cursor_to=issue,
            notes=(*notes, *self.notes),
        )

    def _cursors(self, request: Request) -> tuple[Callable[[int], str], Callable[[str], int]]:
        project = self.call.project
        tool = self.call.tool.name if self.call.tool is not None else ""
        asked = {name: value for name, value in msgspec.to_builtins(request).items() if name != "cursor"}
        # An id that is given may be no text at all, and is part of the question all the same.
        question = {"asked": json.dumps(asked, sort_keys=True)}
        state = f"{project.graph.state.fingerprint} {self.ground.reading.state()}"
        return (
            lambda offset: project.cursors.issue(tool, question, state, offset),
            lambda cursor: project.cursors.redeem(cursor, tool, question, state),
        )


def require_graph(call: Call) -> None:
    if not call.project.config.kb.graph:
        raise Unavailable(
            "The graph is switched off (kb.graph = false).",
            hint="Use kb.search or kb.retrieve_evidence, or set kb.graph = true in clew.toml.",
            data={"reason": "graph_disabled", "neo4j_disabled": True},
        )


@contextmanager
def standing(call: Call, scope: ScopeRequest | None = None) -> Iterator[Standing]:
    """What may not be asked for is refused before anything is read for it."""
    project = call.project
    boundary = project.kb.boundary(scope)
    notes = brought_up_to_date(call)
    project.ensure_graph(call.progress)
    with project.lock.reading(), project.kb.walking(boundary, deadline_of(call)) as ground:
        yield Standing(call, ground, notes)
