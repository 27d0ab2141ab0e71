"""The memory on the command line: `clew remember`, `clew recall` and `clew memory`."""

from typing import Annotated

import msgspec
from msgspec import Meta

from clew.memory.arguments import KindName, Why, reason_of
from clew.memory.curation.curate import ForgottenMemory, RestoredMemories
from clew.memory.curation.linking import BothKept
from clew.memory.curation.requests import ForgetRequest, RestoreRequest
from clew.memory.curation.status import MemeticStatus, memetic_status
from clew.memory.model import MemoryKind
from clew.memory.operations import render
from clew.memory.operations.operation import MemoryOperation
from clew.memory.recall import listing
from clew.memory.recall.hydrate import whole
from clew.memory.recall.products import SearchAnswer, search_graph
from clew.memory.recall.requests import CitedPlace, ListQuery, MemoryQuery
from clew.memory.storage.history import Lineage, Logs
from clew.memory.storage.requests import LogQuery
from clew.memory.views import WholeMemory
from clew.memory.writing.remember import Stored
from clew.memory.writing.requests import Note
from clew.operation.call import Call
from clew.operation.declare import Option
from clew.operation.one_line import MANY_LINES

_NOTHING_SAID = ("`{command}` needs a text.", 'Say what to remember: clew remember "Tables are in UTC".')
_NOTHING_ASKED = ("`{command}` needs a question.", 'Say what to look for: clew recall "time zone".')
_NO_ID = ("`{command}` needs the id of a memory.", "`clew memory list` shows them; its first digits are enough.")

MemoryId = Annotated[
    str, Meta(min_length=1, max_length=80, description="Id of a memory, or its first digits"),
    Option(positional=True, needed=_NO_ID, metavar="ID"),
]  # fmt: skip


class Remember(
    MemoryOperation,
    verb="remember",
    title="Remember something",
    summary="remember a fact, decision or pitfall about this project",
    epilog='clew remember "Tide tables are in UTC" --about src/tides.py --why "decided after the summer time bug"',
    writes=True,
):
    """Remembers a text."""

    content: Annotated[
        str,
        Meta(min_length=1, max_length=65_536),
        MANY_LINES,
        Option(positional=True, joined=True, needed=_NOTHING_SAID),
    ]
    about_: Annotated[
        tuple[str, ...],
        Meta(description="A file, lines (path:12-20), a symbol (name or path::name) or an id; may be repeated"),
        Option("--about", metavar="PLACE"),
    ] = msgspec.field(name="about", default=())
    why: Why = None
    kind: Annotated[KindName | None, Meta(description="Default: by its wording")] = None
    tags: Annotated[tuple[str, ...], Meta(description="May be repeated"), Option("--tag", metavar="WORD")] = ()
    supersedes: Annotated[tuple[str, ...], Meta(description="A memory that it replaces"), Option(metavar="ID")] = ()
    private: Annotated[bool, Meta(description="Seen by you alone")] = False

    def run(self, call: Call) -> Stored:
        view = call.project.memory.view(call)
        note = Note(
            content=self.content,
            rationale=reason_of(self.why),
            kind=self.kind,
            tags=self.tags,
            metadata={"visibility": "private" if self.private else "team"},
            link_to=tuple(view.library.named(each).id for each in self.supersedes),
            link_type="supersedes" if self.supersedes else "related",
            about_=self.about_,
        )
        return view.store(note)

    def render(self, result: Stored) -> str:
        return render.stored(result)


class RecallMemories(
    MemoryOperation,
    verb="recall",
    served=True,
    title="Find memories",
    summary="find memories about a question or a place",
    epilog='clew recall "which time zone" --about src/tides.py',
):
    """Finds memories."""

    query: Annotated[
        str, Meta(min_length=1, max_length=4_096), Option(positional=True, joined=True, needed=_NOTHING_ASKED)
    ]
    about_: CitedPlace = msgspec.field(name="about", default=None)
    episodes: Annotated[bool, Meta(description="What happened in sessions, as hooks reported it")] = False
    limit: Annotated[int, Meta(ge=1, le=100, description="Memories at most"), Option("-n")] = 10

    def run(self, call: Call) -> SearchAnswer:
        asked = MemoryQuery(
            query=self.query,
            top_k=self.limit,
            about_=self.about_,
            filters={"kinds": [MemoryKind.EPISODE.value]} if self.episodes else None,
            include_content=True,
        )
        return search_graph(call.project.memory.view(call), asked, call)

    def render(self, result: SearchAnswer) -> str:
        return render.hits(result)

    def exit_code(self, result: SearchAnswer) -> int:
        return 0 if result.results else 1


class ListMemories(
    ListQuery,
    MemoryOperation,
    verb="memory list",
    aliases=("ls",),
    title="Memories, the latest first",
    summary="memories, the latest first",
    epilog="clew memory list --about src/tides.py\nclew memory list --kind decision",
):
    """Lists memories."""

    def run(self, call: Call) -> listing.MemoryList:
        return listing.listed(call.project.memory.view(call), self)

    def render(self, result: listing.MemoryList) -> str:
        return render.listed(result)


class ShowMemory(
    MemoryOperation,
    verb="memory show",
    title="One memory in full",
    summary="one memory in full, and whether what it cites has changed",
    epilog="clew memory show 5d0e388b",
):
    """Shows a memory."""

    id: MemoryId

    def run(self, call: Call) -> WholeMemory:
        view = call.project.memory.view(call)
        return whole(view, view.library.named(self.id))

    def render(self, result: WholeMemory) -> str:
        return render.whole(result)


class EditMemory(
    MemoryOperation,
    verb="memory edit",
    title="Correct the text of a memory",
    summary="correct the text of a memory",
    epilog='clew memory edit 5d0e388b --text "Tide tables are in UTC."',
    writes=True,
):
    """Gives a memory another text."""

    id: MemoryId
    text_: Annotated[
        str,
        Meta(min_length=1, max_length=65_536, description="The new text"),
        MANY_LINES,
        Option("--text", metavar="TEXT"),
    ] = msgspec.field(name="text")
    why: Why = None

    def run(self, call: Call) -> WholeMemory:
        view = call.project.memory.view(call)
        return whole(view, view.curator.edit(self.id, self.text_, reason_of(self.why)))

    def render(self, result: WholeMemory) -> str:
        return render.whole(result)


class ForgetMemory(
    MemoryOperation,
    verb="memory forget",
    title="Forget a memory",
    summary="forget a memory; it can be restored for 30 days",
    epilog="clew memory forget 5d0e388b",
    writes=True,
    destructive=True,
):
    """Forgets a memory."""

    id: MemoryId
    why: Why = None

    def run(self, call: Call) -> ForgottenMemory:
        view = call.project.memory.view(call)
        memory = view.library.named(self.id)
        asked = ForgetRequest(node_id=memory.id, reason="user_requested", rationale=reason_of(self.why))
        return view.curator.forget(asked)

    def render(self, result: ForgottenMemory) -> str:
        return render.deleted(result)


class KeepMemories(
    MemoryOperation,
    verb="memory keep",
    title="Say that two memories both hold",
    summary="say that two memories both hold, so that they want no decision any more",
    epilog="clew memory keep 5d0e388b 77ac01f2",
    writes=True,
):
    """Keeps both of two memories."""

    id: MemoryId
    other: Annotated[
        str,
        Meta(min_length=1, max_length=80, description="The other one"),
        Option(positional=True, needed=_NO_ID, metavar="OTHER"),
    ]
    why: Why = None

    def run(self, call: Call) -> BothKept:
        return call.project.memory.view(call).linker.keep_both(self.id, self.other, reason_of(self.why))

    def render(self, result: BothKept) -> str:
        return render.kept(result)


class RestoreMemory(
    MemoryOperation,
    verb="memory restore",
    title="Undo a change of the memory",
    summary="bring a forgotten or merged memory back, by its id or a reversal hash",
    epilog="clew memory restore 5d0e388b",
    writes=True,
):
    """Undoes a change."""

    change: Annotated[
        str,
        Meta(min_length=1, max_length=200, description="Id of a forgotten memory, or a reversal hash"),
        Option(positional=True, needed=_NO_ID, metavar="ID"),
    ]

    cascade: Annotated[bool, Meta(description="Also undo later changes of the same memories")] = False

    def run(self, call: Call) -> RestoredMemories:
        view = call.project.memory.view(call)
        hash = listing.reversal_hash(view, self.change)
        return view.curator.restore(RestoreRequest(reversal_hash=hash, cascade=self.cascade))

    def render(self, result: RestoredMemories) -> str:
        return render.restored(result)


class ShowHistory(
    MemoryOperation,
    verb="memory history",
    title="What happened to the memory",
    summary="what happened to one memory, or to all of them",
    epilog="clew memory history\nclew memory history 5d0e388b",
):
    """Shows what happened."""

    id: Annotated[
        str | None,
        Meta(description="A memory; default: all"),
        Option(positional=True, metavar="ID"),
    ] = None
    limit: Annotated[int, Meta(ge=1, le=1_000, description="Entries at most"), Option("-n")] = 30

    def run(self, call: Call) -> Lineage | Logs:
        view = call.project.memory.view(call)
        if self.id is None:
            return view.history.logs(LogQuery(limit=self.limit))
        return view.history.lineage(view.library.any_named(self.id))

    def render(self, result: Lineage | Logs) -> str:
        return render.lineage(result) if isinstance(result, Lineage) else render.logs(result)


class ShowMemoryStatus(
    MemoryOperation,
    verb="memory status",
    aliases=("",),
    title="State of the memory",
    summary="how much is remembered, where it is kept, what wants a decision",
    epilog="clew memory status",
):
    """Shows the state of the memory."""

    def run(self, call: Call) -> MemeticStatus:
        return memetic_status(call.project.memory.view(call))

    def render(self, result: MemeticStatus) -> str:
        return render.status(result)
