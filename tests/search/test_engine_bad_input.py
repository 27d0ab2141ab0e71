"""Queries and units as they should not be."""

import pytest

from clew.errors import InvalidArgument
from clew.search.engine import SearchEngine
from clew.search.question import Question
from clew.search.units import Filters, Scope, Unit

SCOPE = Scope(parts=("rule",))
OPERATORS = (
    "AND OR NOT NEAR NEAR(a b, 2) title:loan body : x ^loan {title body}: loan loan* \"loan\" 'loan' (loan) [loan] "
    '-loan +loan loan; DROP TABLE units; -- "unclosed %s %d \\ / ` ~ ! @ # $ % & | < > ? = , .'
)


@pytest.fixture(autouse=True)
def filled(engine: SearchEngine) -> None:
    engine.units.put(
        [
            Unit(id="loan", part="rule", title="Loans", body="A member may renew a loan twice. NOT NEAR the desk."),
            Unit(id="arabic", part="rule", title="إعارة", body="يجوز للعضو تجديد الإعارة مرتين"),
            Unit(id="chinese", part="rule", title="借书", body="会员可以续借两次。"),
            Unit(id="emoji", part="rule", title="Mood", body="The mood was 😀 today."),
        ]
    )


def found(engine: SearchEngine, text: str) -> list[str]:
    return [result.id for result in engine.search(Question(text=text, scope=SCOPE)).results]


# Verifies: REQ-d00031-D
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "has no words"),
        (" \t\n", "has no words"),
        ("\0\0", "has no words"),
        ("?!. ,;", "has no words"),
        ("the of and", "occur everywhere"),
        ("-loan", "leave out"),
        ("wordthatisnowhere", "holds what the query asks for"),
    ],
)
def test_a_query_that_finds_nothing_says_why(engine: SearchEngine, text: str, reason: str) -> None:
    page = engine.search(Question(text=text, scope=SCOPE))
    assert page.results == ()
    assert page.reason is not None
    assert reason in page.reason


# Verifies: REQ-d00031-D
def test_every_operator_of_the_database_is_plain_text(engine: SearchEngine) -> None:
    for word in (OPERATORS, *OPERATORS.split()):
        engine.search(Question(text=word, scope=SCOPE))
    assert found(engine, "NOT NEAR desk") == ["loan"]
    assert engine.units.count() == 4


# Verifies: REQ-d00031-D
def test_a_query_of_100_kb_is_read_as_far_as_it_makes_sense(engine: SearchEngine) -> None:
    page = engine.search(Question(text="renew loan " * 10_000, scope=SCOPE))
    assert [result.id for result in page.results] == ["loan"]
    assert "too long" in " ".join(page.notes)


# Verifies: REQ-d00031-A+D
@pytest.mark.parametrize(
    ("text", "id"),
    [("تجديد", "arabic"), ("续借", "chinese"), ("会员", "chinese"), ("😀", "emoji")],
)
def test_every_script_is_searched(engine: SearchEngine, text: str, id: str) -> None:
    assert found(engine, text) == [id]


# Verifies: REQ-d00030-D
def test_a_unit_of_a_megabyte_is_indexed_and_previewed(engine: SearchEngine) -> None:
    engine.units.put(
        [Unit(id="big", part="rule", title="Big", body="filler words here. " * 55_000 + "The needle is last.")]
    )
    page = engine.search(Question(text="needle", scope=SCOPE))
    assert [result.id for result in page.results] == ["big"]
    assert len(page.results[0].preview.text) <= 280


# Verifies: REQ-d00030-D
@pytest.mark.parametrize("id", ["", "x" * 513, "with\0nul", "line\nbreak"])
def test_a_unit_with_an_id_that_cannot_be_shown_is_refused_and_nothing_is_written(
    engine: SearchEngine, id: str
) -> None:
    with pytest.raises(InvalidArgument, match="id"):
        engine.units.put(
            [Unit(id="good", part="rule", title="", body="x"), Unit(id=id, part="rule", title="", body="x")]
        )
    assert engine.units.get("good") is None


# Verifies: REQ-d00201-C
def test_what_is_no_time_is_refused_in_a_unit_and_in_a_filter(engine: SearchEngine) -> None:
    with pytest.raises(InvalidArgument, match="'yesterday' is not a time"):
        engine.units.put([Unit(id="new", part="rule", title="", body="x", time="yesterday")])
    assert engine.units.get("new") is None
    with pytest.raises(InvalidArgument, match="'soon' is not a time"):
        engine.search(Question(text="loan", scope=SCOPE, filters=Filters(before="soon")))


# Verifies: REQ-d00030-D
def test_half_a_character_and_nul_bytes_in_a_text_do_no_harm(engine: SearchEngine) -> None:
    engine.units.put([Unit(id="odd", part="rule", title="Odd \ud800", body="before\0after \udfff zebra")])
    assert found(engine, "zebra") == ["odd"]


# Verifies: REQ-d00034-A
@pytest.mark.parametrize("limit", [0, -1, 501, 10**9])
def test_a_page_has_1_to_500_results(limit: int) -> None:
    with pytest.raises(InvalidArgument, match=str(limit)):
        Question(text="loan", scope=SCOPE, limit=limit)
