"""The effect of a change on the specs in force: the requirements, scenarios and steps that are added, removed or
reworded."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from clew.formats.openspec.names import folded
from clew.formats.openspec.records import Delta, Requirement, Scenario, ScenarioStep, Spec
from clew.specs.results import MeaningChange, RequirementChange, ScenarioChange, SpecChange

ADDED, REMOVED, CHANGED, RENAMED = "added", "removed", "changed", "renamed"


def spec_change(delta: Delta, spec: Spec | None) -> SpecChange:
    """The effect of a delta on a spec; `spec` is None for a new one."""
    present = {folded(each.name): each for each in (spec.requirements if spec is not None else ())}
    renamed = {folded(each.new): each.old for each in delta.renamed}
    modified = {folded(each.name) for each in delta.modified}
    found = [
        RequirementChange(each.new, RENAMED, each.old) for each in delta.renamed if folded(each.new) not in modified
    ]
    found += [RequirementChange(each.name, REMOVED, note=each.reason) for each in delta.removed]
    for each in delta.modified:
        old = renamed.get(folded(each.name))
        before = present.get(folded(old or each.name))
        found.append(_modified(each, before, old))
    found += [
        RequirementChange(each.name, ADDED, scenarios=tuple(_scenarios((), each.scenarios))) for each in delta.added
    ]
    return SpecChange(delta.spec_id, spec is None, tuple(found))


def _modified(after: Requirement, before: Requirement | None, old: str | None) -> RequirementChange:
    if before is None:
        note = "The spec has no such requirement."
        return RequirementChange(after.name, CHANGED, old, note=note)
    statement: tuple[MeaningChange, ...] = ()
    if _plain(before.statement) != _plain(after.statement):
        statement = (MeaningChange(CHANGED, _plain(after.statement), _plain(before.statement)),)
    scenarios = tuple(_scenarios(before.scenarios, after.scenarios))
    change = CHANGED if statement or scenarios else RENAMED if old else "same"
    return RequirementChange(after.name, change, old, statement, scenarios)


def _scenarios(before: Sequence[Scenario], after: Sequence[Scenario]) -> Iterator[ScenarioChange]:
    then = {folded(each.name): each for each in before}
    now = {folded(each.name): each for each in after}
    for name, scenario in now.items():
        if name not in then:
            steps = tuple(MeaningChange(ADDED, _step(each)) for each in scenario.steps)
            yield ScenarioChange(scenario.name, ADDED, steps)
        elif steps := tuple(_steps(then[name].steps, scenario.steps)):
            yield ScenarioChange(scenario.name, CHANGED, steps)
    for name, scenario in then.items():
        if name not in now:
            yield ScenarioChange(scenario.name, REMOVED)


def _steps(before: Sequence[ScenarioStep], after: Sequence[ScenarioStep]) -> Iterator[MeaningChange]:
    """Steps that were added, removed or reworded, in the order of the scenario."""
    then, now = [_step(each) for each in before], [_step(each) for each in after]
    for tag, first, end, other_first, other_end in SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        gone, come = then[first:end], now[other_first:other_end]
        if tag == "equal":
            continue
        common = min(len(gone), len(come))
        yield from (MeaningChange(CHANGED, new, old) for old, new in zip(gone[:common], come[:common], strict=True))
        yield from (MeaningChange(REMOVED, old) for old in gone[common:])
        yield from (MeaningChange(ADDED, new) for new in come[common:])


def _step(step: ScenarioStep) -> str:
    inside = "".join(f" / {_plain(each)}" for each in (*step.children, *step.code))
    return f"{step.keyword} {_plain(step.text)}{inside}"


def _plain(text: str) -> str:
    return " ".join(text.split())
