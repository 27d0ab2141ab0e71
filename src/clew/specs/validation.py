"""Specs and changes held to the rules, as reports."""

from collections.abc import Iterable

from clew.formats.openspec.rules import Dialect, Issue, Level, is_valid
from clew.formats.openspec.validate_change import validate_change
from clew.formats.openspec.validate_spec import validate_spec
from clew.specs.library import Library
from clew.specs.results import IssueReport, Validation


def validate_specs(known: Library, spec_id: str | None, dialect: Dialect, *, strict: bool) -> Validation:
    """One spec, or all of them; files are then named from the project's folder."""
    entries = [known.spec(spec_id)] if spec_id is not None else list(known.specs.values())
    issues = [(entry.path, issue) for entry in entries for issue in validate_spec(entry.spec, dialect)]
    return _report(issues, _counted(len(entries), "spec"), strict=strict)


def validate_changes(known: Library, change_id: str | None, dialect: Dialect, *, strict: bool) -> Validation:
    """One open change, or all of them; files of all are prefixed by the change."""
    entries = [known.change(change_id)] if change_id is not None else list(known.changes.values())
    issues: list[tuple[str, Issue]] = []
    for entry in entries:
        promised = promised_by_others(known, entry.change.id)
        found = validate_change(entry.change, known.in_force(), dialect, promised=promised)
        prefix = "" if change_id is not None else f"{entry.change.id}/"
        issues.extend((f"{prefix}{issue.file}", issue) for issue in found)
    return _report(issues, _counted(len(entries), "change"), strict=strict)


def promised_by_others(known: Library, change_id: str) -> dict[str, set[str]]:
    """The names that other open changes bring, by spec."""
    promised: dict[str, set[str]] = {}
    for entry in known.changes.values():
        for delta in entry.change.deltas if entry.change.id != change_id else ():
            names = (*(each.name for each in delta.added), *(rename.new for rename in delta.renamed))
            promised.setdefault(delta.spec_id, set()).update(names)
    return promised


def _report(issues: list[tuple[str, Issue]], checked: str, *, strict: bool) -> Validation:
    valid = is_valid(tuple(issue for _, issue in issues), strict=strict)
    errors, warnings, infos = (_of(level, issues) for level in Level)
    found = ((errors, "error"), (warnings, "warning"), (infos, "remark"))
    counts = ", ".join(_counted(len(each), word) for each, word in found)
    return Validation(
        valid, errors, warnings, infos, f"{checked} checked: {'valid' if valid else 'not valid'}, {counts}."
    )


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _of(level: Level, issues: Iterable[tuple[str, Issue]]) -> tuple[IssueReport, ...]:
    return tuple(
        IssueReport(file, issue.message, issue.code, issue.line or None, issue.section or None)
        for file, issue in issues
        if issue.level is level
    )
