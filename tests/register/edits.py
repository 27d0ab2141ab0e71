"""Operations of the register on a draft, in few words."""

from collections.abc import Mapping, Sequence
from typing import Any

from clew.register import results
from clew.register.change import changes, evidence
from clew.register.change.draft import Draft
from clew.register.change.evidence import LinkedFiles, RunTally
from clew.register.operations.edit import DeleteCommand, LinkRequirements, SplitRequirement, UpdateCommand
from clew.register.operations.evidence import RecordTest, RecordTestRun, VerifyRequirement


def update(draft: Draft, id: str, reason: str | None, **fields: Any) -> results.Updated:
    return changes.update(draft, UpdateCommand(id=id, reason=reason, **fields))


def delete(draft: Draft, id: str, reason: str | None, *, hard: bool = False) -> results.Deleted:
    return changes.delete(draft, DeleteCommand(id=id, reason=reason, hard=hard))


def link(draft: Draft, source: str, to: str, kind: Any = "parent", *, remove: bool = False) -> results.Linked:
    return changes.link(draft, LinkRequirements(source=source, to=to, kind=kind, remove=remove))


def split(draft: Draft, id: str, into: Sequence[str], reason: str | None = None, **fields: Any) -> results.Split:
    return changes.split(draft, SplitRequirement(id=id, into=tuple(into), reason=reason, **fields))


def verify(draft: Draft, id: str, by: Any, notes: str, commit: str, **fields: Any) -> results.Verified:
    return evidence.verify(draft, VerifyRequirement(id=id, by=by, notes=notes, **fields), commit)


def record_test(
    draft: Draft, id: str, result: Any, notes: str, commit: str, files: LinkedFiles | None = None
) -> results.Recorded:
    return evidence.record_test(draft, RecordTest(id=id, result=result, notes=notes), commit, files)


def record_run(draft: Draft, tallies: Mapping[str, RunTally], commit: str, **fields: Any) -> results.RunReport:
    return evidence.record_run(draft, tallies, RecordTestRun(from_file="log", **fields), commit)
