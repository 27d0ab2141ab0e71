"""Projection of a node without its text: a few short fields, the same for every kind."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import UNSET

from clew.errors import InvalidArgument
from clew.graph.graph import Graph
from clew.graph.model import NodeKind
from clew.kb import ids
from clew.kb.entities.model import EntityKind
from clew.kb.queries import LibraryReader, in_json
from clew.kb.walk import batches
from clew.kb.walk.cross_references import CrossReferences
from clew.kb.walk.results import Projection
from clew.text.display import shortened

SNIPPET_CHARACTERS = 200
MOST_TITLE_CHARACTERS = 200


DOCUMENT, SECTION, FILE = "Document", "Chunk", "File"
ENTITY_LABELS = {
    EntityKind.COMMAND: "Command",
    EntityKind.FLAG: "Parameter",
    EntityKind.VARIABLE: "Configuration",
    EntityKind.KEY: "Configuration",
    EntityKind.FILE: "File",
    EntityKind.SYMBOL: "Symbol",
    EntityKind.VERSION: "Version",
    EntityKind.ERROR: "Error",
    EntityKind.PROCEDURE: "Procedure",
    EntityKind.STEP: "Step",
    EntityKind.TERM: "Concept",
    EntityKind.DEFINED: "Concept",
}
NODE_LABELS = {
    NodeKind.REQUIREMENT: "Requirement",
    NodeKind.ASSERTION: "Assertion",
    NodeKind.CODE: "Code",
    NodeKind.TEST: "Test",
    NodeKind.TEST_RESULT: "TestResult",
    NodeKind.USER_JOURNEY: "Journey",
    NodeKind.REMAINDER: "Remainder",
    NodeKind.SPEC: "Spec",
}


FIELDS = ("id", "label", "title", "level", "tokens", "doc_tag", "anchor")
USUAL_FIELDS = ("id", "label", "title", "tokens", "doc_tag")


class NodeView(NamedTuple):
    """All that can be shown of a node."""

    id: str
    label: str
    title: str
    level: int | None = None
    tokens: int | None = None
    doc_tag: str | None = None
    anchor: str | None = None

    def projection(self, fields: Sequence[str] = FIELDS, snippet: str | None = None) -> Projection:
        chosen = {name: getattr(self, name) for name in fields}
        return Projection(**chosen, snippet=snippet if snippet else UNSET)


def checked_fields(fields: Sequence[str] | None) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(fields or USUAL_FIELDS))
    unknown = [name for name in chosen if name not in FIELDS]
    if unknown:
        raise InvalidArgument(
            f"Nodes have no field '{shortened(unknown[0])}'.",
            hint=f"Fields are: {', '.join(FIELDS)}. Texts are read apart.",
        )
    return chosen


def resolved(
    reading: LibraryReader, graph: Graph, cross_references: CrossReferences, wanted: Sequence[str]
) -> dict[str, str | None]:
    """Each id with the present id of its node; None if there is no such node."""
    text = [id for id in dict.fromkeys(wanted) if _is_text(id)]
    here = _stored(reading, text)
    aliased = [id for id in text if id.startswith(ids.DOCUMENT) and id not in here]
    successors = reading.successors(aliased) if aliased else {}
    here |= _stored(reading, [*successors.values()])
    found: dict[str, str | None] = dict.fromkeys(wanted)
    for id in text:
        is_file = id.startswith(ids.FILE) and cross_references.is_named(reading, id)
        if is_file or id in here or graph.memory.get_node(id) is not None:
            found[id] = id
        elif successors.get(id) in here:
            found[id] = successors[id]
    return found


def _is_text(id: str) -> bool:
    """Half of a pair of surrogates is no text, and no name of anything."""
    try:
        return bool(id.encode())
    except UnicodeEncodeError:
        return False


def _stored(reading: LibraryReader, wanted: Sequence[str]) -> set[str]:
    entities = [id for id in wanted if id.startswith(ids.ENTITY)]
    others = [id for id in wanted if id.startswith(ids.DOCUMENT)]
    found = batches.visible_entities(reading, entities) if entities else set()
    if others:
        found |= {place.id for place in batches.places(reading, others)}
        found |= batches.document_paths(reading, others).keys()
    return found


def shown(reading: LibraryReader, graph: Graph, wanted: Sequence[str]) -> dict[str, NodeView]:
    """Projections of those nodes that exist."""
    found: dict[str, NodeView] = {}
    for section, tag in reading.sections_with_tags([id for id in wanted if id.startswith(ids.DOCUMENT)]):
        title = section.title[:MOST_TITLE_CHARACTERS]
        found[section.id] = NodeView(section.id, SECTION, title, section.level, section.tokens, tag, section.anchor)
    rest = [id for id in wanted if id not in found]
    for id, title, tag in _documents(reading, [id for id in rest if id.startswith(ids.DOCUMENT)]):
        found[id] = NodeView(id, DOCUMENT, title[:MOST_TITLE_CHARACTERS], doc_tag=tag)
    for id, kind, name in _entities(reading, [id for id in rest if id.startswith(ids.ENTITY)]):
        found[id] = NodeView(id, ENTITY_LABELS[EntityKind(kind)], name[:MOST_TITLE_CHARACTERS])
    for id in rest:
        node = graph.memory.get_node(id)
        if node is not None:
            found[id] = NodeView(id, NODE_LABELS[node.kind], node.title[:MOST_TITLE_CHARACTERS])
        elif id.startswith(ids.FILE):
            found[id] = NodeView(id, FILE, id.removeprefix(ids.FILE)[:MOST_TITLE_CHARACTERS])
    return {id: found[id] for id in wanted if id in found}


def snippets(reading: LibraryReader, wanted: Sequence[str]) -> dict[str, str]:
    """The first characters of sections."""
    texts = ((id, reading.text(id)) for id in wanted)
    return {id: text[:SNIPPET_CHARACTERS] for id, text in texts if text is not None}


def _documents(reading: LibraryReader, wanted: Sequence[str]) -> list[tuple[str, str, str]]:
    if not wanted:
        return []
    sql = """
        SELECT documents.id, json_extract(CAST(documents.data AS TEXT), '$.title'), documents.tag
        FROM json_each(?) AS wanted CROSS JOIN documents ON documents.id = wanted.value
    """
    return reading.rows(sql, in_json(wanted))


def _entities(reading: LibraryReader, wanted: Sequence[str]) -> list[tuple[str, str, str]]:
    if not wanted:
        return []
    # How the first sections that mention it write its name; to ask all of them takes long where there are many.
    sql = """
        SELECT entities.id, entities.kind, coalesce((
            SELECT coalesce(name, entities.normal) AS written FROM (
                SELECT section, name, count FROM main.mentions WHERE entity = entities.number ORDER BY section LIMIT 50
            ) AS first CROSS JOIN sections ON sections.number = first.section ORDER BY first.count DESC, written LIMIT 1
        ), entities.normal)
        FROM json_each(?) AS wanted CROSS JOIN main.entities AS entities
            ON entities.hash = hash_of_id(wanted.value) AND entities.id = wanted.value
    """
    return reading.rows(sql, in_json(wanted))
