"""Lists of memories as text for an agent: one line for each item, and how to go on."""

from collections.abc import Iterable, Sequence

from clew.memory.navigation.navigate import Neighborhood, Recent
from clew.memory.recall.products import SearchAnswer
from clew.memory.storage.history import Logs, Tombstones
from clew.memory.views import MemoryHit
from clew.text.display import one_line


def found(answer: SearchAnswer) -> str:
    return _listed((_hit(hit) for hit in answer.results), answer.next_cursor, answer.notes, none="No memory fits.")


def recent(answer: Recent) -> str:
    items = (
        f"{each.node_id} {each.kind} {each.recorded_at[:10]}: {_words(each.title, each.snippet)}"
        for each in answer.memories
    )
    return _listed(items, answer.next_cursor, none="No memories here yet.")


def forgotten(answer: Tombstones) -> str:
    items = (
        f"{each.node_id} {each.operation} {each.deleted_at[:10]}, {each.days_left} days left,"
        f" reversal_hash={each.reversal_hash}: {_words(each.title, each.snippet)} ({one_line(each.rationale, 80)})"
        for each in answer.tombstones
    )
    return _listed(items, answer.next_cursor, none="Nothing forgotten can be restored.")


def happened(answer: Logs) -> str:
    items = (
        f"{each.timestamp[:19]} {each.level} {each.action}{_about(each.node_ids)}: {one_line(each.reason, 160)}"
        for each in answer.entries
    )
    return _listed(items, answer.next_cursor, (answer.explanation_for_user,), none="Nothing happened.")


def near(answer: Neighborhood) -> str:
    items = (
        f"{each.node_id} {each.link} ({each.direction}, hop {each.hop}): {_words(each.title, each.snippet)}"
        for each in answer.neighbors
    )
    cited = tuple(f"It cites {each.node}." for each in answer.cited)
    return _listed(items, answer.next_cursor, cited, none="No memory is linked to it.")


def _hit(hit: MemoryHit) -> str:
    marks = [hit.kind, hit.recorded_at[:10], f"{hit.similarity:.2f}"]
    marks += [] if hit.standing == "current" else [hit.standing]
    marks += [f"replaced by {hit.superseded_by}"] if hit.superseded_by else []
    marks += [f"{each.node} {each.state}" for each in hit.cites if each.state != "fresh"]
    marks += hit.flags
    return f"{hit.node_id} {', '.join(marks)}: {_words(hit.title, hit.content or hit.snippet)}"


def _words(title: str, text: str) -> str:
    return f"{title}: {text}" if title else text


def _about(ids: Sequence[str]) -> str:
    return f" {' '.join(ids)}" if ids else ""


def _listed(items: Iterable[str], cursor: str | None, notes: Sequence[str] = (), *, none: str) -> str:
    lines = [*items] or ([] if notes else [none])
    lines += [f"More: cursor={cursor}"] if cursor else []
    return "\n".join([*lines, *notes])
