"""The sections one step from sections, as a search follows them: for many at once, a few questions in all.

A step leads to what a section links to and to who links to it, to what stands above, below and beside it, and to who
else mentions what few mention. Of a document it is the first section that counts. Whatever a section has too many of
leads nowhere in particular and is left out, so the work is bounded, however large the library is.
"""

from collections.abc import Iterator, Sequence

from clew.kb.queries import LinkOf, Reading, in_json, spellings
from clew.kb.walk import batches
from clew.kb.walk.batches import Place

LINK, BESIDE, SHARED = 1.0, 0.5, 0.5
"""What the steps weigh; a shared entity weighs less the more sections share it."""
MOST_SHARING = 12
MOST_LINKING = 20
MOST_ASKED = 120
"""Of those who mention an entity, the first so many are asked whether they may be seen."""
REACH = 64
"""How far behind a section those are looked for that stand below it."""

_BESIDE = """
    SELECT own.id, other.id FROM json_each(?) AS wanted
    CROSS JOIN sections AS own ON own.number = wanted.value
    CROSS JOIN sections AS other ON other.document = own.document
        AND other.place IN (own.place - 1, own.place + 1, max(own.parent, 0))
    WHERE other.number <> own.number
"""
_BELOW = """
    SELECT own.id, other.id FROM json_each(?) AS wanted
    CROSS JOIN sections AS own ON own.number = wanted.value
    CROSS JOIN sections AS other ON other.document = own.document AND other.parent = own.place
        AND other.place <= own.place + ?
"""
_SHARED = """
    SELECT few.id, other.id, few.others FROM (
        SELECT own.id AS id, own.number AS number, said.entity AS entity, (
            SELECT count(*) FROM (
                SELECT 1 FROM (
                    SELECT section FROM main.mentions AS held WHERE held.entity = said.entity ORDER BY section LIMIT ?3
                ) AS first
                CROSS JOIN sections AS holder ON holder.number = first.section AND holder.number <> own.number LIMIT ?2
            )
        ) AS others
        FROM json_each(?1) AS wanted
        CROSS JOIN sections AS own ON own.number = wanted.value
        CROSS JOIN main.mentions AS said ON said.section = own.number
    ) AS few
    CROSS JOIN main.mentions AS shared ON shared.entity = few.entity AND shared.section <> few.number
        AND shared.section < coalesce((
            SELECT section FROM main.mentions AS held WHERE held.entity = few.entity ORDER BY section LIMIT 1 OFFSET ?3
        ), 9223372036854775807)
    CROSS JOIN sections AS other ON other.number = shared.section
    WHERE few.others < ?2
"""
"""Those who share an entity are sought among the first who mention it, seen or not: where few of very many may be seen,
to ask each of them takes long."""


def nearby(reading: Reading, wanted: Sequence[str]) -> dict[str, list[tuple[str, float]]]:
    """For each of the sections that is there, the sections one step from it, with weights."""
    places = batches.places(reading, wanted)
    found: dict[str, dict[str, float]] = {place.id: {} for place in places}
    for own, other, weight in _steps(reading, places):
        if own in found and own != other:
            found[own][other] = max(weight, found[own].get(other, 0.0))
    return {own: list(others.items()) for own, others in found.items()}


def _steps(reading: Reading, places: Sequence[Place]) -> Iterator[tuple[str, str, float]]:
    numbers = in_json([place.number for place in places])
    for own, other in (*reading.rows(_BESIDE, numbers), *reading.rows(_BELOW, numbers, REACH)):
        yield own, other, BESIDE
    for own, other, others in reading.rows(_SHARED, numbers, MOST_SHARING, MOST_ASKED):
        yield own, other, SHARED / others
    yield from _links(reading, places)


def _links(reading: Reading, places: Sequence[Place]) -> Iterator[tuple[str, str, float]]:
    numbers = [place.number for place in places]
    paths = {place.id: place.path for place in places}
    named = batches.labels(reading, numbers)
    ways = dict.fromkeys((path, label) for id, label in named for path in (*spellings(paths[id]), ""))
    known: dict[LinkOf, str | None] = {}
    for link in batches.links_of(reading, numbers):
        target = _target(reading, link, known)
        if target is not None:
            yield link.section, target, LINK
    for link in batches.linking(reading, ways, MOST_LINKING * len(places)):
        target = _target(reading, link, known)
        if target is not None:
            yield target, link.section, LINK


def _target(reading: Reading, link: LinkOf, known: dict[LinkOf, str | None]) -> str | None:
    key = link._replace(section="")
    if key not in known:
        found = reading.target_of(link)
        known[key] = None if found is None else reading.id_at(found[0], found[1] or 0)
    return known[key]
