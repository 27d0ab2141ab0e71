"""What a hook does where no server runs: answer by place, and keep the event for the next server.

Without a server there is neither a graph nor an encoder, and no time to load them. So only what cites a file, symbol or
id that the event names exactly is shown. Whether a cited node of the graph has changed is then not known, and the line
says so.
"""

from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from clew.memory.hooks import address, client, spool
from clew.memory.hooks.event import HookEvent, event_of
from clew.memory.hooks.hosts import BUDGETS


def answer_alone(data: dict[str, Any]) -> str:
    """Say what is remembered about what an event names, and keep the event for the next server."""
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
    if first.parent == Path(event.root) / address.STATE_FOLDER and not first.parent.is_dir():
        from clew.edit.state_folder import make_state_folder

        make_state_folder(Path(event.root))
    spool.keep(first, msgspec.to_builtins(event), client.seconds() * client.KEEPING_SHARE)


def _by_place(event: HookEvent) -> tuple[str, list[str]]:
    """The block, and the ids of the memories in it."""
    if event.kind not in BUDGETS or not (event.paths or event.text):
        return "", []
    folder, inside = _memory_folder(event.root)
    if folder is None:
        return "", []
    from clew.memory.hooks.cited import CitedMemories, block_of, lines
    from clew.memory.hooks.named import Named, named_in, repository_paths
    from clew.memory.scope import Asker

    paths = repository_paths(event.paths, event.root, inside)
    named = Named(paths) if event.paths else named_in(event.text, event.root, inside)
    asker = Asker(folder=inside, session=event.session)
    with closing(CitedMemories(folder, asker)) as memories:
        seen = {*spool.shown_in(address.spools(event.root), event.session), *memories.shown_in(event.session)}
        now = datetime.fromtimestamp(event.at, UTC)
        items = lines(memories.about(named, seen), Path(event.root), inside, now, BUDGETS[event.kind])
    return block_of(items), [item.node_id for item in items]


def _memory_folder(root: str) -> tuple[Path | None, str]:
    """The folder that holds the project's memory, None where nothing was remembered, and the project's own folder
    inside the repository."""
    from clew.memory.hooks.cited import INDEX_FILE, STORE_FILE

    for place in address.spools(root):
        folder = Path(place).parent
        if (folder / STORE_FILE).is_file() and (folder / INDEX_FILE).is_file():
            is_own = folder == Path(root) / address.STATE_FOLDER
            return folder, "" if is_own else address.folder_inside(root) or ""
    return None, ""
