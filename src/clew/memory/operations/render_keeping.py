"""Files of memories, and purges, as text on a terminal."""

from clew.memory.mirror.service import MirrorStatus
from clew.memory.mirror.state import MirrorConflict
from clew.memory.mirror.sync import Synced
from clew.memory.operations.render import ID
from clew.memory.purge.choose import Chosen
from clew.memory.purge.service import Purged
from clew.memory.storage.jsonl import ImportedLines
from clew.text.display import counted

_SHOWN = 10


def imported(result: ImportedLines) -> str:
    lines = [
        f"Read {counted(result.added, 'new memory', 'new memories')} and {counted(result.links, 'link')};"
        f" {result.unchanged} were there already."
    ]
    lines += [f"  {id[:ID]} has another text here and was not changed" for id in result.kept[:_SHOWN]]
    if len(result.kept) > _SHOWN:
        lines.append(f"  and {len(result.kept) - _SHOWN} more")
    if result.reversal_hash:
        lines.append(f"`clew memory restore {result.reversal_hash}` undoes it.")
    return "\n".join(lines)


def accepted(titles: list[str], waiting: list[tuple[str, str]]) -> str:
    lines = [f"Accepted: {title}" for title in titles]
    if waiting:
        lines.append("Not accepted yet, so not injected:")
        lines += [f"  {id[:ID]}  {title}" for id, title in waiting]
    return "\n".join(lines) or "Nothing waits to be accepted."


def to_be_purged(chosen: Chosen) -> str:
    lines = [f"{counted(len(chosen.ids), 'memory', 'memories')} will be purged:"]
    lines += [f"  {title}" for title in chosen.titles]
    if len(chosen.ids) > len(chosen.titles):
        lines.append(f"  and {len(chosen.ids) - len(chosen.titles)} more")
    if chosen.others:
        lines.append(f"{_others(chosen.others)} The text stays there.")
    return "\n".join(lines)


def purged(result: Purged) -> str:
    lines = [f"Purged {counted(result.purged, 'memory', 'memories')} from the store, its history and the indexes."]
    lines += [f"  {said}" for said in result.also_cleaned]
    lines += [f"  brought back {id[:ID]}, which was merged into a purged memory" for id in result.brought_back]
    if result.still_held_by:
        lines.append(_others(result.still_held_by))
    lines += [f"STILL FOUND in {file}" for file in result.left_in]
    lines += ["Beyond the reach of Clew:", *(f"  {each}" for each in result.beyond_reach)]
    return "\n".join(lines)


def _others(ids: tuple[str, ...]) -> str:
    shown = ", ".join(id[:ID] for id in ids[:_SHOWN])
    return f"{counted(len(ids), 'other memory holds', 'other memories hold')} some of the same text: {shown}."


def synced(result: Synced) -> str:
    counts = {
        "written": result.written,
        "removed": result.removed,
        "remembered": result.remembered,
        "edited": result.edited,
        "forgotten": result.forgotten,
    }
    done = ", ".join(f"{len(items)} {name}" for name, items in counts.items() if items)
    lines = [f"{result.folder}/ is up to date: {done or 'nothing changed'}."]
    new = len(result.remembered) + len(result.edited)
    if new:
        lines.append(f"{counted(new, 'memory', 'memories')} from files; `clew memory accept` lets them be injected.")
    return "\n".join([*lines, *_conflicts(result.conflicts), *result.notes])


def mirror(result: MirrorStatus) -> str:
    if result.stopped is not None:
        return f"{result.stopped}/ is no longer synchronised; its files stay."
    if result.folder is None:
        return "There is no mirror. `clew memory mirror on FOLDER` makes one."
    lines = [f"{result.folder}/ is synchronised with the memory."]
    if result.unaccepted:
        waiting = counted(result.unaccepted, "memory", "memories")
        lines.append(f"{waiting} from files, not accepted; `clew memory accept` shows them.")
    problem = [f"The last look failed: {result.problem}"] if result.problem else []
    return "\n".join([*lines, *_conflicts(result.conflicts), *problem])


def _conflicts(conflicts: tuple[MirrorConflict, ...]) -> list[str]:
    if not conflicts:
        return []
    found = [f"  {each.node_id[:ID]}  {each.path}: {each.said}" for each in conflicts]
    return ["Conflicts, to be settled with `clew memory mirror resolve ID --keep file|memory`:", *found]
