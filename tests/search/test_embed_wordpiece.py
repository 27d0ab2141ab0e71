"""Texts become the tokens that the encoder was trained with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.search.embed.minilm import VOCABULARY
from clew.search.embed.wordpiece import WordPiece

# What the model's own tokenizer gives.
KNOWN = (
    ("", []),
    ("Hello, World!", [7592, 1010, 2088, 999]),
    (
        "getUserById REQ-d00062-A",
        [2131, 20330, 3762, 3593, 2128, 4160, 1011, 1040, 8889, 2692, 2575, 2475, 1011, 1037],
    ),
    ("v4.4.1", [1058, 2549, 1012, 1018, 1012, 1015]),
    ("Ünïcödé naïve café", [27260, 15743, 7668]),
    ("漢字かな交じり文", [1904, 100, 1651, 30193, 100, 1657, 30212, 1861]),
    ("안녕하세요 세계", [1463, 30006, 30021, 29992, 30010, 30025, 30005, 30006, 29997, 30009, 29999, 30013, 100]),
    ("مرحبا بالعالم", [1295, 17149, 29820, 29816, 25573, 1271, 25573, 23673, 29830, 25573, 23673, 22192]),
    ("ΣΊΣΥΦΟΣ", [1173, 18199, 29733, 29735, 29736, 29730, 29733]),
    ("a\0b\ufffdc\u200bd", [5925, 2094]),
    ("🙂👍 ok", [100, 7929]),
    ("tabs\tand\nlines\r\n", [21628, 2015, 1998, 3210]),
    ("supercalifragilisticexpialidocious", [3565, 9289, 10128, 29181, 24411, 4588, 10288, 19312, 21273, 10085, 6313]),
    ("x" * 101, [100]),
    ("İstanbul ﬁne", [9960, 1984, 2638]),
    ("don't (nested [brackets])", [2123, 1005, 1056, 1006, 9089, 2098, 1031, 19719, 1033, 1007]),
)
FIRST, LAST, UNKNOWN = 101, 102, 100


@pytest.fixture(scope="module")
def wordpiece() -> WordPiece:
    words = VOCABULARY.read().decode().split("\n")
    return WordPiece({word: number for number, word in enumerate(words) if word})


@pytest.mark.parametrize(("text", "tokens"), KNOWN, ids=[ascii(text)[:20] for text, _ in KNOWN])
def test_tokens_are_those_of_the_models_own_tokenizer(wordpiece: WordPiece, text: str, tokens: list[int]) -> None:
    assert wordpiece.encode(text, 256) == [FIRST, *tokens, LAST]


def test_names_of_special_tokens_in_a_text_are_plain_text(wordpiece: WordPiece) -> None:
    inside = wordpiece.encode("before [SEP] [CLS] [PAD] after", 256)[1:-1]
    assert not {0, FIRST, LAST} & set(inside)


def test_what_does_not_fit_is_cut_off_behind_the_last_token_that_does(wordpiece: WordPiece) -> None:
    text = "one two three four five"
    whole = wordpiece.encode(text, 256)
    assert wordpiece.encode(text, 5) == [*whole[:4], LAST]
    assert wordpiece.encode(text, 7) == whole


@pytest.mark.parametrize(
    "text", ["word " * 200_000, "x" * 1_000_000, "漢字" * 500_000, "\0" * 1_000_000, " " * 1_000_000]
)
def test_a_text_of_a_million_characters_is_tokenized_as_its_beginning(wordpiece: WordPiece, text: str) -> None:
    assert wordpiece.encode(text, 256) == wordpiece.encode(text[:20_000], 256)


@given(st.text(max_size=200), st.integers(3, 64))
def test_any_text_gives_tokens_between_the_markers(wordpiece: WordPiece, text: str, max_tokens: int) -> None:
    ids = wordpiece.encode(text, max_tokens)
    assert (ids[0], ids[-1]) == (FIRST, LAST)
    assert len(ids) <= max_tokens
    assert ids == wordpiece.encode(text, max_tokens)


def test_a_long_text_is_cut_into_segments_without_cutting_words(wordpiece: WordPiece) -> None:
    words = [f"word{number}" for number in range(3000)]
    together = wordpiece.encode(" ".join(words), 10**9)[1:-1]
    assert together == [token for word in words for token in wordpiece.encode(word, 256)[1:-1]]
    assert UNKNOWN not in together
