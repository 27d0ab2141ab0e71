"""Memories as text on a terminal."""

from clew.memory.curation.curate import ForgottenMemory, RestoredMemories
from clew.memory.curation.linking import BothKept
from clew.memory.curation.status import MemeticStatus
from clew.memory.places import CiteState
from clew.memory.recall.listing import MemoryList
from clew.memory.recall.products import SearchAnswer
from clew.memory.storage.history import Lineage, Logs
from clew.memory.views import WholeMemory
from clew.memory.writing.remember import Stored
from clew.text.display import counted
from clew.text.terminal import table

ID = 8


def stored(result: Stored) -> str:
    if not result.created:
        return f"Remembered already as {result.node_id[:ID]}."
    lines = [f"Remembered as {result.node_id[:ID]} ({result.kind.value})."]
    if result.cites:
        lines.append(f"  about: {', '.join(result.cites)}")
    if result.redactions:
        lines.append(f"  taken out: {', '.join(each.kind for each in result.redactions)}")
    lines += [f"  replaces {id[:ID]}" for id in result.superseded]
    lines += [f"  contradicts {id[:ID]}: decide with `clew memory show {id[:ID]}`" for id in result.conflicts]
    return "\n".join(lines)


def hits(result: SearchAnswer) -> str:
    if not result.results:
        elsewhere = '`clew ask "..."` looks in documents, requirements and specs too.'
        return "\n".join((f"No memory about that. {elsewhere}", *(f"  {note}" for note in result.notes)))
    parts = []
    for hit in result.results:
        marks = [hit.kind, hit.recorded_at[:10], *([] if hit.standing == "current" else [hit.standing])]
        # Seen from a new branch, the main one is merged too: that tells nobody anything.
        marks += [f"of the deleted branch {hit.branch}"] if hit.branch_state == "deleted" else []
        head = f"{hit.node_id[:ID]}  {', '.join(marks)}"
        body = (hit.content or hit.snippet).strip().replace("\n", "\n          ")
        parts.append("\n".join([head, f"          {body}", *_cites(hit.cites, "          ")]))
    return "\n\n".join(parts)


def listed(result: MemoryList) -> str:
    if not result.memories:
        return 'No memories here yet. `clew remember "..." --why "..."` stores one.'
    rows = [
        (each.node_id[:ID], each.recorded_at[:10], each.kind, _marked(each.standing), each.title)
        for each in result.memories
    ]
    more = f"\n{result.total - len(rows)} more; --limit shows them." if result.truncated else ""
    return table(rows) + more


def _marked(standing: str | None) -> str:
    return "" if standing == "current" else standing or "forgotten"


def whole(result: WholeMemory) -> str:
    lines = [f"{result.node_id}  {result.kind}", "", result.raw_content.strip(), ""]
    lines += _cites(result.cites, "  ")
    facts = {
        "why": result.rationale,
        "standing": "" if result.standing == "current" else result.standing,
        "replaced by": result.superseded_by or "",
        "tags": ", ".join(result.tags),
        "notes": result.notes,
        "recorded": f"{result.created_at[:16].replace('T', ' ')} by {result.agent or result.trust}",
        "branch": result.branch or "",
        "visibility": "" if result.visibility == "team" else result.visibility,
        "warnings": ", ".join(result.flags),
    }
    lines += [f"  {name}: {value}" for name, value in facts.items() if value]
    lines += [f"  {each.link}: {each.node_id[:ID]}  {each.title}" for each in result.neighbors]
    return "\n".join(lines)


def _cites(cites: tuple[CiteState, ...], indent: str) -> list[str]:
    suffixes = {"fresh": "", "changed": "  changed since", "gone": "  gone"}
    return [f"{indent}about {cite.node}{suffixes.get(cite.state, f'  moved to {cite.now}')}" for cite in cites]


def deleted(result: ForgottenMemory) -> str:
    until = (result.recoverable_until or "")[:10]
    return f"Forgotten. `clew memory restore {result.node_id[:ID]}` brings it back until {until}."


def kept(result: BothKept) -> str:
    return f"Both are kept. `clew memory restore {result.reversal_hash}` takes that back."


def restored(result: RestoredMemories) -> str:
    ids = ", ".join(id[:ID] for id in result.restored_node_ids)
    later = f", and {counted(result.also_undone, 'later change')}" if result.also_undone else ""
    back = f" There again: {ids}." if ids else ""
    return f"Undid the {result.operation}{later}.{back}"


def lineage(result: Lineage) -> str:
    rows = [
        (event.timestamp[:16].replace("T", " "), event.kind, event.actor, event.rationale, event.reversal_hash)
        for event in result.events
    ]
    return table(rows)


def logs(result: Logs) -> str:
    if not result.entries:
        return "Nothing has happened yet."
    rows = [
        (
            entry.timestamp[:16].replace("T", " "),
            entry.action,
            " ".join(id[:ID] for id in entry.node_ids[:3]),
            entry.reason,
        )
        for entry in result.entries
    ]
    return table(rows)


def status(result: MemeticStatus) -> str:
    kinds = ", ".join(f"{number} {kind}" for kind, number in result.kinds.items())
    lines = [f"{counted(result.node_count, 'memory', 'memories')}" + (f": {kinds}" if kinds else "")]
    if result.forgotten:
        lines.append(f"{result.forgotten} forgotten; `clew memory list --forgotten` shows them")
    due = result.expiry
    if due.episodes or due.forgotten:
        lines.append(
            f"to be removed for good: {due.episodes} episodes older than 90 days, {due.forgotten} forgotten more than"
            ' 30 days ago; `keep = "forever"` in `[memory]` of clew.toml prevents it'
        )
    lines.append(f"kept in {result.storage['location']} ({result.storage['bytes']:,} bytes)")
    lines += [
        f"{task.priority}: {task.task_type} {' '.join(id[:ID] for id in task.target_nodes)}: {task.reason}"
        for task in result.curation_tasks
    ]
    return "\n".join(lines)
