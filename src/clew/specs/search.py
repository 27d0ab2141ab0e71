"""Finding specs by words and by meaning, through the search engine that all parts share.

The index of the specs is made on demand and kept in step after that: a search puts in what changed since the last one.

Found are purposes, requirements, scenarios, and what open changes bring.
"""

import threading
from collections.abc import Callable, Iterator

import msgspec

from clew.errors import ClewError, InvalidArgument, Refused, StoreError
from clew.formats.openspec.layout import checked_id
from clew.formats.openspec.outline import LazySpec, SpecOutline
from clew.formats.openspec.records import Delta, Requirement, Scenario
from clew.formats.openspec.references import requirement_id, scenario_id
from clew.search.engine import SearchEngine
from clew.search.question import Question, RankedUnit
from clew.search.quote.evidence import preview
from clew.search.units import Filters, Scope, Unit, unit_id
from clew.specs.library import SpecEntry, SpecLibrary, similar_names
from clew.specs.results import IndexBuilt, SpecHit, SpecHits
from clew.text.display import shortened

_MANIFEST = "spec_index"
NEAR = 0.3
"""The similarity from which a text that shares no word with the query is relevant, on the scale of Clew's encoder."""
THRESHOLD = f"a word of the query, or a similarity of at least {NEAR}"


_NOT_YET = "Searches go by words until the embeddings are made in the background, usually some seconds from now."
_NEVER = "Searches go by words: no embedder is configured."


class SpecIndex:
    def __init__(self, engine: Callable[[], SearchEngine | None], wake: Callable[[], None] = lambda: None) -> None:
        self._engine = engine
        self._wake = wake
        """Has vectors made for new units, behind everybody's back."""
        self._lock = threading.Lock()
        self._filled: SearchEngine | None = None
        self._known: SpecLibrary | None = None
        """The specs that were in the index when this process last looked."""

    def rebuild(self, known: SpecLibrary) -> IndexBuilt:
        """Make the index again."""
        engine = self._open()
        with self._lock:
            for part in (_MANIFEST, *PARTS):
                engine.units.delete(engine.units.hashes(part))
            self._known = None
            units = self._sync(engine, known)
            # Last, so that half an index is none.
            engine.units.put([Unit(id=_MANIFEST, part=_MANIFEST, title="", body="The specs are indexed.")])
        state = engine.state()
        semantic = bool(state.units) and state.embedded >= state.units
        note = "" if semantic else _NOT_YET if state.embedder else _NEVER
        return IndexBuilt(len(known.specs), units, state.describe(), semantic, note)

    def ensure(self, known: SpecLibrary) -> None:
        """Index every spec, for a search that includes other parts."""
        if not known.specs and not known.changes:
            return
        engine = self._open()
        if engine.units.get(_MANIFEST) is None:
            self.rebuild(known)
        self._catch_up(engine, known)

    def search(
        self,
        known: SpecLibrary,
        query: str,
        *,
        top_k: int = 10,
        with_changes: bool = False,
        spec_prefix: str | None = None,
        auto_build: bool = False,
        check: Callable[[], None] = lambda: None,
    ) -> SpecHits:
        """The most relevant purposes, requirements and scenarios, best first; none below the threshold."""
        if not query.strip():
            raise InvalidArgument("The query is blank.", hint="Say what to look for, in words or as a question.")
        prefix, notes = _checked_prefix(known, spec_prefix)
        engine = self._open()
        built = engine.units.get(_MANIFEST) is None
        if built:
            if not auto_build:
                raise Refused(
                    "The specs have no search index; it must be built first.",
                    hint="Call rebuild_index, or run `clew specs index`; auto_build=true builds it during a search.",
                )
            self.rebuild(known)
        stale = self._catch_up(engine, known)
        question = Question(
            text=query,
            scope=Scope(parts=PARTS if with_changes else (PURPOSE, REQUIREMENT, SCENARIO)),
            filters=Filters(tags=(prefix_tag(prefix),) if prefix is not None else None),
        )
        ranking = engine.rank(question, check=check)
        relevant = [ranked for ranked in ranking.units if _is_relevant(ranked)]
        found = ((ranked, engine.units.get(ranked.id)) for ranked in relevant[:top_k])
        # What another process takes out in this moment is not there any more.
        hits = tuple(_hit(known, ranked, unit, query) for ranked, unit in found if unit is not None)
        return SpecHits(
            results=hits,
            count=len(hits),
            threshold=THRESHOLD,
            index_built=built,
            stale_specs=stale,
            indexed=ranking.indexed,
            notes=(*notes, *ranking.notes),
        )

    def _open(self) -> SearchEngine:
        engine = self._engine()
        if engine is None:
            raise StoreError("There is no search index.", hint="Make the folder .clew of the project writable.")
        return engine

    def _catch_up(self, engine: SearchEngine, known: SpecLibrary) -> tuple[str, ...]:
        """Index the changed specs; returns those that are out of date because that was not possible."""
        with self._lock:
            try:
                self._sync(engine, known)
            except ClewError:
                before = _specs(self._known)
                return tuple(id for id, spec in _specs(known).items() if before.get(id) is not spec)
        return ()

    def _sync(self, engine: SearchEngine, known: SpecLibrary) -> int:
        """Bring the index in step; returns the number of added units."""
        if self._filled is not engine:
            # Another file, perhaps an empty one: what this process knows is about the one before.
            self._filled, self._known = engine, None
        before = self._known
        if before is known:
            return 0
        units, gone = _since(before, known) if before is not None else _at_first(engine, known)
        if gone:
            engine.units.delete(gone)
        if units:
            engine.units.put(units)
            self._wake()
        self._known = known
        return len(units)


Changes = tuple[list[Unit], set[str]]
"""Units to put in, and ids of those to take out."""


def _since(before: SpecLibrary, known: SpecLibrary) -> Changes:
    """The differences from the specs that this process itself indexed."""
    old, new = _specs(before), _specs(known)
    changed = [id for id, spec in new.items() if old.get(id) is not spec]
    units = [unit for id in changed for unit in spec_units(known.specs[id])]
    left = [spec for id, spec in old.items() if new.get(id) is not spec]
    there = {id for spec in left for id in unit_ids(spec.outline)}
    old_deltas, new_deltas = _deltas(before), _deltas(known)
    for key, delta in old_deltas.items():
        if new_deltas.get(key) is not delta:
            there.update(unit.id for unit in delta_units(key[0], delta, key[2]))
    for key, delta in new_deltas.items():
        if old_deltas.get(key) is not delta:
            units.extend(delta_units(key[0], delta, key[2]))
    return units, there - {unit.id for unit in units}


def _at_first(engine: SearchEngine, known: SpecLibrary) -> Changes:
    """The differences of the specs from the index. Specs whose fingerprint is in the index are not compared."""
    stored = engine.units.hashes(PURPOSE)
    purposes = {id: purpose_unit(entry) for id, entry in known.specs.items()}
    changed = [id for id, unit in purposes.items() if stored.get(unit.id) != unit.content_hash()]
    made = [unit for key, delta in _deltas(known).items() for unit in delta_units(key[0], delta, key[2])]
    kept = engine.units.hashes(CHANGE)
    if changed or len(stored) != len(purposes):
        for part in (PURPOSE, REQUIREMENT, SCENARIO):
            kept |= engine.units.hashes(part)
        made += [unit for id in changed for unit in spec_units(known.specs[id])]
    wanted = {unit.id for unit in made}
    wanted.update(id for entry in known.specs.values() for id in unit_ids(entry.outline))
    return [unit for unit in made if kept.get(unit.id) != unit.content_hash()], kept.keys() - wanted


def _specs(known: SpecLibrary | None) -> dict[str, LazySpec]:
    return {id: entry.sealed for id, entry in known.specs.items()} if known is not None else {}


def _deltas(known: SpecLibrary) -> dict[tuple[str, str, str], Delta]:
    """By change, spec and file."""
    return {
        (id, delta.spec_id, entry.delta_paths[delta.spec_id]): delta
        for id, entry in known.changes.items()
        for delta in entry.change.deltas
    }


def _checked_prefix(known: SpecLibrary, spec_prefix: str | None) -> tuple[str | None, tuple[str, ...]]:
    """The prefix, and a note where nothing lies below it: an empty answer is then not about the query."""
    if spec_prefix is None:
        return None, ()
    prefix = checked_id(spec_prefix.strip("/"))
    touched = (delta.spec_id for entry in known.changes.values() for delta in entry.change.deltas)
    if any(id == prefix or id.startswith(f"{prefix}/") for id in (*known.specs, *touched)):
        return prefix, ()
    hint = similar_names(prefix, known.specs, "list_specs shows all specs.")
    return prefix, (f"No spec is '{shortened(prefix)}' or lies below it. {hint}",)


def _is_relevant(ranked: RankedUnit) -> bool:
    """True if the unit shares words with the query, or is similar enough in meaning."""
    if round(ranked.score, 6) <= 0:
        return False
    return ranked.signal("lexical") is not None or (ranked.signal("dense") or 0.0) >= NEAR


def _hit(known: SpecLibrary, ranked: RankedUnit, unit: Unit, query: str) -> SpecHit:
    text = preview(query, unit.body).text or unit.title
    id = unit.links[0]
    change_id = (unit.document or "").removeprefix(f"{CHANGE}:") if unit.part == CHANGE else None
    spec_id = id if unit.part == PURPOSE else id.partition("#")[0].rpartition("/")[0]
    requirement, scenario, line = _place(known, unit, spec_id, change_id)
    return SpecHit(
        spec_id=spec_id,
        requirement=requirement.name if requirement is not None else None,
        scenario=scenario.name if scenario is not None else None,
        score=round(ranked.score, 6),
        snippet=text,
        path=unit.path or "",
        line=line,
        reference=id,
        change_id=change_id,
    )


def _place(
    known: SpecLibrary, unit: Unit, spec_id: str, change_id: str | None
) -> tuple[Requirement | None, Scenario | None, int]:
    """The requirement and scenario that were found, and the line."""
    among: tuple[Requirement, ...] = ()
    if change_id is not None:
        entry = known.changes.get(change_id)
        delta = entry.change.delta(spec_id) if entry is not None else None
        among = (*delta.modified, *delta.added) if delta is not None else ()
    elif spec_id in known.specs:
        spec = known.specs[spec_id].spec
        if unit.part == PURPOSE:
            return None, None, spec.purpose.span.line if spec.purpose is not None else 1
        among = spec.requirements
    whole, _, scenario_slug = unit.links[0].partition("#")
    requirement = next((each for each in among if f"{spec_id}/{each.slug}" == whole), None)
    if requirement is None:
        return None, None, 1
    scenario = next((each for each in requirement.scenarios if each.slug == scenario_slug), None)
    return requirement, scenario, (scenario or requirement).span.line


PURPOSE, REQUIREMENT, SCENARIO, CHANGE = "spec", "spec_requirement", "scenario", "spec_change"
PARTS = (PURPOSE, REQUIREMENT, SCENARIO, CHANGE)

LONGEST_TITLE, LONGEST_BODY = 1_000, 100_000
"""Characters of a text that are indexed; nobody searches for what is behind them in one requirement."""


def purpose_unit(entry: SpecEntry) -> Unit:
    """The unit of a spec as a whole. It carries the spec's fingerprint: while that is unchanged, the other units of the
    spec are too."""
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
    yield unit_id(PURPOSE, outline.id)
    for requirement in outline.requirements:
        yield unit_id(REQUIREMENT, requirement_id(outline.id, requirement.slug))
        for scenario in requirement.scenarios:
            yield unit_id(SCENARIO, scenario_id(outline.id, requirement.slug, scenario.slug))


def delta_units(change_id: str, delta: Delta, path: str) -> Iterator[Unit]:
    """The texts that a change adds to a spec, for the index."""
    for requirement in (*delta.modified, *delta.added):
        id = requirement_id(delta.spec_id, requirement.slug)
        yield Unit(
            id=unit_id(CHANGE, f"{change_id}:{id}"),
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
            id=unit_id(part, id),
            part=part,
            title=title[:LONGEST_TITLE],
            body=body[:LONGEST_BODY],
            document=f"spec:{spec_id}",
            tags=_prefix_tags(spec_id),
            path=self.entry.path,
            status=fingerprint,
            links=(id,),
        )


def _prefix_tags(spec_id: str) -> tuple[str, ...]:
    """One tag for each folder above a spec, so that a search can be limited to one."""
    parts = spec_id.split("/")
    return tuple(prefix_tag("/".join(parts[: depth + 1])) for depth in range(len(parts)))


def prefix_tag(prefix: str) -> str:
    return f"below:{prefix.strip('/')}"


def _steps(scenario: Scenario) -> str:
    """The steps, separated by blank lines, so that each can be quoted alone."""
    lines = [scenario.text] if scenario.text else []
    for step in scenario.steps:
        lines.append(f"{step.keyword} {step.text}")
        lines.extend(step.children)
    return "\n\n".join(lines)


def _whole(requirement: Requirement) -> str:
    texts = (f"{scenario.name}\n\n{_steps(scenario)}" for scenario in requirement.scenarios)
    return "\n\n".join((requirement.text, *texts))
