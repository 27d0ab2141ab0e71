"""Long texts in pieces, so that a search by meaning sees all of them.

An encoder looks at the beginning of a text and no further. A text that is longer has a vector for its beginning, as any
other, and one for each of its pieces; it is as near to a query as the nearest of these. Each piece goes with the title:
without it, the middle of a text does not say what it is about. Of pieces of 60 to 250 tokens, those of 100 to 120 found
most (`make bench-kb`).
"""

from itertools import islice

from clew.search.embed import Embedder
from clew.search.evidence import Limits
from clew.search.units import Unit
from clew.search.windows import windows
from clew.text.tokens import estimate_tokens

PIECE_TOKENS = 120
MOST_PIECES = 16
"""A longer text is cut into longer pieces, up to what the encoder looks at."""


def embedded_texts(unit: Unit, embedder: Embedder) -> list[str]:
    """What the vectors of a unit are made of: its text, and where that is too long for the embedder, the pieces."""
    whole = _titled(unit, unit.body)
    if embedder.takes(whole):
        return [whole]
    size = min(max(PIECE_TOKENS, -(-estimate_tokens(unit.body) // MOST_PIECES)), embedder.max_tokens)
    limits = Limits(max_quote_tokens=size, max_quote_chars=len(unit.body))
    found = islice(windows(unit.body, limits), MOST_PIECES)
    return [whole, *(_titled(unit, unit.body[start:end]) for start, end in found)]


def _titled(unit: Unit, text: str) -> str:
    return f"{unit.title}\n{text}" if unit.title else text
