"""The one HTTP client for models: chat and embeddings services are called through it.

It follows no redirection and sends a key only over https or to this machine, because text and key are meant for one
address. Answers have a largest size and a time limit. What goes wrong is `Unavailable` where waiting may help.
"""

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from clew import __version__
from clew.errors import ClewError, ConfigError, Unavailable

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same request may succeed later."""
_LONGEST_PAUSE = 30.0
_CHUNK = 64 * 1024
_SHOWN = 300

_Answer = TypeVar("_Answer")


class FailureAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """The next step after each failure: every kind of service has settings of its own."""

    refused: str
    silent: str
    slow: str
    unusable: str
    passing: str = "Try again later."
    refusal: type[ClewError] = Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One address that takes JSON and answers with JSON."""

    address: str
    timeout_seconds: float
    largest_answer: int
    advice: FailureAdvice
    key: str | None = field(default=None, repr=False)
    attempts: int = 1
    pause_seconds: float = 0.0

    def ask(
        self, body: dict[str, Any], type: type[_Answer], what: str, check: Callable[[], None] = lambda: None
    ) -> _Answer:
        """The decoded answer, which must be of the type `what`. `check` is called while the answer arrives and may
        raise."""
        content = self._send(msgspec.json.encode(body), check)
        try:
            return msgspec.json.decode(content, type=type)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self.unusable(f"is no {what} ({error})") from error

    def unusable(self, cause: str) -> Unavailable:
        return Unavailable(f"The answer of {self.address} {cause}.", hint=self.advice.unusable)

    def _send(self, body: bytes, check: Callable[[], None]) -> bytes:
        """Ask, and ask again where the failure may pass."""
        for attempt in range(1, self.attempts + 1):
            try:
                return self._send_once(body, check)
            except urllib.error.HTTPError as error:
                with error:
                    problem: ClewError = self._refusal(error)
                    wait = _seconds(error.headers.get("Retry-After"))
                if error.code not in _PASSING or attempt == self.attempts:
                    raise problem from None
            except (OSError, http.client.HTTPException) as error:
                wait = 0.0
                if attempt == self.attempts:
                    cause = getattr(error, "reason", error)
                    message = f"{self.address} does not answer: {cause}."
                    raise Unavailable(message, hint=self._tried(self.advice.silent)) from None
            time.sleep(min(max(self.pause_seconds * 2 ** (attempt - 1), wait), _LONGEST_PAUSE))
        raise AssertionError("the last attempt returns or raises")

    def _send_once(self, body: bytes, check: Callable[[], None]) -> bytes:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"clew/{__version__}",
        }
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.address, data=body, headers=headers, method="POST")  # noqa: S310 - checked
        opener = urllib.request.build_opener(_NoRedirect)
        with opener.open(request, timeout=self.timeout_seconds) as answer:
            return self._read(answer, check)

    def _read(self, answer: IO[bytes], check: Callable[[], None]) -> bytes:
        """The whole answer, which may come in as slowly as the time allows."""
        deadline = time.monotonic() + self.timeout_seconds
        content = bytearray()
        while chunk := answer.read(_CHUNK):
            check()
            content += chunk
            if len(content) > self.largest_answer:
                raise self.unusable(f"is longer than {self.largest_answer:,} bytes")
            if time.monotonic() > deadline:
                message = f"{self.address} had not finished after {self.timeout_seconds:g} s."
                raise Unavailable(message, hint=self.advice.slow)
        return bytes(content)

    def _refusal(self, error: urllib.error.HTTPError) -> ClewError:
        said = error.read(2_000).decode("utf-8", "replace")
        if self.key is not None:
            said = said.replace(self.key, "***")
        message = f"{self.address} answered {error.code}: {' '.join(said.split())[:_SHOWN] or error.reason}."
        if error.code in _PASSING:
            return Unavailable(message, hint=self._tried(self.advice.passing))
        return self.advice.refusal(message, hint=self.advice.refused)

    def _tried(self, hint: str) -> str:
        return hint if self.attempts == 1 else f"{hint} It was tried {self.attempts} times."


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any) -> None:
        return None


def checked_url(url: str, setting: str) -> str:
    """The address of a service without a slash at its end. ConfigError, which names the setting, for a text that is not
    an address.

    The message does not repeat the address, because people put passwords into it.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            f"{setting} is not a plain http or https address.",
            hint="Set it like https://host/v1, without user, password, query or fragment; a key has its own setting.",
        )
    return url.rstrip("/")


def check_key(key: str, url: str, setting: str) -> None:
    """ConfigError for a key that is empty or would travel unencrypted."""
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"{setting} holds no key.", hint="Set it to the service's key.")
    parts = urlsplit(url)
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise ConfigError(f"A key is not sent to {url} unencrypted.", hint=f"Use https, or unset {setting}.")


def _seconds(retry_after: str | None) -> float:
    return float(retry_after) if retry_after is not None and retry_after.isdecimal() else 0.0
