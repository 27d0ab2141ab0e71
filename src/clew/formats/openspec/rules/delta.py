"""Rules for a delta, by itself and against the current spec."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set

import msgspec

from clew.formats.openspec.names import folded, suggestion
from clew.formats.openspec.records import DELTA_KINDS, Delta, Requirement, SectionKind, Spec, settled
from clew.formats.openspec.requirement import SCENARIO_DEPTH
from clew.formats.openspec.rules.rules import Dialect, Issues
from clew.formats.openspec.rules.spec import check_scenarios, has_body, normative_advice

Named = tuple[str, int]
"""A name and the line in which it stands."""


class OtherChanges(msgspec.Struct, frozen=True):
    """Names of a spec that other open changes add and free."""

    brought: frozenset[str] = frozenset()
    freed: frozenset[str] = frozenset()


NO_OTHER_CHANGES = OtherChanges()


def check_delta(delta: Delta, issues: Issues) -> None:
    """Check a delta by itself."""
    issues.adopt(delta.document.diagnostics)
    if not any(delta.document.of_kind(*DELTA_KINDS)):
        known = ", ".join(f"`## {kind.name} Requirements`" for kind in DELTA_KINDS)
        issues.add("no_delta_header", f"The file has no section of a delta, so it changes nothing. Write {known}.", 1)
    for section in delta.document.sections:
        for requirement in section.requirements if section.kind not in DELTA_KINDS else ():
            message = f"Requirement {requirement.name!r} is in no section of the delta, so it changes nothing."
            issues.add("requirement_ignored", f"{message} Move it into one.", requirement.span.line)
    names = _names(delta)
    _check_entries(delta, names, issues)
    for kind, entries in names.items():
        _check_repeats(kind.name, entries, issues)
    _check_operations(delta, names, issues)
    for kind in (SectionKind.ADDED, SectionKind.MODIFIED):
        for section in delta.document.of_kind(kind):
            for requirement in section.requirements:
                _check_requirement(kind, requirement, issues)


def _names(delta: Delta) -> dict[SectionKind, list[Named]]:
    return {
        SectionKind.ADDED: [(each.name, each.span.line) for each in delta.added],
        SectionKind.MODIFIED: [(each.name, each.span.line) for each in delta.modified],
        SectionKind.REMOVED: [(each.name, each.span.line) for each in delta.removed],
        SectionKind.RENAMED: [(each.old, each.span.line) for each in delta.renamed],
    }


def _check_entries(delta: Delta, names: dict[SectionKind, list[Named]], issues: Issues) -> None:
    sections = list(delta.document.of_kind(*DELTA_KINDS))
    empty = []
    for section in sections:
        # OpenSpec does not know Spec Oxide's way to write a rename.
        unknown = section.kind is SectionKind.RENAMED and issues.dialect is Dialect.OPENSPEC
        by_arrow = {each.span.line for each in section.requirements} if unknown else set()
        lines = (line for _, line in names[section.kind] if line not in by_arrow)
        if not any(section.span.line <= line <= section.span.end_line for line in lines):
            empty.append(section)
    # Templates bring sections that are left empty; a delta of nothing else is a mistake.
    code = "delta_section_empty" if len(empty) == len(sections) else "delta_section_unused"
    for section in empty:
        message = f"`## {section.heading}` names no requirement. Write `### Requirement: name` below it."
        issues.add(code, message, section.span.line)


def _check_repeats(section: str, entries: Sequence[Named], issues: Issues) -> None:
    counts = Counter(name for name, _ in entries)
    for name, line in entries:
        if counts[name] > 1:
            message = f"{section} names {name!r} {counts[name]} times. Name it once."
            issues.add("duplicate_in_section", message, line)
            counts[name] = 0


def _check_operations(delta: Delta, names: dict[SectionKind, list[Named]], issues: Issues) -> None:
    """A requirement that is named by two operations that do not go together."""
    by_kind = {kind: {name for name, _ in entries} for kind, entries in names.items()}
    for kind, other in (
        (SectionKind.ADDED, SectionKind.MODIFIED),
        (SectionKind.ADDED, SectionKind.REMOVED),
        (SectionKind.MODIFIED, SectionKind.REMOVED),
    ):
        for name, line in names[other]:
            if name in by_kind[kind]:
                message = f"{name!r} is in {kind.name} and in {other.name}. Decide for one."
                issues.add("conflicting_operations", message, line)
    removed = {folded(name) for name in by_kind[SectionKind.REMOVED]}
    news = {rename.new for rename in delta.renamed}
    for rename in delta.renamed:
        if rename.new in by_kind[SectionKind.ADDED]:
            message = f"{rename.old!r} is renamed to {rename.new!r}, which is also added. Choose another name."
            issues.add("renamed_onto_added", message, rename.span.line)
        if folded(rename.old) in removed:
            message = f"{rename.old!r} is renamed and removed. Decide for one."
            issues.add("renamed_and_removed", message, rename.span.line)
        if folded(rename.new) in removed:
            message = f"{rename.old!r} is renamed to {rename.new!r}, which is removed. Decide for one."
            issues.add("renamed_to_removed", message, rename.span.line)
        if rename.old in by_kind[SectionKind.MODIFIED] and rename.old not in news:
            message = f"MODIFIED names {rename.old!r}, which is renamed. Use the new name {rename.new!r}."
            line = next(line for name, line in names[SectionKind.MODIFIED] if name == rename.old)
            issues.add("modified_by_old_name", message, line)


def _check_requirement(kind: SectionKind, requirement: Requirement, issues: Issues) -> None:
    name, line = requirement.name, requirement.span.line
    if not requirement.text:
        issues.add(
            f"{kind}_without_text", f"{kind.name} requirement {name!r} has no text. Write what SHALL hold.", line
        )
    elif not requirement.is_normative:
        issues.add("delta_not_normative", normative_advice(requirement), line)
    if not any(has_body(each, issues.dialect) for each in requirement.scenarios if each.depth == SCENARIO_DEPTH):
        message = f"{kind.name} requirement {name!r} has no scenario. Write `#### Scenario: name`."
        issues.add(f"{kind}_without_scenario", message, line)
    check_scenarios(requirement, issues)


def check_against(
    delta: Delta, spec: Spec | None, issues: Issues, elsewhere: OtherChanges, known_specs: Iterable[str]
) -> None:
    """Check a delta against the current spec, and against other open changes."""
    promised = elsewhere.brought
    if spec is None:
        _check_new(delta, issues, promised, known_specs)
        return
    there = {requirement.name: requirement for requirement in spec.requirements}
    purpose = delta.purpose
    if purpose is not None and (spec.purpose is None or purpose.text != spec.purpose.text):
        message = f"Spec {spec.id!r} exists and keeps its purpose; the one stated here is ignored."
        issues.add("purpose_ignored", message, purpose.span.line)
    after = _check_renames(delta, there, issues, elsewhere)
    for removal in delta.removed:
        if removal.name not in after:
            _report_unknown("REMOVED", removal.name, removal.span.line, after, issues, promised)
    for requirement in delta.modified:
        in_force = after.get(requirement.name)
        if in_force is None:
            # By its old name it is reported as such.
            if requirement.name not in {rename.old for rename in delta.renamed}:
                _report_unknown("MODIFIED", requirement.name, requirement.span.line, after, issues, promised)
        else:
            _check_dropped(requirement, in_force, issues)
    for requirement in delta.added:
        in_force = after.get(requirement.name)
        if in_force is None or settled(in_force) == settled(requirement):
            continue
        if requirement.name in elsewhere.freed:
            _report_occupied("ADDED", requirement.name, requirement.span.line, issues)
        else:
            message = f"ADDED requirement {requirement.name!r} exists already with another text. Use MODIFIED."
            issues.add("added_exists", message, requirement.span.line)


def _check_new(delta: Delta, issues: Issues, promised: Set[str], known_specs: Iterable[str]) -> None:
    named = (
        *(("MODIFIED", each.name, each.span.line) for each in delta.modified),
        *(("REMOVED", each.name, each.span.line) for each in delta.removed),
        *(("RENAMED", each.old, each.span.line) for each in delta.renamed),
    )
    close = suggestion(delta.spec_id, known_specs)
    for section, name, line in named:
        if name in promised:
            _report_promised(section, name, line, issues)
        else:
            message = f"{section} names {name!r}, but there is no spec {delta.spec_id!r}.{close}"
            issues.add("spec_unknown", f"{message} A new spec can only have ADDED requirements.", line)


def _check_renames(
    delta: Delta, there: dict[str, Requirement], issues: Issues, elsewhere: OtherChanges
) -> dict[str, Requirement]:
    """The requirements by their names after the renames."""
    after = dict(there)
    for rename in delta.renamed:
        line = rename.span.line
        if rename.old not in after:
            if rename.new in after:
                message = f"{rename.old!r} is not there, but {rename.new!r} is: the rename seems to be done already."
                issues.add("already_renamed", f"{message} Remove it from the change.", line)
            else:
                _report_unknown("RENAMED", rename.old, line, after, issues, elsewhere.brought)
        elif rename.new in after and rename.new in elsewhere.freed:
            _report_occupied("RENAMED", rename.new, line, issues)
        elif rename.new in after:
            message = f"{rename.old!r} cannot be renamed to {rename.new!r}: that name is taken. Choose another."
            issues.add("rename_target_exists", message, line)
        else:
            after[rename.new] = after.pop(rename.old)
    return after


def _report_unknown(
    section: str, name: str, line: int, there: dict[str, Requirement], issues: Issues, promised: Set[str]
) -> None:
    if name in promised:
        _report_promised(section, name, line, issues)
        return
    close = suggestion(name, there)
    message = f"{section} names {name!r}, which is not a requirement of the spec.{close}"
    issues.add("requirement_unknown", message if close else f"{message} Correct the name.", line)


def _report_promised(section: str, name: str, line: int, issues: Issues) -> None:
    message = f"{section} names {name!r}, which only another open change adds. Archive that one first."
    issues.add("requirement_promised", message, line)


def _report_occupied(section: str, name: str, line: int, issues: Issues) -> None:
    message = f"{section} takes the name {name!r}, which another open change frees. Archive that one first."
    issues.add("name_not_free", message, line)


def _check_dropped(modified: Requirement, in_force: Requirement, issues: Issues) -> None:
    missing = dropped_scenarios(in_force, modified)
    if missing:
        names = ", ".join(map(repr, missing))
        message = (
            f"MODIFIED {modified.name!r} leaves out {names}, which the spec has. Repeat every scenario that stays."
        )
        issues.add("scenario_dropped", message, modified.span.line)


def dropped_scenarios(before: Requirement, after: Requirement) -> tuple[str, ...]:
    """The scenarios that the later text no longer has; a name that occurs twice must stay twice."""
    kept = Counter(scenario.name for scenario in after.scenarios)
    missing = []
    for scenario in before.scenarios:
        kept[scenario.name] -= 1
        if kept[scenario.name] < 0:
            missing.append(scenario.name)
    return tuple(missing)
