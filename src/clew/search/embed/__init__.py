"""Texts to vectors: what an embedder is, and opening the one that is configured."""

from clew.config import EmbedSettings
from clew.search.embed.embedder import Embedder
from clew.search.embed.opening import open_embedder, open_word_vectors

__all__ = ["EmbedSettings", "Embedder", "open_embedder", "open_word_vectors"]
