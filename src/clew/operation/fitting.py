"""Pages whose length is decided by the handler itself, because more than one field depends on it.

The budget leaves out whole items of one list after a handler has run. A page that shows its items in several fields, or
that moves something on by as many as it shows, has to know before how many there is room for.
"""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from clew.operation.budget import Budget, fits
from clew.operation.call import Call, question_of

S = TypeVar("S", bound=msgspec.Struct)

_SOME_CURSOR = "eyJvZmZzZXQiOiA0Miwic2lnbmF0dXJlIjoiN2Y"
"""As long as any: holds the place of the one that is known only when the page is cut."""


def longest_page(make: Callable[[int], S], most: int, max_tokens: int | None) -> S:
    """The page of as many items as there is room for, up to `most`; of one in any case, which the budget may cut."""
    budget = Budget.of(max_tokens)

    def has_room(page: S) -> bool:
        return fits({**msgspec.to_builtins(page), "next_cursor": _SOME_CURSOR}, budget)

    page = make(most)
    if most == 1 or has_room(page):
        return page
    shortest, best, longest = 1, make(1), most
    while shortest + 1 < longest:
        middle = (shortest + longest) // 2
        page = make(middle)
        if has_room(page):
            shortest, best = middle, page
        else:
            longest = middle
    return best


def place_of(call: Call, request: msgspec.Struct) -> int:
    """Where the page begins that a request asks for, if its handler pages by itself."""
    cursor: str | None = getattr(request, "cursor", None)
    if cursor is None:
        return 0
    return call.project.cursors.redeem(cursor, _name(call), question_of(request), call.project.graph.state.fingerprint)


def cursor_to(call: Call, request: msgspec.Struct, offset: int) -> str:
    """The cursor to the page of the same question that begins at `offset`."""
    return call.project.cursors.issue(_name(call), question_of(request), call.project.graph.state.fingerprint, offset)


def _name(call: Call) -> str:
    return call.tool.name if call.tool is not None else ""
