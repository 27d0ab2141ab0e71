"""The engine: units in, results out, and what a search may see."""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.errors import InvalidArgument, NotFound
from clew.search.engine import SearchEngine
from clew.search.question import Question
from clew.search.rank.recipes import BUILT_IN, Diversity, Recipe, Recipes, Signal
from clew.search.units import Filters, Scope, Unit
from clew.text.hashing import short_hash

LIBRARY = Scope(parts=("rule",))

RULES = (
    Unit(id="loan", part="rule", title="Loans", body="A member may renew a loan twice.", tags=("desk",), path="a/x.md"),
    Unit(id="fine", part="rule", title="Fines", body="Late returns cost a fee per day.", tags=("desk", "money")),
    Unit(id="secret", part="minutes", title="Secret", body="No member may ever see this loan.", session="s1"),
)


def ids(engine: SearchEngine, text: str, scope: Scope = LIBRARY, **more: object) -> list[str]:
    question = Question(text=text, scope=scope, **more)
    found = [result.id for result in engine.search(question).results]
    assert sorted(found) == sorted(unit.id for unit in engine.rank(question).units[: question.limit])
    return found


# Verifies: REQ-o00010-A
def test_two_ids_that_share_their_short_hash_are_two_units(engine: SearchEngine) -> None:
    assert short_hash("plumless") == short_hash("buckeroo")
    engine.units.put(Unit(id=id, part="rule", title=id, body="A loan.") for id in ("plumless", "buckeroo"))
    assert sorted(ids(engine, "loan")) == ["buckeroo", "plumless"]
    engine.units.delete(["plumless"])
    assert ids(engine, "loan") == ["buckeroo"]


# Verifies: REQ-o00010-A, REQ-d00490-B
def test_a_result_carries_its_unit_its_evidence_and_its_explanation(engine: SearchEngine) -> None:
    engine.units.put(RULES)
    page = engine.search(Question(text="renew loans", scope=LIBRARY))
    (result,) = page.results
    assert (result.id, result.part, result.title, result.path) == ("loan", "rule", "Loans", "a/x.md")
    assert set(result.matched) == {"loans", "renew"}
    (span,) = result.preview.spans
    assert RULES[0].body[span.start : span.end] == result.preview.text == "A member may renew a loan twice."
    assert page.recipe.startswith("default/")
    assert page.total == 1
    assert page.next_cursor is None


# Verifies: REQ-d00032-B
def test_the_contributions_of_the_signals_add_up_to_the_score(engine: SearchEngine) -> None:
    engine.units.put(RULES)
    for result in engine.search(Question(text="member fee", scope=LIBRARY)).results:
        assert sum(part.value for part in result.why) == pytest.approx(result.score, abs=1e-6)
        assert all(part.signal in ("lexical", "dense") and part.rank >= 1 for part in result.why)


# Verifies: REQ-d00030-A
def test_there_is_no_question_without_a_scope_and_no_scope_without_a_part(engine: SearchEngine) -> None:
    with pytest.raises(TypeError):
        Question(text="loan")
    with pytest.raises(InvalidArgument, match="names no part"):
        Scope(parts=())


# Verifies: REQ-d00030-A+B
def test_a_search_sees_its_scope_only_and_a_filter_narrows_it(engine: SearchEngine) -> None:
    engine.units.put(RULES)
    assert ids(engine, "loan member") == ["loan"]
    assert set(ids(engine, "loan member", Scope(parts=("rule", "minutes")))) == {"loan", "secret"}
    assert ids(engine, "loan", Scope(parts=("rule", "minutes"), sessions=("s1",))) == ["secret"]
    assert ids(engine, "loan", filters=Filters(session="s1")) == []
    assert ids(engine, "loan fee", filters=Filters(tags=("money",))) == ["fine"]
    assert ids(engine, "loan fee", filters=Filters(path="a")) == ["loan"]
    assert ids(engine, "loan fee", filters=Filters(tags=("nothing has this",))) == []


# Verifies: REQ-d00030-C+E
def test_a_deleted_unit_is_gone_and_a_new_one_is_found_when_the_call_returns(engine: SearchEngine) -> None:
    engine.units.put(RULES)
    assert ids(engine, "renew") == ["loan"]
    assert engine.units.delete(["loan", "never was there"]).removed == 1
    assert ids(engine, "renew") == []
    assert engine.units.get("loan") is None
    assert engine.units.delete(["loan"]).removed == 0
    engine.units.put([RULES[0]])
    assert ids(engine, "renew") == ["loan"]


# Verifies: REQ-d00030-D
def test_of_a_unit_that_is_put_twice_the_last_counts(engine: SearchEngine) -> None:
    changed = msgspec.structs.replace(RULES[0], body="Nobody may extend anything.")
    written = engine.units.put([RULES[0], changed])
    assert (written.added, engine.units.count()) == (1, 1)
    assert ids(engine, "renew") == []
    assert ids(engine, "extend") == ["loan"]
    written = engine.units.put([changed, RULES[1]])
    assert (written.added, written.changed, written.unchanged) == (1, 0, 1)
    moved = msgspec.structs.replace(changed, tags=("moved",), status="old")
    assert engine.units.put([moved]).changed == 1
    assert ids(engine, "extend", filters=Filters(tags=("moved",), statuses=("old",))) == ["loan"]
    assert ids(engine, "extend", filters=Filters(tags=("desk",))) == []
    assert engine.units.get("loan") == moved


# Verifies: REQ-d00201-C
def test_times_are_compared_as_times_however_they_are_written(engine: SearchEngine) -> None:
    times = {
        "plain": "2026-03-01T12:00:00",
        "zulu": "2026-03-01T12:00:00Z",
        "east": "2026-03-01T14:00:00+02:00",
        "fraction": "2026-03-01T12:00:00.000Z",
        "later": "2026-03-01T12:00:00.001+00:00",
    }
    engine.units.put(Unit(id=id, part="rule", title="", body="loan", time=time) for id, time in times.items())
    at_noon = set(times) - {"later"}
    assert set(ids(engine, "loan", filters=Filters(after="2026-03-01T13:00:00+01:00"))) == set(times)
    assert set(ids(engine, "loan", filters=Filters(before="2026-03-01T12:00:00.001"))) == at_noon
    assert set(ids(engine, "loan", filters=Filters(after="2026-03-01", before="2026-03-02"))) == set(times)
    assert ids(engine, "loan", filters=Filters(before="2026-03-01T14:00:00+02:00")) == []


# Verifies: REQ-d00201-D
@pytest.mark.parametrize("path", ["", ".", "./", "a/.."])
def test_the_path_of_the_project_itself_stands_for_everything_that_has_a_path(engine: SearchEngine, path: str) -> None:
    engine.units.put(RULES)
    assert ids(engine, "loan fee", Scope(parts=("rule",), path=path)) == ["loan"]
    assert ids(engine, "loan fee", filters=Filters(path=path)) == ["loan"]
    assert ids(engine, "loan fee", filters=Filters(path="./a/")) == ["loan"]


# Verifies: REQ-d00201-B
def test_a_word_that_only_others_may_see_is_corrected_like_one_that_occurs_nowhere(engine: SearchEngine) -> None:
    engine.units.put(RULES)
    engine.units.put([Unit(id="typo", part="minutes", title="", body="A membr came.")])
    page = engine.search(Question(text="membr", scope=LIBRARY))
    assert [result.id for result in page.results] == ["loan"]
    assert [(each.word, each.replacements) for each in page.corrections] == [("membr", ("member",))]
    assert ids(engine, "membr", Scope(parts=("minutes",))) == ["typo"]


# Verifies: REQ-d00032-A
def test_an_unknown_recipe_is_refused_with_the_nearest_name(engine: SearchEngine) -> None:
    with pytest.raises(NotFound, match="defalt") as caught:
        engine.search(Question(text="loan", scope=LIBRARY, recipe="defalt"))
    assert "default" in caught.value.hint


# Verifies: REQ-d00032-C
def test_a_document_has_no_more_results_than_the_recipe_or_the_question_allow(
    engines: Callable[..., SearchEngine],
) -> None:
    few = Recipe("few", 1, (Signal("lexical"),), diversity=Diversity(max_per_document=2))
    engine = engines(recipes=Recipes((*BUILT_IN, few)))
    engine.units.put(
        Unit(id=f"{document}{number}", part="rule", title="", body=f"loan {number}", document=document)
        for document in "ab"
        for number in range(4)
    )
    assert len(ids(engine, "loan")) == 8
    assert sorted(id[0] for id in ids(engine, "loan", recipe="few")) == ["a", "a", "b", "b"]
    assert sorted(id[0] for id in ids(engine, "loan", recipe="few", max_per_document=1)) == ["a", "b"]


# Verifies: REQ-d00030-C+D
@settings(max_examples=examples(40))
@given(st.data())
def test_any_sequence_of_writes_leaves_what_a_fresh_index_would_hold(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    from clew.config import EmbedSettings
    from clew.operation.paging import Cursors

    words = st.sampled_from(["loan", "fee", "member", "day", "renew"])
    held: dict[str, Unit] = {}
    folder = tmp_path_factory.mktemp("engine")
    engine = SearchEngine(folder, cursors=Cursors(b"k" * 32), embed=EmbedSettings(kind="none"))
    for _ in range(data.draw(st.integers(1, 8))):
        id = data.draw(st.sampled_from("abcd"))
        if data.draw(st.booleans()):
            body = " ".join(data.draw(st.lists(words, max_size=3)))
            held[id] = Unit(id=id, part="rule", title="", body=body)
            engine.units.put([held[id]])
        else:
            held.pop(id, None)
            engine.units.delete([id])
    for word in ("loan", "fee", "member", "day", "renew"):
        found = {unit.id for unit in engine.rank(Question(text=word, scope=LIBRARY)).units}
        assert found == {id for id, unit in held.items() if word in unit.body.split()}
    assert engine.units.count() == len(held)
    engine.close()
