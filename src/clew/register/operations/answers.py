"""Answers of the register that come in pages or in one of several shapes."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from clew.formats.register.model import Requirement
from clew.formats.register.records import requirement_object
from clew.operation.budget import EVERYTHING, Budget, fits, longest_page, trim
from clew.operation.call import Call
from clew.operation.declare import Operation
from clew.register import results
from clew.register.reports.validation import ValidationReport

S = TypeVar("S", bound=msgspec.Struct)
Item = TypeVar("Item")

Object = dict[str, Any]


class ListPage(results.RequirementList, frozen=True):
    truncated: bool = False
    next_cursor: str | None = None


class ValidationPage(ValidationReport, frozen=True):
    truncated: bool = False
    next_cursor: str | None = None


class RequirementView(msgspec.Struct, frozen=True, kw_only=True):
    """A requirement as the file has it, keys that Clew does not know included."""

    id: str
    title: str
    statement: str
    rationale: str
    acceptance: tuple[str, ...]
    kind: str
    priority: str
    status: str
    tags: tuple[str, ...]
    links: tuple[Object, ...]
    created: str
    updated: str
    history: tuple[Object, ...]
    tests: tuple[Object, ...]
    truncated: bool = False
    """Only the newest of history and tests are given; the totals count them all."""
    history_total: int = 0
    tests_total: int = 0


class NextView(msgspec.Struct, frozen=True, kw_only=True):
    """A requirement, or the reason why there is none."""

    id: str | None = None
    title: str | None = None
    statement: str | None = None
    rationale: str | None = None
    acceptance: tuple[str, ...] | None = None
    kind: str | None = None
    priority: str | None = None
    status: str | None = None
    tags: tuple[str, ...] | None = None
    links: tuple[Object, ...] | None = None
    created: str | None = None
    updated: str | None = None
    history: tuple[Object, ...] | None = None
    tests: tuple[Object, ...] | None = None
    found: bool | None = None
    message: str | None = None
    blocked: tuple[results.Blocked, ...] | None = None


class HelpView(msgspec.Struct, frozen=True, kw_only=True):
    sections: tuple[dict[str, str], ...] = ()
    name: str = ""
    summary: str = ""
    body: str = ""
    truncated: bool = False


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    ok: bool = True
    dry_run: bool = False
    matched_requirements: int = 0
    promoted: tuple[str, ...] = ()
    results: tuple[Object, ...] = ()
    not_promoted: tuple[str, ...] = ()
    matched: int | None = None
    message: str | None = None
    truncated: bool = False


class BriefView(results.Brief, frozen=True):
    text: str | None = None
    truncated: bool = False


class ExportPage(msgspec.Struct, frozen=True):
    format: str
    text: str
    truncated: bool = False
    next_cursor: str | None = None


class VersionView(msgspec.Struct, frozen=True):
    file_format: str
    mcp_protocol: str
    """The protocol of this session; where there is none, the newest that Clew speaks."""
    name: str
    package: str
    """The package that carries the program."""
    version: str


class SchemaView(msgspec.Struct, frozen=True, kw_only=True):
    schema: str = msgspec.field(name="$schema")
    id: str = msgspec.field(name="$id")
    format: str = msgspec.field(name="_format")
    title: str
    type: str


def paged(
    call: Call,
    request: Operation,
    state: str,
    items: Sequence[Item],
    make: Callable[[Sequence[Item], bool, str | None], S],
) -> S:
    """The page that the cursor points to, with as many items as have room."""
    pages = call.pages(request)
    start = pages.start(state)
    limit = getattr(request, "limit", None)
    max_tokens = EVERYTHING if call.whole else getattr(request, "max_tokens", None)

    def page(length: int) -> S:
        end = start + length
        more = end < len(items)
        return make(items[start:end], more, pages.cursor_to(end, state) if more else None)

    wanted = items[start : start + (limit or len(items))]
    # One more than could fit if there were nothing beside them: the first page to try is not far too long.
    most = len(trim(wanted, max_tokens=Budget.of(max_tokens).tokens).items) + 1
    return longest_page(page, max(min(most, len(wanted)), 1), max_tokens)


def shown(requirement: Requirement, max_tokens: int | None) -> Object:
    """A requirement in full; if that is too long, only with the newest entries of its history."""
    plain = requirement_object(requirement)
    budget = Budget.of(max_tokens)
    if fits(plain, budget):
        return plain
    totals = {"truncated": True, "history_total": len(plain["history"]), "tests_total": len(plain["tests"])}
    kept = max(len(plain["history"]), len(plain["tests"]))
    while kept and not fits({**plain, **totals}, budget):
        kept //= 2
        plain = {**plain, "history": _newest(plain["history"], kept), "tests": _newest(plain["tests"], kept)}
    return {**plain, **totals}


def _newest(items: list[Any], count: int) -> list[Any]:
    return items[-count:] if count else []
