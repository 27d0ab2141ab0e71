"""The review, one item after the other, by keyboard: suggested links, suspect links, memories that contradict."""

from typing import Any

import msgspec

from clew.memory.operations.commands import ShowMemory, ShowMemoryStatus
from clew.surfaces.web.page_request import PageRequest, TemplateView
from clew.surfaces.web.views.requirement import CodeExcerpt
from clew.trace.operations.changes import ConfirmLinks
from clew.trace.operations.links import SuggestLinks
from clew.why.target import read_text

MOST = 25
_LINES = 12
_SINCE = {True: "its review", False: "the link was first seen here"}


class ReviewItem(msgspec.Struct, frozen=True):
    kind: str
    """link, suspect or memory."""
    title: str
    reason: str
    fields: dict[str, str]
    accept: str
    """The effect of the key `a`."""
    reject: str
    data: Any = None
    excerpt: CodeExcerpt | None = None


def show_review(request: PageRequest) -> TemplateView:
    items = [*_suspects(request), *_memories(request), *_suggestions(request)]
    return TemplateView(
        template="review.html",
        title="Review",
        section="activity",
        data={"items": items, "at": request.text("at") or "0", "undo": request.text("undo")},
        # A decision loads the page again; a list that moves by itself cannot be reviewed.
        watches=("nothing",),
    )


def _suggestions(request: PageRequest) -> list[ReviewItem]:
    found = request.tried(SuggestLinks, limit=MOST)
    items = []
    for each in found.suggestions if found is not None else ():
        target = each.assertion_id or each.requirement_id
        items.append(
            ReviewItem(
                kind="link",
                title=f"{each.source_label} and {target}: {each.requirement_title}",
                reason="; ".join(each.reasons) or each.reason,
                fields={
                    "file": each.file, "line": str(each.line), "requirement": target, "version": each.file_version,
                },
                accept="Write the link",
                reject="No link",
                data=each,
                excerpt=_excerpt(request, each.file, each.line),
            )
        )  # fmt: skip
    return items


def _excerpt(request: PageRequest, path: str, line: int) -> CodeExcerpt | None:
    text = read_text(request.project, path)
    if text is None or not line:
        return None
    return CodeExcerpt(
        f"{path}:{line}", line, text.lines[line - 1 : line - 1 + _LINES], len(text.lines) > line + _LINES
    )


def _suspects(request: PageRequest) -> list[ReviewItem]:
    found = request.tried(ConfirmLinks, only_list=True)
    return [
        ReviewItem(
            kind="suspect",
            title=f"{each.link.citing_id} {each.link.kind} {each.link.cited}",
            reason=f"{each.link.cited} changed since {_SINCE[each.reviewed]}.",
            fields={"citing": each.link.citing_id, "cited": each.link.cited},
            accept="It still holds",
            reject="Leave it open",
        )
        for each in (found.suspect if found is not None else ())[:MOST]
    ]


def _memories(request: PageRequest) -> list[ReviewItem]:
    if not request.project.memory.exists:
        return []
    status = request.tried(ShowMemoryStatus)
    items = []
    for task in status.curation_tasks if status is not None else ():
        if task.task_type not in ("conflict", "duplicate") or len(task.target_nodes) != 2:
            continue
        pair = [found for id in task.target_nodes if (found := request.tried(ShowMemory, id=id)) is not None]
        if len(pair) != 2:
            continue
        newer, older = sorted(pair, key=lambda each: each.created_at, reverse=True)
        items.append(
            ReviewItem(
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
