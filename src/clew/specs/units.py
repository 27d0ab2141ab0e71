"""What of specs and open changes can be found: purposes, requirements, scenarios, and what changes bring."""

from collections.abc import Iterator

import msgspec

from clew.formats.openspec.outline import SpecOutline
from clew.formats.openspec.records import Delta, Requirement, Scenario
from clew.formats.openspec.references import requirement_id, scenario_id
from clew.search.units import MAX_ID_CHARACTERS, Unit
from clew.specs.library import SpecEntry
from clew.text.hashing import content_hash

PURPOSE, REQUIREMENT, SCENARIO, CHANGE = "spec", "spec_requirement", "scenario", "spec_change"
PARTS = (PURPOSE, REQUIREMENT, SCENARIO, CHANGE)

LONGEST_TITLE, LONGEST_BODY = 1_000, 100_000
"""Characters of a text that are indexed; nobody searches for what stands behind them in one requirement."""


def purpose_unit(entry: SpecEntry) -> Unit:
    """The unit of a spec as a whole. It also bears the spec's fingerprint: while it is the same, so are the others."""
    outline = entry.outline
    title = outline.title or outline.id
    about = _About(entry)
    return about.unit(PURPOSE, outline.id, title, outline.purpose or title, fingerprint=entry.sealed.fingerprint)


def spec_units(entry: SpecEntry) -> Iterator[Unit]:
    """All units of a spec."""
    spec = entry.spec
    about = _About(entry)
    yield purpose_unit(entry)
    for requirement in spec.requirements:
        id = requirement_id(spec.id, requirement.slug)
        yield about.unit(REQUIREMENT, id, requirement.name, requirement.text or requirement.name)
        for scenario in requirement.scenarios:
            inner = scenario_id(spec.id, requirement.slug, scenario.slug)
            yield about.unit(SCENARIO, inner, f"{requirement.name}: {scenario.name}", _steps(scenario))


def unit_ids(outline: SpecOutline) -> Iterator[str]:
    """The ids of the units of a spec, without looking into it."""
    yield _unit_id(PURPOSE, outline.id)
    for requirement in outline.requirements:
        yield _unit_id(REQUIREMENT, requirement_id(outline.id, requirement.slug))
        for scenario in requirement.scenarios:
            yield _unit_id(SCENARIO, scenario_id(outline.id, requirement.slug, scenario.slug))


def delta_units(change_id: str, delta: Delta, path: str) -> Iterator[Unit]:
    """What a change brings into a spec."""
    for requirement in (*delta.modified, *delta.added):
        id = requirement_id(delta.spec_id, requirement.slug)
        yield Unit(
            id=_unit_id(CHANGE, f"{change_id}:{id}"),
            part=CHANGE,
            title=requirement.name[:LONGEST_TITLE],
            body=_whole(requirement)[:LONGEST_BODY],
            document=f"{CHANGE}:{change_id}",
            tags=_prefix_tags(delta.spec_id),
            path=path,
            links=(id,),
        )


class _About(msgspec.Struct, frozen=True):
    entry: SpecEntry

    def unit(self, part: str, id: str, title: str, body: str, *, fingerprint: str | None = None) -> Unit:
        spec_id = self.entry.outline.id
        return Unit(
            id=_unit_id(part, id),
            part=part,
            title=title[:LONGEST_TITLE],
            body=body[:LONGEST_BODY],
            document=f"spec:{spec_id}",
            tags=_prefix_tags(spec_id),
            path=self.entry.path,
            status=fingerprint,
            links=(id,),
        )


def _unit_id(part: str, id: str) -> str:
    """Headings may be longer, and names of folders stranger, than the index allows ids to be."""
    whole = f"{part}:{id}"
    if len(whole) <= MAX_ID_CHARACTERS and whole.isprintable():
        return whole
    return f"{part}:{content_hash(id.encode('utf-8', 'surrogateescape'))}"


def _prefix_tags(spec_id: str) -> tuple[str, ...]:
    """One tag for each folder on the way to a spec, so that a search can stay below one."""
    parts = spec_id.split("/")
    return tuple(prefix_tag("/".join(parts[: depth + 1])) for depth in range(len(parts)))


def prefix_tag(prefix: str) -> str:
    return f"below:{prefix.strip('/')}"


def _steps(scenario: Scenario) -> str:
    """Blank lines part the steps, so that each can be quoted alone."""
    lines = [scenario.text] if scenario.text else []
    for step in scenario.steps:
        lines.append(f"{step.keyword} {step.text}")
        lines.extend(step.children)
    return "\n\n".join(lines)


def _whole(requirement: Requirement) -> str:
    texts = (f"{scenario.name}\n\n{_steps(scenario)}" for scenario in requirement.scenarios)
    return "\n\n".join((requirement.text, *texts))
