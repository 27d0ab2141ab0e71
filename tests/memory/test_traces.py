"""What purged text looks like: many pieces are found as one by one."""

import random

from clew.memory.purge.traces import _FEW, Traces, is_said


# Verifies: REQ-d00320-A
def test_many_pieces_are_found_as_each_is_found_alone() -> None:
    chance = random.Random(7)
    words = ["harbour", "Lamp", "ROPE", "ünder", "key", "4711", "of", "the"]
    pieces = [" ".join(chance.choices(words, k=chance.randrange(3, 9))) for _ in range(20 * _FEW)]
    many = Traces(pieces)
    for _ in range(300):
        text = " ".join(chance.choices(words, k=chance.randrange(1, 30)))
        alone = {piece.casefold() for piece in pieces if Traces([piece]).in_text(text)}
        assert many.pieces_in(text) == alone
        assert many.in_text(text) == bool(alone)
        for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
            assert many.in_bytes(text.encode(encoding)) == bool(alone)
    assert not many.in_bytes(b"nothing " * 1000)


# Verifies: REQ-d00320-D
def test_a_file_says_what_was_made_of_it_in_other_marks() -> None:
    page = b"# Keys\n\nThe **key** of the\nlamp room: `tideTable`, <b>old</b>.\n"
    for piece in ("the key of the lamp room", "tide table", "tidetable", "Lamp room: `tideTable`"):
        assert is_said(piece, page), piece
    for piece in ("the key of the rope room", "old key", "***"):
        assert not is_said(piece, page), piece
    assert is_said("key of", "the KEY of".encode("utf-16-le"))
