"""What every graph tool does before it answers: documents and graph in step with the files, and one state of both."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from clew.errors import Unavailable
from clew.kb.boundary import ScopeRequest
from clew.kb.operations.asking import brought_up_to_date, session_name
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

        project, pages = self.call.project, self.call.pages(request, lenient=True)
        state = f"{project.graph.state.fingerprint} {self.ground.reading.state()}"
        return Asker(
            session=session_name(self.call, None),
            cursor=getattr(request, "cursor", None),
            offset=pages.begin(state),
            cursor_to=lambda offset: pages.cursor_to(offset, state),
            notes=(*notes, *self.notes),
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
    with project.lock.reading(), project.kb.walking(boundary, call.deadline()) as ground:
        yield Standing(call, ground, notes)
