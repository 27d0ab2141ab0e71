"""The hash with which each link was first seen here, kept in the store.

It is a memory of this working copy only: another one begins with what it finds. What a team should share is in the file
of reviews. There is one record for each citing file, so that a new test writes a small one.
"""

import hashlib
import logging
from collections.abc import Iterable, Mapping

from clew.errors import StoreError
from clew.graph.graph import Graph
from clew.store.interface import Store
from clew.trace.citations import Link, LinkKey

log = logging.getLogger(__name__)

COLLECTION = "first_sight"
_ACTOR = "clew"


def first_hashes(graph: Graph, store: Store, links: Iterable[Link]) -> Mapping[LinkKey, str]:
    """The first hash of every link that is remembered. Those among `links` that are new are remembered now, unless the
    graph holds drafts, which are nobody's text yet. A store that cannot be used costs the memory and nothing else."""
    try:
        known = _known(store)
        fresh = [link for link in links if link.key not in known]
        if fresh and not graph.state.is_edited:
            _remember(graph, store, fresh)
    except StoreError as error:
        log.warning("What links were first seen with is not known: %s", error)
        return {}
    return known


def _known(store: Store) -> dict[LinkKey, str]:
    return {
        (cited, citing, kind): hash for record in store.scan(COLLECTION) for cited, citing, kind, hash in record.data
    }


def _remember(graph: Graph, store: Store, fresh: Iterable[Link]) -> None:
    by_file: dict[str, dict[LinkKey, str]] = {}
    for link in fresh:
        citing = graph.get_node(link.citing_id)
        path = citing.source.path if citing is not None and citing.source is not None else ""
        id = hashlib.blake2b(path.encode("utf-8", "replace"), digest_size=12).hexdigest()
        by_file.setdefault(id, {})[link.key] = link.hash
    with store.transaction(actor=_ACTOR, reason="links seen for the first time") as transaction:
        for id, seen in by_file.items():
            record = transaction.get(COLLECTION, id)
            # Another process may have been first.
            before = {(row[0], row[1], row[2]): row[3] for row in record.data} if record is not None else {}
            rows = sorted({**seen, **before}.items())
            transaction.put(COLLECTION, id, [[*key, hash] for key, hash in rows])
