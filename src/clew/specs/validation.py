"""Specs and changes held to the rules, as reports."""

from collections.abc import Iterable, Iterator, Sequence

from clew.formats.openspec.change import ChangeProposal
from clew.formats.openspec.layout import FileRoleKind, Root, classify
from clew.formats.openspec.rules.change import validate_change
from clew.formats.openspec.rules.delta import OtherChanges
from clew.formats.openspec.rules.rules import Dialect, Issue, IssueLevel, is_valid, own_dialect
from clew.formats.openspec.rules.spec import validate_spec
from clew.specs.library import ChangeEntry, SpecEntry, SpecLibrary, UnreadableFile
from clew.specs.results import IssueReport, Validation
from clew.text.display import counted

_SECTIONS = {
    FileRoleKind.PROPOSAL: "proposal",
    FileRoleKind.TASKS: "tasks",
    FileRoleKind.DESIGN: "design",
    FileRoleKind.DELTA: "deltas",
}


def validate_specs(
    known: SpecLibrary, spec_id: str | None, roots: Sequence[Root], dialect: Dialect | None, *, strict: bool
) -> Validation:
    """Reports on one spec, or on all; files are then named relative to the project's folder. Without a dialect, each
    folder's own tool decides the rules."""
    issues, checked = spec_issues(known, spec_id, roots, dialect)
    return _report(issues, counted(checked, "spec"), strict=strict)


def spec_issues(
    known: SpecLibrary, spec_id: str | None, roots: Sequence[Root], dialect: Dialect | None
) -> tuple[list[tuple[str, Issue]], int]:
    """The issues of one spec, or of all, each with the path of its file; and the number of specs that were checked."""
    if spec_id in known.unread_specs:
        broken = [known.unread_specs[spec_id]]
        entries: list[SpecEntry] = []
    else:
        entries = [known.spec(spec_id)] if spec_id is not None else list(known.specs.values())
        broken = [each for each in known.unreadable_files if not each.place.change_id] if spec_id is None else []
    issues = [
        (entry.path, issue) for entry in entries for issue in validate_spec(entry.spec, dialect or _own(entry, roots))
    ]
    issues += [(each.path, _unreadable(each)) for each in broken]
    return issues, len(entries) + sum(each.place.kind is FileRoleKind.SPEC for each in broken)


def _own(entry: SpecEntry, roots: Sequence[Root]) -> Dialect:
    place = classify(entry.path, roots)
    return own_dialect(place.root.layout) if place is not None else Dialect.ALL


def _unreadable(file: UnreadableFile) -> Issue:
    """The issue of an unreadable file, which no rule can be checked on."""
    misplaced = file.place.kind is FileRoleKind.MISPLACED
    level, section = IssueLevel.WARNING if misplaced else IssueLevel.ERROR, _SECTIONS.get(file.place.kind, "")
    return Issue(file.reason.code, level, file.reason.message, file.path, file.reason.line, section)


def validate_changes(known: SpecLibrary, change_id: str | None, dialect: Dialect | None, *, strict: bool) -> Validation:
    """One open change, or all of them; files of all are prefixed by the change."""
    entries = [known.change(change_id)] if change_id is not None else list(known.changes.values())
    issues = [
        (file if change_id is not None else f"{entry.change.id}/{file}", issue)
        for entry in entries
        for file, issue in change_issues(known, entry, dialect)
    ]
    return _report(issues, counted(len(entries), "change"), strict=strict)


def change_issues(known: SpecLibrary, entry: ChangeEntry, dialect: Dialect | None) -> Iterator[tuple[str, Issue]]:
    """The issues of one open change, each with its file relative to the folder of the change."""
    others = [other.change for id, other in known.changes.items() if id != entry.change.id]
    held = dialect or own_dialect(entry.root.layout)
    for issue in validate_change(entry.change, known.in_force(), held, elsewhere=_elsewhere(others)):
        yield issue.file, issue
    inside = len(entry.folder) + 1
    for each in known.unreadable_files:
        if each.place.change_id == entry.change.id:
            yield each.path[inside:], _unreadable(each)


def _elsewhere(changes: Iterable[ChangeProposal]) -> dict[str, OtherChanges]:
    """The names that changes add and free, by spec."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    for delta in (delta for change in changes for delta in change.deltas):
        brought, freed = found.setdefault(delta.spec_id, (set(), set()))
        brought.update(each.name for each in delta.added)
        brought.update(rename.new for rename in delta.renamed)
        freed.update(each.name for each in delta.removed)
        freed.update(rename.old for rename in delta.renamed)
    return {id: OtherChanges(frozenset(brought), frozenset(freed)) for id, (brought, freed) in found.items()}


def _report(issues: list[tuple[str, Issue]], checked: str, *, strict: bool) -> Validation:
    valid = is_valid(tuple(issue for _, issue in issues), strict=strict)
    errors, warnings, infos = (_of(level, issues) for level in IssueLevel)
    found = ((errors, "error"), (warnings, "warning"), (infos, "note"))
    counts = ", ".join(counted(len(each), word) for each, word in found)
    return Validation(
        valid, errors, warnings, infos, f"{checked} checked: {'valid' if valid else 'not valid'}, {counts}."
    )


def _of(level: IssueLevel, issues: Iterable[tuple[str, Issue]]) -> tuple[IssueReport, ...]:
    return tuple(
        IssueReport(file, issue.message, issue.code, issue.line or None, issue.section or None)
        for file, issue in issues
        if issue.level is level
    )
