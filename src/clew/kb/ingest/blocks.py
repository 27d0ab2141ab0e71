"""The sections of a document in the library: a few neighbours together, packed, with their texts.

Neighbours share words, titles and the headings above them, so that a block takes a third of what its sections would
take one by one. It is small enough that reading one section of it is hardly slowed by the others.
"""

import zlib
from collections.abc import Iterator, Sequence
from itertools import accumulate

import msgspec

from clew.formats.documents.chunks import version_of
from clew.kb.ingest.records import ChunkRecord

BLOCK_CHARACTERS = 16_000
"""A block ends with the section that reaches it."""


class _Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One section in a block. Its id, its place and its parent are in the table of sections."""

    ordinal: int
    trail: str
    title: int
    """The characters of its title, with which the trail ends."""
    level: int
    anchor: str
    start: int
    characters: int
    """Of its text."""
    line: int
    lines: int
    """After the first."""
    tokens: int
    kinds: str


class SectionBlock(msgspec.Struct, frozen=True, array_like=True):
    first: int
    """The place of its first section."""
    entries: tuple[_Entry, ...]
    texts: str
    """Of all its sections, one behind the other."""

    def record(self, id: str, path: str, place: int, parent: int) -> ChunkRecord:
        said = self.entries[place - self.first]
        return ChunkRecord(
            id=id,
            document=path,
            place=place,
            parent=parent,
            ordinal=said.ordinal,
            title=said.trail[len(said.trail) - said.title :],
            trail=said.trail,
            level=said.level,
            anchor=said.anchor,
            start=said.start,
            end=said.start + said.characters,
            line=said.line,
            end_line=said.line + said.lines,
            tokens=said.tokens,
            version=version_of(self.text(place)),
            kinds=said.kinds,
        )

    def text(self, place: int) -> str:
        own = place - self.first
        start = sum(entry.characters for entry in self.entries[:own])
        return self.texts[start : start + self.entries[own].characters]


_BLOCK = msgspec.msgpack.Decoder(SectionBlock)


def blocks_of(sections: Sequence[ChunkRecord], texts: Sequence[str]) -> Iterator[tuple[range, bytes]]:
    """The blocks of a document: the sections in each, and its packed form."""
    first = 0
    reached = list(accumulate(map(len, texts)))
    before = 0
    for place, characters in enumerate(reached):
        if characters - before >= BLOCK_CHARACTERS or place == len(texts) - 1:
            places = range(first, place + 1)
            yield (
                places,
                _packed(SectionBlock(first, _entries(sections, texts, places), "".join(texts[first : place + 1]))),
            )
            first, before = place + 1, characters


def block_in(packed: bytes) -> SectionBlock:
    """DecodeError where it is damaged."""
    try:
        return _BLOCK.decode(zlib.decompress(packed))
    except zlib.error as error:
        raise msgspec.DecodeError(str(error)) from error


def _packed(block: SectionBlock) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(block))


def _entries(sections: Sequence[ChunkRecord], texts: Sequence[str], places: range) -> tuple[_Entry, ...]:
    return tuple(
        _Entry(
            section.ordinal,
            section.trail,
            len(section.title),
            section.level,
            section.anchor,
            section.start,
            len(texts[place]),
            section.line,
            section.end_line - section.line,
            section.tokens,
            section.kinds,
        )
        for place in places
        for section in (sections[place],)
    )
