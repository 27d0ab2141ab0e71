"""Purging memories: the one change of the memory that cannot be undone.

The indexes and the other files are cleaned first and the store last. So a purge that was killed is begun again by the
same command, and one that was killed while the store was rewritten is finished by the next process that opens the
memory. What the store keeps of a purged value are ids and times, and nothing that anybody wrote.
"""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from clew.memory.model import CHANGES, EXCHANGES, LINKS, MEMORIES, MIRRORS, PURGES
from clew.memory.purge.choose import Chosen
from clew.memory.purge.derived import DerivedFiles
from clew.memory.purge.files import (
    empty_spools,
    left_in,
    purge_files,
    purge_mirrors,
    state_folders,
    with_names,
)
from clew.memory.purge.traces import Traces
from clew.memory.scope import BY_A_PERSON
from clew.memory.storage.changes import PURGE, ChangeRecord
from clew.memory.texts.scrub import scrub

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

BEYOND_REACH = (
    "git history: a mirror that was committed stays in earlier commits, here and in every clone",
    "exports, and copies or backups that somebody made of Clew's files",
    "transcripts that the host of an agent keeps, and what a model has already read",
)
_OF_A_TEAM = (
    "the copies on other machines, until each looks at the database the next time",
    "the database's own log, and backups of it, until they are replaced",
    # To write those tables again takes minutes in a large index, and nobody can search meanwhile.
    "bytes of the search index and of vectors in the database's tables, which nobody can read with SQL, until it writes"
    " over them or its administrator runs VACUUM FULL",
)
_LEFT_TO_AN_OWNER = "bytes in the database's tables, which nobody can read with SQL, until an owner opens the memory"
_MOST_NAMED = 100

PURGED = "purged"
_COMMON = frozenset({BY_A_PERSON, "annotated", PURGED})
"""Reasons that say nothing of a memory."""

_OWN = (PURGES, MIRRORS)
"""Records that contain no text of memories."""


class Purged(msgspec.Struct, frozen=True, kw_only=True):
    purged: int
    """Memories that were taken out, forgotten ones included."""
    node_ids: tuple[str, ...]
    """The first hundred of them."""
    brought_back: tuple[str, ...]
    """Memories that had been merged into a purged one."""
    also_cleaned: tuple[str, ...]
    """Other files of Clew, and what became of them."""
    still_held_by: tuple[str, ...]
    """Other memories that hold some of the same text, and were not purged."""
    left_in: tuple[str, ...]
    """Files of Clew in which some of the text is still found."""
    beyond_reach: tuple[str, ...]
    truncated: bool = False


def purge(view: "MemoryView", chosen: Chosen, reason: str) -> Purged:
    service = view.service
    home, store = service.home, service.home.store
    folders = state_folders(home)
    traces = with_names(chosen.traces, folders, chosen.ids)
    mirrored = purge_mirrors(folders, chosen.ids)
    search = view.units.forget(chosen.ids, chosen.text_hashes)
    projects = _derived(view, folders, search, traces, chosen)
    documents = [said for project in projects for said in project.purge(chosen.ids, chosen.text_hashes)]
    for project in projects:
        if project.is_indexed_in(search):
            view.units.forget_held(project.sought)
    cleaned = purge_files(home, projects, traces)
    if chosen.everything:
        empty_spools(home, folders)
    with home.purging(view.actor, view.changes.now()):
        store.rewrite(Blanking(chosen))
        home.index.renew()
        # Another process may have written a file again before the memory was gone.
        mirrored += purge_mirrors(folders, chosen.ids)
        _bring_back(view, chosen)
        _record(view, chosen, reason)
        beyond = _compacted(view)
    view.units.follow()
    return Purged(
        purged=len(chosen.ids),
        node_ids=tuple(sorted(chosen.ids)[:_MOST_NAMED]),
        brought_back=chosen.orphans,
        also_cleaned=(*mirrored, *documents, *cleaned),
        still_held_by=chosen.others,
        left_in=left_in(home, projects, traces, chosen.shared),
        beyond_reach=(*BEYOND_REACH, *beyond),
    )


def _derived(
    view: "MemoryView", folders: Collection[Path], search: Path | None, traces: Traces, chosen: Chosen
) -> list[DerivedFiles]:
    """The derived data of every project of the repository."""
    places = {folder: folder.parent for folder in folders}
    if search is not None:
        # It lies elsewhere where the project's own folder cannot be written.
        places.setdefault(search.resolve().parent, view.service.home.root)
    return [DerivedFiles(folder, root, traces, chosen.others) for folder, root in places.items()]


def _compacted(view: "MemoryView") -> tuple[str, ...]:
    """Leave no byte in the store's files; returns what could not be removed. In a team's database only an owner can,
    and the next owner who opens the memory does."""
    home = view.service.home
    problem = home.compact()
    home.end_purge(view.actor, is_compact=problem is None)
    if not home.is_team:
        return ()
    return _OF_A_TEAM if problem is None else (*_OF_A_TEAM, f"{_LEFT_TO_AN_OWNER} ({problem.message.rstrip('.')})")


def _bring_back(view: "MemoryView", chosen: Chosen) -> None:
    """Bring back the memories that were merged into a purged one, because they would be lost with it."""
    store = view.service.home.store
    deleted = {each.id: each.data for each in store.tombstones(MEMORIES)} if chosen.orphans else {}
    orphans = {id: deleted[id] for id in chosen.orphans if id in deleted}
    if orphans:
        with view.changes.make("restore", view.actor, "what it was merged into was purged") as change:
            for id, data in orphans.items():
                change.replace(MEMORIES, id, data)


def _record(view: "MemoryView", chosen: Chosen, reason: str) -> None:
    """Note which memories were purged, when and why."""
    now = view.changes.now()
    record = ChangeRecord(
        operation=PURGE,
        at=now,
        actor=view.actor,
        rationale="" if chosen.traces.in_text(reason) else scrub(reason).text,
        expires_at=now,
        memories=tuple(sorted(chosen.ids)),
        touched=(),
    )
    view.service.home.store.put(CHANGES, f"{PURGE}-{now}", record, actor=view.actor, reason="purge")


class Blanking:
    """Edits the values of a store; see `Store.rewrite`."""

    def __init__(self, chosen: Chosen) -> None:
        self._chosen = chosen
        self._reasons = {change.rationale for change in chosen.changes.values()} - _COMMON

    def __call__(self, collection: str, id: str, value: Any) -> Any:
        if isinstance(value, str):
            return "" if value in self._reasons or self._chosen.traces.in_text(value) else value
        edit = {MEMORIES: self._memory, LINKS: self._link, CHANGES: self._change, EXCHANGES: self._exchange}
        if collection in _OWN:
            return value
        return edit.get(collection, self._other)(id, value)

    def _memory(self, id: str, value: Any) -> Any:
        return None if id in self._chosen.ids else value

    def _link(self, id: str, value: Any) -> Any:
        return None if not self._chosen.ids.isdisjoint(id.split(".")[::2]) else value

    def _change(self, id: str, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if id not in self._chosen.changes and not self._holds(value, "rationale", "details"):
            return value
        return {**value, "rationale": PURGED, "details": {}}

    def _exchange(self, id: str, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        is_shown = not self._chosen.ids.isdisjoint(value.get("shown", ()))
        if not is_shown and not self._holds(value, "query", "reason"):
            return value
        return {**value, "query": "", "reason": ""}

    def _holds(self, value: dict[str, Any], *names: str) -> bool:
        return self._chosen.traces.in_value([value.get(name) for name in names])

    def _other(self, id: str, value: Any) -> Any:
        """The records that captures and other parts store beside memories."""
        return None if self._chosen.everything or self._chosen.traces.in_value(value) else value
