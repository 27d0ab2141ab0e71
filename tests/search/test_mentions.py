"""Titles that texts mention: which count as titles, what is found, in which scope, and how much it weighs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.search.embedded import EmbeddedIndexReader
from clew.search.index import UnitIndex
from clew.search.rank.mentions import (
    MAX_BEARERS,
    MAX_TITLE_WORDS,
    MentionGraph,
    mention_weight,
    mentions,
    title_key,
)
from clew.search.rank.neighbourhood import VisibleTitles
from clew.search.units import Filters, Scope, Unit, compile_condition

SECTIONS = Scope(parts=("section",))


@pytest.fixture
def units(tmp_path: Path) -> Iterator[UnitIndex]:
    index = UnitIndex(tmp_path / "index.db")
    yield index
    index.close()


def section(title: str, body: str = "", part: str = "section") -> Unit:
    return Unit(id=f"{part}/{title}", part=part, title=title, body=body)


def mentioned(units: UnitIndex, text: str, *, lower_case: bool = False) -> list[str]:
    with units.reading() as connection:
        return [
            mention.key
            for mention in mentions(text, VisibleTitles(EmbeddedIndexReader(connection)), lower_case=lower_case)
        ]


def neighbours(units: UnitIndex, title: str, scope: Scope = SECTIONS) -> dict[str, float]:
    """The ids that the unit of this title leads to."""
    with units.reading() as connection:
        ids = dict(connection.execute("SELECT number, id FROM indexed_units").fetchall())
        reading = EmbeddedIndexReader(connection)
        bodies = reading.bodies(list(ids))
        graph = MentionGraph(
            VisibleTitles(reading, compile_condition(scope, Filters())),
            bodies.get,
            reading.units_with,
            reading.totals().units,
        )
        (number,) = (number for number, id in ids.items() if id == f"section/{title}")
        return {ids[target]: weight for target, weight in graph.neighbours(number)}


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("Background indexing", "background indexing"),
        ("Mercury (planet)", "mercury"),
        ("(planet)", "planet"),
        ("The Beatles", "beatles"),
        ("Beyoncé", "beyonce"),
        ("REQ-d00062: Typos", "req d00062 typos"),
        ("snake_case_name", "snake case name"),
        ("用户登录", "用 户 登 录"),
        ("", None),
        ("—", None),
        ("It", None),
        ("The Who", None),
        ("S3", None),
        ("1984 (novel)", None),
        (" ".join(["word"] * (MAX_TITLE_WORDS + 1)), None),
    ],
)
def test_a_title_is_compared_by_its_words(title: str, key: str | None) -> None:
    assert title_key(title) == key


# Verifies: REQ-d00033-A
def test_a_title_of_several_words_is_mentioned_in_any_case_and_across_lines(units: UnitIndex) -> None:
    units.put([section("Background indexing"), section("Typo tolerance")])
    assert mentioned(units, "While background\nindexing runs; see also: TYPO-Tolerance.") == [
        "background indexing",
        "typo tolerance",
    ]


# Verifies: REQ-d00033-A
def test_a_title_of_one_word_needs_a_capital_in_a_text_but_not_in_a_query(units: UnitIndex) -> None:
    units.put([section("Search")])
    assert mentioned(units, "where people search") == []
    assert mentioned(units, "as described under Search") == ["search"]
    assert mentioned(units, "how does search work", lower_case=True) == ["search"]


# Verifies: REQ-d00033-A
def test_the_longest_title_is_meant_and_none_inside_it(units: UnitIndex) -> None:
    units.put([section("New York"), section("New York Times"), section("York Times Square"), section("Times")])
    assert mentioned(units, "The New York Times Square") == ["new york times"]
    assert mentioned(units, "New York, Times") == ["new york times"]
    assert mentioned(units, "New York and Times") == ["new york", "times"]


# Verifies: REQ-d00033-A
def test_titles_are_found_in_scripts_without_blanks(units: UnitIndex) -> None:
    units.put([section("用户登录")])
    assert mentioned(units, "请参阅用户登录的说明") == ["用 户 登 录"]


# Verifies: REQ-d00033-A
def test_a_title_that_very_many_units_bear_names_none_of_them(units: UnitIndex) -> None:
    same = [Unit(id=f"s{n}", part="section", title="First Steps", body="") for n in range(MAX_BEARERS + 1)]
    units.put(same[:-1])
    assert mentioned(units, "see First Steps") == ["first steps"]
    units.put(same[-1:])
    assert mentioned(units, "see First Steps") == []


# Verifies: REQ-d00033-A
def test_new_changed_and_deleted_titles_count_at_once(units: UnitIndex) -> None:
    units.put([section("Overview", "It rests on the Signed Cursor and on Quiet Hours.")])
    assert neighbours(units, "Overview") == {}
    units.put([section("Signed cursor"), section("Quiet hours")])
    assert neighbours(units, "Overview").keys() == {"section/Signed cursor", "section/Quiet hours"}
    units.delete(["section/Quiet hours"])
    assert neighbours(units, "Overview").keys() == {"section/Signed cursor"}


# Verifies: REQ-d00033-B
def test_only_titles_in_scope_are_mentioned(units: UnitIndex) -> None:
    secret = section("Signed cursor", part="memory")
    units.put([section("Overview", "It rests on the Signed Cursor."), secret])
    assert neighbours(units, "Overview") == {}
    assert neighbours(units, "Overview", Scope(parts=("section", "memory"))).keys() == {secret.id}


# Verifies: REQ-d00033-A
def test_a_rare_title_weighs_more_than_one_made_of_common_words_and_a_shared_one_less(units: UnitIndex) -> None:
    common = [section(f"Note {n}", "about the search index") for n in range(30)]
    shared = [Unit(id=f"shared{n}", part="section", title="Quiet hours", body="") for n in range(2)]
    units.put([*common, *shared, section("Signed cursor"), section("Search index")])
    units.put([section("Overview", "Signed cursor, quiet hours, search index; Overview again.")])
    found = neighbours(units, "Overview")
    assert found.keys() == {"section/Signed cursor", "section/Search index", "shared0", "shared1"}
    assert found["section/Signed cursor"] > found["shared0"] == found["shared1"]
    assert found["section/Signed cursor"] > found["section/Search index"] > 0


@given(st.integers(1, 20), st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_weight_of_a_mention_is_above_0_and_at_most_1(bearers: int, units: int, all_units: int) -> None:
    assert 0 < mention_weight(bearers, units, all_units) <= 1 / bearers


class Listed:
    """Titles that are a plain list, for comparison."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys

    def title_beginnings(self, beginnings: Sequence[str]) -> list[str]:
        return [start for start in beginnings if any(f"{key} ".startswith(f"{start} ") for key in self._keys)]

    def units_titled(self, keys: Sequence[str]) -> Mapping[str, Sequence[int]]:
        return {key: [self._keys.index(key)] for key in keys if key in self._keys}


WORDS = st.sampled_from(["Alpha", "beta", "Gamma", "the", "of", "Été", "delta7", "路"])


@settings(max_examples=examples(300))
@given(st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), max_size=6), st.lists(WORDS, max_size=25))
def test_what_is_found_is_what_comparing_every_title_at_every_word_finds(titles: list[str], text: list[str]) -> None:
    keys = sorted({key for title in titles if (key := title_key(title))})
    terms = [title_key(f"x {word}").removeprefix("x ") for word in text]  # type: ignore[union-attr]
    expected = []
    at = 0
    while at < len(text):
        fitting = [
            key
            for key in keys
            if terms[at : at + len(key.split())] == key.split()
            and (not text[at].islower() or (" " in key and terms[at] not in ("the", "of")))
        ]
        if fitting:
            expected.append(max(fitting, key=lambda key: len(key.split())))
        at += len(expected[-1].split()) if fitting else 1
    assert [mention.key for mention in mentions(", ".join(text), Listed(keys))] == expected


def test_a_table_answers_as_a_list_does(units: UnitIndex) -> None:
    titles = ["New York", "New York Times", "New Yorker", "newt", "Été à Paris", "a#b c", "new york-1", "New"]
    units.put(section(title) for title in titles)
    plain = Listed([key for title in titles if (key := title_key(title))])
    asked = ["new york", "new yorker", "new", "new y", "york", "ete a", "a b", "b c", "newt", "new york times"]
    with units.reading() as connection:
        table = VisibleTitles(EmbeddedIndexReader(connection))
        assert sorted(table.title_beginnings(asked)) == sorted(plain.title_beginnings(asked))
        assert table.units_titled(asked).keys() == plain.units_titled(asked).keys()
        assert table.title_beginnings([]) == []
        assert table.units_titled([]) == {}
