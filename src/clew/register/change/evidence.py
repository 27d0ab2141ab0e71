"""Test records, and what they promote."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from clew.formats.register.ids import in_order
from clew.formats.register.model import Evidence, Outcome, Requirement, Status, TestRecord, parse_word
from clew.register import results
from clew.register.change.changes import check_dossier
from clew.register.change.draft import Draft
from clew.register.dossier import may_be_verified
from clew.register.rules.lifecycle import check_promotion

if TYPE_CHECKING:
    from clew.register.operations.evidence import RecordTest, RecordTestRun, VerifyRequirement

NO_GIT = "(no git)"
VERIFY_KINDS = (Evidence.COMPOSITION, Evidence.INSPECTION)
SHORT_COMMIT = 9


class LinkedFiles(msgspec.Struct, frozen=True):
    """The files that carry a requirement's marker, and the checksum over their content."""

    paths: tuple[str, ...]
    content_hash: str


class Tally(msgspec.Struct, frozen=True):
    """How the tests of one requirement went."""

    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome | None:
        """None where no test ran: an ignored test is no evidence."""
        if self.failed:
            return Outcome.FAIL
        return Outcome.PASS if self.passed else None

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
    outcome: Outcome,
    notes: str,
    kind: Evidence,
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


def record_test(draft: Draft, wanted: "RecordTest", commit: str, files: LinkedFiles | None = None) -> results.Recorded:
    """Attach the outcome of a test that somebody ran."""
    requirement, outcome = draft.find(wanted.id), parse_word(wanted.result, Outcome, "result")
    action = draft.author.with_channel(f"test {outcome.word} recorded against commit {short(commit)}")
    with_record(
        *(draft, requirement, action),
        commit=commit,
        outcome=outcome,
        notes=wanted.notes,
        kind=Evidence.AUTOMATED,
        reason=wanted.notes,
        files=files,
    )
    return results.Recorded(commit, requirement.id, outcome.word)


def verify(draft: Draft, wanted: "VerifyRequirement", commit: str) -> results.Verified:
    """Attach evidence of composition or inspection, and where asked promote what is implemented."""
    requirement = draft.find(wanted.id)
    kind = parse_word(wanted.by, Evidence, "verification kind", VERIFY_KINDS)
    promoted = wanted.promote and check_promotion(requirement, force=wanted.force)
    if promoted:
        check_dossier(draft, requirement)
    notes = wanted.notes
    told = f"cites: {', '.join(wanted.cites)} — {notes}" if wanted.cites else notes
    via = f"via {draft.author.channel} " if draft.author.channel else ""
    action = f"{kind.word} evidence recorded {via}against commit {short(commit)}"
    requirement = with_record(
        *(draft, requirement, action), commit=commit, outcome=Outcome.PASS, notes=told, kind=kind, reason=notes
    )
    if promoted:
        _promote(draft, requirement, f"{kind.word} evidence")
    return results.Verified(commit, requirement.id, kind.word, promoted)


def _promote(draft: Draft, requirement: Requirement, why: str) -> None:
    entry = draft.author.entry(f"status promoted to verified ({why})")
    draft.change(requirement, entry, status=Status.VERIFIED)


def record_run(
    draft: Draft,
    tallies: Mapping[str, Tally],
    wanted: "RecordTestRun",
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
            kind=Evidence.AUTOMATED,
            files=(files or {}).get(id),
        )
        if wanted.promote and outcome is Outcome.PASS and requirement.status is not Status.VERIFIED:
            if why := _not_promotable(draft, requirement):
                refused.append(f"{id}: {why}")
            else:
                _promote(draft, requirement, "test run")
                promoted.append(id)
    return results.RunReport(True, wanted.dry_run, len(rows), tuple(promoted), tuple(rows), tuple(refused))


def _not_promotable(draft: Draft, requirement: Requirement) -> str:
    """Why a run does not promote a requirement. One of many must not spoil the others, so it is told, not raised."""
    if requirement.status is not Status.IMPLEMENTED:
        return f"it is {requirement.status.word}, not implemented"
    return "" if may_be_verified(requirement, draft.register) else "it needs a dossier that passed"
