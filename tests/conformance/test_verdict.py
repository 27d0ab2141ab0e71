"""How the runner judges what the official suite reports."""

from pathlib import Path

import pytest
from tests.conformance.suite import Check, NotScored, Requirements
from tests.conformance.verdict import (
    EXPECTED_FAILURES,
    ExpectedFailure,
    Mark,
    Verdict,
    expected_failures,
    judge,
)

from clew.errors import ConfigError

# Verifies: REQ-o00005-C

REVISION = "2026-07-28"


def _judged(
    *statuses: str, reason: str | None = None, expected: tuple[ExpectedFailure, ...] = ()
) -> tuple[Verdict, ...]:
    """The verdicts on one scenario whose checks ended like this; without a reason it is a required one."""
    checks = tuple(Check(id=f"check-{n}", status=status, error="it broke") for n, status in enumerate(statuses))
    requirements = Requirements(
        server=("tools-list",) if reason is None else (),
        not_scored=() if reason is None else (NotScored("tools-list", reason),),
    )
    return judge(REVISION, requirements, {"tools-list": checks} if checks else {}, expected)


def _expected(scenario: str = "tools-list", revision: str = REVISION) -> tuple[ExpectedFailure, ...]:
    return (ExpectedFailure(scenario, revision, "The kit cannot do it yet."),)


def test_a_required_scenario_passes_when_its_checks_succeed() -> None:
    assert _judged("SUCCESS", "INFO", "SKIPPED") == (Verdict(REVISION, "tools-list", Mark.PASSED),)


@pytest.mark.parametrize("status", ["FAILURE", "WARNING"])
def test_a_required_scenario_fails_on_a_failure_and_on_a_warning_and_names_the_check(status: str) -> None:
    (verdict,) = _judged("SUCCESS", status)
    assert verdict.mark is Mark.FAILED
    assert verdict.remarks == ("check-1: it broke",)


def test_a_required_scenario_fails_when_the_suite_left_no_result() -> None:
    (verdict,) = _judged()
    assert (verdict.mark, verdict.remarks) == (Mark.FAILED, ("left no result",))


def test_a_required_scenario_fails_when_nothing_was_proved() -> None:
    (verdict,) = _judged("INFO", "SKIPPED")
    assert (verdict.mark, verdict.remarks) == (Mark.FAILED, ("no check succeeded",))


def test_an_expected_failure_is_neither_passed_nor_failed() -> None:
    (verdict,) = _judged("FAILURE", expected=_expected())
    assert (verdict.mark, verdict.remarks) == (Mark.EXPECTED, ("The kit cannot do it yet.",))


def test_an_expected_failure_that_passes_fails_the_run() -> None:
    (verdict,) = _judged("SUCCESS", expected=_expected())
    assert verdict.mark is Mark.FAILED
    assert "remove it from expected_failures.toml" in verdict.remarks[0]


def test_an_expected_failure_of_another_revision_excuses_nothing() -> None:
    (verdict,) = _judged("FAILURE", expected=_expected(revision="2025-11-25"))
    assert verdict.mark is Mark.FAILED


def test_an_expected_failure_of_a_scenario_that_does_not_exist_fails_the_run() -> None:
    passed, unknown = _judged("SUCCESS", expected=_expected("tool-list"))
    assert passed.mark is Mark.PASSED
    assert (unknown.scenario, unknown.mark) == ("tool-list", Mark.FAILED)


def test_an_extension_is_reported_and_not_scored() -> None:
    (verdict,) = _judged("FAILURE", reason="extension")
    assert (verdict.mark, verdict.remarks) == (Mark.NOT_SCORED, ("extension, fails",))


def test_a_pending_scenario_fails_on_a_failure_but_not_on_a_warning() -> None:
    (failed,) = _judged("FAILURE", reason="pending")
    (warned,) = _judged("WARNING", reason="pending")
    assert (failed.mark, warned.mark) == (Mark.FAILED, Mark.PASSED)


def test_the_list_of_expected_failures_can_be_read() -> None:
    assert all(entry.reason for entry in expected_failures(EXPECTED_FAILURES, ("2025-11-25", REVISION)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[failure]]\nscenario = "tools-list"\nrevision = "2026-07-28"\n', "reason"),
        ('[[failure]]\nscenario = "tools-list"\nrevision = "2026-07-28"\nreason = " "\n', "tools-list"),
        ('[[failure]]\nscenario = "tools-list"\nrevision = "2024-11-05"\nreason = "Old."\n', "2024-11-05"),
        ('[[failures]]\nscenario = "tools-list"\n', "failures"),
        ("[[failure]\n", "expected.toml"),
    ],
)
def test_a_list_of_expected_failures_that_breaks_a_rule_is_refused(tmp_path: Path, text: str, said: str) -> None:
    source = tmp_path / "expected.toml"
    source.write_text(text)
    with pytest.raises(ConfigError) as refused:
        expected_failures(source, (REVISION,))
    assert said in refused.value.message
    assert refused.value.hint
