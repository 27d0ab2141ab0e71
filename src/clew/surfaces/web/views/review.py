"""The review, one item after the other, by keyboard: suggested links, suspect links, memories that contradict."""

from typing import Any

import msgspec

from clew.memory.operations.commands import ShowMemory, ShowMemoryStatus
from clew.surfaces.web.views.requirement import Excerpt
from clew.surfaces.web.visit import View, Visit
from clew.trace.operations.changes import ReviewLinks
from clew.trace.operations.links import SuggestLinks
from clew.why.target import read_text

MOST = 25
_LINES = 12
_SINCE = {True: "its review", False: "the link was first seen here"}


class Item(msgspec.Struct, frozen=True):
    kind: str
    """link, suspect or memory."""
    title: str
    reason: str
    fields: dict[str, str]
    accept: str
    """The effect of the key `a`."""
    reject: str
    data: Any = None
    excerpt: Excerpt | None = None


def show_review(visit: Visit) -> View:
    items = [*_suspects(visit), *_memories(visit), *_suggestions(visit)]
    return View(
        template="review.html",
        title="Review",
        section="activity",
        data={"items": items, "at": visit.text("at") or "0", "undo": visit.text("undo")},
        # A decision loads the page anew; a list that moves by itself cannot be reviewed.
        watches=("nothing",),
    )


def _suggestions(visit: Visit) -> list[Item]:
    found = visit.tried(SuggestLinks, limit=MOST)
    items = []
    for each in found.suggestions if found is not None else ():
        target = each.assertion_id or each.requirement_id
        items.append(
            Item(
                kind="link",
                title=f"{each.source_label} and {target}: {each.requirement_title}",
                reason="; ".join(each.reasons) or each.reason,
                fields={
                    "file": each.file, "line": str(each.line), "requirement": target, "version": each.file_version,
                },
                accept="Write the link",
                reject="No link",
                data=each,
                excerpt=_excerpt(visit, each.file, each.line),
            )
        )  # fmt: skip
    return items


def _excerpt(visit: Visit, path: str, line: int) -> Excerpt | None:
    text = read_text(visit.project, path)
    if text is None or not line:
        return None
    return Excerpt(f"{path}:{line}", line, text.lines[line - 1 : line - 1 + _LINES], len(text.lines) > line + _LINES)


def _suspects(visit: Visit) -> list[Item]:
    found = visit.tried(ReviewLinks, only_list=True)
    return [
        Item(
            kind="suspect",
            title=f"{each.link.citing_id} {each.link.kind} {each.link.cited}",
            reason=f"{each.link.cited} changed since {_SINCE[each.reviewed]}.",
            fields={"citing": each.link.citing_id, "cited": each.link.cited},
            accept="It still holds",
            reject="Leave it open",
        )
        for each in (found.suspect if found is not None else ())[:MOST]
    ]


def _memories(visit: Visit) -> list[Item]:
    if not visit.project.memory.exists:
        return []
    status = visit.tried(ShowMemoryStatus)
    items = []
    for task in status.curation_tasks if status is not None else ():
        if task.task_type not in ("conflict", "duplicate") or len(task.target_nodes) != 2:
            continue
        pair = [found for id in task.target_nodes if (found := visit.tried(ShowMemory, id=id)) is not None]
        if len(pair) != 2:
            continue
        newer, older = sorted(pair, key=lambda each: each.created_at, reverse=True)
        items.append(
            Item(
                kind="memory",
                title="Two memories contradict each other"
                if task.task_type == "conflict"
                else "Two memories are alike",
                reason=task.reason,
                fields={"keep": newer.node_id, "other": older.node_id},
                accept="Keep the newer, forget the older",
                reject="Keep both",
                data=(newer, older),
            )
        )
    return items
