"""The words of prose and code, as a search sees them.

Text is cut into *chunks*: letters and digits, joined by hyphens, underscores, dots and apostrophes. A chunk gives

- its *words*, one after another: `getUserById` gives get, user, by, id. They are what phrases are made of, so that the
  phrase "user by id" finds the identifier as well as the prose;
- its *compounds*, when it has more than one word: the whole without joiners, so that `read-only`, `read_only` and
  `readOnly` are all `readonly`. Between digits the joiner stays (`2026-11-15`). A dotted chunk gives one for each of
  its segments too, and an identifier with a number one without what follows the number: `REQ-d00062-A` gives
  `reqd00062a` and `reqd00062`.

All are in lower case, without accents or vowel points and in compatibility form. Chinese, Japanese, Thai and the like,
which do not put spaces between words, give single characters as words and pairs of neighbours as compounds; Korean
gives its words, and their pairs of syllables as compounds. An emoji is a word.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import msgspec

from clew.text.stem import stem

MAX_WORD_CHARACTERS = 128
"""Longer words are cut, longer compounds left out: they are data, not language."""

_CACHED_CHUNK_CHARACTERS = 64

_OPTIONAL_MARKS = "\u00ad\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u200c\u200d"
"""Accents, vowel points, soft hyphens and joiners: the same word is written with and without them."""
_NEEDED_MARKS = (
    "\u0900-\u0963\u0966-\u0e3a\u0e40-\u0e4e\u0eb1-\u0ecd\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
)
_IN_WORD = rf"\w{_OPTIONAL_MARKS}{_NEEDED_MARKS}"
_EMOJI = "\u2600-\u27bf\U0001f300-\U0001faff"

# What most texts do not need is compiled when one does: that takes longer than most starts of Clew.
_any_chunk = cache(
    lambda: re.compile(
        rf"[{_IN_WORD}]+(?:(?:[-.'\u2019\u2010\u2011]|(?<=\d),(?=\d\d\d(?!\d)))[{_IN_WORD}]+){{0,30}}(?:(?:\+\+|\#)(?!\w))?"
        rf"|[{_EMOJI}]"
    )
)
_ASCII_CHUNK = re.compile(
    r"[A-Za-z0-9_]+(?:(?:[-.']|(?<=[0-9]),(?=[0-9][0-9][0-9](?![0-9])))[A-Za-z0-9_]+){0,30}(?:(?:\+\+|\#)(?![A-Za-z0-9_]))?"
)

_IDEOGRAPHS = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = f"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff{_IDEOGRAPHS}"
_runs = cache(
    lambda: re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|(?P<hangul>[\uac00-\ud7a3]+)|[^{_UNSPACED}\uac00-\ud7a3]+")
)
_SEGMENT = re.compile(r"(?:[^.]|(?<=[0-9])\.(?=[0-9]))+")
_PART = re.compile(r"[^-_]+")
_piece = cache(
    lambda: re.compile(
        r"[0-9]+(?:\.[0-9]+)*"
        r"|(?:^[A-Za-z]{1,2}|[A-Z])[0-9]+(?:\.[0-9]+)*"  # S3, d00062, v4.4.1
        r"|(?<![A-Za-z])[A-Za-z]{2,3}(?![^\W0-9_])"  # iOS, kB
        r"|[A-Z]{2,}s(?![^\W0-9A-Z_])"  # URLs
        r"|[A-Z]+(?![^\W0-9A-Z_])"
        rf"|[A-Z]?(?:[^\W0-9A-Z_]|[{_NEEDED_MARKS}])+"
        rf"|[{_EMOJI}]"
    )
)
_DIGEST = re.compile(r"(?:0x)?(?=[a-f]*[0-9])[0-9a-f]{7,}|0x[0-9a-f]+", re.IGNORECASE)
_dropped = cache(lambda: re.compile(rf"[{_OPTIONAL_MARKS}]+"))
_HYPHENS = "\u2010\u2011"
_APOSTROPHES = "'\u2019"


class Word(msgspec.Struct, frozen=True, gc=False):
    """A word or compound, with the characters of the text it stands for."""

    text: str
    start: int
    end: int
    compound: bool = False


class SplitText(NamedTuple):
    """The words of a text in their order, and its compounds in theirs."""

    words: list[str]
    compounds: list[str]


class _Chunk(NamedTuple):
    words: tuple[str, ...]
    compounds: tuple[str, ...]
    pieces: tuple[Word, ...]
    """Both, in the order of the text, a compound before its words; offsets count from the chunk."""


class _Folded(NamedTuple):
    """A chunk without accents, apostrophes and the commas of long numbers, and where each character comes from."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def words(text: str) -> list[Word]:
    """The words and compounds of `text`, in its order; a compound is before its words."""
    found = []
    for match in _chunks(text).finditer(text):
        at = match.start()
        found += [
            Word(piece.text, piece.start + at, piece.end + at, piece.compound) for piece in _chunk(match[0]).pieces
        ]
    return found


def split(text: str) -> SplitText:
    """The words and the compounds of `text`, not stemmed. Takes time linear in its length."""
    found: list[str] = []
    compounds: list[str] = []
    for text_of_chunk in chunks(text):
        chunk = _chunk(text_of_chunk)
        found += chunk.words
        compounds += chunk.compounds
    return SplitText(found, compounds)


def chunks(text: str) -> list[str]:
    """The parts of `text` that can be split into words independently."""
    found: list[str] = _chunks(text).findall(text)
    return found


def terms(text: str) -> list[str]:
    """The stems of the words of `text`, in order, stop-words included."""
    return [stem(word) for word in split(text).words]


def _chunks(text: str) -> re.Pattern[str]:
    return _ASCII_CHUNK if text.isascii() else _any_chunk()


def _chunk(text: str) -> _Chunk:
    return _remembered(text) if len(text) <= _CACHED_CHUNK_CHARACTERS else _analysed(text)


def _analysed(text: str) -> _Chunk:
    if text.isascii() and text.isalpha() and (text.islower() or text.isupper() or text[1:].islower()):
        word = Word(text[:MAX_WORD_CHARACTERS].lower(), 0, len(text))
        return _Chunk((word.text,), (), (word,))
    pieces = tuple(
        sorted(dict.fromkeys(_pieces(text)), key=lambda piece: (piece.start, -piece.end, not piece.compound))
    )
    return _Chunk(
        tuple(piece.text for piece in pieces if not piece.compound),
        tuple(piece.text for piece in pieces if piece.compound),
        pieces,
    )


_remembered = lru_cache(maxsize=1 << 15)(_analysed)


def _pieces(text: str) -> Iterator[Word]:
    folded = _folded(text)
    suffix = text[-2:] if text.endswith("++") else text[-1:] if text.endswith("#") else ""
    whole: list[list[Word]] = []
    for segment in _SEGMENT.finditer(folded.text):
        parts = []
        for part in _PART.finditer(segment[0]):
            at = segment.start() + part.start()
            found = [
                Word(piece.text, folded.starts[at + piece.start], folded.ends[at + piece.end - 1], piece.compound)
                for piece in _pieces_of_part(part[0])
            ]
            yield from found
            if simple := [piece for piece in found if not piece.compound]:
                parts.append(simple)
                yield from _compound([simple])
        yield from _compound(parts)
        numbered = [n for n, part in enumerate(parts) if any(piece.text[-1].isdigit() for piece in part)]
        if numbered and numbered[-1] > 0:
            yield from _compound(parts[: numbered[-1] + 1])
        whole += parts
    yield from _compound(whole)
    if suffix and whole:
        yield Word("".join(piece.text for part in whole for piece in part) + suffix, 0, len(text), True)


def _pieces_of_part(part: str) -> Iterator[Word]:
    if _DIGEST.fullmatch(part):
        yield Word(part[:MAX_WORD_CHARACTERS].lower(), 0, len(part))
        return
    if part.isascii():
        yield from _cased_pieces(part, 0)
        return
    for run in _runs().finditer(part):
        if run["unspaced"]:
            for at in range(run.start(), run.end()):
                yield Word(part[at], at, at + 1)
            yield from _pairs(part, run.start(), run.end())
        elif run["hangul"]:
            yield Word(run[0][:MAX_WORD_CHARACTERS], run.start(), run.end())
            yield from _pairs(part, run.start(), run.end()) if len(run[0]) > 2 else ()
        else:
            yield from _cased_pieces(run[0], run.start())


def _pairs(part: str, start: int, end: int) -> Iterator[Word]:
    for at in range(start, end - 1):
        yield Word(part[at : at + 2], at, at + 2, True)


def _cased_pieces(run: str, at: int) -> Iterator[Word]:
    for piece in _piece().finditer(run):
        text, start, end = piece[0][:MAX_WORD_CHARACTERS].lower(), at + piece.start(), at + piece.end()
        if text[0] == "v" and "." in text:
            yield Word(text, start, end, True)
            text, start = text[1:], start + 1
        yield Word(text, start, end)


def _compound(parts: list[list[Word]]) -> Iterator[Word]:
    """The parts as one word without joiners, if they are more than one word and not one run of single characters."""
    pieces = [piece for part in parts for piece in part]
    if len(pieces) < 2 or sum(len(piece.text) for piece in pieces) > MAX_WORD_CHARACTERS:
        return
    if len(parts) == 1 and not parts[0][0].text.isascii():
        return
    text = pieces[0].text
    for piece in pieces[1:]:
        text += "-" + piece.text if text[-1].isdigit() and piece.text[0].isdigit() else piece.text
    yield Word(text, pieces[0].start, pieces[-1].end, True)


def _folded(chunk: str) -> _Folded:
    if chunk.isascii() and "'" not in chunk and "," not in chunk:
        return _Folded(chunk, range(len(chunk)), range(1, len(chunk) + 1))
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for at, character in enumerate(chunk):
        replacement = "" if character == "," else _folded_character(character)
        folded.append(replacement)
        starts += [at] * len(replacement)
        ends += [at + 1] * len(replacement)
        if not replacement and ends and unicodedata.combining(character):
            ends[-1] = at + 1
    return _Folded("".join(folded), starts, ends)


@lru_cache(maxsize=1 << 12)
def _folded_character(character: str) -> str:
    """The character without accents in compatibility form; case is kept, because identifiers are split by it."""
    if character.isascii():
        return "" if character == "'" else character
    if character in _APOSTROPHES:
        return ""
    if character in _HYPHENS:
        return "-"
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    decomposed = _dropped().sub("", unicodedata.normalize("NFKD", character))
    upper = decomposed.isascii() and decomposed.isupper()
    return unicodedata.normalize("NFC", decomposed if upper else decomposed.casefold())


def storable(text: str) -> str:
    """The text without halves of surrogate pairs, which no file and no database can store."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
