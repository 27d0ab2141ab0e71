"""Drafting a whole file: from its present content to a wanted one, block by block.

This is how a mutation that is in the files already is taken back: the file as it was before is drafted over the file as
it is. Blocks of the same id are the same block; all others are taken out or put in, with the text between them.
"""

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from uuid import uuid4

from clew.edit.edits import Inverse
from clew.errors import NotFound, Refused
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Remainder
from clew.graph.build.link import Definition, Place
from clew.graph.build.reading import Reader
from clew.graph.changes import Change, Redefinition, Rewriting, Slot
from clew.trace.edit.drafts import REVERT, DraftLog, DraftRecord, SavedMutation
from clew.trace.edit.text.blocks import Record, with_known_parts
from clew.trace.edit.text.draft import ADDED, AUTHORED, DraftContext

Texts = dict[Slot, bytes]
Definitions = dict[Place, Definition | None]


def redrafted(
    context: DraftContext, readers: Sequence[Reader], path: str, target: bytes
) -> tuple[tuple[Redefinition, ...], tuple[Rewriting, ...]]:
    """The changes, on top of the drafts in the graph, that give the file this content."""
    data = context.original(path)
    if context.linker.definition_at((path, context.reader.name, 0)) is not None or path.endswith(".md"):
        texts, definitions = _Spec(context, path, data, target).drafted()
    else:
        texts, definitions = _lines(readers, path, data, target)
    patches, linker = context.history.patches, context.linker
    slots = dict.fromkeys((*patches.slots(path), *texts))
    rewritings = (Rewriting(slot, patches.get(slot), texts.get(slot)) for slot in slots)
    places = dict.fromkeys((*definitions, *(place for place in linker.places(path) if place[2] >= ADDED)))
    redefinitions = (Redefinition(place, linker.definition_at(place), definitions.get(place)) for place in places)
    return (
        tuple(each for each in redefinitions if each.before != each.after),
        tuple(each for each in rewritings if each.before != each.after),
    )


class _Spec:
    """A file of requirements."""

    def __init__(self, context: DraftContext, path: str, data: bytes, target: bytes) -> None:
        self._context = context
        self._path = path
        self._data = data
        self._target = target
        self._texts: Texts = {}
        self._definitions: Definitions = {}
        self._added = 0

    def drafted(self) -> tuple[Texts, Definitions]:
        old = [(place, definition) for place, definition in self._written()]
        new = [block for block in read(self._target, self._context.grammar).blocks if not isinstance(block, Remainder)]
        matcher = SequenceMatcher(None, [each.node.id for _, each in old], [each.id for each in new], autojunk=False)
        end = new_end = 0
        """The offsets up to which both contents are compared."""
        first = new_first = 0
        for match in (*_pairs(matcher), None):
            stop, new_stop = (len(old), len(new)) if match is None else match
            gap_end = len(self._data) if match is None else _start(old[stop][1])
            new_gap_end = len(self._target) if match is None else new[new_stop].span.start
            self._between(old[first:stop], new[new_first:new_stop], (end, gap_end), (new_end, new_gap_end))
            if match is not None:
                place, definition = old[stop]
                self._same(place, definition, new[new_stop])
                end, new_end = _end(definition), new[new_stop].span.end
                first, new_first = stop + 1, new_stop + 1
        return self._texts, self._definitions

    def _written(self) -> Iterator[tuple[Place, Definition]]:
        """The definitions in the file as it is."""
        reader = self._context.reader
        contribution = reader.contribute(reader.read(self._data, self._path), self._path)
        for position, definition in enumerate(contribution.definitions):
            if definition.node.kind in AUTHORED:
                yield (self._path, reader.name, position), definition

    def _same(self, place: Place, before: Definition, record: Record) -> None:
        text = self._target[record.span.start : record.span.end]
        self._definitions[place] = before
        if text == self._data[_start(before) : _end(before)]:
            return
        self._texts[Slot(self._path, _start(before), 0, _end(before))] = text
        alone = self._context.read(text)
        if alone is None:
            raise Refused(
                f"'{record.id}' does not read the same by itself as in {self._path}.", hint="Restore the file with git."
            )
        definition = self._context.define(alone, self._path, before.node.source)
        self._definitions[place] = with_known_parts(definition, before)

    def _between(
        self,
        gone: Sequence[tuple[Place, Definition]],
        come: Sequence[Record],
        old: tuple[int, int],
        new: tuple[int, int],
    ) -> None:
        """The blocks and the text between two blocks that stay."""
        if not come and not gone and self._data[slice(*old)] == self._target[slice(*new)]:
            return
        position = old[0]
        for place, definition in gone:
            self._definitions[place] = None
            self._cut(position, _start(definition))
            self._texts[Slot(self._path, _start(definition), 0, _end(definition))] = b""
            position = _end(definition)
        self._cut(position, old[1])
        start = new[0]
        for number, record in enumerate(come):
            tail_end = new[1] if number == len(come) - 1 else record.span.end
            self._put_in(old[0], record, self._target[start:tail_end])
            start = tail_end
        if not come:
            self._put_text(old[0], self._target[slice(*new)])

    def _cut(self, start: int, end: int) -> None:
        if end > start:
            self._texts[Slot(self._path, start, 0, end)] = b""

    def _put_in(self, position: int, record: Record, text: bytes) -> None:
        self._added += 1
        self._texts[Slot(self._path, position, self._added - ADDED, position)] = text
        place = (self._path, self._context.reader.name, ADDED + self._added)
        self._definitions[place] = self._context.define(record, self._path)

    def _put_text(self, position: int, text: bytes) -> None:
        if text:
            self._added += 1
            self._texts[Slot(self._path, position, self._added - ADDED, position)] = text


def _pairs(matcher: "SequenceMatcher[str]") -> Iterator[tuple[int, int]]:
    for first, second, size in matcher.get_matching_blocks():
        yield from ((first + step, second + step) for step in range(size))


def _start(definition: Definition) -> int:
    return definition.node.source.start if definition.node.source is not None else 0


def _end(definition: Definition) -> int:
    return definition.node.source.end if definition.node.source is not None else 0


def _lines(readers: Sequence[Reader], path: str, data: bytes, target: bytes) -> tuple[Texts, Definitions]:
    """The changes of lines in a file of code or tests."""
    before, after = data.splitlines(keepends=True), target.splitlines(keepends=True)
    if len(before) != len(after):
        raise Refused(f"'{path}' has different lines now.", hint="Edit the file by hand.")
    starts = accumulate(map(len, before), initial=0)
    texts = {
        Slot(path, start, 0, start + len(old)): new
        for start, old, new in zip(starts, before, after, strict=False)
        if old != new
    }
    definitions: Definitions = {}
    for reader in readers:
        contribution = reader.contribute(reader.read(target, path), path)
        for position, definition in enumerate(contribution.definitions):
            definitions[path, reader.name, position] = definition
    return texts, definitions


class Reverts:
    def __init__(self, context: DraftContext, drafts: DraftLog) -> None:
        self._context = context
        self._drafts = drafts

    def next(self, pending: Iterable[DraftRecord]) -> SavedMutation:
        """The newest saved mutation that no draft and no saved mutation took back."""
        if (saved := self.newest(pending)) is None:
            raise NotFound("There is no mutation to undo.", hint="get_mutation_log shows what is pending.")
        return saved

    def newest(self, pending: Iterable[DraftRecord]) -> SavedMutation | None:
        """The newest mutation that can be undone; None if there is none."""
        reverted = {draft.arguments["mutation_id"] for draft in pending if draft.operation == REVERT}
        for saved in self._drafts.saved():
            if saved.draft.operation == REVERT:
                reverted.add(saved.draft.arguments["mutation_id"])
            elif saved.draft.id not in reverted:
                return saved
        return None

    def change(self, mutation_id: str) -> Change:
        """The change that undoes a saved mutation. FileChanged if a file was changed since."""
        saved = next((each for each in self._drafts.saved() if each.draft.id == mutation_id), None)
        if saved is None:
            raise NotFound(f"No saved mutation has the id '{mutation_id}'.", hint="It may belong to another process.")
        definitions: list[Redefinition] = []
        texts: list[Rewriting] = []
        for file in saved.files:
            readers = self._context.builder.readers_of(file.path)
            redefinitions, rewritings = redrafted(self._context, readers, file.path, self._former(file))
            definitions += redefinitions
            texts += rewritings
        return Change(uuid4().hex, REVERT, saved.draft.target_id, tuple(definitions), tuple(texts))

    def _former(self, file: Inverse) -> bytes:
        """The content of a file before the mutation."""
        data = self._context.original(file.path)
        present = self._context.history.patches.written(file.path, data)
        return file.former(present, edit="the mutation") or b""
