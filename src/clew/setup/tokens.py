"""Tokens of principals: who may use a server of a team over HTTP.

They are in one file of the user's configuration, as hashes: a token is shown once, when it is made. Servers look at
the file with every request, so that what is revoked is refused from then on.
"""

# Implements: REQ-d00484

import hashlib
import os
import re
import secrets
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from clew.errors import AlreadyExists, ConfigError, InvalidArgument, NotFound, StoreBusy
from clew.trust import user_configuration
from clew.workspace.regular import contents

PREFIX = "clew_"
USUAL_DAYS = 90
MOST_DAYS = 3650
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
_LOCK_SECONDS = 10.0


class TokenRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The stored record of a token: its hash, dates and permissions."""

    sha256: str
    made_at: str
    expires_at: str
    read_only: bool = False

    def has_expired(self, now: datetime) -> bool:
        return datetime.fromisoformat(self.expires_at) <= now


class _Tokens(msgspec.Struct, frozen=True):
    principals: dict[str, TokenRecord] = {}


class Principal(msgspec.Struct, frozen=True):
    """An authenticated caller and its permissions."""

    name: str
    may_write: bool
    may_read: bool = True


def tokens_path() -> Path:
    return user_configuration().with_name("tokens.json")


def add(name: str, *, days: int = USUAL_DAYS, read_only: bool = False, now: datetime) -> str:
    """Create a token for a principal; this is the only time that it can be read."""
    if not _NAME.fullmatch(name):
        raise InvalidArgument(
            f"'{name[:80]}' is not a name for a principal.",
            hint="Use up to 64 letters, digits and the signs . _ @ + -, beginning with a letter or digit.",
        )
    if not 1 <= days <= MOST_DAYS:
        raise InvalidArgument(f"A token cannot be good for {days} days.", hint=f"Pass 1 to {MOST_DAYS}.")
    token = PREFIX + secrets.token_urlsafe(32)
    with _alone():
        known = _read(tokens_path())
        if name in known:
            raise AlreadyExists(f"'{name}' has a token already.", hint=f"Run `clew token revoke {name}` first.")
        expires = now.astimezone(UTC) + timedelta(days=days)
        made = TokenRecord(
            sha256=_hash(token), made_at=_spelled(now), expires_at=_spelled(expires), read_only=read_only
        )
        _write({**known, name: made})
    return token


def listed() -> dict[str, TokenRecord]:
    return dict(sorted(_read(tokens_path()).items()))


def revoke(name: str) -> None:
    with _alone():
        known = _read(tokens_path())
        if name not in known:
            raise NotFound(f"'{name[:80]}' has no token.", hint="`clew token list` shows who has one.")
        _write({each: token for each, token in known.items() if each != name})


class AccessTokens:
    """The present tokens, for a server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._by_hash: dict[str, tuple[str, TokenRecord]] = {}

    def principal(self, token: str, now: datetime) -> Principal | None:
        """The caller who owns a token; None if nobody owns it, or if it has expired."""
        # A hash is looked up, not compared sign by sign: what takes longer tells nothing about a secret of 256 bits.
        found = self._current().get(_hash(token)) if token.startswith(PREFIX) else None
        if found is None or found[1].has_expired(now):
            return None
        return Principal(found[0], not found[1].read_only)

    def any(self) -> bool:
        return bool(self._current())

    def _current(self) -> dict[str, tuple[str, TokenRecord]]:
        path = tokens_path()
        try:
            status = path.stat()
        except OSError:
            return {}
        seen = (status.st_ino, status.st_mtime_ns, status.st_size)
        with self._lock:
            if seen != self._seen:
                self._by_hash = {token.sha256: (name, token) for name, token in _read(path).items()}
                self._seen = seen
            return self._by_hash


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _spelled(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _read(path: Path) -> dict[str, TokenRecord]:
    try:
        mode = path.stat().st_mode
        found = msgspec.json.decode(contents(path), type=_Tokens).principals
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The tokens in '{path}' cannot be read: {error}.", hint="Repair or delete the file."
        ) from error
    if os.name != "nt" and mode & (stat.S_IWGRP | stat.S_IRWXO):
        raise ConfigError(f"Other users may use '{path}'.", hint=f"Run: chmod 600 {path}")
    return found


@contextmanager
def _alone() -> Iterator[None]:
    from clew.edit.locking import locked
    from clew.edit.replacing import translated

    path = tokens_path()
    with translated(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = path.with_name("tokens.lock").open("a+b")
    with opened, locked(opened, _LOCK_SECONDS) as held:
        if not held:
            raise StoreBusy(f"Another process is changing {path}.", hint="Try again. Nothing was changed.")
        yield


def _write(principals: dict[str, TokenRecord]) -> None:
    from clew.edit.replacing import put_in_place, sync_folder, temporary_beside, translated, write_private

    path = tokens_path()
    data = msgspec.json.format(msgspec.json.encode(_Tokens(principals)), indent=2) + b"\n"
    with translated(path):
        temporary = temporary_beside(path)
        try:
            write_private(temporary, data)
            put_in_place(temporary, path)
            sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
