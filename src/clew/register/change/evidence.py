"""Test records, from a call or from the logs of test runs, and what they promote.

Of logs, understood are the output of `cargo test` and of `pytest -v`, JUnit XML, and the JSON of pytest's reports. A
test belongs to a requirement when its name holds `req_0042` or `REQ-0042`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from clew.errors import FormatError
from clew.formats.register.ids import format_id, in_order, normalise
from clew.formats.register.model import EvidenceKind, RecordedOutcome, Requirement, Status, TestRecord, parse_word
from clew.formats.results.reader import read_results
from clew.register import results
from clew.register.change.changes import check_dossier
from clew.register.change.draft import Draft
from clew.register.requests import OtherEvidence, SavedRun, SingleTest
from clew.register.rules.lifecycle import check_promotion, may_be_verified

NO_GIT = "(no git)"
VERIFY_KINDS = (EvidenceKind.COMPOSITION, EvidenceKind.INSPECTION)
SHORT_COMMIT = 9


class LinkedFiles(msgspec.Struct, frozen=True):
    """The files that carry a requirement's marker, and the checksum over their content."""

    paths: tuple[str, ...]
    content_hash: str


class RunTally(msgspec.Struct, frozen=True):
    """The results of one requirement's tests."""

    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def outcome(self) -> RecordedOutcome | None:
        """The outcome of test runs; None if no test ran: an ignored test is not evidence."""
        if self.failed:
            return RecordedOutcome.FAIL
        return RecordedOutcome.PASS if self.passed else None

    @property
    def notes(self) -> str:
        names = ", ".join((*self.passed, *self.failed))
        return f"{len(self.passed)} pass / {len(self.failed)} fail / {len(self.ignored)} ignored — {names}"


def short(commit: str) -> str:
    return commit if commit == NO_GIT else commit[:SHORT_COMMIT]


def with_record(
    draft: Draft,
    requirement: Requirement,
    action: str,
    *,
    commit: str,
    outcome: RecordedOutcome,
    notes: str,
    kind: EvidenceKind,
    reason: str | None = None,
    files: LinkedFiles | None = None,
) -> Requirement:
    record = TestRecord(
        at=draft.author.at,
        actor=draft.author.actor,
        commit=commit,
        outcome=outcome,
        notes=notes,
        kind=kind,
        content_hash=files.content_hash if files else None,
        linked_files=files.paths if files else None,
    )
    return draft.change(requirement, draft.author.entry(action, reason), tests=(*requirement.tests, record))


def record_test(draft: Draft, wanted: SingleTest, commit: str, files: LinkedFiles | None = None) -> results.Recorded:
    """Attach the outcome of a test that somebody ran."""
    requirement, outcome = draft.find(wanted.id), parse_word(wanted.result, RecordedOutcome, "result")
    action = draft.author.with_channel(f"test {outcome.word} recorded against commit {short(commit)}")
    with_record(
        *(draft, requirement, action),
        commit=commit,
        outcome=outcome,
        notes=wanted.notes,
        kind=EvidenceKind.AUTOMATED,
        reason=wanted.notes,
        files=files,
    )
    return results.Recorded(commit, requirement.id, outcome.word)


def verify(draft: Draft, wanted: OtherEvidence, commit: str) -> results.Verified:
    """Attach evidence of composition or inspection, and on request promote an implemented requirement."""
    requirement = draft.find(wanted.id)
    kind = parse_word(wanted.by, EvidenceKind, "verification kind", VERIFY_KINDS)
    promoted = wanted.promote and check_promotion(requirement, force=wanted.force)
    if promoted:
        check_dossier(draft, requirement)
    notes = wanted.notes
    record_notes = f"cites: {', '.join(wanted.cites)} — {notes}" if wanted.cites else notes
    via = f"via {draft.author.channel} " if draft.author.channel else ""
    action = f"{kind.word} evidence recorded {via}against commit {short(commit)}"
    requirement = with_record(
        *(draft, requirement, action),
        commit=commit,
        outcome=RecordedOutcome.PASS,
        notes=record_notes,
        kind=kind,
        reason=notes,
    )
    if promoted:
        _promote(draft, requirement, f"{kind.word} evidence")
    return results.Verified(commit, requirement.id, kind.word, promoted)


def _promote(draft: Draft, requirement: Requirement, why: str) -> None:
    entry = draft.author.entry(f"status promoted to verified ({why})")
    draft.change(requirement, entry, status=Status.VERIFIED)


def record_run(
    draft: Draft,
    tallies: Mapping[str, RunTally],
    wanted: SavedRun,
    commit: str,
    files: Mapping[str, LinkedFiles] | None = None,
) -> results.RunReport:
    """Attach one record to each requirement that a run of tests names."""
    rows: list[results.RunRow] = []
    promoted: list[str] = []
    refused: list[str] = []
    for id in in_order(tallies):
        tally = tallies[id]
        requirement = draft.requirements.get(id)
        outcome = tally.outcome
        word = outcome.word if outcome else "none"
        counts = len(tally.passed), len(tally.failed), len(tally.ignored)
        rows.append(results.RunRow(id, requirement is not None, word, *counts))
        if requirement is None or outcome is None or wanted.dry_run:
            continue
        action = draft.author.with_channel(f"test {word} recorded against commit {short(commit)}")
        requirement = with_record(
            *(draft, requirement, action),
            commit=commit,
            outcome=outcome,
            notes=tally.notes,
            kind=EvidenceKind.AUTOMATED,
            files=(files or {}).get(id),
        )
        if wanted.promote and outcome is RecordedOutcome.PASS and requirement.status is not Status.VERIFIED:
            if why := _not_promotable(draft, requirement):
                refused.append(f"{id}: {why}")
            else:
                _promote(draft, requirement, "test run")
                promoted.append(id)
    return results.RunReport(True, wanted.dry_run, len(rows), tuple(promoted), tuple(rows), tuple(refused))


def _not_promotable(draft: Draft, requirement: Requirement) -> str:
    """The reason why a run does not promote a requirement; empty if it does. Nothing is raised, because one of many
    must not stop the others."""
    if requirement.status is Status.OBSOLETE:
        return "it is retired"
    return "" if may_be_verified(requirement, draft.register) else "it needs a dossier that passed"


_REPORT = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<|\{\s*\"|\[\s*\{)")
"""The beginning of XML and JSON, which no line that a program prints for people has."""
_COLOUR = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\([A-Z0-9])")
_CARGO = re.compile(r"^test\s+([\w:]+)(?:\s+-\s+should panic)?\s+\.\.\.\s+(ok|FAILED|ignored)\b", re.MULTILINE)
_ENDS = "PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS"
_PYTEST = re.compile(
    rf"^(?:\[gw[0-9]+\] (?:\[ *[0-9]+%\] )?)?(?:(?P<before>{_ENDS})[ \t]+(?P<name>\S{{1,1000}}?::\S+)"
    rf"|(?P<named>(?:(?!::)\S){{1,1000}}::[^\n]{{1,1000}}?)(?<![ \t])[ \t]+(?P<after>{_ENDS})"
    r"(?=[ \t\r]*(?:\(|\[[^]\n]*\]|$)))",
    re.MULTILINE,
)
"""As pytest prints it, in one process or, with its number first, in several. No line can be read in two ways: one that
is made up of colons and blanks takes no longer than another."""
_ID = re.compile(r"(?<![A-Za-z0-9])req[-_]([0-9]{4,18})(?![A-Za-z0-9])", re.IGNORECASE)

_PASSED = frozenset({"ok", "PASSED", "passed", "XPASS"})
_FAILED = frozenset({"FAILED", "ERROR", "failed", "error"})


_SAID = (
    re.compile(r"\bFAIL(?:ED|URE)?\b|\bERROR\b|\bfailed\b|✗|✘"),
    re.compile(r"\bok\b|\bPASS(?:ED)?\b|\bpassed\b|✓|✔"),
    re.compile(r"\b(?:skip|skipped|ignored)\b", re.IGNORECASE),
)
"""Lines that report a test as failed, passed, or not run."""


class _Outcome(NamedTuple):
    name: str
    word: str


def read_log(data: bytes, names: Mapping[str, Sequence[str]] | None = None) -> dict[str, RunTally]:
    """The outcomes of tests by id; empty if no test's name carries an id. `names` gives ids to tests whose names carry
    none: a result of such a test counts, and in a log every line with the name and an outcome, whatever printed it.
    FormatError for a report that breaks off, because a missing test may have failed."""
    found: dict[str, tuple[dict[str, None], dict[str, None], dict[str, None]]] = {}
    ids_of = names or {}
    any_name = _any_of(ids_of)
    is_report = _REPORT.match(data) is not None
    text = "" if is_report else _COLOUR.sub("", data.decode("utf-8", "replace"))
    for outcome in _reported(data) if is_report else _printed(text):
        column = 0 if outcome.word in _PASSED else 1 if outcome.word in _FAILED else 2
        ids = [format_id(int(match[1])) for match in _ID.finditer(outcome.name)]
        if is_report:
            ids += [normalise(id) for name in any_name.findall(outcome.name) for id in ids_of[name]]
        for id in ids:
            found.setdefault(id, ({}, {}, {}))[column][_short(outcome.name)] = None
    for name, column in _named(text, any_name) if ids_of else ():
        for id in ids_of[name]:
            found.setdefault(normalise(id), ({}, {}, {}))[column][name] = None
    return {id: RunTally(*(tuple(column) for column in columns)) for id, columns in found.items()}


def _reported(data: bytes) -> Iterator[_Outcome]:
    records = read_results(data)
    fault = next((each for each in records.diagnostics if each.severity == "error"), None)
    if fault is not None:
        raise FormatError(f"The report cannot be used: {fault.message}", hint="Nothing was recorded.")
    return (_Outcome(result.name, result.status) for result in records.outcomes)


def _printed(text: str) -> Iterator[_Outcome]:
    for match in _CARGO.finditer(text):
        yield _Outcome(match[1], match[2])
    for match in _PYTEST.finditer(text):
        yield _Outcome(match["name"] or match["named"], match["before"] or match["after"])


def _any_of(names: Mapping[str, Sequence[str]]) -> re.Pattern[str]:
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in longest_first) or "(?!)")


def _named(text: str, any_name: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    """The tests named in a line with an outcome, each with the index of the count to raise."""
    for line in text.splitlines():
        found = any_name.findall(line)
        rest = any_name.sub(" ", line) if found else ""
        column = next((column for column, words in enumerate(_SAID) if words.search(rest)), None)
        if column is not None:
            yield from ((name, (1, 0, 2)[column]) for name in found)


def _short(name: str) -> str:
    return name.rpartition("::")[2]
