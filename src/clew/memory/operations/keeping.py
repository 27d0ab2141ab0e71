"""The memory on the command line: files of memories, and what is taken out for good."""

import sys
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument, NotFound
from clew.memory.arguments import KindName, Why, reason_of
from clew.memory.mirror.service import USUAL_FOLDER, MirrorStatus
from clew.memory.mirror.sync import Synced
from clew.memory.operations import render_keeping as render
from clew.memory.operations.operation import MemoryOperation
from clew.memory.purge.choose import Chosen, choose
from clew.memory.purge.requests import Ids, PurgeRequest
from clew.memory.purge.service import Purged, purge
from clew.memory.scope import BY_A_PERSON, MemoryFilters
from clew.memory.storage.jsonl import ExportedLines, ImportedLines, exported, imported
from clew.memory.views import NamedMemory, shown_as
from clew.operation.call import Call
from clew.operation.declare import Option
from clew.text.display import counted
from clew.workspace.regular import ANY_BYTES, contents

_NO_FILE = ("`{command}` needs a file.", "Name a file that `clew memory export` wrote, or - for standard input.")


class ExportMemories(
    MemoryOperation,
    verb="memory export",
    title="Memories as lines of JSON",
    summary="write memories as lines of JSON, to a file or to standard output",
    epilog="clew memory export memories.jsonl\nclew memory export --team --kind decision",
):
    """Writes memories."""

    output: Annotated[
        str | None, Option(positional=True, metavar="FILE", about="where to write (default: standard output)")
    ] = None
    kind: Annotated[KindName | None, Meta(description="Only of this kind")] = None
    team: Annotated[bool, Meta(description="Without private memories")] = False

    def run(self, call: Call) -> ExportedLines:
        filters = MemoryFilters(kinds=(self.kind,) if self.kind else ())
        return exported(call.project.memory.view(call), filters, private=not self.team)

    def document(self, result: ExportedLines) -> str:
        return "".join(f"{line}\n" for line in result.lines)

    def render(self, result: ExportedLines) -> str:
        return "" if self.output is not None else "\n".join(result.lines)

    def messages(self, result: ExportedLines) -> tuple[str, ...]:
        if self.output is None:
            return ()
        private = f", {result.private} of them private" if result.private else ""
        return (f"{counted(result.memories, 'memory', 'memories')}{private}, {counted(result.links, 'link')}.",)


class ImportMemories(
    MemoryOperation,
    verb="memory import",
    title="Read memories from lines of JSON",
    summary="read memories that were exported, all of them or none",
    epilog="clew memory import memories.jsonl\nclew memory import theirs.jsonl --as-document",
    writes=True,
):
    """Reads memories."""

    file: Annotated[
        str,
        Meta(min_length=1),
        Option(positional=True, metavar="FILE", needed=_NO_FILE, about="a file of lines, or - for standard input"),
    ]
    as_document: Annotated[bool, Meta(description="For files of others: not injected before `clew memory accept`")] = (
        False
    )

    def run(self, call: Call) -> ImportedLines:
        try:
            data = sys.stdin.buffer.read() if self.file == "-" else contents(self.file, ANY_BYTES)
        except OSError as error:
            raise NotFound(f"'{self.file}' cannot be read: {error.strerror}.", hint="Check the path.") from error
        text = data.decode("utf-8", "replace")
        return imported(call.project.memory.view(call), text, as_document=self.as_document)

    def render(self, result: ImportedLines) -> str:
        return render.imported(result)


class AcceptMemories(
    MemoryOperation,
    verb="memory accept",
    title="Accept what came from documents",
    summary="let memories that came from a mirror or another's file be injected",
    epilog="clew memory accept 5d0e388b\nclew memory accept --all",
    writes=True,
):
    """Accepts memories."""

    ids: Ids = ()
    all_: Annotated[bool, Meta(description="All that wait"), Option("--all")] = msgspec.field(name="all", default=False)

    def run(self, call: Call) -> "AcceptedMemories":
        view = call.project.memory.view(call)
        waiting = [row.id for row in view.library.index.waiting(view.viewer)]
        ids = waiting if self.all_ else [view.library.named(id).id for id in self.ids]
        accepted = view.curator.accept(ids, BY_A_PERSON) if ids else []
        left = [] if self.all_ else [id for id in waiting if id not in {memory.id for memory in accepted}]
        shown = view.library.get_many(left)
        return AcceptedMemories(
            accepted=tuple(shown_as(NamedMemory, memory) for memory in accepted),
            waiting=tuple(shown_as(NamedMemory, memory) for memory in shown.values()),
        )

    def render(self, result: "AcceptedMemories") -> str:
        return render.accepted([each.title for each in result.accepted], [(w.node_id, w.title) for w in result.waiting])


class AcceptedMemories(msgspec.Struct, frozen=True):
    accepted: tuple[NamedMemory, ...]
    waiting: tuple[NamedMemory, ...]
    """Memories that still wait for acceptance."""
    truncated: bool = False


class PurgeMemories(
    PurgeRequest,
    MemoryOperation,
    verb="memory purge",
    title="Take memories out for good",
    summary="take memories out for good, also from history, indexes and backups",
    epilog='clew memory purge 5d0e388b\nclew memory purge --text "secret" --yes\nclew memory purge --forgotten'
    "\nclew memory purge --all --yes",
    writes=True,
    destructive=True,
):
    """Purges memories."""

    why: Why = None
    yes: Annotated[bool, Meta(description="Do not ask"), Option("-y")] = False

    def run(self, call: Call) -> Purged:
        view = call.project.memory.view(call)
        chosen = choose(view, self)
        if not self.yes:
            _ask(chosen)
        return purge(view, chosen, reason_of(self.why))

    def render(self, result: Purged) -> str:
        return render.purged(result)

    def exit_code(self, result: Purged) -> int:
        return 1 if result.left_in else 0


def _ask(chosen: Chosen) -> None:
    """Ask once. InvalidArgument where the answer is no, or nobody can be asked."""
    if not sys.stdin.isatty():
        raise InvalidArgument(
            f"{counted(len(chosen.ids), 'memory', 'memories')} would be purged, and there is no terminal to ask on.",
            hint="Pass --yes. A purge cannot be undone.",
        )
    try:
        answer = input(f"{render.to_be_purged(chosen)}\nThis cannot be undone. Type yes to purge: ")
    except EOFError:
        answer = ""
    if answer.strip().lower() != "yes":
        raise InvalidArgument("Nothing was purged.", hint="Type yes, or pass --yes.")


class MirrorMemories(
    MemoryOperation,
    verb="memory mirror",
    title="A folder of Markdown files synchronised with the memory",
    summary="synchronise memories with a folder of Markdown files",
    epilog="clew memory mirror on notes/memory\nclew memory mirror sync"
    "\nclew memory mirror resolve 5d0e388b --keep file\nclew memory mirror off",
    writes=True,
):
    """Mirrors memories in files."""

    action: Annotated[
        Literal["status", "on", "off", "sync", "resolve"],
        Meta(description="status, on FOLDER, off, sync, or resolve ID"),
        Option(positional=True, metavar="ACTION"),
    ] = "status"
    argument: Annotated[
        str | None,
        Meta(description=f"A folder of the project (default {USUAL_FOLDER}), or a memory"),
        Option(positional=True, metavar="FOLDER|ID"),
    ] = None
    keep: Annotated[Literal["file", "memory"] | None, Meta(description="Which side of a conflict holds")] = None
    deletions: Annotated[bool, Meta(description="Forget memories also where all files are missing")] = False

    def run(self, call: Call) -> Synced | MirrorStatus:
        mirror = call.project.memory.mirror
        # Before anybody looks at the memory, which brings the mirror in step too.
        if self.action == "sync":
            return mirror.sync(deletions=self.deletions)
        view = call.project.memory.view(call)
        match self.action:
            case "on":
                return mirror.switch_on(self.argument or mirror.folder or USUAL_FOLDER, view.actor)
            case "off":
                return MirrorStatus(folder=None, stopped=mirror.switch_off(view.actor))
            case "resolve":
                if self.argument is None or self.keep is None:
                    raise InvalidArgument(
                        "It was not said which conflict to settle, and how.",
                        hint="clew memory mirror resolve ID --keep file, or --keep memory.",
                    )
                return mirror.resolve(view.library.any_named(self.argument), self.keep)
        return MirrorStatus(
            folder=mirror.folder,
            conflicts=tuple(mirror.conflicts()),
            unaccepted=len(view.library.index.waiting(view.viewer)),
            problem=mirror.problem,
        )

    def render(self, result: Synced | MirrorStatus) -> str:
        return render.synced(result) if isinstance(result, Synced) else render.mirror(result)

    def exit_code(self, result: Synced | MirrorStatus) -> int:
        return 1 if result.conflicts else 0
