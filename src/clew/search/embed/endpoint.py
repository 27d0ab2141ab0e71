"""A service that speaks the embeddings interface of OpenAI."""

import hashlib
import os
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from clew.ai.http import FailureAdvice, Service, check_key, checked_url
from clew.config import EmbedSettings
from clew.errors import ConfigError, Unavailable
from clew.search.embed.sentence import check_texts, normalised
from clew.text.tokens import CHARACTERS_PER_TOKEN_AT_MOST, estimate_tokens
from clew.text.words import storable

if TYPE_CHECKING:
    from clew.search.embed.embedder import Vectors

_DEFAULT_MAX_TOKENS = 512
_LARGEST_ANSWER = 256 * 1024 * 1024
PATIENCE_FOR_A_QUERY = 5.0
_ADVICE = FailureAdvice(
    refused="Correct `url`, `model`, `dimensions` or the key.",
    refusal=ConfigError,
    silent="Check the address and the service.",
    slow="Raise `timeout_seconds`, or lower `texts_per_request`.",
    unusable="Check that `url` is an OpenAI-compatible service.",
)


class _Item(msgspec.Struct, frozen=True):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct, frozen=True):
    data: list[_Item]


class EndpointEmbedder:
    """Embedder behind an HTTP service. It raises `ConfigError` if the settings must change, `Unavailable` if waiting
    may help."""

    def __init__(self, settings: EmbedSettings, *, url: str, model: str) -> None:
        url = checked_url(url, "`url`")
        self._settings = settings
        self._model = model
        self._service = Service(
            address=f"{url}/embeddings",
            key=_key(settings.key_variable, url),
            timeout_seconds=settings.timeout_seconds,
            largest_answer=_LARGEST_ANSWER,
            advice=_ADVICE,
            attempts=settings.attempts,
            pause_seconds=settings.pause_seconds,
        )
        self.max_tokens = settings.max_tokens or _DEFAULT_MAX_TOKENS
        self.dimensions = settings.dimensions or len(self._ask(["dimensions"])[0])
        identity = f"{url} {model} {self.dimensions} {self.max_tokens}"
        self.name = f"{model}@{hashlib.sha256(identity.encode()).hexdigest()[:12]}"

    def embed_query(self, text: str) -> "Vectors":
        """The vector of one text that somebody waits for: one attempt, and not long."""
        impatient = copy(self)
        seconds = min(self._settings.timeout_seconds, PATIENCE_FOR_A_QUERY)
        impatient._service = replace(self._service, attempts=1, timeout_seconds=seconds)
        vector: Vectors = impatient.embed([text])[0]
        return vector

    def takes(self, text: str) -> bool:
        return len(text) <= self.max_tokens or estimate_tokens(text) <= self.max_tokens

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        check_texts(texts)
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        step, address = self._settings.texts_per_request, self._service.address
        for start in range(0, len(texts), step):
            rows = self._ask([_sendable(text, self.max_tokens) for text in texts[start : start + step]])
            if {len(row) for row in rows} != {self.dimensions}:
                raise ConfigError(
                    f"{address} gave vectors of {len(rows[0])} dimensions; {self.dimensions} are expected.",
                    hint="Correct `dimensions` or `model`.",
                )
            with np.errstate(over="ignore"):  # what is too large is found below
                vectors[start : start + step] = rows
        if not np.isfinite(vectors).all():
            raise Unavailable(
                f"{self._service.address} gave numbers that are not finite.", hint="Look at the service's log."
            )
        return normalised(vectors)

    def _ask(self, texts: list[str]) -> list[list[float]]:
        body: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._settings.dimensions is not None:
            body["dimensions"] = self._settings.dimensions
        found = self._service.ask(body, _Answer, "list of embeddings")
        items = sorted(found.data, key=lambda item: item.index)
        if [item.index for item in items] != list(range(len(texts))) or not items[0].embedding:
            raise self._service.unusable(f"does not hold one vector for each of {len(texts)} texts")
        return [item.embedding for item in items]


def _key(variable: str | None, url: str) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable, "")
    if not key:
        raise ConfigError(f"The environment variable {variable} is not set.", hint="Set it to the service's key.")
    check_key(key, url, f"The environment variable {variable}")
    return key


def _sendable(text: str, max_tokens: int) -> str:
    """The text without what services refuse: too much, nothing, NUL, halves of surrogate pairs."""
    text = storable(text[: max_tokens * CHARACTERS_PER_TOKEN_AT_MOST]).replace("\0", " ")
    tokens = estimate_tokens(text)
    if tokens > max_tokens:
        text = text[: len(text) * max_tokens // tokens]
    return text if text.strip() else " "
