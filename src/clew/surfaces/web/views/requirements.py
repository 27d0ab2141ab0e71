"""Requirements of all three formats: a table with filters that count, or the tree of what is below what."""

from collections.abc import Iterator, Sequence

import msgspec

from clew.surfaces.web.addresses import with_query
from clew.surfaces.web.page_request import PAGE, PageRequest, TemplateView
from clew.trace.find.table import FACETS, SORTS, Branch, TableFilter
from clew.trace.service import TraceService

MOST_BRANCHES = 200
MOST_OPEN = 40
_DEEPEST = 12
NAMES = {
    "failing": "a test fails",
    "missing": "no test",
    "partial": "partly tested",
    "unrun": "tested, not run",
    "full": "proved",
    "none": "no assertions",
}


class Facet(msgspec.Struct, frozen=True):
    value: str
    name: str
    count: int
    chosen: bool
    to: str


class Line(msgspec.Struct, frozen=True):
    """One line of the tree."""

    branch: Branch
    depth: int
    is_open: bool
    to: str
    """The address that opens or closes it."""


def show_requirements(request: PageRequest) -> TemplateView:
    tree = request.choice("view", ("", "tree"), "") == "tree"
    return _tree(request) if tree else _table(request)


def _table(request: PageRequest) -> TemplateView:
    chosen = TableFilter(
        words=request.text("q"),
        file=request.text("file"),
        sort=request.choice("sort", SORTS, "id"),
        descending=request.flag("down"),
        **{name: request.text(name) for name in FACETS},
    )
    page = request.number("page", 1)
    with request.reading() as project:
        found = project.trace.table(chosen, offset=(page - 1) * PAGE, limit=PAGE)
    asked = {name: request.text(name) for name in ("q", "file", "sort", "down", *FACETS)}
    facets = {
        name: [
            Facet(value, NAMES.get(value, value) if name == "proof" else value, count, asked[name] == value,
                  with_query("/requirements", {**asked, name: "" if asked[name] == value else value}))
            for value, count in values
        ]
        for name, values in found.facets.items()
    }  # fmt: skip
    sorts = {
        name: with_query("/requirements", {**asked, "sort": name, "down": "1" if _turns(chosen, name) else ""})
        for name in SORTS
    }
    return TemplateView(
        template="requirements.html",
        title="Requirements",
        section="requirements",
        data={
            "tree": None,
            "found": found,
            "chosen": chosen,
            "facets": facets,
            "sorts": sorts,
            "proofs": NAMES,
            "is_filtered": any(asked[name] for name in ("q", "file", *FACETS)),
            "pages": pages(asked, page, found.total),
        },
    )


def _turns(chosen: TableFilter, name: str) -> bool:
    return chosen.sort == name and not chosen.descending


class Pager(msgspec.Struct, frozen=True):
    first: int
    last: int
    total: int
    before: str | None
    after: str | None


def pages(asked: dict[str, str], page: int, total: int, path: str = "/requirements", size: int = PAGE) -> Pager:
    """The items of a page, and the addresses of the pages before and after it."""
    first = (page - 1) * size + 1
    last = min(page * size, total)
    before = with_query(path, {**asked, "page": page - 1 if page > 2 else ""}) if page > 1 else None
    after = with_query(path, {**asked, "page": page + 1}) if last < total else None
    return Pager(min(first, total), last, total, before, after)


def _tree(request: PageRequest) -> TemplateView:
    opened = [id for id in request.text("open").split("|") if id][:MOST_OPEN]
    with request.reading() as project:
        roots, total = project.trace.branches(None, limit=MOST_BRANCHES)
        lines = list(_lines(project.trace, roots, opened, 0))
    return TemplateView(
        template="requirements.html",
        title="Requirements as a tree",
        section="requirements",
        data={"tree": lines, "total": total, "shown": len(roots), "proofs": NAMES},
    )


def _lines(trace: TraceService, branches: Sequence[Branch], opened: Sequence[str], depth: int) -> Iterator[Line]:
    for each in branches:
        id = each.row.id
        is_open = id in opened and each.below > 0
        others = [other for other in opened if other != id]
        then = others if is_open else [*others, id]
        yield Line(each, depth, is_open, with_query("/requirements", {"view": "tree", "open": "|".join(then)}))
        if is_open and depth < _DEEPEST:
            below, _ = trace.branches(id, limit=MOST_BRANCHES)
            yield from _lines(trace, below, opened, depth + 1)
