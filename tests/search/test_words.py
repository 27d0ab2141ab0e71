"""How text is cut into words and compounds, and how words are stemmed."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.stem import stem
from clew.text.words import MAX_WORD_CHARACTERS, split, terms, words

_ENDINGS = ("", "ing", "ed", "ation", "ational", "fulness", "iveness", "ization", "ly", "s")


@pytest.mark.parametrize(
    ("text", "expected_words", "expected_compounds"),
    [
        ("getUserById", "get user by id", "getuserbyid"),
        ("get_user_by_id", "get user by id", "getuserbyid"),
        ("kebab-case", "kebab case", "kebabcase"),
        ("--read-only", "read only", "readonly"),
        ("REQ-d00062-A", "req d00062 a", "reqd00062a reqd00062"),
        ("REQ-d00062", "req d00062", "reqd00062"),
        ("v4.4.1", "4.4.1", "v4.4.1"),
        ("10.0.0.1", "10.0.0.1", ""),
        ("S3", "s3", ""),
        ("getS3Object", "get s3 object", "gets3object"),
        ("HTTPServer2", "http server 2", "httpserver2"),
        ("URLs and IDs", "urls and ids", ""),
        ("iOS GHz", "ios ghz", ""),
        ("sha256 utf-8", "sha 256 utf 8", "sha256 utf8"),
        ("x86_64", "x86 64", "x86-64"),
        ("2026-11-15", "2026 11 15", "2026-11-15"),
        ("30ms 1.5MB", "30 ms 1.5 mb", "30ms 1.5mb"),
        ("1,400 units", "1400 units", ""),
        ("one, 400", "one 400", ""),
        ("C++ C# .NET", "c c net", "c++ c#"),
        ("__init__", "init", ""),
        ("src/clew/test_words.py", "src clew test words py", "testwordspy testwords"),
        ("bob@example.com", "bob example com", "examplecom"),
        ("a1b2c3d4e5 0x1F", "a1b2c3d4e5 0x1f", ""),
        ("don't the agent's", "dont the agents", ""),
        ("", "", ""),
        ("___ -- ...", "", ""),
    ],
)
def test_identifiers_give_their_words_and_the_whole(text: str, expected_words: str, expected_compounds: str) -> None:
    found = split(text)
    assert (found.words, found.compounds) == (expected_words.split(), expected_compounds.split())


@pytest.mark.parametrize(
    ("text", "expected_words", "expected_compounds"),
    [
        ("Caf\u00e9 na\u00efve \u00c9COLE", "cafe naive ecole", ""),
        ("cafe\u0301", "cafe", ""),
        ("stra\u00dfe", "strasse", ""),
        ("co\u00adoperate", "cooperate", ""),
        ("don\u2019t", "dont", ""),
        ("\uff21\uff22\uff23 \uff11\uff12", "abc 12", ""),
        ("\u0663\u0664", "34", ""),
        ("\u041f\u0440\u0438\u0432\u0435\u0442", "\u043f\u0440\u0438\u0432\u0435\u0442", ""),
        ("\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f", "\u0645\u062d\u0645\u062f", ""),
        ("\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd", "\u05e9\u05dc\u05d5\u05dd", ""),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939\u093f\u0928\u094d\u0926\u0940", ""),
        ("\u691c\u7d22\u5f0f", "\u691c \u7d22 \u5f0f", "\u691c\u7d22 \u7d22\u5f0f"),
        ("\u7d22", "\u7d22", ""),
        ("\uac80\uc0c9\uc744", "\uac80\uc0c9\uc744", "\uac80\uc0c9 \uc0c9\uc744"),
        ("ok \u2705 \U0001f680", "ok \u2705 \U0001f680", ""),
        ("nul\x00byte \ud800", "nul byte", ""),
    ],
)
def test_scripts_accents_and_signs_are_brought_to_one_form(
    text: str, expected_words: str, expected_compounds: str
) -> None:
    found = split(text)
    assert (found.words, found.compounds) == (expected_words.split(), expected_compounds.split())


def test_each_word_says_which_characters_of_the_text_it_stands_for() -> None:
    text = "See REQ-d00062-A: caf\u00e9\u0301s don't."
    assert [(word.text, text[word.start : word.end], word.compound) for word in words(text)] == [
        ("see", "See", False),
        ("reqd00062a", "REQ-d00062-A", True),
        ("reqd00062", "REQ-d00062", True),
        ("req", "REQ", False),
        ("d00062", "d00062", False),
        ("a", "A", False),
        ("cafes", "caf\u00e9\u0301s", False),
        ("dont", "don't", False),
    ]


def test_a_word_without_end_is_cut_and_a_compound_without_end_left_out() -> None:
    assert split("x" * 1_000_000).words == ["x" * MAX_WORD_CHARACTERS]
    long = split("_".join(["part"] * 100_000))
    assert len(long.words) == 100_000
    assert all(len(compound) <= MAX_WORD_CHARACTERS for compound in long.compounds)


def test_terms_are_stems_in_order_and_keep_stop_words_and_identifiers() -> None:
    assert terms("The flowing of flows in REQ-d00062") == ["the", "flow", "of", "flow", "in", "req", "d00062"]


@pytest.mark.parametrize(
    "family",
    [
        "connect connects connected connecting connection connections",
        "require requires required requiring requirement requirements",
        "verify verifies verified verifying",
        "index indexed indexing",
        "hop hopped hopping",
        "agree agreed agreeing",
        "rational rationally",
        "hopeful hopefulness",
        "general generally generalization",
        "die dying",
        "proceed proceeds proceeding",
        "sky skies",
    ],
)
def test_words_of_one_family_have_one_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("flowing", "flow"),
        ("ational", "ation"),
        ("conspicuously", "conspicu"),
        ("paste", "paste"),
        ("pasted", "paste"),
        ("gently", "gentl"),
        ("hesitancy", "hesit"),
        ("geologist", "geolog"),
        ("yellow", "yellow"),
        ("kinkajous", "kinkaj"),
    ],
)
def test_stems_follow_the_porter2_rules_that_stored_indexes_were_made_with(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_threads_that_stem_at_once_get_the_stems_of_one_thread() -> None:
    found = [
        f"{start}{middle}{end}" for start in ("con", "re", "un") for middle in ("nect", "quir") for end in _ENDINGS
    ]
    expected = [stem(word) for word in found]
    stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        for stems in pool.map(lambda _: [stem.__wrapped__(word) for word in found], range(16)):
            assert stems == expected


@pytest.mark.parametrize(
    "strangers", ["generate general", "university universe", "news new", "inning in", "past pass", "organ organization"]
)
def test_words_that_only_look_alike_keep_apart(strangers: str) -> None:
    one, other = strangers.split()
    assert stem(one) != stem(other)


@pytest.mark.parametrize("word", ["s3", "d00062", "4.4.1", "caf\u00e9", "\u691c", "is", "sky", "bus"])
def test_what_is_no_english_word_in_lower_case_letters_or_too_short_is_its_own_stem(word: str) -> None:
    assert stem(word) == word


@given(st.text())
def test_any_text_gives_words_inside_it_in_its_order(text: str) -> None:
    found = words(text)
    assert [word.start for word in found] == sorted(word.start for word in found)
    assert all(0 <= word.start < word.end <= len(text) and word.text for word in found)
    assert split(text).words == [word.text for word in found if not word.compound]
    assert split(text).compounds == [word.text for word in found if word.compound]


@given(st.text())
def test_words_hold_nothing_that_separates_or_quotes(text: str) -> None:
    for word in words(text):
        assert all(character.isalnum() or character in "-.+#" or not character.isascii() for character in word.text)
        assert word.text == word.text.lower()
        word.text.encode()


@given(st.from_regex(r"\A[a-z]{1,20}\Z"))
def test_a_stem_is_not_empty_nor_longer_than_its_word_by_more_than_a_letter(word: str) -> None:
    assert 0 < len(stem(word)) <= len(word) + 1
