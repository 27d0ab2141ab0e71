"""Reviewing links: recording, in a file that a team shares, that somebody looked at both sides."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from clew.edit.edits import FileEdit, check_writable
from clew.edit.targets import read_if_there
from clew.edit.transaction import Purpose, Transaction
from clew.errors import Refused
from clew.formats.reviews import Review, read_reviews, render_reviews
from clew.graph.graph import Graph
from clew.store.interface import Store
from clew.trace.reports.citations import HashedCitation, links
from clew.workspace.files import resolve


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
        Transaction(root, edits, Purpose("review")).commit(store)
    return ReviewReport(path, tuple(recorded), unchanged, len(gone))
