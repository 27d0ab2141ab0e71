"""What purged text looks like in values and in files."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from clew.text.sentences import plain_spans

SHORTEST_PIECE = 16
"""Characters of a line or sentence that is looked for by itself; a shorter one may stand anywhere by chance."""
_WORD = re.compile(r"[^\W_]+")
_INSIDE_NAME = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AT_ONCE = 4 * 1024 * 1024


class Traces:
    """The pieces of texts by which they are found again, in any case of letters; in files also as JSON and UTF-16."""

    def __init__(self, pieces: Iterable[str]) -> None:
        pieces = tuple(pieces)
        self._given = pieces
        self._pieces = tuple(dict.fromkeys(piece.casefold() for piece in pieces if piece.strip()))
        spelled = {spelling for piece in pieces if piece.strip() for spelling in _spellings(piece)}
        self._bytes = tuple(spelled)

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def and_also(self, pieces: Iterable[str]) -> "Traces":
        return Traces((*self._given, *pieces))

    def without(self, pieces: Collection[str]) -> "Traces":
        """The others than these, which `pieces_in` named."""
        return Traces(piece for piece in self._given if piece.casefold() not in pieces)

    def in_text(self, text: str) -> bool:
        folded = text.casefold()
        return any(piece in folded for piece in self._pieces)

    def pieces_in(self, text: str) -> frozenset[str]:
        """Those that a text holds, in small letters."""
        folded = text.casefold()
        return frozenset(piece for piece in self._pieces if piece in folded)

    def in_value(self, value: Any) -> bool:
        """Whether a JSON value holds one of them."""
        return any(self.in_text(text) for text in texts_in(value))

    def in_bytes(self, data: bytes) -> bool:
        lowered = data.lower()
        return any(spelling in lowered for spelling in self._bytes)

    def in_file(self, place: Path) -> bool:
        """Whether a file holds one of them; False for one that cannot be read."""
        longest = max(map(len, self._bytes), default=0)
        rest = b""
        try:
            with place.open("rb") as file:
                while part := file.read(_AT_ONCE):
                    if self.in_bytes(rest + part):
                        return True
                    rest = part[-longest:]
        except OSError:
            return False
        return False


def is_said(piece: str, data: bytes) -> bool:
    """Whether a file with this content says a piece: as it stands there, or in the same words, however they are set
    apart. What was made of a file is not always spelled as in it: lines are joined, marks left out, names split."""
    if Traces((piece,)).in_bytes(data):
        return True
    text = data.decode("utf-8", "replace")
    forms = ((_words(piece), _words(text)), (_words(_split(piece)), _words(_split(text))))
    return any(looked_for and looked_for in said for looked_for, said in forms)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text)).casefold()


def _split(text: str) -> str:
    return _INSIDE_NAME.sub(" ", text)


def pieces_of(value: Any) -> Iterator[str]:
    """Every text in a value, and its lines and sentences, as far as they are long enough to be looked for."""
    for text in texts_in(value):
        sentences = (text[slice(*span)] for span in plain_spans(text))
        for piece in (text, *text.splitlines(), *(" ".join(sentence.split()) for sentence in sentences)):
            if len(piece.strip()) >= SHORTEST_PIECE:
                yield piece.strip()


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield str(name)
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)


def _spellings(piece: str) -> Iterator[bytes]:
    """How a text may stand in a file, in small letters."""
    plain = piece.encode("utf-8", "replace")
    escaped = json.dumps(piece, ensure_ascii=False)[1:-1].encode("utf-8", "replace")
    ascii_only = json.dumps(piece)[1:-1].encode("ascii")
    wide = [piece.encode(encoding, "replace") for encoding in ("utf-16-le", "utf-16-be")]
    for spelled in (plain, escaped, ascii_only, *wide):
        yield spelled.lower()
