"""Toolset register: which requirements code and tests cite, page by page."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from clew.formats.register.canonical import digest
from clew.operation.call import Call
from clew.operation.registry import Freshness, MaxTokens, PageCursor, Request, Tool, Toolset
from clew.register.operations.read import Folder, Limit, register_of
from clew.register.operations.views import Object, paged
from clew.register.reports import coverage

_LISTS = ("ghosts", "obsolete_referenced", "orphans", "drafts_unmarked", "test_only", "referenced", "unlinked", "files")
"""What a page is filled with, in this order: what asks for an answer comes before what is well."""

Row = tuple[str, Any]
"""The list it belongs to, and the item; of a dictionary, key and value."""


class CoverageRequest(Request, frozen=True, kw_only=True):
    path: Folder = "."
    extensions: Annotated[
        tuple[str, ...], Meta(description="Only files with these endings; others than code are searched as text")
    ] = ()
    unlinked_files: Annotated[bool, Meta(description="Files that cite no requirement")] = False
    by_file: Annotated[bool, Meta(description="For each file, what it cites")] = False
    lines: Annotated[bool, Meta(description="file:line instead of file")] = False
    limit: Limit = None
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class CoveragePage(msgspec.Struct, frozen=True, kw_only=True):
    """Which lists there are depends on the mode: default, unlinked_files or by_file."""

    mode: str
    referenced: dict[str, tuple[str, ...]] = {}
    orphans: tuple[str, ...] = ()
    ghosts: dict[str, tuple[str, ...]] = {}
    obsolete_referenced: dict[str, tuple[str, ...]] = {}
    test_only: tuple[str, ...] = ()
    drafts_unmarked: tuple[str, ...] = ()
    scanned: int = 0
    linked: int = 0
    unlinked: tuple[str, ...] = ()
    files: tuple[Object, ...] = ()
    totals: dict[str, int] = {}
    """How long each list is in all."""
    truncated: bool = False
    next_cursor: str | None = None


def run_coverage(call: Call, request: CoverageRequest) -> Object:
    service = register_of(call)
    found: msgspec.Struct
    if request.unlinked_files or request.by_file:
        mentions = service.mentions(request.path, request.extensions)
        found = coverage.unlinked_files(mentions) if request.unlinked_files else coverage.by_file(mentions)
    else:
        found = service.coverage(request.path, request.extensions, lines=request.lines)
    plain: Object = msgspec.to_builtins(found)
    lists = {name: plain[name] for name in _LISTS if name in plain}
    figures = {name: value for name, value in plain.items() if name not in lists}
    figures["totals"] = {name: len(items) for name, items in lists.items()}

    def make(rows: Sequence[Row], more: bool, cursor: str | None) -> CoveragePage:
        return CoveragePage(**figures, **_gathered(rows, lists), truncated=more, next_cursor=cursor)

    page = paged(call, request, digest(msgspec.json.encode(plain)), _rows(lists), make)
    # A list that the mode does not have is left out; one that is empty is not.
    kept = {*figures, *lists, "truncated", "next_cursor"}
    return {name: value for name, value in msgspec.to_builtins(page).items() if name in kept}


def _rows(lists: dict[str, Any]) -> list[Row]:
    return [
        (name, item) for name, items in lists.items() for item in (items.items() if isinstance(items, dict) else items)
    ]


def _gathered(rows: Sequence[Row], lists: dict[str, Any]) -> Object:
    """The lists of a page, from its rows."""
    shown: Object = {name: {} if isinstance(items, dict) else [] for name, items in lists.items()}
    for name, item in rows:
        if isinstance(lists[name], dict):
            shown[name][item[0]] = item[1]
        else:
            shown[name].append(item)
    return shown


REQ_COVERAGE = Tool(
    name="req_coverage",
    toolset=Toolset.REGISTER,
    needs=Freshness.NONE,
    title="Requirements and code",
    description=(
        "Which requirements code and tests cite, in comments and names of tests: referenced, orphans (cited nowhere), "
        "ghosts (ids that do not exist) and retired ones still cited. unlinked_files turns it round; by_file lists the "
        "ids of each file."
    ),
    request=CoverageRequest,
    result=CoveragePage,
    run=run_coverage,
    example={"by_file": True},
)
