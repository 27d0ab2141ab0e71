"""Texts to vectors: what an embedder is, and opening the one that is configured."""

from clew.search.embed.embedder import Embedder
from clew.search.embed.opening import open_embedder
from clew.search.embed.settings import EmbedSettings

__all__ = ["EmbedSettings", "Embedder", "open_embedder"]
