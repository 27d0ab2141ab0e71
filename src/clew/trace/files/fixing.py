"""Repairs that need no decision: hashes in End marks, and the form of fields and marks around the text.

Nothing is touched but what was asked for: a requirement that needs nothing keeps every byte. The text itself, titles,
assertions and sections, is never changed.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from clew.edit.edits import FileEdit
from clew.errors import Refused
from clew.formats.elspais.changelog import owes_entries
from clew.formats.elspais.hashes import HashState, hash_state, rule_of_file, without_changelog
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Requirement
from clew.formats.elspais.write.blocks import with_hash, with_id
from clew.formats.elspais.write.edits import SpanEdit, spliced, with_canonical_references, with_end_marker
from clew.workspace.files import read_bytes


class FixRequest(msgspec.Struct, frozen=True):
    """The repairs to make."""

    hashes: bool
    formatting: bool
    places: Collection[tuple[str, int]] | None = None
    """Files and lines of the requirements that are meant; None for all."""
    enter: Callable[[str, bytes, str], bytes] | None = None
    """Adds an entry to the changelog of a requirement: its id, its block and its new hash; None where nobody said why
    the hash changes."""


class Fix(msgspec.Struct, frozen=True):
    requirement_id: str
    path: str
    line: int
    what: tuple[str, ...]
    """The repairs, in words."""


class Unfixed(msgspec.Struct, frozen=True):
    requirement_id: str
    path: str
    line: int
    why: str


class Fixes(msgspec.Struct, frozen=True):
    edits: tuple[FileEdit, ...]
    fixes: tuple[Fix, ...]
    left: tuple[Unfixed, ...]
    """The requested repairs that are not possible."""


def plan_fixes(root: Path, paths: Iterable[str], grammar: IdGrammar, wanted: FixRequest, *, max_bytes: int) -> Fixes:
    """The edits that mend these files."""
    edits: list[FileEdit] = []
    fixes: list[Fix] = []
    left: list[Unfixed] = []
    for path in paths:
        data = read_bytes(root, path, limit=max_bytes)
        after = _FileFixer(path, data, grammar, wanted, fixes, left).run()
        if after != data:
            edits.append(FileEdit(path, data, after))
    return Fixes(tuple(edits), tuple(fixes), tuple(left))


class _FileFixer:
    def __init__(
        self, path: str, data: bytes, grammar: IdGrammar, wanted: FixRequest, fixes: list[Fix], left: list[Unfixed]
    ) -> None:
        self._path = path
        self._data = data
        self._grammar = grammar
        self._wanted = wanted
        self._fixes = fixes
        self._left = left

    def run(self) -> bytes:
        """The mended file."""
        before = read(self._data, self._grammar).blocks
        requirements = [block for block in before if isinstance(block, Requirement)]
        rule = rule_of_file(requirements, self._grammar.settings)
        edits: list[SpanEdit] = []
        for record in requirements:
            if self._wanted.places is None or (self._path, record.span.line) in self._wanted.places:
                block = self._mended(record, hash_state(record, self._grammar.settings, rule))
                edits.append(SpanEdit(record.span.start, record.span.end, block))
        after = spliced(self._data, edits)
        self._expect_same_text(requirements, after)
        return after

    def _mended(self, record: Requirement, state: HashState) -> bytes:
        original = block = self._data[record.span.start : record.span.end]
        done: list[str] = []
        if self._wanted.formatting:
            for what, changed in self._formatted(record, block):
                if changed != block:
                    block = changed
                    done.append(what)
        if self._wanted.hashes and state.state in ("stale", "missing"):
            changed = with_hash(block, self._grammar, state.value)
            if changed != block and self._owes_entry(record):
                if self._wanted.enter is None:
                    self._leave(record, "its changelog needs a reason; pass --message")
                    changed = block
                else:
                    changed = self._wanted.enter(record.id, changed, state.value)
                    done.append("changelog")
            if changed != block:
                done.append(f"hash {record.stored_hash or 'none'} to {state.value}")
                block = changed
            elif with_hash(block, self._grammar, state.value) == block:
                self._leave(record, "it has no End marker that could be read; `clew fix --format` writes one")
        if block != original:
            self._fixes.append(Fix(record.id, self._path, record.span.line, tuple(done)))
        return block

    def _owes_entry(self, record: Requirement) -> bool:
        return self._grammar.settings.changelog.hash_current and owes_entries(record.status)

    def _formatted(self, record: Requirement, block: bytes) -> Iterator[tuple[str, bytes]]:
        block = with_id(block, self._grammar, record.id) if record.written_id != record.id else block
        yield f"id {record.written_id} to {record.id}", block
        block = with_canonical_references(block, self._grammar)
        yield "spelling of references", block
        if not _is_closed(block, record):
            if "*" in record.title or not record.title:
                self._leave(record, "its title cannot be in an End marker")
            else:
                yield "End marker", with_end_marker(block, self._grammar, record.title, record.stored_hash)

    def _leave(self, record: Requirement, why: str) -> None:
        self._left.append(Unfixed(record.id, self._path, record.span.line, why))

    def _expect_same_text(self, before: Sequence[Requirement], after: bytes) -> None:
        now = [block for block in read(after, self._grammar).blocks if isinstance(block, Requirement)]
        if [_text(record) for record in now] != [_text(record) for record in before]:
            raise Refused(
                f"Mending '{self._path}' would change how it is read, so nothing was written.",
                hint="First correct by hand what `clew check` reports about the file.",
            )


def _is_closed(block: bytes, record: Requirement) -> bool:
    """True if the block ends in a marker with its title."""
    last = block.rstrip().rpartition(b"\n")[2].decode("utf-8", "replace").partition("|")[0]
    return bool(record.hash_line) and last.removeprefix("*End*").strip() == f"*{record.title}*"


def _text(record: Requirement) -> tuple[object, ...]:
    """The parts of a requirement that no repair may change."""
    assertions = tuple((assertion.label, assertion.text) for assertion in record.assertions)
    cited = {(reference.kind, reference.target, reference.labels) for reference in record.references}
    return (
        record.id,
        record.title,
        record.level,
        record.status,
        assertions,
        without_changelog(record.body).rstrip(),
        cited,
    )
