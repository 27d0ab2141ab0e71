"""Traces of purged text in values and in files."""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, AnyStr, Generic

from clew.text.sentences import plain_spans
from clew.workspace.regular import opened

SHORTEST_PIECE = 16
"""Characters of a line or sentence that is looked for anywhere; a shorter one may be in other texts by chance."""
_FEW = 100
"""Pieces that are looked for one by one sooner than all at once."""
_WORD = re.compile(r"[^\W_]+")
_INSIDE_NAME = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AT_ONCE = 4 * 1024 * 1024
_BEGINS = re.compile(rb"(?:^|[\r\n]|(?<!\\)\"|\\[nr])$")
_ENDS = re.compile(rb"$|[\r\n]|\\[nr]|\"(?!\s*:)")
"""Signs around a line, or around a value of JSON that is not a name."""
_AROUND = 8
"""Bytes that are looked at for that."""


class _Finder(Generic[AnyStr]):
    """Finds pieces in a text, also if they are hundreds of thousands, as those of a whole memory are."""

    def __init__(self, pieces: Iterable[AnyStr]) -> None:
        self.pieces: frozenset[AnyStr] = frozenset(pieces)
        are_few = len(self.pieces) <= _FEW
        self._few: list[AnyStr] = [piece for piece in self.pieces if are_few or len(piece) < SHORTEST_PIECE]
        """Pieces that are searched one by one."""
        self._lengths: dict[AnyStr, set[int]] = {}
        """The lengths of the others, by how they begin."""
        for piece in self.pieces.difference(self._few):
            self._lengths.setdefault(piece[:SHORTEST_PIECE], set()).add(len(piece))

    def found(self, said: AnyStr) -> Iterator[AnyStr]:
        yield from (piece for piece in self._few if piece in said)
        for at in range(len(said) if self._lengths else 0):
            for length in self._lengths.get(said[at : at + SHORTEST_PIECE], ()):
                if (piece := said[at : at + length]) in self.pieces:
                    yield piece


class Traces:
    """The pieces of texts by which they are found again, in any case of letters; in files also as JSON and UTF-16.

    A short one is found only where it is a whole line or value: `yes` is no part of `yesterday`."""

    def __init__(self, pieces: Iterable[str], *, anywhere: Iterable[str] = ()) -> None:
        """`anywhere` are pieces that are looked for inside of others' texts, however short they are."""
        self._pieces = tuple(piece for piece in pieces if piece.strip())
        self._anywhere = tuple(piece for piece in anywhere if piece.strip())
        long = [*self._anywhere, *(piece for piece in self._pieces if not _is_short(piece))]
        short = [piece.strip() for piece in self._pieces if _is_short(piece)]
        self._texts = _Finder(piece.casefold() for piece in long)
        self._bytes = _Finder(spelling for piece in long for spelling in _spellings(piece))
        self._alone = frozenset(piece.casefold() for piece in short)
        self._alone_in_bytes = frozenset(spelling for piece in short for spelling in _spellings(piece))

    def __bool__(self) -> bool:
        return bool(self._texts.pieces or self._alone)

    def and_also(self, names: Iterable[str]) -> "Traces":
        """With some that are looked for anywhere."""
        return Traces(self._pieces, anywhere=(*self._anywhere, *names))

    def without(self, pieces: Collection[str]) -> "Traces":
        """The pieces without these, which `pieces_in` named."""
        rest = (piece for piece in self._pieces if piece.casefold() not in pieces)
        return Traces(rest, anywhere=(piece for piece in self._anywhere if piece.casefold() not in pieces))

    @cached_property
    def inside_texts(self) -> "Traces":
        """The traces that are looked for anywhere."""
        if not self._alone:
            return self
        return Traces((piece for piece in self._pieces if not _is_short(piece)), anywhere=self._anywhere)

    @cached_property
    def in_words(self) -> "Traces":
        """By their words alone, as `words_of` writes them."""
        return Traces(map(words_of, self._pieces), anywhere=map(words_of, self._anywhere))

    def in_text(self, text: str) -> bool:
        text = text.casefold()
        return any(True for _ in self._texts.found(text)) or bool(self._alone_in(text))

    def pieces_in(self, text: str) -> frozenset[str]:
        """The pieces that a text contains, in small letters."""
        text = text.casefold()
        return self._alone_in(text).union(self._texts.found(text))

    def _alone_in(self, text: str) -> frozenset[str]:
        if not self._alone:
            return self._alone
        return self._alone.intersection((text.strip(), *(line.strip() for line in text.splitlines())))

    def in_value(self, value: Any) -> bool:
        """True if a JSON value contains one of them."""
        return any(self.in_text(text) for text in texts_in(value))

    def in_bytes(self, data: bytes) -> bool:
        data = data.lower()
        return any(True for _ in self._bytes.found(data)) or any(_is_alone(each, data) for each in self._alone_in_bytes)

    def in_file(self, place: Path) -> bool:
        """True if a file contains one of them; False for a file that cannot be read."""
        if ".db" in place.name and self._alone:
            # Its bytes do not show where a value begins.
            return self.inside_texts.in_file(place)
        longest = max(map(len, self._bytes.pieces | self._alone_in_bytes), default=0) + 2 * _AROUND
        rest = b""
        try:
            with opened(place) as file:
                while part := os.read(file, _AT_ONCE):
                    if self.in_bytes(rest + part):
                        return True
                    rest = part[-longest:]
        except OSError:
            return False
        return False


def _is_short(piece: str) -> bool:
    return len(piece.strip()) < SHORTEST_PIECE


def _is_alone(piece: bytes, data: bytes) -> bool:
    """True if a piece is a whole line or value somewhere."""
    at = data.find(piece)
    while at >= 0:
        end = at + len(piece)
        if _BEGINS.search(data[max(0, at - _AROUND) : at]) and _ENDS.match(data[end : end + _AROUND]):
            return True
        at = data.find(piece, at + 1)
    return False


class SearchedFile:
    """The content of a file, searched for many pieces."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def says(self, piece: str) -> bool:
        """True if the content has a piece, or the same words with other space between them. Derived text is not always
        spelled as in its file: lines are joined, marks left out, names split."""
        if any(spelling in self._small for spelling in _spellings(piece)):
            return True
        forms = ((words_of(piece), 0), (words_of(_split(piece)), 1))
        return any(words and words in self._words[form] for words, form in forms)

    @cached_property
    def _small(self) -> bytes:
        return self.data.lower()

    @cached_property
    def _words(self) -> tuple[str, str]:
        text = self.data.decode("utf-8", "replace")
        return words_of(text), words_of(_split(text))


def words_of(text: str) -> str:
    """The words of a text in small letters, however they are set apart in it."""
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
    """The spellings that a text may have in a file, in small letters."""
    plain = piece.encode("utf-8", "replace")
    escaped = json.dumps(piece, ensure_ascii=False)[1:-1].encode("utf-8", "replace")
    ascii_only = json.dumps(piece)[1:-1].encode("ascii")
    wide = [piece.encode(encoding, "replace") for encoding in ("utf-16-le", "utf-16-be")]
    for spelled in (plain, escaped, ascii_only, *wide):
        yield spelled.lower()
