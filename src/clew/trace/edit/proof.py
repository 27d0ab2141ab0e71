"""The proof that a file with a change in it reads as the graph has it, before it is written.

Files are not always sound: a code fence that is never closed, or a requirement without End marker, can make a harmless
edit change how its neighbours are read. Such an edit is refused.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from clew.edit.edits import FileEdit
from clew.errors import Refused
from clew.graph.build.link import Definition, Place
from clew.graph.changes import Change
from clew.graph.model import Node, NodeKind
from clew.trace.edit.text.draft import DraftContext

_OF_THE_REST = ("hash_now",)
"""Fields that follow the other requirements of a file: the hash to write follows the rule of the other hashes."""


def refuse_other_reading(context: DraftContext, edit: FileEdit, change: Change | None = None) -> None:
    """Refuse to write a file that would not read as the graph has it, or as the change would make it."""
    changed: Mapping[Place, Definition | None] = {}
    if change is not None:
        changed = {each.place: each.after for each in change.definitions if each.place[0] == edit.path}
    for reader in context.builder.readers:
        places = dict.fromkeys((*context.linker.places(edit.path), *changed))
        own = [place for place in places if place[1] == reader.name]
        if not own:
            continue
        drafted = (changed[place] if place in changed else context.linker.definition_at(place) for place in own)
        read = reader.contribute(reader.read(edit.after or b"", edit.path), edit.path).definitions
        if _contents(each for each in drafted if each is not None) != _contents(read):
            raise Refused(
                f"'{edit.path}' would not read as drafted, so nothing was saved.",
                hint="A code fence may never be closed, or a requirement may have no End marker: correct that first. "
                "undo_last_mutation undoes the newest draft.",
            )


def _contents(definitions: Iterable[Definition]) -> list[bytes]:
    """The contents of definitions, without their places."""
    return sorted(
        msgspec.json.encode(
            (
                _content(each.node),
                [_content(part) for part in each.parts],
                [(cited.kind, cited.target, cited.labels, cited.malformed) for cited in each.citations],
            )
        )
        for each in definitions
        if each.node.kind is not NodeKind.REMAINDER
    )


def _content(node: Node) -> tuple[str, str, dict[str, Any]]:
    return node.id, node.title, {name: value for name, value in node.fields.items() if name not in _OF_THE_REST}
