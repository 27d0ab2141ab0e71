"""Cursors: the way to the next page, which cannot be forged or used for another question.

A cursor says where a page begins and carries signatures over the tool, its arguments and the state of the graph. It is
opaque to the client, valid in any process that shares the project's key, and refused as soon as it does not fit.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

import msgspec

from clew.cache import Cache
from clew.errors import InvalidCursor
from clew.text.display import shortened

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")

_OFFSET_BYTES = 6
_SIGNATURE_BYTES = 12

WIDEST = "aA-0" * 10
"""As long as every cursor, and none takes more tokens: holds the place of the one that is known only when the page is
cut."""


class Cursors:
    def __init__(self, key: bytes) -> None:
        self._key = key

    def issue(self, tool: str, arguments: Mapping[str, Any], state: str, offset: int) -> str:
        """A cursor for the page of this question that begins at `offset`, while the graph is in this state."""
        place = offset.to_bytes(_OFFSET_BYTES, "big")
        signed = place + self._sign(place, [tool, arguments]) + self._sign(place, state)
        return base64.urlsafe_b64encode(signed).decode("ascii")

    def redeem(self, cursor: str, tool: str, arguments: Mapping[str, Any], state: str) -> int:
        """The offset a cursor stands for. `arguments` are those of the call without the cursor itself."""
        try:
            raw = base64.urlsafe_b64decode(cursor.encode("ascii"))
        except ValueError:
            raw = b""
        place, question, seen = raw[:_OFFSET_BYTES], raw[_OFFSET_BYTES:-_SIGNATURE_BYTES], raw[-_SIGNATURE_BYTES:]
        if not hmac.compare_digest(question, self._sign(place, [tool, arguments])):
            raise InvalidCursor(
                f"The cursor {shortened(cursor, 24)!r} was not issued for this call.",
                hint="Pass next_cursor exactly as it was returned, with the same other arguments, or leave it out.",
            )
        if not hmac.compare_digest(seen, self._sign(place, state)):
            raise InvalidCursor(
                "What was listed has changed since this cursor was issued.",
                hint="Call again without a cursor to start over.",
            )
        return int.from_bytes(place, "big")

    def _sign(self, place: bytes, content: Any) -> bytes:
        try:
            encoded = msgspec.json.encode(content, order="deterministic")
        except UnicodeEncodeError:  # an argument may be invalid text; it still belongs to the question
            encoded = json.dumps(msgspec.to_builtins(content), sort_keys=True).encode()
        return hashlib.blake2b(place + encoded, key=self._key, digest_size=_SIGNATURE_BYTES).digest()


class Pages:
    """One question that is answered page by page. `state` names what is listed; a cursor from another state is
    refused."""

    def __init__(self, cursors: Cursors, tool: str, question: Mapping[str, Any], cursor: str | None) -> None:
        self._cursors = cursors
        self._tool = tool
        self._question = question
        self.cursor = cursor
        """As the request gave it; None asks for the first page."""

    @property
    def is_first(self) -> bool:
        return self.cursor is None

    def start(self, state: str) -> int:
        """The number of the first item on the requested page."""
        if self.cursor is None:
            return 0
        return self._cursors.redeem(self.cursor, self._tool, self._question, state)

    def cursor_to(self, offset: int, state: str) -> str:
        """The cursor to the page of the same question that begins at `offset`."""
        return self._cursors.issue(self._tool, self._question, state, offset)


class KeptRankings(Cache[K, R]):
    """Rankings of first pages, so that page two is page two even while files, units and vectors come in."""

    def current(self, key: K | None, is_current: Callable[[R], bool]) -> R | None:
        """The ranking under a key, if it is still there and current."""
        kept = None if key is None else self.get(key)
        return kept if kept is not None and is_current(kept) else None
