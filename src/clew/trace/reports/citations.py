"""Citations as links that can be stored: the citing node, the cited one, the kind, and the cited text.

A citation of an assertion is tied to the text of that assertion, one of a whole requirement to that of all its
assertions, or to its body where it has none. Spaces and line breaks do not count.

A review of a link is recorded in a file that a team shares: somebody looked at both sides.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from clew.edit.edits import FileEdit, check_writable
from clew.edit.targets import read_if_there
from clew.edit.transaction import EditPurpose, FileTransaction
from clew.errors import Refused
from clew.formats.elspais.hashes import assertion_line
from clew.formats.reviews import HASH_DIGITS, Review, read_reviews, render_reviews
from clew.graph.graph import Graph
from clew.graph.model import Edge, EdgeKind, Node, NodeKind
from clew.store.interface import Store
from clew.workspace.files import resolve

_CITED = (NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY)
_NO_CITATIONS = frozenset({EdgeKind.STRUCTURES, EdgeKind.YIELDS, EdgeKind.INSTANCE})
_KINDS = {kind: kind.value for kind in EdgeKind}
_WHOLE = ("",)

LinkKey = tuple[str, str, str]
"""The target, the citing node and the kind of a citation. Equal on every machine, and the same after lines were
inserted."""


class HashedCitation(msgspec.Struct, frozen=True, gc=False):
    """A citation with the hash of its present target."""

    cited: str
    citing: str
    """A name that stays the same when lines are inserted above it."""
    kind: str
    hash: str
    cited_id: str
    """The node at which the edge ends: the requirement of a cited assertion."""
    citing_id: str
    """The node at which the edge begins."""

    @property
    def key(self) -> LinkKey:
        return self.cited, self.citing, self.kind


def links(graph: Graph) -> tuple[HashedCitation, ...]:
    """Every citation in the graph."""
    return graph.derived("links", lambda graph: tuple(_links(graph)))


def links_citing(graph: Graph, ids: Iterable[str]) -> tuple[HashedCitation, ...]:
    """The links that end at one of these nodes; for an assertion, those that name it, and those that cite its whole
    requirement."""
    nodes = [node for id in ids if (node := graph.get_node(id)) is not None]
    wholes = {node.id for node in nodes if node.kind is not NodeKind.ASSERTION}
    parts = {node.id for node in nodes if node.kind is NodeKind.ASSERTION}
    parts |= {parent.id for part in parts for parent in graph.iter_parents(part, (EdgeKind.STRUCTURES,))}
    return tuple(link for link in links(graph) if link.cited_id in wholes or link.cited in parts)


def links_made_by(graph: Graph, ids: Iterable[str]) -> tuple[HashedCitation, ...]:
    """The links that begin at one of these nodes."""
    wanted = frozenset(ids)
    return tuple(link for link in links(graph) if link.citing_id in wanted)


def _links(graph: Graph) -> Iterator[HashedCitation]:
    names: dict[str, str] = {}
    for kind in _CITED:
        for node in graph.nodes_by_kind(kind):
            edges = list(graph.iter_incoming_edges(node.id))
            citing = [edge for edge in edges if edge.kind not in _NO_CITATIONS]
            texts = _texts(graph, node, edges) if citing else {}
            for edge in citing:
                name = names.get(edge.source)
                if name is None:
                    source = graph.get_node(edge.source)
                    if source is None:
                        continue
                    name = names[edge.source] = stable_name(source)
                for label in edge.labels or _WHOLE:
                    if label in texts:
                        id, hash = texts[label]
                        yield HashedCitation(id, name, _KINDS[edge.kind], hash, edge.target, edge.source)


def _texts(graph: Graph, node: Node, edges: Iterable[Edge]) -> dict[str, tuple[str, str]]:
    """The id and the hash of everything that can be cited of a node, by its label; the whole under the empty one."""
    if node.kind is NodeKind.USER_JOURNEY:
        steps = zip(node.get_field("labels", ()), node.get_field("steps", ()), strict=False)
        parts = {label: (f"{node.id}/{label}", assertion_line(label, text)) for label, text in steps}
    else:
        parts = {}
        for edge in edges:
            part = graph.get_node(edge.source) if edge.kind is EdgeKind.STRUCTURES else None
            if part is not None and part.kind is NodeKind.ASSERTION:
                label = part.get_field("label", "")
                parts[label] = (part.id, assertion_line(label, part.title))
    found = {label: (id, _hash(line)) for label, (id, line) in parts.items()}
    whole = "\n".join(sorted(line for _, line in parts.values()))
    found[""] = (node.id, _hash(whole or " ".join(f"{node.title} {node.get_field('body', '')}".split())))
    return found


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:HASH_DIGITS]


def stable_name(node: Node) -> str:
    """A node's id without its line number, which changes with every edit above."""
    file = node.get_field("file")
    if file is None or node.kind not in (NodeKind.CODE, NodeKind.TEST):
        return node.id
    if node.kind is NodeKind.CODE:
        owner = node.get_field("owner")
        return f"code:{file}::{owner}" if owner else f"code:{file}"
    if node.get_field("function") is None:
        return f"test:{file}"
    return node.id.removesuffix(f":{node.source.line}") if node.source is not None else node.id


class ReviewReport(msgspec.Struct, frozen=True):
    file: str
    recorded: tuple[HashedCitation, ...]
    """Links whose line in the file is new or another than before."""
    unchanged: int
    """Links that were recorded with the same text already."""
    dropped: int
    """Lines of links that are no more."""


def record(
    root: Path, path: str, graph: Graph, store: Store | None, chosen: Iterable[HashedCitation], *, drop_gone: bool
) -> ReviewReport:
    """Record that these links were reviewed with the text they cite now. The file comes into being with the first
    review. With `drop_gone`, lines of links that no longer exist are removed."""
    data = read_if_there(resolve(root, path))
    before = read_reviews(data or b"")
    if before.diagnostics:
        first = before.diagnostics[0]
        raise Refused(f"{path}:{first.line}: {first.message}", hint="Nothing was recorded.")
    recorded: list[HashedCitation] = []
    rows: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for review in before.reviews:
        key = (review.cited, review.citing, review.kind)
        rows[key] = (*rows.get(key, ()), review.hash)
    unchanged = 0
    for link in {link.key: link for link in chosen}.values():
        if rows.get(link.key) == (link.hash,):
            unchanged += 1
        else:
            rows[link.key] = (link.hash,)
            recorded.append(link)
    gone = rows.keys() - {link.key for link in links(graph)} if drop_gone else set()
    reviews = [Review(*key, hash) for key, hashes in rows.items() if key not in gone for hash in dict.fromkeys(hashes)]
    after = render_reviews(reviews, before.comments)
    if (recorded or gone) and after != data:
        edits = [FileEdit(path, data, after)]
        check_writable(root, edits)
        FileTransaction(root, edits, EditPurpose("review")).commit(store)
    return ReviewReport(path, tuple(recorded), unchanged, len(gone))
