"""Suspect links: citations whose target changed since somebody reviewed both texts.

Every link remembers the hash of the text that it cites: the one of its last review, which is in a file that a team
shares, or else the one with which it was first seen here. While the text is another, the link is suspect. A review, or
the old text, ends that.

The first hashes are kept in the store, one record for each citing file, so that a new test writes a small one. They
are a memory of this working copy only: another one begins with what it finds.
"""

# Implements: REQ-d00053

import logging
from collections.abc import Container, Iterable, Iterator, Mapping

import msgspec

from clew.errors import StoreError
from clew.graph.graph import Graph
from clew.graph.readers.reviews import recorded_reviews
from clew.store.interface import Damaged, Store
from clew.text.hashing import content_hash
from clew.trace.reports.citations import HashedCitation, LinkKey, links

log = logging.getLogger(__name__)
COLLECTION = "first_sight"
_ACTOR = "clew"


class Suspect(msgspec.Struct, frozen=True):
    link: HashedCitation
    was: str
    """The hash that is remembered."""
    reviewed: bool
    """Remembered from a review that the project's files record; otherwise from when it was first seen here."""


def suspects(graph: Graph, store: Store | None) -> tuple[Suspect, ...]:
    """The links that are suspect now. Links seen for the first time are recorded."""
    return graph.derived("suspects", lambda graph: tuple(_suspects(graph, store)))


def _suspects(graph: Graph, store: Store | None) -> Iterator[Suspect]:
    reviewed = reviewed_hashes(graph)
    unreviewed: list[HashedCitation] = []
    for link in links(graph):
        known = reviewed.get(link.key)
        if known is None:
            unreviewed.append(link)
        elif link.hash not in known:
            yield Suspect(link, known[-1], reviewed=True)
    first = first_hashes(graph, store, unreviewed) if store is not None and unreviewed else {}
    for link in unreviewed if first else ():
        was = first.get(link.key)
        if was is not None and was != link.hash:
            yield Suspect(link, was, reviewed=False)


def reviewed_hashes(graph: Graph) -> Mapping[LinkKey, tuple[str, ...]]:
    """The hashes under which each link was reviewed: one, or several after a merge."""
    found: dict[LinkKey, tuple[str, ...]] = {}
    for review in recorded_reviews(graph):
        key = (review.cited, review.citing, review.kind)
        found[key] = (*found.get(key, ()), review.hash)
    return found


def first_hashes(graph: Graph, store: Store, links: Iterable[HashedCitation]) -> Mapping[LinkKey, str]:
    """The first hash of every stored link. New ones among `links` are stored now, unless the graph holds drafts, which
    are not saved text. If the store cannot be used, nothing is stored."""
    damaged: Damaged = {}
    try:
        known = _known(store, damaged)
        fresh = [link for link in links if link.key not in known]
        if fresh and not graph.state.is_edited:
            _remember(graph, store, fresh, damaged)
    except StoreError as error:
        log.warning("The first state of the links is not known: %s", error)
        return {}
    for each in damaged.values():
        log.warning("The first state of some links is not known: %s", each)
    return known


def _known(store: Store, damaged: Damaged) -> dict[LinkKey, str]:
    records = store.scan(COLLECTION, damaged=damaged)
    return {(cited, citing, kind): hash for record in records for cited, citing, kind, hash in record.data}


def _remember(graph: Graph, store: Store, fresh: Iterable[HashedCitation], damaged: Container[str]) -> None:
    by_file: dict[str, dict[LinkKey, str]] = {}
    for link in fresh:
        citing = graph.get_node(link.citing_id)
        path = citing.source.path if citing is not None and citing.source is not None else ""
        id = content_hash(path.encode("utf-8", "replace"), size=12)
        if id not in damaged:
            by_file.setdefault(id, {})[link.key] = link.hash
    if not by_file:
        return
    with store.transaction(actor=_ACTOR, reason="links seen for the first time") as transaction:
        for id, seen in by_file.items():
            record = transaction.get(COLLECTION, id)
            # Another process may have been first.
            before = {(row[0], row[1], row[2]): row[3] for row in record.data} if record is not None else {}
            rows = sorted({**seen, **before}.items())
            transaction.put(COLLECTION, id, [[*key, hash] for key, hash in rows])
