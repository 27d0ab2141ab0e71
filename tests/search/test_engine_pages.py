"""Pages of results: limits, budgets and cursors."""

from collections.abc import Callable

import pytest

from clew.errors import InvalidCursor
from clew.search.engine import SearchEngine
from clew.search.question import Question, Results
from clew.search.units import Scope, Unit

SCOPE = Scope(parts=("rule",))


@pytest.fixture
def shelf(engine: SearchEngine) -> SearchEngine:
    engine.units.put(
        Unit(id=f"u{number:02}", part="rule", title=f"Rule {number}", body="A loan ends. " * (number + 1))
        for number in range(25)
    )
    return engine


def page(engine: SearchEngine, cursor: str | None = None, **more: object) -> Results:
    return engine.search(Question(text="loan", scope=SCOPE, cursor=cursor, **{"limit": 10, **more}))


def joined(pages: list[list[str]]) -> list[str]:
    return [id for page in pages for id in page]


def all_pages(engine: SearchEngine, **more: object) -> list[list[str]]:
    pages, cursor = [], None
    while True:
        results = page(engine, cursor, **more)
        pages.append([result.id for result in results.results])
        cursor = results.next_cursor
        if cursor is None:
            return pages


# Verifies: REQ-d00034-A+B
def test_pages_hold_every_result_once_in_the_order_of_the_ranking(shelf: SearchEngine) -> None:
    whole = [unit.id for unit in shelf.rank(Question(text="loan", scope=SCOPE)).units]
    pages = all_pages(shelf)
    assert [len(each) for each in pages] == [10, 10, 5]
    assert joined(pages) == whole
    assert page(shelf).total == 25


# Verifies: REQ-d00034-B, REQ-d00201-E
def test_page_two_is_page_two_while_units_come_and_go(shelf: SearchEngine) -> None:
    whole = joined(all_pages(shelf))
    first = page(shelf)
    shelf.units.put([Unit(id="new", part="rule", title="loan loan", body="loan loan loan")])
    shelf.units.delete([whole[12]])
    second = page(shelf, first.next_cursor)
    # What is gone is passed over, and its place is taken by the next.
    assert [result.id for result in second.results] == [id for id in whole[10:21] if id != whole[12]]
    assert second.total == len(whole) - 1
    third = page(shelf, second.next_cursor)
    assert [result.id for result in third.results] == whole[21:]


# Verifies: REQ-d00034-C
def test_a_cursor_of_an_index_that_moved_on_is_refused_where_its_ranking_is_not_known(
    shelf: SearchEngine, engines: Callable[..., SearchEngine]
) -> None:
    cursor = page(shelf).next_cursor
    other = engines()
    assert [result.id for result in page(other, cursor).results] == all_pages(shelf)[1]
    other.units.put([Unit(id="new", part="rule", title="", body="loan")])
    stranger = engines()
    with pytest.raises(InvalidCursor, match="changed"):
        page(stranger, cursor)


# Verifies: REQ-d00034-C
def test_a_cursor_for_another_question_scope_or_recipe_is_refused(shelf: SearchEngine) -> None:
    cursor = page(shelf).next_cursor
    wider = Scope(parts=("rule", "minutes"))
    for question in (
        Question(text="loan ends", scope=SCOPE, cursor=cursor),
        Question(text="loan", scope=wider, cursor=cursor),
        Question(text="loan", scope=SCOPE, cursor=cursor, recipe="lexical"),
        Question(text="loan", scope=SCOPE, cursor=cursor, max_per_document=1),
    ):
        with pytest.raises(InvalidCursor):
            shelf.search(question)


# Verifies: REQ-d00034-C
def test_every_change_of_a_single_character_of_a_cursor_is_noticed(shelf: SearchEngine) -> None:
    cursor = page(shelf).next_cursor or ""
    for place, letter in enumerate(cursor):
        # The last bits of base64 may carry nothing.
        changed = cursor[:place] + ("A" if letter != "A" else "B") + cursor[place + 1 :]
        with pytest.raises(InvalidCursor):
            page(shelf, changed)
    for text in ("", "!", "not a cursor", cursor[:-4], cursor + "AAAA", "\0", "é"):
        with pytest.raises(InvalidCursor):
            page(shelf, text)


# Verifies: REQ-d00034-A
def test_budgets_leave_out_whole_results_and_the_rest_follows_on_further_pages(shelf: SearchEngine) -> None:
    whole = joined(all_pages(shelf))
    for budget in ({"max_tokens": 120}, {"max_bytes": 700}):
        pages = all_pages(shelf, limit=500, **budget)
        assert joined(pages) == whole
        assert len(pages) > 1
    results = page(shelf, limit=500, max_bytes=700)
    assert results.limit_reason == "byte_cap"
    assert sum(len(f"{each.id} {each.title}\n{each.preview.text}\n".encode()) for each in results.results) <= 700


# Verifies: REQ-d00034-A
def test_a_budget_too_small_for_one_result_says_so_and_leads_nowhere(shelf: SearchEngine) -> None:
    results = page(shelf, max_tokens=1)
    assert results.results == ()
    assert results.next_cursor is None
    assert results.reason is not None
    assert "budget" in results.reason


# Verifies: REQ-d00034-D
def test_a_preview_shows_what_the_question_asks_about(engine: SearchEngine) -> None:
    body = "Opening hours are long. Nothing else matters. A member may renew a loan twice. The end."
    engine.units.put([Unit(id="u", part="rule", title="Rules", body=body)])
    (result,) = engine.search(Question(text="renew loan", scope=SCOPE)).results
    assert result.preview.text == "A member may renew a loan twice."
    (span,) = result.preview.spans
    assert body[span.start : span.end] == result.preview.text
