"""Requirements changed in a turn: those of the edited files whose text differs from the last commit."""

from collections.abc import Iterable

import msgspec

from clew.context import Context
from clew.graph.model import Node, NodeKind
from clew.memory.model import Memory
from clew.text.passage_hash import passage_hash, stands_in
from clew.workspace.files import read_bytes
from clew.workspace.git import api as git

MOST = 8
_LONGEST = 400


class EditedRequirement(msgspec.Struct, frozen=True):
    id: str
    text: str
    """One sentence that says what it says now."""


def edited_since_stop(earlier: Iterable[Memory]) -> tuple[str, ...]:
    """The files that were edited since the turn before ended; `earlier` is the latest first."""
    found: dict[str, None] = {}
    for episode in earlier:
        if episode.metadata.get("event") == "stop":
            break
        if episode.metadata.get("wrote"):
            found.update(dict.fromkeys(episode.metadata.get("paths", ())))
    return tuple(found)


def changed_requirements(context: Context, paths: Iterable[str]) -> list[EditedRequirement]:
    """The requirements in these files that differ from the last commit; none without git."""
    found: list[EditedRequirement] = []
    if git.head(context.root) is None:
        return found
    context.keeper.ensure()
    for path in paths:
        with context.lock.reading():
            nodes = [node for node in context.graph.memory.nodes_in_file(path) if node.kind is NodeKind.REQUIREMENT]
        if nodes:
            found += _changed(context, path, nodes)
    return found[:MOST]


def _changed(context: Context, path: str, nodes: list[Node]) -> list[EditedRequirement]:
    before = git.content_at(context.root, "HEAD", path)
    old = "" if before is None else before.decode("utf-8", "replace")
    lines = read_bytes(context.root, path, limit=context.config.max_file_bytes).decode("utf-8", "replace").splitlines()
    found = []
    for node in nodes:
        if node.source is None:
            continue
        now = "\n".join(lines[node.source.line - 1 : node.source.end_line])
        if old and stands_in(old, passage_hash(now)):
            continue
        verb = "was changed" if node.id in old else "was added"
        body = " ".join(str(node.get_field("body") or "").split())[:_LONGEST]
        text = f"{node.id} ({node.title}) {verb}" + (f"; it says now: {body}" if body else ".")
        found.append(EditedRequirement(node.id, text))
    return found
