"""Specs and changes in the form of answers."""

import msgspec

from clew.errors import NotFound
from clew.formats.openspec.apply.conflicts import ConflictFound
from clew.formats.openspec.apply.delta import DeltaKind
from clew.formats.openspec.names import folded
from clew.formats.openspec.records import Delta, FileSection, Requirement
from clew.specs import results
from clew.specs.library import ChangeEntry, SpecEntry, SpecLibrary, similar_names
from clew.text.display import shortened
from clew.text.tokens import estimate_tokens

_CATALOGUED, _ROOM = 300, 2_800
"""So many specs have to find room in so many tokens of a catalogue."""
_WIDTHS = (80, 60, 45, 30, 20, 12, 0)
"""Characters of a purpose in the catalogue, the most that there is room for."""


def summaries(known: SpecLibrary) -> tuple[results.SpecSummary, ...]:
    """All specs by id, also those that could not be read."""
    unread = (results.SpecSummary(id, id, "", 0, 0, problems=1) for id in known.unread_specs)
    return tuple(sorted((*map(_summary, known.specs.values()), *unread), key=lambda each: each.id))


def _summary(entry: SpecEntry) -> results.SpecSummary:
    outline = entry.outline
    return results.SpecSummary(
        id=outline.id,
        title=outline.title or outline.id,
        purpose=outline.purpose,
        requirements=len(outline.requirements),
        scenarios=outline.scenario_count,
        problems=outline.problems,
    )


def catalogue(specs: tuple[results.SpecSummary, ...]) -> tuple[str, ...]:
    """One line for each, with as many words of the purposes as a catalogue of many specs has room for."""
    lines: tuple[str, ...] = ()
    for width in _WIDTHS:
        lines = tuple(
            f"{each.id} {each.requirements}/{each.scenarios} {_first_words(each.purpose, width)}".rstrip()
            for each in specs
        )
        if estimate_tokens(msgspec.json.encode(lines).decode()) * _CATALOGUED <= _ROOM * max(len(lines), _CATALOGUED):
            break
    return lines


def _first_words(purpose: str, width: int) -> str:
    return purpose if len(purpose) <= width else purpose[:width].rpartition(" ")[0]


def section(section: FileSection) -> results.SectionOutline:
    return results.SectionOutline(section.heading, section.span.line, section.span.end_line)


def outline(requirement: Requirement, detail: str) -> results.RequirementEntry:
    texts = {"names": None, "outline": requirement.statement, "full": requirement.raw.rstrip()}
    return results.RequirementEntry(
        name=requirement.name,
        scenario_count=len(requirement.scenarios),
        slug=requirement.slug,
        line=requirement.span.line,
        text=texts[detail],
        scenarios=None
        if detail == "names"
        else tuple(results.ScenarioEntry(each.name, each.slug, each.span.line) for each in requirement.scenarios),
    )


def change_summary(entry: ChangeEntry) -> results.ChangeSummary:
    change = entry.change
    completed, total = (change.tasks.completed, change.tasks.total) if change.tasks is not None else (0, 0)
    status = "no-tasks" if not total else "complete" if completed == total else "in-progress"
    deltas = change.deltas
    return results.ChangeSummary(
        id=change.id,
        title=change.title,
        task_progress=results.TaskProgress(completed, total),
        status=status,
        added=sum(len(delta.added) for delta in deltas),
        modified=sum(len(delta.modified) for delta in deltas),
        removed=sum(len(delta.removed) for delta in deltas),
        renamed=sum(len(delta.renamed) for delta in deltas),
        specs=tuple(delta.spec_id for delta in deltas),
        problem=None if change.proposal is not None else "It has no proposal.md.",
    )


def proposal(entry: ChangeEntry) -> results.ProposalPart | None:
    proposal = entry.change.proposal
    return results.ProposalPart(proposal.why or "", proposal.what_changes or "") if proposal is not None else None


def tasks(entry: ChangeEntry) -> results.TasksPart | None:
    tasks = entry.change.tasks
    if tasks is None:
        return None
    return results.TasksPart("".join(each.raw for each in tasks.document.sections), tasks.completed, tasks.total)


def deltas(found: tuple[Delta, ...], requirement: str | None, texts: int) -> tuple[results.DeltaPart, ...]:
    """The operations of a change on specs, or on one requirement; the first `texts` of them with their text."""
    parts = [results.DeltaPart(each.spec_id, _operations(each)) for each in found]
    if requirement is not None:
        parts = _only(requirement, parts)
    shown: list[results.DeltaPart] = []
    for part in parts:
        bare = tuple(msgspec.structs.replace(item, text=None) for item in part.items[texts:])
        shown.append(results.DeltaPart(part.capability, (*part.items[:texts], *bare)))
        texts = max(texts - len(part.items), 0)
    return tuple(shown)


def _operations(delta: Delta) -> tuple[results.DeltaItem, ...]:
    items = [
        results.DeltaItem(DeltaKind.RENAMED, each.old, (), each.new, None, each.span.line) for each in delta.renamed
    ]
    for each in delta.removed:
        text = f"{each.reason}\n{each.migration}".strip()
        items.append(results.DeltaItem(DeltaKind.REMOVED, each.name, (), None, text, each.span.line))
    for operation, requirements in ((DeltaKind.MODIFIED, delta.modified), (DeltaKind.ADDED, delta.added)):
        for requirement in requirements:
            names = tuple(scenario.name for scenario in requirement.scenarios)
            text = requirement.raw.rstrip()
            items.append(results.DeltaItem(operation, requirement.name, names, None, text, requirement.span.line))
    return tuple(sorted(items, key=lambda item: item.line))


def _only(requirement: str, parts: list[results.DeltaPart]) -> list[results.DeltaPart]:
    wanted = folded(requirement)
    chosen = [
        results.DeltaPart(part.capability, items)
        for part in parts
        if (items := tuple(item for item in part.items if wanted in (folded(item.name), folded(item.new_name or ""))))
    ]
    if not chosen:
        names = [item.name for part in parts for item in part.items]
        hint = similar_names(requirement, names, "get_change lists what it touches.")
        raise NotFound(f"The change does not touch requirement '{shortened(requirement)}'.", hint=hint)
    return chosen


def conflict(found: ConflictFound) -> results.ConflictReport:
    view = found.view
    return results.ConflictReport(
        kind=found.kind,
        spec_id=found.spec_id,
        requirement=found.requirement,
        changes=found.changes,
        message=found.message,
        scenarios=found.scenarios,
        view=results.ThreeWayView(view.then, view.now, view.wanted, view.theirs, view.ours) if view else None,
    )
