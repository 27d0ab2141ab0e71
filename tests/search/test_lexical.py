"""Search by words: what is found, in which order, and what a search says about itself."""

from collections.abc import Mapping

import pytest
from tests.search.lexical_index import LexicalIndex

from clew.derived.file import in_memory
from clew.errors import InvalidArgument
from clew.search.lexical import search as lexical
from clew.search.lexical.query import MAX_OPERATORS, parse_query
from clew.search.lexical.ranking import Bm25Settings
from clew.search.lexical.search import Effort, LexicalResult
from clew.search.lexical.tables import SCHEMA
from clew.search.rank.ranking import bm25_settings
from clew.search.rank.recipes import Feedback
from clew.store.sql.conditions import Condition

TEXTS = {
    1: "The gateway shall reject requests without a token.",
    2: "Tokens are refreshed by refreshAccessToken before they expire.",
    3: "The read-only mode refuses every write to the store.",
    4: "REQ-d00062-A: the store shall keep a journal. See v4.4.1.",
    5: "A journal of the store is kept for thirty days.",
    6: "Nothing here is about that.",
}


def index_of(texts: Mapping[int, str] | Mapping[int, tuple[str, str]], **options: object) -> LexicalIndex:
    connection = in_memory(SCHEMA)
    connection.execute("CREATE TABLE indexed_units (number INTEGER PRIMARY KEY, part TEXT)")
    connection.executemany(
        "INSERT INTO indexed_units VALUES (?, ?)", [(unit, "even" if unit % 2 == 0 else "odd") for unit in texts]
    )
    index = LexicalIndex(connection, **options)  # type: ignore[arg-type]
    index.put((unit, *(("", text) if isinstance(text, str) else text)) for unit, text in texts.items())
    return index


def search(index: LexicalIndex, text: str, limit: int = 10, restrict: Condition | None = None) -> LexicalResult:
    return index.search(parse_query(text), limit=limit, restrict=restrict)


def found(index: LexicalIndex, text: str, limit: int = 10, restrict: Condition | None = None) -> list[int]:
    return [hit.unit for hit in search(index, text, limit, restrict).hits]


def test_units_that_hold_more_of_the_words_and_rarer_ones_come_first() -> None:
    assert found(index_of(TEXTS), "journal of the store") == [5, 4, 3]


# Verifies: REQ-d00031-A
def test_a_word_is_found_in_its_other_forms() -> None:
    assert found(index_of(TEXTS), "refreshing requests") == [2, 1]


# Verifies: REQ-d00031-A
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("refreshAccessToken", [2, 1]),
        ("refresh_access_token", [2, 1]),
        ("access", [2]),
        ("readonly", [3]),
        ("read_only", [3]),
        ("REQ-d00062-A", [4]),
        ("REQ-d00062", [4]),
        ("req-D00062", [4]),
        ("d00062", [4]),
        ("v4.4.1", [4]),
        ("4.4.1", [4]),
    ],
)
def test_identifiers_are_found_in_every_spelling_and_by_their_parts(query: str, expected: list[int]) -> None:
    assert found(index_of(TEXTS), query) == expected


def test_the_identifier_itself_comes_before_the_words_it_is_made_of() -> None:
    index = index_of({1: "get a user by the id of the user", 2: "calls getUserById here", 3: "user id user id by get"})
    assert found(index, "getUserById")[0] == 2


def test_a_title_counts_more_than_a_body() -> None:
    index = index_of({1: ("other words", "about caching of pages"), 2: ("caching", "other words about of pages")})
    assert found(index, "caching") == [2, 1]


# Verifies: REQ-d00031-C
def test_a_phrase_is_found_only_where_its_words_stand_side_by_side() -> None:
    index = index_of({1: "shall not fail", 2: "not that it shall fail", 3: "it shall not, ever", 4: "userById is set"})
    assert sorted(found(index, '"shall not"')) == [1, 3]
    assert found(index, '"not shall"') == []
    assert found(index, '"user by id"') == [4]
    assert sorted(found(index, "\u201cshall not\u201d")) == [1, 3]


def test_a_phrase_does_not_reach_from_the_title_into_the_body() -> None:
    index = index_of({1: ("open", "door"), 2: ("", "open door")})
    assert found(index, '"open door"') == [2]


# Verifies: REQ-d00031-C
def test_a_beginning_stands_for_every_word_that_starts_so_however_it_is_stemmed() -> None:
    index = index_of({1: "informed people", 2: "information is power", 3: "in formation", 4: "v4.4.1", 5: "v4.5.0"})
    assert sorted(found(index, "informati*")) == [1, 2]
    assert sorted(found(index, "inform*")) == [1, 2]
    assert found(index, "v4.4*") == [4]
    assert found(index, "zzz*") == []


# Verifies: REQ-d00031-C
def test_plus_requires_and_minus_excludes() -> None:
    index = index_of(TEXTS)
    assert found(index, "store +journal") == [5, 4]
    assert found(index, "store -journal") == [3]
    assert found(index, '+store -"read only"') == [5, 4]
    assert found(index, "+store +token") == []
    assert found(index, "token +refreshAccessToken") == [2]
    assert sorted(found(index, "store -REQ-d00062-A")) == [3, 5]


def test_a_minus_that_is_not_before_a_word_is_text() -> None:
    index = index_of({1: "run with --verbose at -5 degrees", 2: "well - or not"})
    assert found(index, "--verbose") == [1]
    assert found(index, "-5") == [1]
    assert found(index, "degrees - or") == [1]


# Verifies: REQ-d00031-C
def test_an_option_in_a_question_is_what_is_asked_for() -> None:
    texts = {1: "the compiler stops at -mno-fused-madd", 2: "the compiler reads -v", 3: "a compiler of tables"}
    index = index_of(texts)
    assert found(index, "Why does the compiler stop at -mno-fused-madd?")[0] == 1
    assert found(index, "What does -v do?") == [2]
    assert found(index, "compiler -v")[0] == 2
    # Beyond ASCII a single letter may be a word.
    assert found(index_of({1: "lamp \u6c34", 2: "lamp"}), "lamp -\u6c34") == [2]
    assert sorted(found(index, "compiler -stops")) == [2, 3]


# Verifies: REQ-d00031-D
@pytest.mark.parametrize(
    "query",
    [
        *(
            "AND",
            "OR",
            "NOT",
            "NEAR",
            "NEAR(store journal, 2)",
            "store AND NOT",
            "store OR",
            "body:store",
            "{title body}: store",
        ),
        *(
            '"',
            '"""',
            'store"',
            '"store',
            "'store'",
            "store^2",
            "^store",
            "(store",
            "store)",
            "store*",
            "*",
            "**",
            "store**",
        ),
        *(
            "+",
            "-",
            "+-store",
            '+"',
            '-""',
            "store;DROP TABLE units",
            "store\\",
            "store\x00journal",
            "%store%",
            "\ufeffstore",
        ),
        *("store:", "store::journal", "store,journal", "rank", "bm25(lexical)", "store + journal", "a\nstore\tjournal"),
    ],
)
def test_operators_and_quotes_of_the_database_are_plain_text(query: str) -> None:
    result = search(index_of(TEXTS), query)
    assert {hit.unit for hit in result.hits} <= TEXTS.keys()
    if "store" in query and "-store" not in query:
        assert {3, 4, 5} <= {hit.unit for hit in result.hits}


# Verifies: REQ-d00031-D
@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("", lexical.EMPTY_QUERY),
        (" \t\n ... !", lexical.EMPTY_QUERY),
        ("the of and", lexical.ONLY_STOP_WORDS),
        ("don't", lexical.ONLY_STOP_WORDS),
        ("-store", lexical.ONLY_EXCLUSIONS),
        ("qqqq", lexical.NOTHING_FOUND),
        ("+store +qqqq", lexical.NOTHING_FOUND),
    ],
)
def test_a_search_that_finds_nothing_says_why(query: str, reason: str) -> None:
    result = search(index_of(TEXTS), query)
    assert (result.hits, result.reason) == ((), reason)


def test_stop_words_are_searched_for_in_a_phrase_and_when_required() -> None:
    index = index_of({1: "to be or not to be", 2: "be that as it may", 3: "the end"})
    assert found(index, '"to be"') == [1]
    assert sorted(found(index, "+be")) == [1, 2]


# Verifies: REQ-d00031-D
def test_searching_an_empty_index_finds_nothing() -> None:
    assert search(index_of({}), "store journal").reason == lexical.NOTHING_FOUND


# Verifies: REQ-d00031-B
@pytest.mark.parametrize(
    ("typo", "meant"),
    [("jornal", 5), ("jurnal", 5), ("joural", 5), ("juornal", 5), ("gatewey", 1), ("refersed", 2), ("refrseh", 2)],
)
def test_a_misspelt_word_is_corrected_and_the_result_says_so(typo: str, meant: int) -> None:
    result = search(index_of(TEXTS), typo)
    assert meant in [hit.unit for hit in result.hits]
    assert [correction.word for correction in result.corrections] == [typo]


# Verifies: REQ-d00031-B
@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("bills", "the process kills it"),
        ("mail", "the main program may fail"),
        ("nightly", "they are tightly bound"),
        ("strangers", "it is stronger"),
        ("redis", "redir the output"),
        ("pager", "an eager reader of paper"),
        ("banana", "banan"),
    ],
)
def test_a_common_word_and_a_short_name_are_no_slips_of_other_words(word: str, text: str) -> None:
    result = search(index_of({1: text}), word)
    assert (result.hits, result.corrections) == ((), ())


# Verifies: REQ-d00031-B
def test_two_edits_are_corrected_in_a_long_word_only() -> None:
    index = index_of({1: "requirements engineering", 2: "a store"})
    assert found(index, "requiremants enginering") == [1]
    assert found(index, "reqiuremants") == [1]
    assert found(index, "stxxe") == []


# Verifies: REQ-d00031-B
def test_a_word_is_not_taken_for_one_that_stands_everywhere() -> None:
    assert search(index_of({1: "it has a lid", 2: "there"}), "hash").hits == ()


def test_a_word_that_occurs_is_not_corrected() -> None:
    index = index_of({1: "form a line", 2: "from here", 3: "from there"})
    result = search(index, "form")
    assert ([hit.unit for hit in result.hits], result.corrections) == ([1], ())


# Verifies: REQ-d00031-B
def test_a_correction_from_a_unit_that_may_not_be_seen_is_not_told() -> None:
    index = index_of({1: "the password is confidential", 2: "nothing of that kind"})
    result = search(index, "confidentail kind", restrict=Condition("units.part = ?", ("even",)))
    assert ([hit.unit for hit in result.hits], result.corrections) == ([2], ())


# Verifies: REQ-d00030-B
def test_only_units_that_the_condition_lets_through_are_found() -> None:
    index = index_of(TEXTS)
    odd = Condition("units.part = ?", ("odd",))
    assert found(index, "store journal", restrict=odd) == [5, 3]
    assert found(index, "store journal", limit=1, restrict=odd) == [5]
    assert search(index, "store", restrict=Condition("units.part = ?", ("none",))).reason == lexical.NOTHING_FOUND


# Verifies: REQ-d00030-B
def test_a_condition_is_no_way_around_by_an_or_inside_it() -> None:
    index = index_of(TEXTS)
    assert found(index, "store", restrict=Condition("units.part = ? OR units.part = ?", ("x", "even"))) == [4]


def test_the_few_units_that_may_be_seen_are_found_even_by_frequent_words_alone() -> None:
    texts = {number: f"frequent words everywhere rare{number}" for number in range(1, 400)}
    index = index_of({**texts, 400: "frequent words"}, effort=Effort(candidates=20, matches=100))
    only = Condition("units.number = ?", (400,))  # type: ignore[arg-type]
    assert found(index, "rare1 rare2 rare3 frequent words", restrict=only) == [400]


def test_anchoring_at_rarer_words_keeps_the_best_units() -> None:
    texts = {number: f"frequent words everywhere number{number % 50}" for number in range(1, 1000)}
    texts[1000] = "frequent words everywhere number7 together with singular"
    query = "singular number7 frequent words everywhere"
    thorough = index_of(texts, effort=Effort(matches=1_000_000))
    anchored = index_of(texts, effort=Effort(matches=200))
    assert found(anchored, query) == found(thorough, query)
    assert found(anchored, query)[0] == 1000


def test_words_of_the_best_units_bring_up_their_neighbours_and_are_told() -> None:
    texts = {
        **dict.fromkeys(range(1, 6), "heat flow through composite slabs by conduction and diffusivity"),
        6: "heat and flow of slabs of marble with ornaments",
        7: "heat and flow of slabs of diffusivity with conduction",
        **dict.fromkeys(range(8, 12), "quite another matter with conduction"),
        **dict.fromkeys(range(12, 40), "quite another matter altogether"),
    }
    learning = search(index_of(texts), "heat flow in composite slabs")
    assert "diffus" in learning.learnt
    assert [hit.unit for hit in learning.hits] == [1, 2, 3, 4, 5, 7, 6]
    silent = search(index_of(texts, ranking=bm25_settings(None)), "heat flow in composite slabs")
    assert silent.learnt == ()
    assert [hit.unit for hit in silent.hits] == [1, 2, 3, 4, 5, 6, 7]


# Verifies: REQ-d00032-A
def test_a_recipe_says_how_much_is_learnt() -> None:
    assert bm25_settings(Feedback()) == Bm25Settings()
    texts = dict.fromkeys(range(1, 6), "heat flow through composite slabs by conduction and diffusivity")
    found = search(index_of(texts, ranking=bm25_settings(Feedback(terms=2))), "heat flow in composite slabs")
    assert len(found.learnt) == 2


@pytest.mark.parametrize("query", ["heat flow", "heat flow of the Boeing slabs", "heat flow slabs REQ-d00001"])
def test_a_short_query_and_one_that_names_something_learns_nothing(query: str) -> None:
    texts = dict.fromkeys(range(1, 6), "heat flow through slabs with conduction")
    assert search(index_of(texts), query).learnt == ()


def test_each_hit_says_what_it_holds_of_the_query() -> None:
    result = search(index_of(TEXTS), 'stores "a journal" kept readonly')
    assert {hit.unit: set(hit.matched) for hit in result.hits} == {
        3: {"stores", "readonly"},
        4: {"stores", "a journal"},
        5: {"stores", "a journal", "kept"},
    }


def test_a_smaller_limit_gives_the_beginning_of_the_same_result() -> None:
    index = index_of({number: f"store {'journal ' * (number % 7)} page{number % 3}" for number in range(1, 150)})
    everything = found(index, "journal store page1", limit=40)
    assert len(everything) == 40
    assert found(index, "journal store page1", limit=15) == everything[:15]


@pytest.mark.parametrize("figures", [{"feedback_share": 1.0}, {"feedback_share": -0.1}, {"title_weight": 0}])
def test_figures_that_make_no_ranking_are_refused(figures: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument):
        Bm25Settings(**figures)  # type: ignore[arg-type]


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        search(index_of(TEXTS), "store", limit=0)


# Verifies: REQ-d00031-D
def test_a_query_of_100_kilobytes_is_cut_and_says_so() -> None:
    words = " ".join(f"word{number}" for number in range(12_000))
    index = index_of({1: " ".join(f"word{number}" for number in range(300))})
    result = search(index, words)
    assert [hit.unit for hit in result.hits] == [1]
    assert len(result.notes) == 2


# Verifies: REQ-d00031-D
def test_a_query_full_of_operators_reads_the_last_ones_as_words() -> None:
    clauses = parse_query(" ".join(f'+"a{number} b"' for number in range(MAX_OPERATORS + 5))).clauses
    assert sum(clause.sign.value == "+" for clause in clauses) == MAX_OPERATORS
    assert len(clauses) == MAX_OPERATORS + 5


def test_a_unit_of_a_megabyte_is_found_by_its_last_word() -> None:
    index = index_of({1: "lorem ipsum dolor " * 58_000 + "finally", 2: "lorem"})
    assert found(index, "finally") == [1]
    assert found(index, "lorem finally") == [1, 2]


# Verifies: REQ-d00031-A
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("\u60c5\u5831\u691c\u7d22\u306e\u8a55\u4fa1", "\u691c\u7d22"),
        ("\u60c5\u5831\u691c\u7d22\u306e\u8a55\u4fa1", "\u8a55"),
        ("\uac80\uc0c9\uc744 \ud55c\ub2e4", "\uac80\uc0c9"),
        ("\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u05e2\u05d5\u05dc\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
        ("\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f", "\u0645\u062d\u0645\u062f"),
        ("Caf\u00e9 M\u00fcller", "cafe muller"),
        ("done \u2705", "\u2705"),
        ("nul\x00byte", "byte"),
    ],
)
def test_other_scripts_and_signs_are_found(text: str, query: str) -> None:
    index = index_of({1: text, 2: "something else"})
    assert found(index, query) == [1]
