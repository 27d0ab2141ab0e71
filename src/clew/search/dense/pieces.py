"""Long texts in pieces, so that a search by meaning sees all of them.

An encoder looks at the beginning of a text and no further. A text that is longer has a vector for its beginning, as any
other, and one for each of its pieces; it is as near to a query as the nearest of these. Each piece goes with the title:
without it, the middle of a text does not say what it is about. Of pieces of 96 to 256 tokens, those of 100 to 160 found
most (`make bench-kb`). Encoders cut text finer than tokens are estimated, code above all, so a piece with its title
stays well below what the encoder looks at.
"""

from clew.search.embed import Embedder
from clew.search.quote.evidence import Limits, fitting_end
from clew.search.quote.windows import windows
from clew.search.units import Unit
from clew.text.tokens import CHARACTERS_PER_TOKEN_AT_MOST, estimate_tokens

PIECE_TOKENS = 120
MOST_PIECES = 64
"""A longer text is cut into longer pieces, as long as the encoder looks at all of each. What comes after the last one
is found by its words."""
_PIECE_SHARE, _TITLE_SHARE = 0.625, 0.25
"""Of what an encoder looks at."""
_GROWTH = 1.15


def embedded_texts(unit: Unit, embedder: Embedder) -> list[str]:
    """What the vectors of a unit are made of: its text, and where that is too long for the embedder, the pieces."""
    whole = _titled(unit.title, unit.body)
    if embedder.takes(whole):
        return [whole]
    title = unit.title[: fitting_end(unit.title, 0, len(unit.title), max_tokens=_share(embedder, _TITLE_SHARE))]
    return [whole, *(_titled(title, piece) for piece in _pieces(unit.body, _share(embedder, _PIECE_SHARE)))]


def _pieces(body: str, largest: int) -> list[str]:
    # More than this is in no piece, and nobody has to read megabytes to know that.
    body = body[: MOST_PIECES * largest * CHARACTERS_PER_TOKEN_AT_MOST]
    size = min(largest, max(PIECE_TOKENS, estimate_tokens(body) // MOST_PIECES))
    while True:
        found = list(windows(body, Limits(max_quote_tokens=size, max_quote_chars=max(1, len(body)))))
        if len(found) <= MOST_PIECES or size == largest:
            return [body[start:end] for start, end in found[:MOST_PIECES]]
        size = min(largest, int(size * _GROWTH) + 1)


def _share(embedder: Embedder, share: float) -> int:
    return max(1, int(embedder.max_tokens * share))


def _titled(title: str, text: str) -> str:
    return f"{title}\n{text}" if title else text
