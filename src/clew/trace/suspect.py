"""Suspect links: citations whose target changed since somebody looked at both.

Every link remembers the hash of the text that it cites: the one of its last review, which stands in a file that a team
shares, or else the one with which it was first seen here. While the text is another, the link is suspect. A review, or
the old text, ends that.
"""

from collections.abc import Iterator, Mapping

import msgspec

from clew.graph.graph import Graph
from clew.graph.readers.reviews import recorded_reviews
from clew.store.interface import Store
from clew.trace.citations import Link, LinkKey, links
from clew.trace.first_sight import first_hashes


class Suspect(msgspec.Struct, frozen=True):
    link: Link
    was: str
    """The hash that is remembered."""
    reviewed: bool
    """Remembered from a review that the project's files record; otherwise from when it was first seen here."""


def suspects(graph: Graph, store: Store | None) -> tuple[Suspect, ...]:
    """The links that are suspect now. What is seen for the first time is remembered."""
    return graph.derived("suspects", lambda graph: tuple(_suspects(graph, store)))


def _suspects(graph: Graph, store: Store | None) -> Iterator[Suspect]:
    reviewed = reviewed_hashes(graph)
    unreviewed: list[Link] = []
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
