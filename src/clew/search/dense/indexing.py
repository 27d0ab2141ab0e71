"""Making the vectors of units: work that takes minutes, and continues after an interruption.

What is left to do is always seen from the index itself: the units that have no vector yet. So nothing is lost when the
process dies, nothing is done twice, and it does not matter which process goes on. One works at a time; units whose text
was embedded before, under another id or before an edit was taken back, need no embedding again.

Long texts go in in pieces, so that a search by meaning sees all of them. An encoder looks at the beginning of a text
and no further. A text that is longer has a vector for its beginning, as any other, and one for each of its pieces; it
is as near to a query as the nearest of these. Each piece goes with the title: without it, the middle of a text does not
say what it is about. Of pieces of 96 to 256 tokens, those of 100 to 160 found most (`make bench-kb`). Encoders cut text
finer than tokens are estimated, code above all, so a piece with its title stays well below what the encoder looks at.

A unit that is quoted is cut into the windows that a quote may hold, each with its title, and nothing else is encoded:
the vector of the whole is the mean of those of its windows. Encoding is nearly all of the time that indexing takes, so
first every unit gets the vector of its first window, with which most of it is found, and then the others follow.
"""

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from clew.edit import below
from clew.edit.locking import locked
from clew.edit.state_folder import make_folder_in
from clew.errors import StoreCorrupt, StoreError
from clew.search.dense.sharing import Embedding, Sharing
from clew.search.dense.spaces import EmbeddingSpace, Spaces
from clew.search.dense.window_vectors import packed
from clew.search.embed.embedder import Embedder
from clew.search.embed.sentence import normalised
from clew.search.embedded import EmbeddedIndexReader
from clew.search.index import UnitIndex
from clew.search.index_tables import is_refilled
from clew.search.quote.evidence import QuoteLimits, fitting_end
from clew.search.quote.windows import windows
from clew.search.units import FIRST, WORDS_ONLY, Unit
from clew.store.sqlite.connections import SqliteConnection
from clew.text.tokens import CHARACTERS_PER_TOKEN_AT_MOST, estimate_tokens

Progress = Callable[[int, int, str], None]
"""Done, total, what is being done. May raise Cancelled, which ends the work where it is."""

TEXTS_AT_ONCE = 64
"""Texts of one batch: the work that is lost, and the longest wait, when indexing is stopped."""
LOCK = "writer.lock"
_SURPLUS_BORNE = 1.25
_REUSED_AT_ONCE = 500
ROUNDS, OTHERS_SECONDS = 30, 1.0
"""Rounds, and seconds of each, that this server waits for texts which another server is encoding."""

log = logging.getLogger(__name__)


class VectorReport(msgspec.Struct, frozen=True, kw_only=True):
    embedder: str | None = None
    embedded: int = 0
    """Texts that went through the embedder."""
    reused: int = 0
    """Texts whose vector was there already."""
    rebuilt: bool = False
    """True if damaged vectors were rewritten."""
    note: str | None = None
    """The reason if nothing was done."""


def index_vectors(
    folder: Path, index: UnitIndex, spaces: Spaces, embedder: Embedder, progress: Progress, sharing: Sharing | None
) -> VectorReport:
    """Make the missing vectors of units in files. With `sharing`, no server encodes a text that another one has
    encoded."""
    make_folder_in(folder)
    with os.fdopen(below.open_file(folder / LOCK, os.O_RDWR | os.O_CREAT), "r+b") as file, locked(file, 0.0) as held:
        if not held:
            return VectorReport(embedder=embedder.name, note="Another process is making the vectors.")
        return _Work(index, spaces, embedder, progress, sharing).run()


class Unencoded(Protocol):
    """The texts of one index that have no vectors yet."""

    def pending(self) -> dict[str, list[int]]:
        """Units without a vector by the hash of their text, short texts first."""
        ...

    def units_of(self, numbers: Iterable[int]) -> dict[int, Unit]: ...

    def give(self, texts: Mapping[str, Sequence[int]], known: Mapping[str, Embedding]) -> int:
        """Store known vectors for units with these texts. Returns the number of these units."""
        ...


class Encoded(NamedTuple):
    embedded: int
    reused: int
    is_complete: bool
    """False if another server still encodes texts of this index."""


def encode_together(texts: Unencoded, sharing: Sharing, embedder: Embedder, progress: Progress) -> Encoded:
    """Make the vectors of all units. Servers that share embeddings encode each text once."""
    number = sharing.number_of(embedder.name, embedder.dimensions)
    embedded = reused = waits = 0
    while pending := texts.pending():
        before, total = embedded + reused, embedded + reused + len(pending)
        progress(before, total, "Embedding")
        hashes, left = list(pending), []
        for start in range(0, len(hashes), _REUSED_AT_ONCE):
            some = hashes[start : start + _REUSED_AT_ONCE]
            known = sharing.get(number, some)
            reused += texts.give({hash: pending[hash] for hash in known}, known)
            left += [hash for hash in some if hash not in known]
        for start in range(0, len(left), TEXTS_AT_ONCE):
            progress(embedded + reused, total, "Embedding")
            own = {hash: pending[hash] for hash in left[start : start + TEXTS_AT_ONCE]}
            made, by_others = _encode_claimed(texts, sharing, embedder, number, own)
            embedded += made
            reused += by_others
        if embedded + reused == before:
            # Others are encoding all that is left.
            waits += 1
            if waits > ROUNDS:
                return Encoded(embedded, reused, is_complete=False)
            time.sleep(OTHERS_SECONDS)
    return Encoded(embedded, reused, is_complete=True)


def _encode_claimed(
    texts: Unencoded, sharing: Sharing, embedder: Embedder, number: int, some: dict[str, list[int]]
) -> tuple[int, int]:
    """Encode the texts that no other server encodes. Returns their number, and the number of texts that others encoded
    meanwhile."""
    units = texts.units_of(numbers[0] for numbers in some.values())
    by_hash = {hash: units[numbers[0]] for hash, numbers in some.items() if numbers[0] in units}
    with sharing.claimed(number, list(by_hash)) as (claim, own):
        made = dict(encoded(embedder, {hash: by_hash[hash] for hash in own}))
        claim.put(made)
        by_others = dict(claim.known)
    texts.give(some, {**by_others, **made})
    return len(made), len(by_others)


_Embed = Callable[["EmbeddingSpace", Sequence["_Text"], Sequence[Sequence[str]]], None]


class _Text(NamedTuple):
    """A unit without a vector."""

    number: int
    characters: int


class _Work:
    def __init__(
        self,
        index: UnitIndex,
        spaces: Spaces,
        embedder: Embedder,
        progress: Progress,
        sharing: Sharing | None,
    ) -> None:
        self._index = index
        self._sharing = sharing
        self._spaces = spaces
        self._embedder = embedder
        self._progress = progress
        self._embedded = 0
        self._reused = 0

    def run(self) -> VectorReport:
        with self._index.reading() as connection:
            known = self._spaces.recorded(connection).get(self._embedder.name)
        if known is None:
            self._spaces.register(self._embedder, complete=False)
        space, rebuilt = self._sound_space()
        # Units may come in while others are embedded: one more look, and the rest is for the next run.
        for _ in range(2):
            if pending := self._pending():
                self._reuse(pending)
                self._share(space)
                self._embed(space, self._pending(), self._embed_group)
            self._embed(space, self._without_windows(), self._embed_windows)
        if self._embedded or self._reused or rebuilt or known is None or not known.complete:
            self._spaces.register(self._embedder, complete=True)
            self._spaces.drop_all_but(self._embedder.name)
        self._tidy(space)
        return VectorReport(embedder=self._embedder.name, embedded=self._embedded, reused=self._reused, rebuilt=rebuilt)

    def _sound_space(self) -> tuple[EmbeddingSpace, bool]:
        space = self._spaces.space(self._embedder)
        try:
            with self._index.reading() as connection:
                space.vectors.view(connection).check()
        except StoreCorrupt:
            self._progress(0, 0, "The vectors are damaged; writing them again")
            space.vectors.drop_malformed()
            space.vectors.fold()
            return space, True
        return space, False

    def _pending(self) -> list[_Text]:
        """The units without a vector, short texts first."""
        with self._index.reading() as connection:
            return [_Text(number, size) for number, size, _ in _without_vectors(connection, self._embedder.name)]

    def _without_windows(self) -> list[_Text]:
        """The units that are quoted and have the vector of their first window only."""
        find = """
            SELECT units.number, characters FROM indexed_units AS units
            JOIN embeddings ON embeddings.embedder = ? AND embeddings.number = units.number
            WHERE quoted AND windows IS NULL ORDER BY units.number
            """
        with self._index.reading() as connection:
            return [_Text(*row) for row in connection.execute(find, (self._embedder.name,)).fetchall()]

    def _reuse(self, pending: Sequence[_Text]) -> None:
        """Give units the vectors that were made of the same text before."""
        copy = """
            INSERT INTO embeddings (embedder, number, text_hash, vectors, windows)
            SELECT known.embedder, units.number, units.text_hash, known.vectors, known.windows
            FROM json_each(?2) AS wanted
            CROSS JOIN indexed_units AS units ON units.number = wanted.value
            CROSS JOIN embeddings AS known ON known.row = (
                SELECT row FROM embeddings WHERE embedder = ?1 AND text_hash = units.text_hash LIMIT 1
            )
            """
        for start in range(0, len(pending), _REUSED_AT_ONCE):
            numbers = [text.number for text in pending[start : start + _REUSED_AT_ONCE]]
            with self._index.writing() as connection:
                wanted = msgspec.json.encode(numbers).decode()
                self._reused += connection.execute(copy, (self._embedder.name, wanted)).rowcount

    def _share(self, space: EmbeddingSpace) -> None:
        """Take embeddings from other servers, and encode the rest for all. If the database does not answer, this
        process encodes alone."""
        if self._sharing is None:
            return
        try:
            done = encode_together(_TextsOfFile(self._index, space), self._sharing, self._embedder, self._progress)
        except StoreError as error:
            log.warning("Embeddings are not shared: %s", error)
        else:
            self._embedded += done.embedded
            self._reused += done.reused

    def _embed(self, space: EmbeddingSpace, pending: Sequence[_Text], embed: "_Embed") -> None:
        first = embed == self._embed_group
        total = len(pending)
        message = (
            "Embedding the beginning of each text"
            if first
            else "Embedding the other text (semantic search already works)"
        )
        for start in range(0, total, TEXTS_AT_ONCE):
            self._progress(start, total, message)
            part = pending[start : start + TEXTS_AT_ONCE]
            with self._index.asked() as reading:
                units = reading.units_of(text.number for text in part)
            # A unit that was taken out in the meantime needs no vector any more.
            present = [text for text in part if text.number in units]
            made_of = [embedded_texts(units[text.number], self._embedder, first=first) for text in present]
            for done, group in groups([len(texts) for texts in made_of]):
                if done:
                    self._progress(start + done, total, message)
                embed(space, present[group], made_of[group])
        if total:
            self._progress(total, total, message)

    def _embed_group(self, space: EmbeddingSpace, texts: Sequence[_Text], made_of: Sequence[Sequence[str]]) -> None:
        import numpy as np

        vectors = self._embedder.embed([each for some in made_of for each in some])
        counts = [len(some) for some in made_of]
        space.vectors.put(np.repeat([text.number for text in texts], counts), vectors)
        self._embedded += len(texts)
        _fold(self._index, space)

    def _embed_windows(self, space: EmbeddingSpace, texts: Sequence[_Text], made_of: Sequence[Sequence[str]]) -> None:
        import numpy as np

        # The first window of each has its vector already.
        with self._index.reading() as connection:
            numbers, first = space.vectors.get(connection, [text.number for text in texts])
        known = dict(zip(numbers.tolist(), first, strict=True))
        made = iter(self._embedder.embed([each for some in made_of for each in some[1:]]))
        windows = {
            text.number: np.stack([known[text.number], *islice(made, len(some) - 1)])
            for text, some in zip(texts, made_of, strict=True)
            if text.number in known
        }
        means = normalised(np.stack([own.mean(axis=0) for own in windows.values()])) if windows else first
        space.vectors.put([*windows], means, [packed(own) for own in windows.values()])
        _fold(self._index, space)

    def _tidy(self, space: EmbeddingSpace) -> None:
        """Fold new vectors into the file, and free the space of deleted ones."""
        forgotten = self._forget_old_texts()
        with self._index.reading() as connection:
            fold = forgotten or space.vectors.wants_folding(connection)
        if fold:
            space.vectors.fold()
        with self._index.reading() as connection:
            view = space.vectors.view(connection)
        if space.vectors.wants_approximate(view):
            self._progress(0, 0, "Building the approximate index")
            space.vectors.build_approximate(view)
        self._index.tidy()

    def _forget_old_texts(self) -> bool:
        """Drop the vectors of units that are gone, once they are a good part of all: the same text may come again.
        Whether that was done."""
        with self._index.reading() as connection:
            if is_refilled(connection):
                return False
            (kept,) = connection.execute("SELECT count(*) FROM embeddings").fetchone()
            units = sum(EmbeddedIndexReader(connection).parts().values())
        if kept <= units * _SURPLUS_BORNE + TEXTS_AT_ONCE:
            return False
        with self._index.writing() as connection:
            gone = "number NOT IN (SELECT number FROM indexed_units)"
            dropped = connection.execute(f"DELETE FROM embeddings WHERE {gone}")  # noqa: S608
            return dropped.rowcount > 0


class _TextsOfFile:
    """Texts of an index in a file that have no vectors in a space."""

    def __init__(self, index: UnitIndex, space: EmbeddingSpace) -> None:
        self._index = index
        self._space = space

    def pending(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        with self._index.reading() as connection:
            for number, _, hash in _without_vectors(connection, self._space.embedder.name):
                found.setdefault(hash, []).append(number)
        return found

    def units_of(self, numbers: Iterable[int]) -> dict[int, Unit]:
        with self._index.asked() as reading:
            return reading.units_of(numbers)

    def give(self, texts: Mapping[str, Sequence[int]], known: Mapping[str, Embedding]) -> int:
        import numpy as np

        plain = [(number, known[hash]) for hash, own in texts.items() if hash in known for number in own]
        for windowed in (False, True):
            rows = [(number, each) for number, each in plain if (each.windows is not None) == windowed]
            if rows:
                numbers = np.repeat([number for number, _ in rows], [len(each.vectors) for _, each in rows])
                vectors = np.concatenate([each.vectors for _, each in rows])
                windows = [each.windows for _, each in rows if each.windows is not None] if windowed else None
                self._space.vectors.put(numbers, vectors, windows)
        _fold(self._index, self._space)
        return len(plain)


def _without_vectors(connection: SqliteConnection, embedder: str) -> list[tuple[int, int, str]]:
    """Number, characters and text hash of units without a vector: the parts that come first, and short texts first."""
    find = """
        SELECT number, characters, text_hash FROM indexed_units AS units
        WHERE NOT EXISTS (SELECT 1 FROM embeddings WHERE embedder = ? AND embeddings.number = units.number)
            AND part NOT IN (SELECT value FROM json_each(?))
        ORDER BY part NOT IN (SELECT value FROM json_each(?)), characters, number
        """
    without, first = (msgspec.json.encode(sorted(parts)).decode() for parts in (WORDS_ONLY, FIRST))
    return connection.execute(find, (embedder, without, first)).fetchall()


def _fold(index: UnitIndex, space: EmbeddingSpace) -> None:
    with index.reading() as connection:
        fold = space.vectors.wants_folding(connection)
    if fold:
        space.vectors.fold()


def encoded(embedder: Embedder, units: dict[str, Unit]) -> Iterator[tuple[str, Embedding]]:
    """Embeddings of the texts of some units, by their hashes: all of them in one go."""
    import numpy as np

    hashes = list(units)
    made_of = [embedded_texts(units[hash], embedder) for hash in hashes]
    for _, group in groups([len(texts) for texts in made_of]):
        vectors = iter(embedder.embed([text for texts in made_of[group] for text in texts]))
        for hash, texts in zip(hashes[group], made_of[group], strict=True):
            own = np.stack([next(vectors) for _ in texts])
            if units[hash].quoted:
                yield hash, Embedding(normalised(own.mean(axis=0)[None]), packed(own))
            else:
                yield hash, Embedding(own, None)


def groups(sizes: Sequence[int]) -> Iterator[tuple[int, slice]]:
    """Groups of units, each with the place of its first unit: as many as have TEXTS_AT_ONCE texts together, or one."""
    start = texts = 0
    for place, size in enumerate(sizes):
        if start < place and texts + size > TEXTS_AT_ONCE:
            yield start, slice(start, place)
            start, texts = place, 0
        texts += size
    if sizes:
        yield start, slice(start, len(sizes))


PIECE_TOKENS = 120
MOST_PIECES = 64
"""A longer text is cut into longer pieces, as long as the encoder looks at all of each. What comes after the last one
is found by its words."""
_PIECE_SHARE, _TITLE_SHARE = 0.625, 0.25
"""Of what an encoder looks at."""
_GROWTH = 1.15
WINDOW = QuoteLimits()
"""As much as one quote may hold, unless the caller asks for another size."""
_LONGEST_QUOTED = 100_000
"""A longer text is no section; what comes after is found by its words."""


def embedded_texts(unit: Unit, embedder: Embedder, *, first: bool = False) -> list[str]:
    """The texts of a unit that get vectors: its text, or its pieces if that is too long for the embedder. For a quoted
    unit its windows, or only the first of them."""
    if unit.quoted:
        cuts = window_spans(unit.body)[: 1 if first else None] or [(0, 0)]
        title = _short_title(unit, embedder)
        return [_titled(title, unit.body[start:end]) for start, end in cuts]
    whole = _titled(unit.title, unit.body)
    if embedder.takes(whole):
        return [whole]
    title = _short_title(unit, embedder)
    return [whole, *(_titled(title, piece) for piece in _pieces(unit.body, _share(embedder, _PIECE_SHARE)))]


def window_spans(body: str) -> list[tuple[int, int]]:
    """The windows of a text that have vectors of their own, as offsets."""
    return list(islice(windows(body[:_LONGEST_QUOTED], WINDOW), MOST_PIECES))


def _short_title(unit: Unit, embedder: Embedder) -> str:
    return unit.title[: fitting_end(unit.title, 0, len(unit.title), max_tokens=_share(embedder, _TITLE_SHARE))]


def _pieces(body: str, largest: int) -> list[str]:
    # No piece holds more than this, so megabytes need not be read.
    body = body[: MOST_PIECES * largest * CHARACTERS_PER_TOKEN_AT_MOST]
    size = min(largest, max(PIECE_TOKENS, estimate_tokens(body) // MOST_PIECES))
    while True:
        found = list(windows(body, QuoteLimits(max_quote_tokens=size, max_quote_chars=max(1, len(body)))))
        if len(found) <= MOST_PIECES or size == largest:
            return [body[start:end] for start, end in found[:MOST_PIECES]]
        size = min(largest, int(size * _GROWTH) + 1)


def _share(embedder: Embedder, share: float) -> int:
    return max(1, int(embedder.max_tokens * share))


def _titled(title: str, text: str) -> str:
    return f"{title}\n{text}" if title else text
