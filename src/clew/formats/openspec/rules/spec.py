"""Rules for a spec."""

import re
from collections import Counter

from clew.formats.openspec.records import DELTA_KINDS, Requirement, Scenario, SectionKind, Spec
from clew.formats.openspec.requirement import SCENARIO_DEPTH
from clew.formats.openspec.rules.rules import Dialect, Issue, Issues

SHORTEST_PURPOSE = 50
LONGEST_REQUIREMENT = 500
_UNWRITTEN = re.compile(r"(?:TBD|TODO)(?!\w)|(?i:tbd|todo)[ \t]*(?:$|[-:.,;()\[\]{}–—\n])")
"""In capitals the word is a mark, whatever follows it; else it may begin a sentence, as it often does in Spanish."""


def validate_spec(spec: Spec, dialect: Dialect = Dialect.ALL) -> tuple[Issue, ...]:
    issues = Issues(dialect)
    issues.enter("spec.md", spec_id=spec.id)
    issues.adopt(spec.document.diagnostics)
    _check_sections(spec, issues)
    _check_names(spec, issues)
    for requirement in spec.requirements:
        _check_requirement(requirement, issues)
    return issues.found()


def _check_sections(spec: Spec, issues: Issues) -> None:
    purpose = spec.purpose
    if purpose is None or not purpose.text:
        line = purpose.span.line if purpose is not None else 1
        issues.add("purpose_missing", "The spec has no purpose. Write what it is for below `## Purpose`.", line)
    elif _UNWRITTEN.match(purpose.text):
        message = f"The purpose is still {purpose.text[:4].strip()}. Write what the spec is for."
        issues.add("purpose_unwritten", message, purpose.span.line)
    elif len(purpose.text) < SHORTEST_PURPOSE:
        message = f"The purpose has {len(purpose.text)} characters, fewer than {SHORTEST_PURPOSE}. Say more."
        issues.add("purpose_short", message, purpose.span.line)
    document = spec.document
    if not any(document.of_kind(SectionKind.REQUIREMENTS)):
        issues.add("requirements_missing", "The spec has no section `## Requirements`. Write one.", 1)
    elif not spec.requirements:
        section = next(document.of_kind(SectionKind.REQUIREMENTS))
        message = "The spec has no requirement. Write `### Requirement: name` below `## Requirements`."
        issues.add("no_requirements", message, section.span.line)
    for section in document.of_kind(*DELTA_KINDS):
        message = f"`## {section.heading}` belongs in a change, not in a spec. Move it, or write `## Requirements`."
        issues.add("delta_header_in_spec", message, section.span.line)
    for section in document.of_kind(SectionKind.HEAD, SectionKind.PURPOSE, SectionKind.OTHER):
        for requirement in section.requirements:
            message = f"Requirement {requirement.name!r} is outside `## Requirements`. Move it there."
            issues.add("requirement_outside", message, requirement.span.line)


def _check_names(spec: Spec, issues: Issues) -> None:
    first: dict[str, int] = {}
    for requirement in spec.requirements:
        line = first.setdefault(requirement.name, requirement.span.line)
        if line != requirement.span.line:
            message = f"Requirement {requirement.name!r} is there already, in line {line}. Rename or remove one."
            issues.add("duplicate_requirement", message, requirement.span.line)


def _check_requirement(requirement: Requirement, issues: Issues) -> None:
    name, line = requirement.name, requirement.span.line
    if not requirement.text or (_is_code(requirement) and issues.dialect is not Dialect.SPOX):
        issues.add("requirement_empty", f"Requirement {name!r} has no text. Write what SHALL hold.", line)
    elif not says_shall(requirement, issues.dialect):
        issues.add("not_normative", normative_advice(requirement), line)
    if len(requirement.statement) > LONGEST_REQUIREMENT:
        message = f"Requirement {name!r} has {len(requirement.statement)} characters. Consider to split it."
        issues.add("requirement_long", message, line)
    if not any(has_body(each, issues.dialect) for each in requirement.scenarios if each.depth >= SCENARIO_DEPTH):
        issues.add("no_scenarios", f"Requirement {name!r} has no scenario. Write `#### Scenario: name`.", line)
    check_scenarios(requirement, issues)


def _is_code(requirement: Requirement) -> bool:
    """True if the description is one code block and nothing else."""
    text = requirement.text.strip()
    return text.startswith(("```", "~~~")) and text.endswith(text[:3]) and text.count(f"\n{text[:3]}") == 1


def says_shall(requirement: Requirement, dialect: Dialect) -> bool:
    """True if a requirement is normative. Spec Oxide accepts the words in any case, and inside others."""
    if dialect is Dialect.SPOX:
        text = requirement.text.lower()
        return "shall" in text or "must" in text
    return requirement.is_normative


def normative_advice(requirement: Requirement) -> str:
    message = f"Requirement {requirement.name!r} says neither SHALL nor MUST in its text."
    if "SHALL" in requirement.name or "MUST" in requirement.name:
        return f"{message} Its name does; write it in the text below the heading."
    return f"{message} Say what SHALL hold."


def has_body(scenario: Scenario, dialect: Dialect) -> bool:
    """True if a scenario counts: OpenSpec ignores a heading with nothing below it."""
    return dialect is Dialect.SPOX or bool(scenario.steps or scenario.text)


def check_scenarios(requirement: Requirement, issues: Issues) -> None:
    counts = Counter(scenario.name for scenario in requirement.scenarios)
    for scenario in requirement.scenarios:
        if counts[scenario.name] > 1:
            message = f"Scenario {scenario.name!r} occurs {counts[scenario.name]} times in {requirement.name!r}."
            issues.add("duplicate_scenario", f"{message} Give each its own name.", scenario.span.line)
            counts[scenario.name] = 0
        _check_scenario(scenario, issues)


def _check_scenario(scenario: Scenario, issues: Issues) -> None:
    name, line = scenario.name, scenario.span.line
    if not scenario.steps and not scenario.text:
        issues.add("scenario_empty", f"Scenario {name!r} has no text. Write WHEN and THEN.", line)
    if not scenario.labelled:
        return
    for role in ("when", "then"):
        if not any(step.role == role for step in scenario.steps):
            message = f"Scenario {name!r} has no {role.upper()}. Write `- **{role.upper()}** ...`."
            issues.add(f"scenario_without_{role}", message, line)
