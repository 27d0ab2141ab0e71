"""Weaknesses that the validator accepts and a careful reader would not.

An operator may name a command in the environment that judges statements as well. It gets one requirement as JSON on
standard input and answers with `{"ok": true}` or `{"ok": false, "message": ...}`.
"""

import os
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import msgspec

from clew.formats.register.ids import in_order
from clew.formats.register.model import EvidenceKind, Register, Requirement, RequirementKind, Status
from clew.register import results
from clew.register.reports.mentions import Mentions
from clew.register.reports.queries import in_id_order, status
from clew.register.rules.codes import RuleViolation
from clew.text.display import counted

SHORT_RATIONALE_WORDS = 10
INSPECTION_ONLY = ("inspection-only",)


class LintFinding(msgspec.Struct, frozen=True):
    rule_code: str
    severity: str
    field: str
    message: str


class LintRow(msgspec.Struct, frozen=True):
    id: str
    findings: tuple[LintFinding, ...]


class LintValidator(msgspec.Struct, frozen=True):
    errors: int
    warnings: int
    findings: tuple[LintRow, ...]


class ShortRationale(msgspec.Struct, frozen=True):
    id: str
    words: int


class Quality(msgspec.Struct, frozen=True):
    markerless_active: tuple[str, ...]
    short_rationale: tuple[ShortRationale, ...]
    single_acceptance_functional: tuple[str, ...]
    no_test_record: tuple[str, ...]
    verified_but_defective: tuple[str, ...]
    verification_kinds: dict[str, int]
    """Of the latest record of each requirement."""


class Lint(msgspec.Struct, frozen=True):
    project: str
    total: int
    by_status: results.StatusCounts
    validator: LintValidator
    quality: Quality
    truncated: bool = False
    markdown: str | None = None


def lint(register: Register, findings: list[RuleViolation], mentions: Mentions) -> Lint:
    chosen = [each for each in in_id_order(register) if each.status is not Status.OBSOLETE]
    active = [each for each in chosen if each.status is not Status.DRAFT]
    mentioned = mentions.places()
    words, inspected = _settings(register)
    too_short = {each.id for each in findings if each.rule_code == "REQ-V-0013"}
    quality = Quality(
        markerless_active=tuple(each.id for each in active if each.id not in mentioned),
        short_rationale=tuple(
            ShortRationale(each.id, count)
            for each in chosen
            if (count := len(each.rationale.split())) < words and each.id not in too_short
        ),
        single_acceptance_functional=tuple(
            each.id for each in chosen if each.kind is RequirementKind.FUNCTIONAL and len(each.acceptance) <= 1
        ),
        no_test_record=tuple(
            each.id for each in active if not each.tests and not any(tag in inspected for tag in each.tags)
        ),
        verified_but_defective=tuple(each.id for each in chosen if each.is_defective),
        verification_kinds=_kinds(chosen),
    )
    figures = status(register)
    return Lint(register.name, figures.total, figures.by_status, _grouped(findings), quality)


def _settings(register: Register) -> tuple[int, tuple[str, ...]]:
    given = (register.config or {}).get("lint")
    given = given if isinstance(given, dict) else {}
    words, tags = given.get("short_rationale_words"), given.get("inspection_only_tags")
    return (
        words if isinstance(words, int) else SHORT_RATIONALE_WORDS,
        tuple(tags) if isinstance(tags, list) else INSPECTION_ONLY,
    )


def _kinds(requirements: list[Requirement]) -> dict[str, int]:
    counts = {kind.word: 0 for kind in EvidenceKind}
    for requirement in requirements:
        if requirement.tests:
            counts[requirement.tests[-1].kind.word] += 1
    return counts


def _grouped(findings: list[RuleViolation]) -> LintValidator:
    by_id: dict[str, list[LintFinding]] = {}
    for each in findings:
        row = LintFinding(each.rule_code, each.severity.value, each.field, each.message)
        by_id.setdefault(each.id, []).append(row)
    errors = sum(each.is_error for each in findings)
    rows = tuple(LintRow(id, tuple(by_id[id])) for id in in_order(by_id))
    return LintValidator(errors, len(findings) - errors, rows)


def to_markdown(found: Lint) -> str:
    quality = found.quality
    lists = {
        "Active requirements that no source file mentions": quality.markerless_active,
        "Functional requirements with one criterion or none": quality.single_acceptance_functional,
        "Active requirements without a test record": quality.no_test_record,
        "Verified, but the last record failed": quality.verified_but_defective,
        "Rationales that say little": tuple(
            f"{each.id} ({counted(each.words, 'word')})" for each in quality.short_rationale
        ),
    }
    lines = [
        f"# Quality of {found.project}",
        "",
        f"{counted(found.total, 'requirement')}; the validator has {counted(found.validator.errors, 'error')} and "
        f"{counted(found.validator.warnings, 'warning')}.",
        "",
    ]
    for row in found.validator.findings:
        lines += [f"- **{row.id}** {each.rule_code} ({each.severity}): {each.message}" for each in row.findings]
    for heading, ids in lists.items():
        lines += ["", f"## {heading}", "", ", ".join(ids) or "none"]
    evidence = ", ".join(f"{count} {kind}" for kind, count in quality.verification_kinds.items())
    return "\n".join((*lines, "", f"Latest evidence: {evidence}.", ""))


COMMAND, SHELL, CONCURRENCY = "REQ_VALIDATE_LLM_CMD", "REQ_VALIDATE_LLM_SHELL", "REQ_VALIDATE_LLM_CONCURRENCY"
TIMEOUT_SECONDS = 10
_MOST_AT_ONCE = 32


class Verdict(msgspec.Struct, frozen=True):
    ok: bool
    message: str = ""


class CommandJudge:
    def __init__(self, argv: tuple[str, ...], at_once: int = 1) -> None:
        self._argv = argv
        self._at_once = max(1, min(at_once, _MOST_AT_ONCE))

    def __call__(self, requirements: tuple[Requirement, ...]) -> dict[str, str]:
        """Objections by id. A judge that fails objects to everything it was asked, and says why."""
        with ThreadPoolExecutor(self._at_once) as pool:
            answers = zip(requirements, pool.map(self._ask, requirements), strict=True)
            return {requirement.id: objection for requirement, objection in answers if objection}

    def _ask(self, requirement: Requirement) -> str:
        question = {name: getattr(requirement, name) for name in ("id", "title", "statement", "rationale")}
        try:
            done = subprocess.run(
                self._argv,
                input=msgspec.json.encode(question),
                capture_output=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
            if done.returncode != 0:
                return f"The judge ended with exit code {done.returncode}."
            verdict = msgspec.json.decode(done.stdout, type=Verdict)
        except subprocess.TimeoutExpired:
            return f"The judge did not answer within {TIMEOUT_SECONDS} seconds."
        except OSError as error:
            return f"The judge could not be started: {error.strerror}."
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return f"The judge answered with something other than a verdict: {error}."
        return "" if verdict.ok else verdict.message or "The judge objects without a reason."


def judge_from(environment: Mapping[str, str] = os.environ) -> CommandJudge | None:
    """The judge that the environment names; None where it names none."""
    command = environment.get(COMMAND, "").strip()
    if not command:
        return None
    shell = environment.get(SHELL, "").strip() or ("cmd" if os.name == "nt" else "sh")
    flag = {"cmd": "/C", "powershell": "-Command", "pwsh": "-Command"}.get(shell, "-c")
    at_once = environment.get(CONCURRENCY, "1")
    return CommandJudge((shell, flag, command), int(at_once) if at_once.isdecimal() else 1)
