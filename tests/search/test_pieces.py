"""What the vectors of a unit are made of: its text, and where that is too long, all of it in pieces."""

import pytest

from clew.config import EmbedSettings
from clew.search.dense.indexing import MOST_PIECES, PIECE_TOKENS, embedded_texts
from clew.search.embed.embedder import Embedder
from clew.search.embed.opening import open_embedder
from clew.search.units import Unit
from clew.text.tokens import estimate_tokens


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    opened = open_embedder(EmbedSettings())
    assert opened is not None
    return opened


def unit(body: str, title: str = "Rooms") -> Unit:
    return Unit(id="long", part="section", title=title, body=body)


# Verifies: REQ-d00031-G
@pytest.mark.parametrize("sentences", [20, 90, 180, 400])
def test_the_pieces_hold_all_of_a_text_and_the_embedder_takes_each(embedder: Embedder, sentences: int) -> None:
    body = " ".join(f"In room {number} the desk, the shelf and the lamp are open." for number in range(sentences))
    whole, *pieces = embedded_texts(unit(body), embedder)
    assert whole == f"Rooms\n{body}"
    assert len(pieces) <= MOST_PIECES
    assert " ".join(piece.removeprefix("Rooms\n") for piece in pieces) == body
    assert all(embedder.takes(piece) for piece in pieces)


# Verifies: REQ-d00031-G
def test_a_text_that_the_embedder_takes_is_not_cut(embedder: Embedder) -> None:
    assert embedded_texts(unit("The desk is open."), embedder) == ["Rooms\nThe desk is open."]
    assert embedded_texts(unit("The desk is open.", title=""), embedder) == ["The desk is open."]
    assert embedded_texts(unit("", title=""), embedder) == [""]


# Verifies: REQ-d00031-G
def test_a_title_that_is_too_long_for_the_embedder_leaves_room_for_the_pieces(embedder: Embedder) -> None:
    body = " ".join(f"In room {number} the desk is open." for number in range(60))
    _, *pieces = embedded_texts(unit(body, title="A very long title indeed " * 400), embedder)
    assert len(pieces) > 1
    assert all(embedder.takes(piece) for piece in pieces)
    assert len({embedder.embed([piece]).tobytes() for piece in pieces}) == len(pieces)


# Verifies: REQ-d00031-G
@pytest.mark.parametrize(
    "body",
    [
        "word " * 400_000,
        "\u65e5\u672c\u8a9e" * 400_000,
        f"```\n{'x = call(1)' * 100_000}\n```",
        "- item\n" * 200_000,
        " \n" * 500_000 + "word " * 400_000,
    ],
    ids=["one line", "no spaces", "one block of code", "items", "blank"],
)
def test_megabytes_take_no_longer_than_the_pieces_that_are_made_of_them(embedder: Embedder, body: str) -> None:
    whole, *pieces = embedded_texts(unit(body), embedder)
    assert whole.endswith(body)
    assert len(pieces) <= MOST_PIECES
    assert all(estimate_tokens(piece) <= embedder.max_tokens for piece in pieces)


# Verifies: REQ-d00031-G
def test_an_embedder_that_looks_at_hardly_anything_gets_hardly_anything() -> None:
    class Tiny:
        name, dimensions, max_tokens = "tiny", 1, 1

        def takes(self, text: str) -> bool:
            return len(text) <= 1

        def embed(self, texts: object) -> object:
            raise AssertionError

    found = embedded_texts(unit("The desk is open. " * 200), Tiny())  # type: ignore[arg-type]
    assert len(found) == 1 + MOST_PIECES
    assert all(estimate_tokens(piece.partition("\n")[2]) <= PIECE_TOKENS for piece in found[1:])
