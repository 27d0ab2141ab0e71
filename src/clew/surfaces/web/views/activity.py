"""Activity: present calls and changes of agents, unsaved drafts with their differences, and open reviews."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from clew.edit.undoing import written
from clew.errors import ClewError, FileChanged, NotFound
from clew.memory.operations.commands import ShowHistory
from clew.surfaces.web.page_request import PageRequest, TemplateView
from clew.surfaces.web.pictures.difference import as_files
from clew.trace.edit.drafts import REVERT
from clew.trace.edit.results import LogPage
from clew.trace.operations.mutations import GetMutationLog, SaveMutations

MOST_CALLS = 60
MOST_EVENTS = 30
MOST_NAMED = 2
"""Memories of one entry."""

MINUTES = 60
BAR, GAP, HEIGHT = 8, 2, 48


def show_activity(request: PageRequest) -> TemplateView:
    calls = request.project.context.calls.latest()
    log = request.ask(GetMutationLog, limit=100)
    memory = request.tried(ShowHistory, limit=MOST_EVENTS) if request.project.memory.exists else None
    files = written(request.project.store, MOST_EVENTS) if request.project.store is not None else ()
    return TemplateView(
        template="activity.html",
        title="Activity",
        section="activity",
        data={
            "calls": calls[:MOST_CALLS],
            "call_count": request.project.context.calls.count,
            "errors": sum(1 for each in calls if each.error),
            "picture": sparkline([each.at for each in calls]),
            "drafts": log,
            "last_saved": request.project.mutations.last_saved(),
            "titles": _titles(request, memory.entries if memory is not None else ()),
            "written": _latest_first(files, memory.entries if memory is not None else ()),
        },
    )


def _latest_first(files: Iterable[Any], memory: Iterable[Any]) -> list[tuple[str, Any]]:
    """Changes of files and changes of the memory, as one list."""
    both = [(each.at, "files", each) for each in files] + [(each.timestamp, "memory", each) for each in memory]
    latest = sorted(both, key=lambda each: each[0][:19], reverse=True)
    return [(kind, each) for _, kind, each in latest[:MOST_EVENTS]]


def _titles(request: PageRequest, entries: Iterable[Any]) -> dict[str, str]:
    """The titles of the memories that were written last; a forgotten one has no title any more."""
    ids = dict.fromkeys(id for each in entries for id in each.node_ids[:MOST_NAMED])
    found: dict[str, str] = {}
    if ids:
        library = request.project.memory.view(request.call()).library
        for id in ids:
            with suppress(NotFound):
                found[id] = library.get(id).title
    return found


class Bar(msgspec.Struct, frozen=True):
    x: int
    y: int
    height: int
    minute: str
    count: int


class Sparkline(msgspec.Struct, frozen=True):
    bars: tuple[Bar, ...]
    most: int
    total: int
    width: int = MINUTES * (BAR + GAP)
    height: int = HEIGHT


def sparkline(times: Sequence[str], now: datetime | None = None) -> Sparkline:
    """Of the last hour; `times` are ISO 8601."""
    end = (now or datetime.now(UTC)).replace(second=0, microsecond=0)
    first = end - timedelta(minutes=MINUTES - 1)
    counts = [0] * MINUTES
    for time in times:
        place = int((datetime.fromisoformat(time) - first).total_seconds() // 60)
        if 0 <= place < MINUTES:
            counts[place] += 1
    most = max(counts)
    bars = []
    for place, count in enumerate(counts):
        height = round(count / most * (HEIGHT - 2)) if most else 0
        minute = f"{first + timedelta(minutes=place):%H:%M}"
        bars.append(Bar(place * (BAR + GAP), HEIGHT - max(height, 1), max(height, 1), minute, count))
    return Sparkline(tuple(bars), most, sum(counts))


def _undoable(request: PageRequest, log: LogPage) -> dict[str, Any]:
    """The subject of one undo step: the newest draft; or the last save, if every draft is one that undoes a save. A
    draft in conflict has an undo of its own."""
    if log.conflicts:
        return {"undo": "", "last_saved": None}
    if log.mutations and log.mutations[0].operation != REVERT:
        return {"undo": "Undo the last draft", "last_saved": None}
    last = request.project.mutations.last_saved()
    label = "Undo the save before, too" if log.mutations else "Undo the last save"
    return {"undo": label if last is not None else "", "last_saved": last}


def show_drafts(request: PageRequest) -> TemplateView:
    log = request.ask(GetMutationLog, limit=200)
    preview = None
    problem: ClewError | None = None
    sides: dict[str, str] = {}
    if log.total:
        try:
            preview = request.ask(SaveMutations, dry_run=True)
        except FileChanged as error:
            problem, sides = error, {side: str(error.data.get(side, "")) for side in ("mine", "theirs")}
        except ClewError as error:
            problem = error
    return TemplateView(
        template="drafts.html",
        title="Drafts",
        section="activity",
        data={
            "log": log,
            **_undoable(request, log),
            "elsewhere": request.project.unsaved().count - log.total - len(log.conflicts),
            "files": as_files(preview.diff or "") if preview is not None else (),
            "problem": problem,
            "sides": sides,
        },
    )
