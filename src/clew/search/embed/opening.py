"""Opens the embedder that the settings ask for."""

from pathlib import Path
from typing import TYPE_CHECKING

from clew.config import EmbedSettings
from clew.errors import ConfigError
from clew.once import Once
from clew.search.embed.embedder import Embedder

if TYPE_CHECKING:
    from clew.search.embed.word_vectors import WordVectors


def open_embedder(settings: EmbedSettings) -> Embedder | None:
    """The embedder; None if none is configured. ConfigError if it cannot be opened."""
    _check_numbers(settings)
    if settings.kind == "none":
        return None
    if settings.kind == "minilm":
        from clew.search.embed.minilm import MiniLm

        return MiniLm(threads=settings.threads)
    if settings.kind == "folder":
        from clew.search.embed.local import LocalModel

        return LocalModel(
            Path(_required(settings.folder, "folder", settings.kind)),
            sha256=settings.sha256,
            max_tokens=settings.max_tokens,
            threads=settings.threads,
        )
    from clew.search.embed.endpoint import EndpointEmbedder

    url = _required(settings.url, "url", settings.kind)
    return EndpointEmbedder(settings, url=url, model=_required(settings.model, "model", settings.kind))


def open_word_vectors() -> "WordVectors | None":
    """The vectors of words; None if the encoder that comes with Clew is missing."""
    try:
        return _word_vectors.get()
    except ConfigError:
        return None


def _load_word_vectors() -> "WordVectors":
    from clew.search.embed.word_vectors import WordVectors

    return WordVectors.load()


_word_vectors = Once(_load_word_vectors)
"""One table for all engines of a process: nobody changes it. Of many who ask at once, one loads it."""


def _required(value: str | None, key: str, kind: str) -> str:
    if not value:
        raise ConfigError(f"The embedder '{kind}' needs `{key}`, which is not set.", hint=f"Set `{key}`.")
    return value


def _check_numbers(settings: EmbedSettings) -> None:
    """Check the ranges of numbers for any embedder, so that a wrong number shows before it is used."""
    limits: tuple[tuple[str, float | None, float, float], ...] = (
        ("threads", settings.threads, 1, 256),
        ("dimensions", settings.dimensions, 1, 65_536),
        ("max_tokens", settings.max_tokens, 3, 1_000_000),
        ("timeout_seconds", settings.timeout_seconds, 0.001, 3600),
        ("attempts", settings.attempts, 1, 10),
        ("pause_seconds", settings.pause_seconds, 0, 60),
        ("texts_per_request", settings.texts_per_request, 1, 2048),
    )
    for key, value, low, high in limits:
        if value is not None and not low <= value <= high:
            raise ConfigError(f"`{key}` is {value}; it must be from {low} to {high:,}.", hint=f"Correct `{key}`.")
