"""Pages whose length is decided by the handler itself, because more than one field depends on it.

The budget leaves out whole items of one list after a handler has run. A page that shows its items in several fields, or
that moves something on by as many as it shows, has to know before how many there is room for.
"""

import json
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


class Pages:
    """The cursors of one question, for an operation that pages by itself."""

    def __init__(self, call: Call, request: msgspec.Struct, *, besides: tuple[str, ...] = ("max_tokens",)) -> None:
        """`besides` names the arguments that may differ from page to page."""
        self._cursors = call.project.cursors
        self._name = call.tool.name if call.tool is not None else ""
        # An argument may hold what is no text at all, and is part of the question all the same.
        self._question = {"asked": json.dumps(question_of(request, besides=besides), sort_keys=True)}
        self._given: str | None = getattr(request, "cursor", None)

    def start(self, state: str) -> int:
        """Where the page begins that is asked for, while what is listed is in this state."""
        return self._cursors.redeem(self._given, self._name, self._question, state) if self._given else 0

    def cursor(self, state: str, offset: int) -> str:
        """The cursor to the page of the same question that begins at `offset`."""
        return self._cursors.issue(self._name, self._question, state, offset)


def place_of(call: Call, request: msgspec.Struct) -> int:
    """Where the page begins that a request asks for, if its handler pages through the graph by itself."""
    return Pages(call, request).start(call.project.graph.state.fingerprint)


def cursor_to(call: Call, request: msgspec.Struct, offset: int) -> str:
    """The cursor to the page of the same question that begins at `offset`."""
    return Pages(call, request).cursor(call.project.graph.state.fingerprint, offset)
