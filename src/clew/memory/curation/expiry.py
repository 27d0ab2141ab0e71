"""Removal for good by the clock: episodes after 90 days, and forgotten memories once nothing can restore them.

One job does it, in small steps that block nobody. It is announced: the status of the memory and of dreams shows
before how much is due, and the job and the history say what it removed. `memory.keep = "forever"` turns it
off. No other memory is ever touched by it. Ids, times and reasons stay; `clew memory purge` also looks for copies.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

import msgspec

from clew.errors import Cancelled
from clew.memory.model import CHANGES, LINKS, MEMORIES, MemoryKind
from clew.memory.scope import Viewer
from clew.memory.storage.changes import EXPIRY, RECOVERY, ChangeRecord, moment_of, spelled
from clew.memory.storage.index import IndexedMemory
from clew.store.watched import renewed

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

EPISODES_KEPT = timedelta(days=90)
_AT_ONCE = 50
_COUNTED = 50
"""Counting stops here, so that a status call does not wait for an exact number."""


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """The records that the next run of the job will remove."""

    keep: Literal["usual", "forever"]
    episodes: int
    """Older than 90 days; of more than 50, 50."""
    forgotten: int
    """Forgotten more than 30 days ago; of more than 50, 50."""
    note: str


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    episodes: int = 0
    forgotten: int = 0


class Expiry:
    def __init__(self, view: "MemoryView") -> None:
        self._view = view
        self._home = view.service.home
        self._everybody = Viewer(folder=self._home.inside, is_owner=True)
        self._keep = view.service.context.config.memory.keep

    def due(self) -> Due:
        if self._keep == "forever":
            return Due(keep=self._keep, episodes=0, forgotten=0, note='Nothing is removed: memory.keep is "forever".')
        episodes, forgotten = len(self._old_episodes(_COUNTED)), sum(1 for _ in self._beyond_recovery(_COUNTED))
        return Due(
            keep=self._keep,
            episodes=episodes,
            forgotten=forgotten,
            note="Removed for good at the end of the next dream, or by the server that hooks report to."
            if episodes or forgotten
            else "Nothing is due.",
        )

    def remove(self, give_way: Callable[[], None] = lambda: None) -> Removed:
        """Remove expired memories. Cancelled if `give_way` says so; removed ones stay removed."""
        if self._keep == "forever" or not (self._old_episodes(1) or any(True for _ in self._beyond_recovery(1))):
            return Removed()
        with self._announced() as counts:
            while ids := [row.id for row in self._old_episodes(_AT_ONCE)]:
                give_way()
                counts["episodes"] += self._delete(ids)
            while found := dict(self._beyond_recovery(_AT_ONCE)):
                give_way()
                self._erase(list(found), [link for links in found.values() for link in links])
                counts["forgotten"] += len(found)
        return Removed(**counts)

    @contextmanager
    def _announced(self) -> Iterator[dict[str, int]]:
        """The job, and its entry for the history."""
        store = self._home.store
        job, counts = store.start_job(EXPIRY), {"episodes": 0, "forgotten": 0}
        state = "failed"
        try:
            with renewed(store, job.id):
                yield counts
            state = "done"
        except Cancelled:
            state = "cancelled"
            raise
        finally:
            self._view.units.follow()
            said = f"removed {counts['episodes']} episodes older than 90 days and {counts['forgotten']} memories"
            said += " forgotten more than 30 days ago"
            self._note(said, counts)
            store.finish_job(job.id, state=state, message=said)

    def _note(self, said: str, counts: dict[str, int]) -> None:
        now = self._view.changes.now()
        record = ChangeRecord(
            operation=EXPIRY,
            at=now,
            actor=EXPIRY,
            rationale=said,
            expires_at=now,
            memories=(),
            touched=(),
            details=dict(counts),
        )
        self._home.store.put(CHANGES, f"{EXPIRY}-{now}", record, actor=EXPIRY, reason=said)

    def _old_episodes(self, limit: int) -> list[IndexedMemory]:
        oldest = spelled(self._view.service.context.clock() - EPISODES_KEPT)
        return self._home.index.old_episodes(self._everybody, oldest, limit)

    def _delete(self, ids: list[str]) -> int:
        with self._home.store.transaction(actor=EXPIRY, reason="older than 90 days") as transaction:
            there = [id for id in ids if transaction.get(MEMORIES, id) is not None]
            for id in there:
                transaction.delete(MEMORIES, id)
        self._erase(ids, [])
        return len(there)

    def _erase(self, ids: list[str], links: list[str]) -> None:
        self._home.store.erase(MEMORIES, ids)
        self._home.store.erase(LINKS, links)
        self._home.index.drop(ids)

    def _beyond_recovery(self, limit: int) -> Iterator[tuple[str, list[str]]]:
        """The forgotten memories that cannot be restored, the earliest first, with the links that went with them."""
        for row in self._home.index.forgotten_first(self._everybody, limit):
            links = self._lost_links(row)
            if links is None:
                return
            yield row.id, links

    def _lost_links(self, row: IndexedMemory) -> list[str] | None:
        """Links that are lost with the memory; None if it can still be restored."""
        now, touched = self._view.service.context.clock(), self._home.index.touched(row.id)
        record = self._view.changes.get(touched[-1][1]) if touched else None
        last = self._home.store.events(collection=MEMORIES, id=row.id)[-1]
        if record is None or (MEMORIES, row.id, last.version) not in record.touched:
            # No change deleted it: it is an episode that this job deleted before it was killed.
            is_over = row.kind == MemoryKind.EPISODE.value or moment_of(last.at) + RECOVERY < now
            return [] if is_over else None
        if moment_of(record.expires_at) >= now:
            return None
        return [id for collection, id, _ in record.touched if collection == LINKS]
