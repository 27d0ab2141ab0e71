"""A service that speaks the embeddings interface of OpenAI."""

import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from copy import copy
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from clew import __version__
from clew.config import EmbedSettings
from clew.errors import ConfigError, Unavailable
from clew.search.embed.sentence import check_texts, normalised
from clew.text.tokens import CHARACTERS_PER_TOKEN_AT_MOST, estimate_tokens

if TYPE_CHECKING:
    from clew.search.embed.embedder import Vectors

_DEFAULT_MAX_TOKENS = 512
_LARGEST_ANSWER = 256 * 1024 * 1024
_LONGEST_PAUSE = 30.0
PATIENCE_FOR_A_QUERY = 5.0
_WORTH_ANOTHER_TRY = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
ALLOWED_HOSTS = "CLEW_ALLOWED_HOSTS"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class _Item(msgspec.Struct, frozen=True):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct, frozen=True):
    data: list[_Item]


class EndpointEmbedder:
    """What goes wrong is `ConfigError` where the settings must change, `Unavailable` where waiting may help."""

    def __init__(self, settings: EmbedSettings, *, url: str, model: str) -> None:
        _check_consent(urlsplit(url).hostname or "")
        self._settings = settings
        self._address = f"{url}/embeddings"
        self._model = model
        self._key = _key(settings.key_variable, url)
        self._opener = urllib.request.build_opener(_StayHere)
        self.max_tokens = settings.max_tokens or _DEFAULT_MAX_TOKENS
        self.dimensions = settings.dimensions or len(self._ask(["dimensions"])[0])
        identity = f"{url} {model} {self.dimensions} {self.max_tokens}"
        self.name = f"{model}@{hashlib.sha256(identity.encode()).hexdigest()[:12]}"

    def embed_query(self, text: str) -> "Vectors":
        """The vector of one text that somebody waits for: one attempt, and not long."""
        impatient = copy(self)
        seconds = min(self._settings.timeout_seconds, PATIENCE_FOR_A_QUERY)
        impatient._settings = msgspec.structs.replace(self._settings, attempts=1, timeout_seconds=seconds)
        vector: Vectors = impatient.embed([text])[0]
        return vector

    def takes(self, text: str) -> bool:
        return len(text) <= self.max_tokens or estimate_tokens(text) <= self.max_tokens

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        check_texts(texts)
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        step = self._settings.texts_per_request
        for start in range(0, len(texts), step):
            rows = self._ask([_sendable(text, self.max_tokens) for text in texts[start : start + step]])
            if {len(row) for row in rows} != {self.dimensions}:
                raise ConfigError(
                    f"{self._address} gave vectors of {len(rows[0])} dimensions; {self.dimensions} are expected.",
                    hint="Correct `dimensions` or `model`.",
                )
            with np.errstate(over="ignore"):  # what is too large is found below
                vectors[start : start + step] = rows
        if not np.isfinite(vectors).all():
            raise Unavailable(f"{self._address} gave numbers that are not finite.", hint="Look at the service's log.")
        return normalised(vectors)

    def _ask(self, texts: list[str]) -> list[list[float]]:
        body: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._settings.dimensions is not None:
            body["dimensions"] = self._settings.dimensions
        content = self._send(msgspec.json.encode(body))
        try:
            items = sorted(msgspec.json.decode(content, type=_Answer).data, key=lambda item: item.index)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._unusable(f"is no list of embeddings ({error})") from error
        if [item.index for item in items] != list(range(len(texts))) or not items[0].embedding:
            raise self._unusable(f"does not hold one vector for each of {len(texts)} texts")
        return [item.embedding for item in items]

    def _send(self, body: bytes) -> bytes:
        """Ask, and ask again where the failure may pass."""
        for attempt in range(1, self._settings.attempts + 1):
            try:
                return self._send_once(body)
            except urllib.error.HTTPError as error:
                with error:
                    problem = self._refusal(error)
                    wait = _seconds(error.headers.get("Retry-After"))
                if error.code not in _WORTH_ANOTHER_TRY or attempt == self._settings.attempts:
                    raise problem from None
            except (OSError, http.client.HTTPException) as error:
                wait = None
                if attempt == self._settings.attempts:
                    raise Unavailable(
                        f"{self._address} does not answer: {getattr(error, 'reason', error)}.",
                        hint=f"Check the address and the service. It was tried {attempt} times.",
                    ) from None
            pause = self._settings.pause_seconds * 2 ** (attempt - 1)
            time.sleep(min(max(pause, wait or 0.0), _LONGEST_PAUSE))
        raise AssertionError("the last attempt returns or raises")

    def _send_once(self, body: bytes) -> bytes:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"clew/{__version__}",
        }
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._address, data=body, headers=headers, method="POST")  # noqa: S310 - checked
        with self._opener.open(request, timeout=self._settings.timeout_seconds) as answer:
            content: bytes = answer.read(_LARGEST_ANSWER + 1)
        if len(content) > _LARGEST_ANSWER:
            raise self._unusable(f"is longer than {_LARGEST_ANSWER:,} bytes")
        return content

    def _refusal(self, error: urllib.error.HTTPError) -> ConfigError | Unavailable:
        said = error.read(2000).decode("utf-8", "replace")
        if self._key is not None:
            said = said.replace(self._key, "***")
        message = f"{self._address} answered {error.code}: {' '.join(said.split())[:300] or error.reason}."
        if error.code in _WORTH_ANOTHER_TRY:
            return Unavailable(message, hint=f"Try again later. It was tried {self._settings.attempts} times.")
        return ConfigError(message, hint="Correct `url`, `model`, `dimensions` or the key.")

    def _unusable(self, cause: str) -> Unavailable:
        return Unavailable(
            f"The answer of {self._address} {cause}.", hint="Check that `url` is an OpenAI-compatible service."
        )


class _StayHere(urllib.request.HTTPRedirectHandler):
    """A redirection is an error: the key is meant for one address only."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


def _check_consent(host: str) -> None:
    """The settings come with the project, which may be anybody's: only the environment, which is the user's, can allow
    that texts and a key leave the machine."""
    allowed = {name.strip().lower() for name in os.environ.get(ALLOWED_HOSTS, "").split(",")}
    if host not in _LOOPBACK and host not in allowed:
        raise ConfigError(
            f"The configuration would send texts to {host}, which this machine's user has not allowed.",
            hint=f"If that is what you want, set the environment variable {ALLOWED_HOSTS} to {host}.",
        )


def _key(variable: str | None, url: str) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable, "")
    if not key:
        raise ConfigError(f"The environment variable {variable} is not set.", hint="Set it to the service's key.")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"The environment variable {variable} holds no key.", hint="Set it to the service's key.")
    parts = urlsplit(url)
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise ConfigError(f"A key is not sent to {url} unencrypted.", hint="Use https, or no key.")
    return key


def _sendable(text: str, max_tokens: int) -> str:
    """The text without what services refuse: too much, nothing, NUL, halves of surrogate pairs."""
    text = text[: max_tokens * CHARACTERS_PER_TOKEN_AT_MOST].encode("utf-8", "replace").decode().replace("\0", " ")
    tokens = estimate_tokens(text)
    if tokens > max_tokens:
        text = text[: len(text) * max_tokens // tokens]
    return text if text.strip() else " "


def _seconds(retry_after: str | None) -> float | None:
    return float(retry_after) if retry_after is not None and retry_after.isdecimal() else None
