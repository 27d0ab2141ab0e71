"""Requirements of a register, in `project.req` or in a folder with `index.req`.

A register's requirement is a requirement like any other, and each of its acceptance criteria is an assertion, numbered
from 1. Parent and refines links are in the hierarchy; the others are edges of their own kind. What a statement or a
rationale says it implements, refines or verifies is cited as well, whatever format that is in.

The last test record is evidence: a test that verifies all criteria, with its outcome as the result.

| code | severity | what it says |
|---|---|---|
| `register.refused` | error | the file cannot be trusted or read; the message says why and what to do |

A register in a folder has one checksum over all of its files, and a reader sees one file at a time: whether it is whole
is said by a reader of its own.
"""

import re
import threading
from glob import escape
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from clew.edit.journal import journals
from clew.errors import FormatError
from clew.formats.code.prose_citations import cited_in_prose
from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.settings import ElspaisSettings
from clew.formats.register import READER_VERSION
from clew.formats.register.canonical import parse
from clew.formats.register.directory import ENDING, FOLDER, INDEX, MAX_BYTES, read_directory
from clew.formats.register.envelope import check_format
from clew.formats.register.model import LinkKind, RecordedOutcome, RegisterLayout, Requirement, Status
from clew.formats.register.records import decode_requirement
from clew.formats.register.single import read_single
from clew.formats.results.records import FAILED, PASSED
from clew.graph.build.link import Citation, Contribution, Definition
from clew.graph.model import EdgeKind, Node, NodeKind, Source
from clew.graph.readers.elspais import fingerprint
from clew.text.hashing import content_hash
from clew.workspace.find import Selection
from clew.workspace.follow import Follower
from clew.workspace.paths import raw
from clew.workspace.regular import contents

LEVEL = "register"
_ROLES = {Status.DRAFT: "provisional", Status.PROPOSED: "provisional", Status.OBSOLETE: "retired"}
_EDGES = {
    LinkKind.PARENT: EdgeKind.REFINES,
    LinkKind.REFINES: EdgeKind.REFINES,
    LinkKind.DEPENDS_ON: EdgeKind.DEPENDS_ON,
    LinkKind.CONFLICTS: EdgeKind.CONFLICTS,
    LinkKind.VERIFIES: EdgeKind.VERIFIES,
}
_KINDS = {kind.value: kind for kind in EdgeKind}
_ENTRY = re.compile(rb'^    (?:"([A-Z]+-[0-9]+)": \{|  "acceptance": \[\n)', re.MULTILINE)
_CRITERIA = b'  "acceptance": [\n'


class RegisterRecord(msgspec.Struct, frozen=True):
    """A requirement and the lines it is on."""

    requirement: Requirement
    line: int
    end_line: int
    criteria_line: int = 0
    """Line of the first acceptance criterion; 0 if the criteria share a line."""


class RegisterRecords(msgspec.Struct, frozen=True):
    records: tuple[RegisterRecord, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class RegisterReader:
    name = "register"
    records_type: Any = RegisterRecords

    def __init__(
        self,
        globs: tuple[str, ...],
        grammar: IdGrammar,
        settings: ElspaisSettings,
        *,
        specs: bool,
        refused: tuple[tuple[str, str], ...] = (),
    ) -> None:
        # What is named is read, even where git ignores it.
        self.selection = Selection(folders=(), patterns=(), globs=globs)
        doubted = f"-{content_hash(repr(refused).encode())}" if refused else ""
        self.version = f"{READER_VERSION}-{fingerprint(settings)}{'-specs' if specs else ''}{doubted}"
        self._refused = dict(refused)
        """Folders whose files do not belong together, with the reason."""
        self._grammar = grammar
        self._specs = specs

    def read(self, data: bytes, path: str) -> RegisterRecords:
        place = PurePosixPath(path)
        fault = self._refused.get(_folder_of(place))
        if fault is not None:
            # Said once, at the index; what the other files hold is not to be trusted.
            refusal = (Diagnostic("register.refused", "error", fault, 1),) if place.name == INDEX else ()
            return RegisterRecords(diagnostics=refusal)
        try:
            if place.name == INDEX:
                check_format(parse(data, INDEX).document, INDEX, RegisterLayout.DIRECTORY)
                return RegisterRecords()
            if place.parent.name == FOLDER:
                return RegisterRecords((_one(data, place.name),))
            requirements = read_single(data, place.name).requirements.values()
        except FormatError as error:
            return RegisterRecords(diagnostics=(Diagnostic("register.refused", "error", str(error), 1),))
        lines, all_lines = _lines(data), (1, data.count(b"\n") + 1)
        return RegisterRecords(tuple(RegisterRecord(each, *lines.get(each.id, all_lines)) for each in requirements))

    def diagnose(self, records: RegisterRecords) -> tuple[Diagnostic, ...]:
        return records.diagnostics

    def contribute(self, records: RegisterRecords, path: str) -> Contribution:
        definitions: list[Definition] = []
        results: list[Node] = []
        for record in records.records:
            definitions.append(self._definition(record, path))
            if record.requirement.tests:
                definitions.append(_evidence(record, path))
                results.append(_result(record, path))
        return Contribution(tuple(definitions), tuple(results))

    def _definition(self, record: RegisterRecord, path: str) -> Definition:
        requirement = record.requirement
        source = Source(path, record.line, record.end_line)
        labels = _labels(requirement)
        fields = {
            "level": LEVEL,
            "status": requirement.status.value,
            "role": _ROLES.get(requirement.status, "active"),
            "hash": None,
            "hash_state": "none",
            "body": f"{requirement.statement}\n\n{requirement.rationale}",
            "labels": labels,
            "sections": ("Rationale",),
            "priority": requirement.priority.value,
            "tags": requirement.tags,
        }
        parts = tuple(
            Node(
                f"{requirement.id}-{label}", NodeKind.ASSERTION, text, {"label": label}, _criterion(record, path, label)
            )
            for label, text in zip(labels, requirement.acceptance, strict=True)
        )
        node = Node(requirement.id, NodeKind.REQUIREMENT, requirement.title, fields, source)
        links = tuple(
            Citation(_EDGES[link.kind], requirement.id, link.target, (), link.target, path, record.line)
            for link in requirement.links
            if link.kind in _EDGES
        )
        return Definition(node, parts, (*links, *self._citations(record, path)))

    def _citations(self, record: RegisterRecord, path: str) -> tuple[Citation, ...]:
        """Citations in the texts of a requirement. Other requirements of the register are linked, not cited in
        prose."""
        requirement = record.requirement
        texts = (requirement.statement, requirement.rationale)
        cited = (
            each for text in texts for each in cited_in_prose(text, self._grammar, register=True, specs=self._specs)
        )
        return tuple(
            Citation(
                _KINDS[each.kind],
                requirement.id,
                each.target,
                each.labels,
                each.written,
                path,
                record.line,
                each.malformed,
            )
            for each in cited
        )


def _folder_of(place: PurePosixPath) -> str:
    """The folder of the register that a file belongs to; empty for a register in one file."""
    if place.name == INDEX:
        return place.parent.as_posix()
    return place.parent.parent.as_posix() if place.parent.name == FOLDER else ""


def _lines(data: bytes) -> dict[str, tuple[int, int, int]]:
    """The first and last line of each requirement and the line of its first criterion, in a file that is laid out as
    programs write it; nothing of one that is laid out otherwise."""
    found: list[tuple[str, int, int]] = []
    line, counted = 1, 0
    for match in _ENTRY.finditer(data):
        line += data.count(b"\n", counted, match.start())
        counted = match.start()
        if match[1]:
            found.append((match[1].decode(), line, 0))
        elif found:
            found[-1] = (*found[-1][:2], line + 1)
    ends = [*(start - 1 for _, start, _ in found[1:]), data.count(b"\n") + 1]
    return {id: (start, end, criteria) for (id, start, criteria), end in zip(found, ends, strict=False)}


def _one(data: bytes, name: str) -> RegisterRecord:
    requirement = decode_requirement(parse(data, name).document, name.removesuffix(ENDING), name)
    before = data.partition(_CRITERIA)[0]
    criteria = before.count(b"\n") + 2 if len(before) < len(data) else 0
    return RegisterRecord(requirement, 1, data.count(b"\n") + 1, criteria)


def _criterion(record: RegisterRecord, path: str, label: str) -> Source:
    if not record.criteria_line:
        return Source(path, record.line, record.end_line)
    line = record.criteria_line + int(label) - 1
    return Source(path, line, line)


def _labels(requirement: Requirement) -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, len(requirement.acceptance) + 1))


def _evidence(record: RegisterRecord, path: str) -> Definition:
    """The latest evidence record of a requirement as a test: it says that all criteria are met, or that they are
    not."""
    requirement = record.requirement
    id = f"test:{path}::{requirement.id}"
    last = requirement.tests[-1]
    fields = {"file": path, "evidence": last.kind.word, "commit": last.commit, "at": last.at, "actor": last.actor}
    node = Node(
        id,
        NodeKind.TEST,
        f"{last.kind.word.capitalize()} evidence of {requirement.id}",
        fields,
        Source(path, record.line, record.end_line),
    )
    verifies = Citation(EdgeKind.VERIFIES, id, requirement.id, _labels(requirement), requirement.id, path, record.line)
    return Definition(node, citations=(verifies,))


def _result(record: RegisterRecord, path: str) -> Node:
    requirement = record.requirement
    last = requirement.tests[-1]
    fields: dict[str, Any] = {
        "status": PASSED if last.outcome is RecordedOutcome.PASS else FAILED,
        "name": requirement.id,
        "file": path,
        "format": "register",
    }
    if last.notes:
        fields["message"] = last.notes
    id = f"result:{path}::{requirement.id}"
    return Node(id, NodeKind.TEST_RESULT, requirement.id, fields, Source(path, record.line, record.end_line))


Refused = tuple[tuple[str, str], ...]
"""Folders that cannot be trusted, each with the reason."""


class RegisterIntegrity:
    """Looks into a folder again only where a file of it changed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._followers: dict[str, Follower] = {}
        self._faults: dict[str, str] = {}

    def refused(self, places: tuple[str, ...]) -> Refused:
        """The folders among these registers that cannot be trusted, each with the reason."""
        with self._lock:
            found = ((place, self._fault(place)) for place in places if (self._root / raw(place)).is_dir())
            return tuple((place, fault) for place, fault in found if fault)

    def _fault(self, place: str) -> str:
        folder = self._root / raw(place)
        if journals(folder):
            # Another process is writing; the previous state stays valid until it is done.
            return self._faults.get(place, "")
        follower = self._followers.get(place)
        if follower is None:
            follower = self._followers[place] = Follower(self._root, _selection(place), max_file_bytes=MAX_BYTES)
        if not follower.is_current():
            follower.note_all()
            start = "" if place == "." else f"{place}/"
            self._faults[place] = _examined(folder, [path.removeprefix(start) for path, _ in follower.keys])
        return self._faults[place]


def _selection(place: str) -> dict[str, Selection]:
    folder = "" if place == "." else f"{escape(raw(place))}/"
    return {"register": Selection((), (), globs=(f"{folder}{INDEX}", f"{folder}{FOLDER}/[!.]*{ENDING}"))}


def _examined(folder: Path, paths: list[str]) -> str:
    try:
        read_directory({path: contents(folder / raw(path), MAX_BYTES) for path in paths}, folder.name)
    except FormatError as error:
        return str(error)
    except (OSError, KeyError):
        # Files that come and go are looked at again the next time, and the reader reports those it cannot read.
        return ""
    return ""
