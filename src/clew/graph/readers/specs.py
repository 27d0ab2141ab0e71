"""Specs and open changes.

A spec is a node, a requirement of it a requirement like every other, a scenario an assertion of that requirement: tests
verify it by its slug. The files of an open change are nodes that carry what was read from them; archived changes are
history and not read.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from clew.formats.code.marker_comments import Cited
from clew.formats.code.prose_citations import cited_in_prose
from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.openspec import READER_VERSION
from clew.formats.openspec.change import Proposal, read_proposal
from clew.formats.openspec.layout import FileRole, FileRoleKind, Root, classify
from clew.formats.openspec.metadata import ChangeMetadata, read_metadata
from clew.formats.openspec.outline import (
    LazySpec,
    RequirementOutline,
    ScenarioOutline,
    SpecOutline,
    outline,
    sealed,
)
from clew.formats.openspec.reader import read_delta, read_spec
from clew.formats.openspec.records import DELTA_KINDS, Delta
from clew.formats.openspec.references import requirement_id, scenario_id
from clew.formats.openspec.rules.rules import IssueLevel, own_dialect
from clew.formats.openspec.rules.spec import validate_spec
from clew.formats.openspec.tasks import Tasks, read_tasks
from clew.graph.build.link import Citation, Contribution, Definition
from clew.graph.model import EdgeKind, Node, NodeKind, Source
from clew.graph.readers.elspais import fingerprint
from clew.text.hashing import content_hash
from clew.text.lines import Span
from clew.workspace.find import Selection

MISPLACED = "openspec.misplaced_spec"
LEVEL = "spec"
STATUS = "Active"


class SpecFile(msgspec.Struct, frozen=True, gc=False):
    """Records of one file of a spec folder; at most one field is set, by the role of the file."""

    outline: SpecOutline | None = None
    """Of a spec, whose records follow in sealed form."""
    packed: bytes = b""
    cited: tuple[tuple[int, tuple[Cited, ...]], ...] = ()
    """Citations in the texts of its requirements, by their position among them; few cite anything."""
    delta: Delta | None = None
    proposal: Proposal | None = None
    tasks: Tasks | None = None
    metadata: ChangeMetadata | None = None
    misnamed: bool = False
    """True if it holds sections of a delta under another name than `spec.md`."""
    text: str | None = None
    lines: int = 1
    diagnostics: tuple[Diagnostic, ...] = ()


class SpecReader:
    name = "specs"
    records_type: Any = SpecFile

    def __init__(self, roots: tuple[Root, ...], grammar: IdGrammar, *, assumed: bool, register: bool = False) -> None:
        self._roots = roots
        self._grammar = grammar
        self._register = register
        """True if the project has a register, whose requirements may then be cited."""
        named = content_hash(msgspec.json.encode(roots), size=8)
        self.version = f"{READER_VERSION}{'-register' if register else ''}-{named}-{fingerprint(grammar.settings)}"
        self.selection = Selection(
            folders=tuple(dict.fromkeys(folder for root in roots for folder in (root.specs, root.changes))),
            patterns=("*.md", ".openspec.yaml"),
            skip=tuple(f"/{root.archive}" for root in roots),
            assumed=assumed,
        )

    def read(self, data: bytes, path: str) -> SpecFile:
        place = classify(path, self._roots)
        lines = max(len(data.splitlines()), 1)
        match place.kind if place is not None else None:
            case FileRoleKind.SPEC if place is not None:
                return self._read_spec(data, place, lines)
            case FileRoleKind.DELTA if place is not None:
                delta = read_delta(data, place.spec_id)
                return SpecFile(delta=delta, lines=lines, diagnostics=delta.document.diagnostics)
            case FileRoleKind.PROPOSAL:
                proposal = read_proposal(data)
                return SpecFile(proposal=proposal, lines=lines, diagnostics=proposal.document.diagnostics)
            case FileRoleKind.TASKS:
                tasks = read_tasks(data)
                return SpecFile(tasks=tasks, lines=lines, diagnostics=tasks.document.diagnostics)
            case FileRoleKind.METADATA:
                metadata = read_metadata(data)
                return SpecFile(metadata=metadata, lines=lines, diagnostics=metadata.problems)
            case FileRoleKind.MISPLACED if place is not None and not place.change_id:
                message = "A spec.md directly in the folder of specs has no id, so it is not read. Move it to a folder."
                return SpecFile(lines=lines, diagnostics=(Diagnostic(MISPLACED, "warning", message, 1),))
            case FileRoleKind.DELTA_NOTE:
                return SpecFile(misnamed=any(read_delta(data).document.of_kind(*DELTA_KINDS)), lines=lines)
            case FileRoleKind.DESIGN:
                return SpecFile(text=data.decode("utf-8", "replace"), lines=lines)
            case _:
                return SpecFile(lines=lines)

    def diagnose(self, records: SpecFile) -> tuple[Diagnostic, ...]:
        return records.diagnostics

    def contribute(self, records: SpecFile, path: str) -> Contribution:
        place = classify(path, self._roots)
        if place is None:
            return Contribution()
        if records.outline is not None:
            return Contribution(tuple(_spec(records.outline, records, path)))
        # A file directly in the folder of a change shows that there is one, whatever it is called.
        inside = path.removeprefix(f"{place.root.changes}/").count("/")
        beside = (place.kind is FileRoleKind.CHANGE_NOTE and inside > 1) or (
            place.kind is FileRoleKind.DELTA_NOTE and not records.misnamed
        )
        if not place.change_id or beside:
            return Contribution()
        return Contribution((_change_file(records, place, path),))

    def _read_spec(self, data: bytes, place: FileRole, lines: int) -> SpecFile:
        spec = read_spec(data, place.spec_id)
        # Counted once, when the file is read; remarks are no problems.
        problems = sum(
            issue.level is not IssueLevel.INFO for issue in validate_spec(spec, own_dialect(place.root.layout))
        )
        found = outline(spec, problems=problems, lines=lines)
        return SpecFile(
            outline=found,
            packed=sealed(spec),
            cited=tuple(self._cited(found)) if _may_cite(data) else (),
            lines=lines,
            diagnostics=spec.document.diagnostics,
        )

    def _cited(self, spec: SpecOutline) -> Iterator[tuple[int, tuple[Cited, ...]]]:
        for place, each in enumerate(spec.requirements):
            cited = cited_in_prose(each.body, self._grammar, register=self._register, specs=True)
            if cited:
                yield place, cited


def _may_cite(data: bytes) -> bool:
    """True if a file may cite anything. Most do not, and this test is cheap."""
    folded = data.lower()
    return any(word in folded for word in (b"implements", b"refines", b"verifies"))


def _spec(spec: SpecOutline, file: SpecFile, path: str) -> Iterator[Definition]:
    id = spec_node_id(spec.id)
    fields = {"spec": LazySpec(spec, file.packed), "body": spec.purpose}
    yield Definition(Node(id, NodeKind.SPEC, spec.title or spec.id, fields, Source(path, 1, spec.lines)))
    cited = dict(file.cited)
    for place, requirement in enumerate(spec.requirements):
        citations = _citations(cited[place], requirement, spec.id, path) if place in cited else ()
        yield _requirement(requirement, spec.id, path, citations)


def _citations(cited: tuple[Cited, ...], record: RequirementOutline, spec_id: str, path: str) -> tuple[Citation, ...]:
    """Citations in the text of a requirement: implements, refines or verifies."""
    source = requirement_id(spec_id, record.slug)
    return tuple(
        Citation(
            *(EdgeKind(each.kind), source, each.target, each.labels, each.written),
            *(path, record.span.line, each.malformed),
        )
        for each in cited
    )


def _requirement(record: RequirementOutline, spec_id: str, path: str, cited: tuple[Citation, ...]) -> Definition:
    id = requirement_id(spec_id, record.slug)
    fields = {
        "level": LEVEL,
        "status": STATUS,
        "role": "active",
        "hash": None,
        "hash_state": "none",
        "body": record.body,
        "labels": tuple([scenario.slug for scenario in record.scenarios]),
        "sections": (),
        "spec_id": spec_id,
    }
    parts = tuple([_scenario(scenario, record, spec_id, path) for scenario in record.scenarios])
    target = spec_node_id(spec_id)
    belongs = Citation(EdgeKind.STRUCTURES, id, target, (), target, path, record.span.line)
    node = Node(id, NodeKind.REQUIREMENT, record.name, fields, _source(record.span, path))
    return Definition(node, parts, (belongs, *cited), alias=record.slug)


def _scenario(record: ScenarioOutline, requirement: RequirementOutline, spec_id: str, path: str) -> Node:
    return Node(
        scenario_id(spec_id, requirement.slug, record.slug),
        NodeKind.ASSERTION,
        record.sentence,
        {"label": record.slug, "name": record.name},
        _source(record.span, path),
    )


def _change_file(records: SpecFile, place: FileRole, path: str) -> Definition:
    named = path if place.kind in (FileRoleKind.DELTA_NOTE, FileRoleKind.CHANGE_NOTE) else place.spec_id
    inner = f":{named}" if named else ""
    fields = {"change_id": place.change_id, "kind": place.kind.value, "records": records, "root": place.root}
    node = Node(
        f"change:{place.change_id}:{place.kind}{inner}",
        NodeKind.REMAINDER,
        f"{place.kind} of the change {place.change_id}",
        fields,
        Source(path, 1, records.lines),
    )
    return Definition(node)


def spec_node_id(spec_id: str) -> str:
    return f"spec:{spec_id}"


def _source(span: Span, path: str) -> Source:
    return Source(path, span.line, span.end_line, span.start, span.end)
