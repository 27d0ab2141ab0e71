"""Working memory of a session, which is gone with it and never becomes part of the memory."""

from clew.cache import Cache
from clew.errors import InvalidArgument, NotFound
from clew.text.display import shortened

LONGEST_VALUE = 4_096
_SESSIONS = 256
_KEYS = 100
_IDLE_SECONDS = 3_600.0


class Scratchpad:
    def __init__(self) -> None:
        self._sessions: Cache[str, dict[str, str]] = Cache(_SESSIONS, idle_seconds=_IDLE_SECONDS)

    def act(self, session: str, action: str, key: str | None, value: str | None) -> tuple[dict[str, str], int]:
        """Write, read or clear values; returns the values, and the number of cleared keys."""
        if not session:
            raise InvalidArgument(
                "This connection keeps no session.", hint="Pass a session_id of your own, the same with every call."
            )
        if action in ("write", "store"):
            if not key or value is None:
                raise InvalidArgument("To write, 'key' and 'value' are needed.", hint="Pass both.")
            self.write(session, key, value)
            return {key: value}, 0
        if action == "clear":
            return {}, self.clear(session, key)
        return ({key: self.get(session, key)} if key else self.read(session)), 0

    def write(self, session: str, key: str, value: str) -> None:
        if len(value) > LONGEST_VALUE:
            raise InvalidArgument(
                f"The argument 'value' has {len(value)} characters; at most {LONGEST_VALUE} are allowed.",
                hint="store_memory keeps longer texts.",
            )
        kept = {**self.read(session), key: value}
        if len(kept) > _KEYS:
            raise InvalidArgument(f"A scratchpad holds {_KEYS} keys.", hint="Clear some of them first.")
        self._sessions.put(session, kept)

    def read(self, session: str) -> dict[str, str]:
        return self._sessions.get(session) or {}

    def get(self, session: str, key: str) -> str:
        kept = self.read(session)
        if key not in kept:
            raise NotFound(
                f"The scratchpad of this session has no key '{shortened(key)}'.",
                hint=f"It has: {', '.join(kept) or 'nothing'}.",
            )
        return kept[key]

    def clear(self, session: str, key: str | None) -> int:
        """Clear one key or all; returns the number of cleared keys."""
        kept = self.read(session)
        left = {name: value for name, value in kept.items() if key is not None and name != key}
        self._sessions.put(session, left)
        return len(kept) - len(left)
