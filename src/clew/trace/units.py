"""Requirements as the search engine sees them."""

from clew.graph.model import Node
from clew.search.units import Unit

PART = "requirement"
MAX_BODY_CHARACTERS = 1_000_000
"""What goes beyond is not searched by relevance; exact matches are found everywhere."""


def requirement_unit(node: Node) -> Unit:
    body = node.get_field("body", "")
    level = node.get_field("level")
    return Unit(
        id=f"{PART}:{node.id}",
        part=PART,
        title=node.title,
        # The id comes last: it is a word to be found, but says nothing about the meaning.
        body=f"{body[:MAX_BODY_CHARACTERS]}\n\n{node.id}",
        document=node.source.path if node.source else None,
        tags=(level,) if level else (),
        path=node.source.path if node.source else None,
        status=node.get_field("status"),
        links=(node.id,),
    )
