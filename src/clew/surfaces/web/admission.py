"""Permission to read the page, and to change something through it.

A browser cannot send a bearer token, so it gets a cookie: for a key that `clew web` passes once in an address, or for
the token itself, typed into a form. The cookie is strict, hidden from scripts, and signed with the server's token, so
that it outlives a restart of a server that keeps its token. Every form that writes carries a second value that only a
page of this server can read.
"""

# Implements: REQ-d00416

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable

from starlette.datastructures import Headers

from clew.surfaces.mcp.transports.settings import HttpSettings

LIFETIME_SECONDS = 30 * 24 * 3600
KEY_SECONDS = 600
"""Lifetime of a key in an address that was not used yet."""
_NONCE = 16


class Admission:
    """Keys, cookies and the values of forms of one server."""

    def __init__(self, settings: HttpSettings, *, now: Callable[[], float] = time.time) -> None:
        self.reading_needs_token = settings.token is not None
        """True if reading needs the token too."""
        self._token = settings.token or settings.write_token
        self._secret = hashlib.sha256(b"clew page " + (self._token or secrets.token_urlsafe(32)).encode()).digest()
        self._now = now
        self._lock = threading.Lock()
        self._keys: dict[str, float] = {}

    # What lets somebody in

    def new_key(self) -> str:
        """A key that can be used once, for an address that is opened now."""
        key = secrets.token_urlsafe(24)
        with self._lock:
            self._keys[_digest(key)] = self._now() + KEY_SECONDS
        return key

    def take_key(self, key: str) -> bool:
        """Use a key up."""
        with self._lock:
            until = self._keys.pop(_digest(key), 0.0)
        return until > self._now()

    def is_token(self, given: str) -> bool:
        return self._token is not None and hmac.compare_digest(given.encode(), self._token.encode())

    # The cookie

    def cookie_name(self, headers: Headers) -> str:
        """The name of the cookie. Cookies ignore ports, so each server of a machine needs a name of its own."""
        port = headers.get("host", "").rpartition(":")[2]
        return f"clew-{port if port.isdecimal() else '80'}"

    def new_cookie(self) -> str:
        until = str(int(self._now()) + LIFETIME_SECONDS)
        body = f"{secrets.token_hex(_NONCE)}.{until}"
        return f"{body}.{self._signed('cookie', body)}"

    def admits(self, cookie: str) -> bool:
        body, _, signature = cookie.rpartition(".")
        until = body.rpartition(".")[2]
        if not until.isdecimal() or len(until) > 12 or not body.isascii():
            return False
        genuine = hmac.compare_digest(signature.encode(), self._signed("cookie", body).encode())
        return genuine and int(until) > self._now()

    # Forms

    def form_key(self, cookie: str) -> str:
        """The hidden value in the forms of a page that was shown for this cookie."""
        return self._signed("form", cookie)

    def may_write(self, cookie: str, form_key: str, headers: Headers) -> bool:
        """True if a form comes from a page of this server. To a browser another server of this machine is the same
        site, so the whole origin is compared, with its port."""
        if not self.admits(cookie) or not hmac.compare_digest(form_key.encode(), self.form_key(cookie).encode()):
            return False
        origin = headers.get("origin", "")
        return origin.partition("://")[2] == headers.get("host", "") and origin.startswith(("http://", "https://"))

    def _signed(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose} {text}".encode(), hashlib.sha256).hexdigest()


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
