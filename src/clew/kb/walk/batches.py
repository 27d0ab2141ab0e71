"""Questions to the store about many nodes at once, as a walk asks them: one for each step, not one for each node.

Where a row is tied to a section that may be seen, it is read from the table itself (`main`): to ask for every mention
of something that everybody mentions whether it may be seen takes long, and the section has answered already.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clew.kb.queries import CitedBy, LibraryReader, LinkOf, in_json, labels_in

_SECTIONS = "FROM json_each(?) AS wanted CROSS JOIN sections AS own ON own.number = wanted.value"
_BELOW_THE_SAME = "SELECT id FROM sections WHERE document = own.document AND parent = own.parent"

_BESIDE = {
    "above": f"SELECT own.id, other.id {_SECTIONS}"
    " CROSS JOIN sections AS other ON other.document = own.document AND other.place = own.parent",
    "below": f"SELECT own.id, other.id {_SECTIONS}"
    " CROSS JOIN sections AS other ON other.document = own.document AND other.parent = own.place"
    " ORDER BY other.document, other.place",
    "after": f"SELECT own.id, other.id {_SECTIONS}"
    " CROSS JOIN sections AS other ON other.document = own.document AND other.place = own.place + 1",
    "before": f"SELECT own.id, other.id {_SECTIONS}"
    " CROSS JOIN sections AS other ON other.document = own.document AND other.place = own.place - 1",
    "sibling after": f"SELECT own.id, ({_BELOW_THE_SAME} AND place > own.place ORDER BY place LIMIT 1) {_SECTIONS}",
    "sibling before": f"SELECT own.id, ({_BELOW_THE_SAME} AND place < own.place"
    f" ORDER BY place DESC LIMIT 1) {_SECTIONS}",
    "document": f"SELECT own.id, other.id {_SECTIONS} CROSS JOIN documents AS other ON other.number = own.document",
    "mentions": f"SELECT own.id, entities.id {_SECTIONS}"
    " CROSS JOIN main.mentions AS mentions ON mentions.section = own.number"
    " CROSS JOIN main.entities AS entities ON entities.number = mentions.entity"
    " ORDER BY own.number, mentions.count DESC, entities.id",
}


class SectionPlace(NamedTuple):
    """The position of a section."""

    id: str
    number: int
    path: str
    place: int


class Pair(NamedTuple):
    """Two ids; the first is the one that was asked for."""

    own: str
    other: str


def places(reading: LibraryReader, ids: Sequence[str]) -> list[SectionPlace]:
    """The positions of the ids that are sections."""
    sql = """
        SELECT sections.id, sections.number, documents.path, sections.place
        FROM json_each(?) AS wanted CROSS JOIN sections
            ON sections.hash = hash_of_id(wanted.value) AND sections.id = wanted.value
        CROSS JOIN documents ON documents.number = sections.document
    """
    return [SectionPlace(*row) for row in reading.rows(sql, in_json(ids))]


def document_paths(reading: LibraryReader, ids: Sequence[str]) -> dict[str, str]:
    """The paths of the documents among the ids."""
    sql = """
        SELECT documents.id, documents.path
        FROM json_each(?) AS wanted CROSS JOIN documents ON documents.id = wanted.value
    """
    return dict(reading.rows(sql, in_json(ids)))


def visible_entities(reading: LibraryReader, ids: Sequence[str]) -> set[str]:
    """The ids that are entities."""
    sql = """
            SELECT entities.id FROM json_each(?) AS wanted CROSS JOIN entities
            ON entities.hash = hash_of_id(wanted.value) AND entities.id = wanted.value
        """
    return {id for (id,) in reading.rows(sql, in_json(ids))}


def entity_numbers(reading: LibraryReader, ids: Sequence[str]) -> dict[str, int]:
    """The numbers of entities, for queries of their mentions; an entity may have no visible mention."""
    sql = """
        SELECT entities.id, entities.number
        FROM json_each(?) AS wanted CROSS JOIN main.entities AS entities
            ON entities.hash = hash_of_id(wanted.value) AND entities.id = wanted.value
    """
    return dict(reading.rows(sql, in_json(ids)))


def beside(reading: LibraryReader, what: str, numbers: Sequence[int]) -> list[Pair]:
    """Neighbours of sections, in the order of the document; `what` is a key of the queries above."""
    return [Pair(*row) for row in reading.rows(_BESIDE[what], in_json(numbers)) if row[1] is not None]


def chunks(reading: LibraryReader, path: str, most: int) -> list[str]:
    own = "document = (SELECT number FROM documents WHERE path = ?)"
    return [id for (id,) in reading.rows(f"SELECT id FROM sections WHERE {own} ORDER BY place LIMIT ?", path, most)]  # noqa: S608


def mentioning(reading: LibraryReader, entity: int, most: int) -> list[str]:
    """Sections that mention an entity, as they were read: of one that everybody mentions, the first ones."""
    sql = """
        SELECT sections.id FROM main.mentions AS mentions CROSS JOIN sections ON sections.number = mentions.section
        WHERE mentions.entity = ? ORDER BY mentions.section LIMIT ?
    """
    return [id for (id,) in reading.rows(sql, entity, most)]


def steps(reading: LibraryReader, entity: int) -> list[str]:
    sql = """
        SELECT entities.id FROM steps CROSS JOIN entities ON entities.number = steps.step
        WHERE steps.procedure = ? ORDER BY steps.place
    """
    return [id for (id,) in reading.rows(sql, entity)]


def procedures(reading: LibraryReader, entities: Sequence[int]) -> list[Pair]:
    sql = """
        SELECT own.id, entities.id FROM json_each(?) AS wanted CROSS JOIN steps ON steps.step = wanted.value
        CROSS JOIN entities AS own ON own.number = steps.step
        CROSS JOIN entities ON entities.number = steps.procedure
    """
    return [Pair(*row) for row in reading.rows(sql, in_json(entities))]


def links_of(reading: LibraryReader, numbers: Sequence[int]) -> list[LinkOf]:
    sql = f"""
        SELECT own.id, links.path, links.label, links.anywhere {_SECTIONS}
        CROSS JOIN links ON links.section = own.number
    """
    return [
        LinkOf(id, path, label, bool(anywhere)) for id, path, label, anywhere in reading.rows(sql, in_json(numbers))
    ]


def linking(reading: LibraryReader, wanted: Iterable[tuple[str, str]], most: int) -> list[LinkOf]:
    """The links that are spelled in one of these ways: a path, and a label in it."""
    sql = """
        SELECT sections.id, links.path, links.label, links.anywhere FROM json_each(?) AS wanted
        CROSS JOIN links ON links.path = json_extract(wanted.value, '$[0]')
            AND links.label = json_extract(wanted.value, '$[1]')
        CROSS JOIN sections ON sections.number = links.section LIMIT ?
    """
    found = reading.rows(sql, in_json(list(wanted)), most)
    return [LinkOf(id, path, label, bool(anywhere)) for id, path, label, anywhere in found]


def linking_paths(reading: LibraryReader, spellings: Sequence[str], most: int) -> list[LinkOf]:
    """The links that spell a path in one of these ways, whatever part of it they name."""
    sql = """
        SELECT sections.id, links.path, links.label, links.anywhere FROM json_each(?) AS wanted
        CROSS JOIN links ON links.path = wanted.value
        CROSS JOIN sections ON sections.number = links.section LIMIT ?
    """
    found = reading.rows(sql, in_json(spellings), most)
    return [LinkOf(id, path, label, bool(anywhere)) for id, path, label, anywhere in found]


def labels(reading: LibraryReader, numbers: Sequence[int]) -> list[tuple[str, str]]:
    """The labels by which links mean sections, each with its section."""
    sql = f"""
        SELECT own.id, labels.label {_SECTIONS}
        CROSS JOIN labels ON labels.document = own.document AND labels.place = own.place
    """
    return [(id, label) for id, label in reading.rows(sql, in_json(numbers))]


def cites_of(reading: LibraryReader, numbers: Sequence[int]) -> list[CitedBy]:
    sql = f"""
        SELECT own.id, cites.target, cites.labels, cites.rank, cites.written {_SECTIONS}
        CROSS JOIN cites ON cites.section = own.number ORDER BY own.number, written, rank, target
    """
    return [
        CitedBy(id, target, labels_in(joined), rank, written)
        for id, target, joined, rank, written in reading.rows(sql, in_json(numbers))
    ]


def all_mentioning(reading: LibraryReader, entities: Sequence[str]) -> list[Pair]:
    """Every section that mentions one of the entities, most mentions first."""
    sql = """
        SELECT own.id, sections.id FROM json_each(?) AS wanted CROSS JOIN entities AS own
            ON own.hash = hash_of_id(wanted.value) AND own.id = wanted.value
        CROSS JOIN mentions ON mentions.entity = own.number CROSS JOIN sections ON sections.number = mentions.section
        ORDER BY wanted.key, mentions.count DESC, sections.id
    """
    return [Pair(*row) for row in reading.rows(sql, in_json(entities))] if entities else []


def all_steps(reading: LibraryReader, procedures: Sequence[str]) -> list[Pair]:
    """The steps of procedures, in order."""
    sql = """
        SELECT own.id, entities.id FROM json_each(?) AS wanted CROSS JOIN entities AS own
            ON own.hash = hash_of_id(wanted.value) AND own.id = wanted.value
        CROSS JOIN steps ON steps.procedure = own.number CROSS JOIN entities ON entities.number = steps.step
        ORDER BY wanted.key, steps.place
    """
    return [Pair(*row) for row in reading.rows(sql, in_json(procedures))] if procedures else []


def outermost(reading: LibraryReader, documents: Sequence[str]) -> list[Pair]:
    """The top sections of documents, in order."""
    sql = """
        SELECT own.id, sections.id FROM json_each(?) AS wanted CROSS JOIN documents AS own ON own.id = wanted.value
        CROSS JOIN sections ON sections.document = own.number AND sections.parent = -1
        ORDER BY wanted.key, sections.place
    """
    return [Pair(*row) for row in reading.rows(sql, in_json(documents))] if documents else []


class LinkTargets:
    """Targets of links. They are the same for every section that has the link, so each spelling is looked up once."""

    def __init__(self, reading: LibraryReader) -> None:
        self._reading = reading
        self._known: dict[LinkOf, str | None] = {}

    def of(self, link: LinkOf) -> str | None:
        """The section or document that a link leads to."""
        key = link._replace(section="")
        if key not in self._known:
            found = self._reading.target_of(link)
            self._known[key] = None if found is None else self._reading.id_at(*found)
        return self._known[key]
