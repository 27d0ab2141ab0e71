"""Hooks without a server: answer by place, and store the event for the next server.

Without a server there is neither a graph nor an encoder, and no time to load them. So only what cites a file, symbol or
id that the event names exactly is shown. Whether a cited node of the graph has changed is then not known, and the line
says so.
"""

import re
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from clew.edit import below
from clew.edit.admission import admit, look
from clew.ipc.address import STATE_FOLDER
from clew.memory.hooks import address, client, spool
from clew.memory.hooks.event import HookEvent, event_of
from clew.memory.hooks.hosts import BUDGETS

_STORE_FILE, _INDEX_FILE, _PLACE_FILE = "memory.db", "memory-index.db", "team-memory"
_LONGEST_PLACE = 1024
_OF_A_TEAM = re.compile(r"team-[0-9a-f]+\.db team-[0-9a-f]+-memory-index\.db")
"""As in `clew.memory.storage.home`, which takes longer to import than all of this to run."""


def answer_alone(data: dict[str, Any]) -> str:
    """The memories about what an event names; the event waits in the spool for the next server."""
    event = event_of(data)
    shown: list[str] = []
    said = ""
    # An event is worth keeping although the memory cannot be read.
    with suppress(Exception):
        said, shown = _by_place(event)
    if shown or not event.is_read:
        keep(msgspec.structs.replace(event, shown=tuple(shown)))
    return said


def keep(event: HookEvent) -> None:
    first = Path(address.spools(event.root)[0])
    if first.parent == Path(event.root) / STATE_FOLDER and not first.parent.is_dir():
        from clew.edit.state_folder import make_state_folder

        make_state_folder(Path(event.root))
    if admit(first.parent).is_ours:
        kept = msgspec.structs.replace(event, parts=())
        spool.keep(first, msgspec.to_builtins(kept), client.seconds() * client.KEEPING_SHARE)


def _by_place(event: HookEvent) -> tuple[str, list[str]]:
    """The block for an event, and the ids of the memories in it."""
    found = _memory(event.root)
    if found is None or event.kind not in BUDGETS or not (event.paths or event.text):
        return "", []
    from clew.memory.hooks.cited import CitedMemories, lines
    from clew.memory.hooks.named import NamedPlaces, named_in, repository_paths
    from clew.memory.scope import Viewer
    from clew.memory.texts.block import framed

    store, index, inside = found
    paths = repository_paths(event.paths, event.root, inside)
    named = NamedPlaces(paths) if event.paths else named_in(event.text, event.root, inside)
    viewer = Viewer(folder=inside, session=event.session)
    with closing(CitedMemories(store, index, viewer)) as memories:
        seen = {*spool.shown_in(address.spools(event.root), event.session), *memories.shown_in(event.session)}
        now = datetime.fromtimestamp(event.at, UTC)
        items = lines(memories.about(named, seen), Path(event.root), inside, now, BUDGETS[event.kind])
    return framed(items) if items else "", [item.node_id for item in items]


def _memory(root: str) -> tuple[Path, Path, str] | None:
    """The files of the project's memory, or of the copy of the team's, and the project's own folder inside the
    repository; None where nothing was remembered."""
    for place in address.spools(root):
        folder = Path(place).parent
        store, index = (folder / name for name in _names(folder))
        standing = look(folder)
        if not standing.is_ours or not standing.believes(store.name):
            # It came from elsewhere, and nobody trusted it yet.
            continue
        if store.is_file() and index.is_file():
            is_own = folder == Path(root) / STATE_FOLDER
            return store, index, "" if is_own else address.folder_inside(root) or ""
    return None


def _names(folder: Path) -> tuple[str, str]:
    """The names of the files. If a team's store was used last, the files beside it may be out of date."""
    try:
        store, index = below.read(folder / _PLACE_FILE, _LONGEST_PLACE).decode().split()
    except (OSError, ValueError):
        return _STORE_FILE, _INDEX_FILE
    # The file may have come with a clone: only names that Clew gives, and none that leads elsewhere.
    return (store, index) if _OF_A_TEAM.fullmatch(f"{store} {index}") else (_STORE_FILE, _INDEX_FILE)
