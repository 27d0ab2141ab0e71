"""What the suite's checks mean for Clew: passed, failed, expected to fail, or not scored."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec
from tests.conformance.suite import Check, Requirements

from clew.errors import ConfigError

EXPECTED_FAILURES = Path(__file__).with_name("expected_failures.toml")


class Mark(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    EXPECTED = "expected failure"
    NOT_SCORED = "not scored"


class ExpectedFailure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A scenario that is known to fail at a revision."""

    scenario: str
    revision: str
    reason: str


class Verdict(msgspec.Struct, frozen=True):
    """How one scenario ended, and what there is to say about it."""

    revision: str
    scenario: str
    mark: Mark
    remarks: tuple[str, ...] = ()


class _Failures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    failure: tuple[ExpectedFailure, ...] = ()


def expected_failures(source: Path, revisions: Sequence[str]) -> tuple[ExpectedFailure, ...]:
    """The entries of the file; every one has to name a revision that is run and give its reason."""
    try:
        entries = msgspec.toml.decode(source.read_bytes(), type=_Failures).failure
    except msgspec.DecodeError as error:
        hint = "Each [[failure]] has the three strings scenario, revision and reason, and nothing else."
        raise ConfigError(f"{source.name} cannot be used: {error}.", hint=hint) from error
    for entry in entries:
        if entry.revision not in revisions:
            hint = f"The revisions are {', '.join(revisions)}."
            raise ConfigError(f"{source.name} names the revision {entry.revision!r}, which is not run.", hint=hint)
        if not entry.reason.strip():
            raise ConfigError(f"{source.name} gives no reason for {entry.scenario}.", hint="Say why it cannot pass.")
    return entries


def judge(
    revision: str,
    requirements: Requirements,
    results: Mapping[str, Sequence[Check]],
    expected: Sequence[ExpectedFailure],
) -> tuple[Verdict, ...]:
    """One verdict per scenario of the revision, and one per entry that names no scenario of it."""
    excused = {entry.scenario: entry.reason for entry in expected if entry.revision == revision}
    verdicts = [
        _scored(revision, name, _problems(results.get(name, ()), strict=True), excused.pop(name, None))
        for name in requirements.server
    ]
    for optional in requirements.not_scored:
        problems = _problems(results.get(optional.scenario, ()), strict=False)
        if optional.reason == "extension":
            remark = f"extension, {'fails' if problems else 'passes'}"
            verdicts.append(Verdict(revision, optional.scenario, Mark.NOT_SCORED, (remark,)))
        else:
            verdicts.append(_scored(revision, optional.scenario, problems, excused.pop(optional.scenario, None)))
    unknown = f"is not a scenario of this revision: remove it from {EXPECTED_FAILURES.name}"
    verdicts.extend(Verdict(revision, name, Mark.FAILED, (unknown,)) for name in excused)
    return tuple(verdicts)


def _scored(revision: str, scenario: str, problems: tuple[str, ...], excuse: str | None) -> Verdict:
    if excuse is None:
        return Verdict(revision, scenario, Mark.FAILED if problems else Mark.PASSED, problems)
    if problems:
        return Verdict(revision, scenario, Mark.EXPECTED, (excuse,))
    stale = f"is expected to fail, but passes: remove it from {EXPECTED_FAILURES.name}"
    return Verdict(revision, scenario, Mark.FAILED, (stale,))


def _problems(checks: Sequence[Check], *, strict: bool) -> tuple[str, ...]:
    """What stands against a scenario.

    A required scenario is held to more than the suite holds it to: a warning (a SHOULD that is not met) counts, and so
    does a run in which nothing was proved.
    """
    if not checks:
        return ("left no result",)
    counting = {"FAILURE", "WARNING"} if strict else {"FAILURE"}
    problems = tuple(f"{check.id}: {check.error or check.description}" for check in checks if check.status in counting)
    if strict and not problems and all(check.status != "SUCCESS" for check in checks):
        return ("no check succeeded",)
    return problems
