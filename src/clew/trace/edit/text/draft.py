"""Drafting: changes of the graph that are made by editing the text behind it.

A requirement is edited in its own block of text, which is read again at once: whatever the reader makes of it is what
is in the graph. So the graph with a draft is the graph that the written file will give. Files stay as they are; the
nodes keep the places they have there.
"""

from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from clew.context import Context
from clew.errors import InvalidArgument, NotFound, Refused, WrongKind
from clew.formats.elspais.hashes import HashRule, HashState, hash_state, hash_to_write, rule_of_file
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import FileRecords, Remainder, Requirement
from clew.formats.elspais.write.blocks import with_hash
from clew.graph.build.builder import Builder
from clew.graph.build.link import Definition, Linker, Place
from clew.graph.changes import Change, History, Redefinition, Rewriting, Slot
from clew.graph.model import NodeKind, Source
from clew.graph.readers.elspais import ElspaisFile, ElspaisReader
from clew.graph.readers.markers import MarkerReader
from clew.trace.edit.text.blocks import (
    GAP,
    Record,
    content_of,
    is_utf8,
    non_ascii_characters,
    placed,
    split_block,
    with_known_parts,
)

if TYPE_CHECKING:
    from clew.trace.edit.text.file_choice import FileChoice
    from clew.trace.edit.text.rules import Rules

AUTHORED = (NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY)
ADDED = 1_000_000
"""Positions from here on are those of blocks that are not in the file yet."""


RECENT_BLOCKS = 128


class DraftBlock(msgspec.Struct, frozen=True):
    """A requirement or journey with the text behind it."""

    place: Place
    slot: Slot
    data: bytes
    definition: Definition
    """As the text declares it."""
    record: Record
    """Read from the text alone: its lines are those of the block."""

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def path(self) -> str:
        return self.place[0]

    @property
    def requirement(self) -> Requirement:
        if isinstance(self.record, Requirement):
            return self.record
        raise WrongKind(f"'{self.id}' is a journey, not a requirement.", hint="Pass the id of a requirement.")


class DraftContext:
    """The project as drafts see it: its graph, the text behind it, and the rules for both."""

    def __init__(self, context: Context, builder: Builder, history: History) -> None:
        self.root = context.root
        self.graph = context.graph
        self.grammar = context.grammar
        self.selection = context.config.requirements
        self.builder = builder
        self.history = history
        self.originals: dict[str, bytes] = {}
        """Files that drafts were made on, as they were read."""
        self._hash_rules: dict[str, tuple[int, HashRule]] = {}
        # Mutations come in rows: what one of them wrote is what the next one begins with.
        self.read: Callable[[bytes], Record | None] = lru_cache(RECENT_BLOCKS)(partial(_only_block, self.grammar))
        """The requirement or journey that the bytes are; None where they are anything else or more."""

    @property
    def linker(self) -> Linker:
        return self.builder.linker

    @property
    def reader(self) -> ElspaisReader:
        """The reader of requirements as it is now: a project that got a register has another."""
        return next(reader for reader in self.builder.readers if isinstance(reader, ElspaisReader))

    @cached_property
    def commenting(self) -> frozenset[str]:
        """The readers of citations in comments."""
        comments = (reader for reader in self.builder.readers if isinstance(reader, MarkerReader))
        return frozenset(reader.name for reader in comments if not reader.associate)

    @cached_property
    def rules(self) -> "Rules":
        # A process that only reads drafts nothing.
        from clew.trace.edit.text.rules import Rules

        return Rules(self)

    @cached_property
    def files(self) -> "FileChoice":
        from clew.trace.edit.text.file_choice import FileChoice

        return FileChoice(self)

    def original(self, path: str) -> bytes:
        """The content of a file as it was read, kept for the next draft on it, and for showing both sides of a
        conflict. FileChanged if the file changed since, NotFound if it is gone."""
        data = self.builder.original(path, self.originals.get(path))
        self.originals[path] = data
        return data

    def define(self, record: Record, path: str, before: Source | None = None) -> Definition:
        """The definition of a record, at the place of its block in the file."""
        states = (self._state(record, path),) if isinstance(record, Requirement) else ()
        contribution = self.reader.contribute(ElspaisFile(FileRecords((record,), ()), states), path)
        return placed(contribution.definitions[0], path, before)

    def _state(self, record: Requirement, path: str) -> HashState:
        state = hash_state(record, self.grammar.settings)
        # The rule of the file matters only for a hash that follows neither.
        if state.state == "none" or state.rule is not None:
            return state
        return hash_state(record, self.grammar.settings, self.rule_of(path))

    def rule(self, block: DraftBlock) -> HashRule:
        """The hash rule of the block: its own, else that of its file."""
        state = hash_state(block.requirement, self.grammar.settings)
        return state.rule if state.rule is not None else self.rule_of(block.path)

    def rule_of(self, path: str) -> HashRule:
        try:
            data = self.original(path)
        except NotFound:
            data = b""
        known = self._hash_rules.get(path)
        if known is None or known[0] != hash(data):
            blocks = read(data, self.grammar).blocks
            requirements = [block for block in blocks if isinstance(block, Requirement)]
            known = self._hash_rules[path] = (hash(data), rule_of_file(requirements, self.grammar.settings))
        return known[1]


def _only_block(grammar: IdGrammar, data: bytes) -> Record | None:
    records = read(data, grammar)
    if len(records.blocks) != 1 or isinstance(records.blocks[0], Remainder):
        return None
    if any(each.code == "elspais.unclosed_fence" for each in records.diagnostics):
        return None
    return records.blocks[0]


class ChangeDraft:
    """One change under construction. The graph stays the same until the change is applied; reads see the drafted
    text."""

    def __init__(self, context: DraftContext) -> None:
        self.context = context
        self.graph, self.linker, self.grammar = context.graph, context.linker, context.grammar
        self.rules, self.files = context.rules, context.files
        self._definitions: dict[Place, Definition | None] = {}
        self._texts: dict[Slot, bytes | None] = {}
        self._files: dict[str, bytes] = {}
        self._line_starts: dict[str, list[int]] = {}
        self.notes: list[str] = []
        """Notes for the author of the change."""

    # Reading

    def block(self, id: str) -> DraftBlock:
        """The block that defines a node."""
        node = self.graph.get_node(id)
        if node is None:
            raise NotFound(f"Node '{id}' not found.", hint="search finds ids by words of the title or text.")
        place = self.linker.place_of(id)
        if place is None or node.kind not in AUTHORED or place[1] != self.context.reader.name:
            where = f" of {node.source.path}" if node.source is not None else ""
            raise WrongKind(
                f"'{id}' is a {node.kind.value}{where}, which the mutations cannot change: that is not a file of the "
                "folders in [requirements] of clew.toml.",
                hint="req_update changes a register, and a sentence `Implements: ID` in a rationale cites from there; "
                "the spec of another tool is changed by one of its changes, or in an editor.",
            )
        return self.block_at(place)

    def block_at(self, place: Place) -> DraftBlock:
        definition = self.definition(place)
        if definition is None or definition.node.source is None:
            raise NotFound(f"Nothing is defined at {place}.", hint="Refresh the graph.")
        slot = self._slot(place, definition.node.source)
        if place[2] < ADDED:
            # Also where the block itself is drafted already: the file under it may have changed.
            self.file(place[0])
        text = self.text(slot)
        _, data, _ = split_block(text) if place[2] >= ADDED else (b"", text, b"")
        record = self.context.read(data)
        if record is None:
            raise Refused(
                f"'{definition.node.id}' does not read the same by itself as in {place[0]}.",
                hint="Edit the file by hand; a block that depends on the text around it cannot be changed here.",
            )
        return DraftBlock(place, slot, data, definition, record)

    def definition(self, place: Place) -> Definition | None:
        return self._definitions[place] if place in self._definitions else self.linker.definition_at(place)

    def text(self, slot: Slot) -> bytes:
        """The present text of a slot."""
        drafted = self._texts[slot] if slot in self._texts else self.context.history.patches.get(slot)
        return self.file(slot.path)[slot.start : slot.end] if drafted is None else drafted

    def file(self, path: str) -> bytes:
        """The content of a file as it was read."""
        if path not in self._files:
            self._files[path] = self.context.original(path)
        return self._files[path]

    def line(self, path: str, number: int) -> Slot | None:
        """A line of a file of code or tests; None if there is no such line, or if the file has blocks, which are edited
        as a whole."""
        if self.linker.definition_at((path, self.context.reader.name, 0)) is not None:
            return None
        if path not in self._line_starts:
            lengths = map(len, self.file(path).splitlines(keepends=True))
            self._line_starts[path] = list(accumulate(lengths, initial=0))
        starts = self._line_starts[path]
        return Slot(path, starts[number - 1], 0, starts[number]) if 0 < number < len(starts) else None

    def _slot(self, place: Place, source: Source) -> Slot:
        if place[2] < ADDED:
            return Slot(source.path, source.start, 0, source.end)
        order = place[2] - 2 * ADDED
        return next(slot for slot in self._slots(place[0]) if slot.order == order)

    def _slots(self, path: str) -> list[Slot]:
        return [*self.context.history.patches.slots(path), *(slot for slot in self._texts if slot.path == path)]

    # Writing

    def write(self, block: DraftBlock, data: bytes, expected: Record, rule: str, *, hashed: bool) -> DraftBlock:
        """Put another text in the place of a block. InvalidArgument, with the rule, where it does not read as expected.

        With `hashed` its End marker gets the hash of the new text, where that is another than of the old one: a hash
        that was stale before tells of a change that nobody has reviewed.
        """
        self._check_encoding(block.path, block.data, data)
        record = self._read_as(data, expected, rule)
        if hashed and isinstance(record, Requirement):
            record, data = self._signed(block, record, data)
        definition = self.context.define(record, block.path, block.definition.node.source)
        definition = with_known_parts(definition, block.definition)
        lead, _, tail = split_block(self.text(block.slot)) if block.place[2] >= ADDED else (b"", b"", b"")
        self._texts[block.slot] = lead + data + tail
        self._definitions[block.place] = definition
        return DraftBlock(block.place, block.slot, data, definition, record)

    def rewrite(self, block: DraftBlock, data: bytes, rule: str, *, hashed: bool = True, **changed: Any) -> DraftBlock:
        """Replace the text of a block, which has to read as before except for these fields of its record."""
        return self.write(block, data, msgspec.structs.replace(block.record, **changed), rule, hashed=hashed)

    def _signed(self, block: DraftBlock, record: Requirement, data: bytes) -> tuple[Requirement, bytes]:
        """The text with its right hash, and its record."""
        settings, rule = self.grammar.settings, self.context.rule(block)
        value = hash_to_write(block.requirement, record, settings, rule)
        if value is None:
            return record, data
        signed = with_hash(data, self.grammar, value)
        return (record if signed == data else msgspec.structs.replace(record, stored_hash=value)), signed

    def _read_as(self, data: bytes, expected: Record, rule: str) -> Record:
        record = self.context.read(data)
        if record is None or content_of(record) != content_of(expected):
            raise InvalidArgument(
                f"The result would not be read as intended. {rule}", hint="Change the text, and try again."
            )
        return record

    def _check_encoding(self, path: str, before: bytes, after: bytes) -> None:
        """Refuse to mix encodings: new text is UTF-8."""
        if (
            after.isascii()
            or not non_ascii_characters(after) - non_ascii_characters(before)
            or is_utf8(self.file(path))
        ):
            return
        raise Refused(
            f"{path} is not UTF-8, so letters beyond ASCII cannot be added to it.",
            hint="Save the file as UTF-8 first, or use ASCII only.",
        )

    def remove(self, block: DraftBlock, around: tuple[int, int] | None = None) -> None:
        """Remove a block with the text around it: by default the blank lines and the rule before the next block."""
        self._definitions[block.place] = None
        if block.place[2] >= ADDED:
            self._texts[block.slot] = None
            return
        self._texts[block.slot] = b""
        if around is None:
            found = GAP.match(self.file(block.path), block.slot.end)
            around = block.slot.start, found.end() if found is not None else block.slot.end
        for start, end in ((around[0], block.slot.start), (block.slot.end, around[1])):
            if end > start:
                self._texts[Slot(block.path, start, 0, end)] = b""

    def add(self, path: str, position: int, lead: bytes, data: bytes, tail: bytes = b"") -> DraftBlock:
        """Put a new block into a file, or into one that does not exist yet."""
        if position:
            self._check_encoding(path, b"", data)
        record = self.context.read(data)
        if record is None:
            raise InvalidArgument("The result would not read as a requirement.", hint="Change the text, and try again.")
        taken = [slot.order for slot in self._slots(path) if slot.order < 0]
        number = max(taken, default=-ADDED) + 1 + ADDED
        slot = Slot(path, position, number - ADDED, position)
        place = (path, self.context.reader.name, ADDED + number)
        definition = self.context.define(record, path)
        self._texts[slot] = lead + data + tail
        self._definitions[place] = definition
        return DraftBlock(place, slot, data, definition, record)

    def exchange(self, place: Place, definition: Definition) -> None:
        """Replace the definition in a place whose text is edited separately."""
        self._definitions[place] = definition

    def put_text(self, slot: Slot, text: bytes) -> None:
        self._texts[slot] = text

    def change(self, operation: str, target_id: str) -> Change:
        linker, patches = self.linker, self.context.history.patches
        definitions = (
            Redefinition(place, linker.definition_at(place), after) for place, after in self._definitions.items()
        )
        texts = (Rewriting(slot, patches.get(slot), after) for slot, after in self._texts.items())
        return Change(
            id=uuid4().hex,
            operation=operation,
            target_id=target_id,
            definitions=tuple(each for each in definitions if each.before != each.after),
            texts=tuple(each for each in texts if each.before != each.after),
            notes=tuple(self.notes),
        )
