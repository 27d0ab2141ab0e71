"""What purged text looks like: many pieces are found as one by one."""

import random

from clew.memory.purge.traces import _FEW, SearchedFile, Traces


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
    page = SearchedFile(b"# Keys\n\nThe **key** of the\nlamp room: `tideTable`, <b>old</b>.\n")
    for piece in ("the key of the lamp room", "tide table", "tidetable", "Lamp room: `tideTable`"):
        assert page.says(piece), piece
    for piece in ("the key of the rope room", "old key", "***"):
        assert not page.says(piece), piece
    assert SearchedFile("the KEY of".encode("utf-16-le")).says("key of")


# Verifies: REQ-d00320-D
def test_a_short_piece_is_found_only_as_a_whole_line_or_value() -> None:
    found = Traces(["Yes"])
    for text in ("yes", " YES \n", "He was asked:\nyes\nSo be it."):
        assert (found.in_text(text), found.pieces_in(text)) == (True, {"yes"}), text
        assert found.in_value({"text": [text]})
    for text in ("yesterday", "yes, he said", "the eyes"):
        assert (found.in_text(text), found.pieces_in(text)) == (False, set()), text
        assert not found.in_bytes(text.encode())
    for data in (b"yes", b"a\nyes\r\nb", b'{"text": "yes"}', b'["a\\nyes\\nb"]', "yes".encode("utf-16-le")):
        assert found.in_bytes(data), data
    for data in (b'{"yes": 1}', b'{"yes" : 1}', b'{"text": "say \\"yes\\" or no"}', b"a yes\n", b"yes b\n"):
        assert not found.in_bytes(data), data
    assert not found.inside_texts.in_text("yes")
    assert Traces([], anywhere=["yes"]).in_text("yesterday")


# Verifies: REQ-d00320-D
def test_a_file_says_a_piece_whatever_marks_and_line_ends_are_between_its_words() -> None:
    page = SearchedFile(b"The **key** of the\nlamp room.\n" * 100)
    assert all(page.says(piece) for piece in ("the key of the lamp", "key of the lamp room", "room the key"))
    assert not any(page.says(piece) for piece in ("the lamp of the key", "key of the room", "keys of the lamp"))
