"""Comparison of a requirement's last evidence with the files as they are.

A record that names its files and their checksum is compared with the files. An older one is compared by commit: it is
stale when a file that carries the requirement's marker changed since.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec

from clew.formats.register.model import Requirement, TestRecord
from clew.register.change.evidence import LinkedFiles, short

NO_COMMIT = "—"

ReadFile = Callable[[str], bytes | None]
"""The content of a file by its path, with forward slashes and relative to the project; None where it is gone."""
ChangedSince = Callable[[str], frozenset[str] | None]
"""The paths of the working tree that differ from a commit; None where git cannot tell."""


class EvidenceState(StrEnum):
    FRESH = "fresh"
    DRIFTED = "drifted"
    """The project moved on, but none of the requirement's files did."""
    STALE = "STALE"
    NO_RECORDS = "no-records"
    UNKNOWN = "unknown"


class EvidenceRow(msgspec.Struct, frozen=True):
    id: str
    state: EvidenceState
    record_commit: str
    changed_files: tuple[str, ...]


class EvidenceCounts(msgspec.Struct, frozen=True):
    fresh: int
    drifted: int
    stale: int
    no_records: int
    unknown: int


class EvidenceReport(msgspec.Struct, frozen=True):
    summary: EvidenceCounts
    rows: tuple[EvidenceRow, ...]


def plain_path(recorded: str) -> str:
    """`.\\src\\a.rs` of a record made on Windows and `./src/a.rs` of any other are both `src/a.rs`."""
    return recorded.replace("\\", "/").removeprefix("./")


def content_hash(paths: Iterable[str], read: ReadFile) -> str:
    """The checksum of files as records keep it: each path as it is written, then the content of the file."""
    checksum = hashlib.sha256()
    for path in paths:
        checksum.update(path.encode("utf-8", "surrogatepass"))
        checksum.update(b"\0")
        checksum.update(read(plain_path(path)) or b"")
        checksum.update(b"\n")
    return checksum.hexdigest()


def linked_files(paths: Iterable[str], read: ReadFile) -> LinkedFiles | None:
    """The files that carry a marker and their checksum, for a record; None if there are none."""
    written = tuple(f"./{path}" for path in sorted(paths))
    return LinkedFiles(written, content_hash(written, read)) if written else None


class WorkTreeState(msgspec.Struct, frozen=True):
    """The state of the project around a register."""

    head: str | None
    """The commit that is checked out; None without git."""
    carriers: Mapping[str, Sequence[str]]
    """By id: the files that carry its marker, relative to the project."""
    read: ReadFile
    changed_since: ChangedSince
    by_commit: bool = False
    """Records are compared by their commit alone, as req does it."""


def state_of(requirement: Requirement, project: WorkTreeState) -> EvidenceRow:
    if not requirement.tests:
        return EvidenceRow(requirement.id, EvidenceState.NO_RECORDS, NO_COMMIT, ())
    record = requirement.tests[-1]
    state, changed = _compared(requirement.id, record, project)
    return EvidenceRow(requirement.id, state, short(record.commit), changed)


def _compared(id: str, record: TestRecord, project: WorkTreeState) -> tuple[EvidenceState, tuple[str, ...]]:
    if record.content_hash and record.linked_files and not project.by_commit:
        return _by_content(record, record.linked_files, project)
    if project.head is None:
        return EvidenceState.UNKNOWN, ()
    if record.commit == project.head:
        return EvidenceState.FRESH, ()
    changed = _touched(record, project, tuple(project.carriers.get(id, ())))
    if changed is None and not project.by_commit:
        return EvidenceState.UNKNOWN, ()
    return (EvidenceState.STALE, changed) if changed else (EvidenceState.DRIFTED, ())


def _by_content(
    record: TestRecord, paths: Sequence[str], project: WorkTreeState
) -> tuple[EvidenceState, tuple[str, ...]]:
    for content in (project.read, _reading(project.read, _with_lf), _reading(project.read, _with_crlf)):
        # The same commit ends its lines differently on different systems.
        if content_hash(paths, content) == record.content_hash:
            return EvidenceState.FRESH, ()
    files = tuple(plain_path(path) for path in paths)
    changed = _touched(record, project, files)
    if changed:
        return EvidenceState.STALE, changed
    if changed is not None and any("\\" in path for path in paths):
        # Made on Windows, where some files may have had other line ends than the rest; git saw none of them change.
        return EvidenceState.DRIFTED, ()
    # It is about content that was never committed, or git knows nothing: any of the files may have changed.
    return EvidenceState.STALE, files


def _reading(read: ReadFile, spelled: Callable[[bytes], bytes]) -> ReadFile:
    return lambda path: spelled(read(path) or b"")


def _with_lf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _with_crlf(data: bytes) -> bytes:
    return _with_lf(data).replace(b"\n", b"\r\n")


def _touched(record: TestRecord, project: WorkTreeState, files: tuple[str, ...]) -> tuple[str, ...] | None:
    changed = project.changed_since(record.commit) if project.head else None
    return None if changed is None else tuple(path for path in files if path in changed)


def report(requirements: Iterable[Requirement], project: WorkTreeState, *, only_stale: bool = False) -> EvidenceReport:
    rows = [state_of(requirement, project) for requirement in requirements]
    counts = {state: sum(row.state is state for row in rows) for state in EvidenceState}
    summary = EvidenceCounts(
        fresh=counts[EvidenceState.FRESH],
        drifted=counts[EvidenceState.DRIFTED],
        stale=counts[EvidenceState.STALE],
        no_records=counts[EvidenceState.NO_RECORDS],
        unknown=counts[EvidenceState.UNKNOWN],
    )
    return EvidenceReport(summary, tuple(row for row in rows if not only_stale or row.state is EvidenceState.STALE))
