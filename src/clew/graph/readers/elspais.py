"""Requirements and journeys in elspais markdown."""

from collections.abc import Mapping
from typing import Any

import msgspec

from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais import READER_VERSION
from clew.formats.elspais.assertions import is_retired
from clew.formats.elspais.changelog import changelog_problems
from clew.formats.elspais.hashes import HashState, hash_state, rule_of_file
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.ids.register import RegisterIds
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import FileRecords, Journey, Reference, Remainder, Requirement
from clew.formats.elspais.settings import ElspaisSettings
from clew.graph.build.link import Citation, Contribution, Definition
from clew.graph.model import EdgeKind, Node, NodeKind, Source
from clew.text.hashing import content_hash
from clew.text.lines import Span
from clew.workspace.find import Selection

EDGE_KINDS = {kind.value: kind for kind in EdgeKind}
"""By the word that files use."""


class ElspaisFile(msgspec.Struct, frozen=True, array_like=True):
    """The records of a file, with values that are expensive to compute."""

    records: FileRecords
    hash_states: tuple[HashState, ...]
    """One for each requirement, in order."""


class ElspaisReader:
    records_type: Any = ElspaisFile

    def __init__(
        self,
        selection: Selection,
        grammar: IdGrammar,
        settings: ElspaisSettings,
        *,
        register: bool = False,
        associate: str = "",
    ) -> None:
        """`associate` names the other repository that is read; empty for the project's own requirements."""
        self.name = f"elspais:{associate}" if associate else "elspais"
        self.selection = selection
        self.version = f"{READER_VERSION}{'-register' if register else ''}-{fingerprint(settings)}"
        self._associate = {"associate": associate} if associate else {}
        self._grammar = grammar
        self._settings = settings
        self._standings: dict[str, Mapping[str, Any]] = {}
        """By status, as far as it occurred."""
        self._fields: dict[str, Mapping[str, Any]] = {}
        """Of assertions, by label, likewise."""
        self._register = RegisterIds(grammar) if register else None
        """Ids of the project's register, which requirements may cite as well."""

    def read(self, data: bytes, path: str) -> ElspaisFile:
        records = read(data, self._grammar)
        requirements = [block for block in records.blocks if isinstance(block, Requirement)]
        rule = rule_of_file(requirements, self._settings)
        return ElspaisFile(records, tuple(hash_state(record, self._settings, rule) for record in requirements))

    def diagnose(self, records: ElspaisFile) -> tuple[Diagnostic, ...]:
        settings = self._settings.changelog
        if not (settings.hash_current or settings.present):
            return records.records.diagnostics
        requirements = (block for block in records.records.blocks if isinstance(block, Requirement))
        lacking = (problem for record in requirements for problem in changelog_problems(record, settings))
        return (*records.records.diagnostics, *lacking)

    def contribute(self, records: ElspaisFile, path: str) -> Contribution:
        states = iter(records.hash_states)
        definitions: list[Definition] = []
        for block in records.records.blocks:
            if isinstance(block, Requirement):
                definitions.append(self._requirement(block, next(states), path))
            elif isinstance(block, Journey):
                definitions.append(_journey(block, path, self._register, self._associate))
            elif block.raw.strip(" \t\r\n-"):
                definitions.append(_remainder(block, path))
        return Contribution(tuple(definitions))

    def _requirement(self, record: Requirement, state: HashState, path: str) -> Definition:
        id = record.id
        node = Node(
            id,
            NodeKind.REQUIREMENT,
            record.title,
            {
                "level": record.level,
                "status": record.status,
                **self._standing(record.status),
                "hash": record.stored_hash,
                "hash_state": state.state,
                "hash_now": state.value,
                "body": record.body,
                "labels": tuple(dict.fromkeys([assertion.label for assertion in record.assertions])),
                "sections": tuple([section.heading for section in record.sections]),
                "template": record.template,
                **_retired(record),
                **self._associate,
            },
            _source(record.span, path),
        )
        stem = id + self._settings.label_separator
        parts: dict[str, Node] = {}
        for assertion in record.assertions:
            # A repeated label is reported by the reader; the first one keeps it.
            label = assertion.label
            if label not in parts:
                source = _source(assertion.span, path)
                fields = self._labelled(label, is_retired(assertion.text))
                parts[label] = Node(stem + label, NodeKind.ASSERTION, assertion.text, fields, source)
        return Definition(node, tuple(parts.values()), _citations(record.references, id, path, self._register))

    def _labelled(self, label: str, is_retired: bool) -> Mapping[str, Any]:
        """The fields of an assertion. There are few labels and very many assertions, which share them."""
        if is_retired:
            return {"label": label, "retired": True}
        fields = self._fields.get(label)
        if fields is None:
            fields = self._fields[label] = {"label": label}
        return fields

    def _standing(self, status: str) -> Mapping[str, Any]:
        """Meaning of a status in this project: its role, and whether it expects coverage."""
        standing = self._standings.get(status)
        if standing is None:
            settings = self._settings
            standing = {"role": settings.status_role(status), "expected": settings.expects_coverage(status)}
            self._standings[status] = standing
        return standing


def _retired(record: Requirement) -> Mapping[str, tuple[str, ...]]:
    labels = tuple([each.label for each in record.assertions if is_retired(each.text)])
    return {"retired_labels": labels} if labels else {}


def _journey(record: Journey, path: str, register: RegisterIds | None, associate: Mapping[str, str]) -> Definition:
    fields = {
        "actor": record.actor,
        "goal": record.goal,
        "context": record.context,
        "body": record.body,
        "steps": tuple(text for _, text, _ in record.steps),
        "labels": tuple(str(number) for number, _, _ in record.steps),
        **associate,
    }
    node = Node(record.id, NodeKind.USER_JOURNEY, record.title, fields, _source(record.span, path))
    return Definition(node, (), _citations(record.references, record.id, path, register))


def _remainder(record: Remainder, path: str) -> Definition:
    title = next((line.strip("# \t") for line in record.raw.splitlines() if line.strip("# \t-")), "")
    id = f"rem:{path}:{record.span.line}"
    return Definition(Node(id, NodeKind.REMAINDER, title[:200], {"text": record.raw}, _source(record.span, path)))


def _citations(
    references: tuple[Reference, ...], source: str, path: str, register: RegisterIds | None
) -> tuple[Citation, ...]:
    return tuple(_citation(reference, source, path, register) for reference in references)


def _citation(reference: Reference, source: str, path: str, register: RegisterIds | None) -> Citation:
    """Citation of a reference. A target that is malformed in this format may be an id of the register."""
    target, labels, malformed = reference.target, reference.labels, reference.malformed
    if malformed and register is not None and (parsed := register.parse(reference.written)) is not None:
        target, labels, malformed = parsed.target, parsed.labels, False
    kind = EDGE_KINDS[reference.kind]
    return Citation(kind, source, target, labels, reference.written, path, reference.line, malformed)


def _source(span: Span, path: str) -> Source:
    return Source(path, span.line, span.end_line, span.start, span.end)


def fingerprint(settings: ElspaisSettings) -> str:
    """Identifies the settings: records cached under other settings are not used."""
    return content_hash(msgspec.json.encode(settings, order="deterministic"), size=8)
