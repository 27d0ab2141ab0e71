"""What every engine of the search index answers alike, whatever was written before."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.search.engine import SearchEngine
from clew.search.question import Question
from clew.search.rank.ranking import Rankings
from clew.search.units import Filters, Scope, Unit
from clew.text.database_address import Address

Engines = Callable[..., SearchEngine]
SCOPE = Scope(parts=("rule", "memory"))
WORDS = ("loan", "loans", "fee", "read-only", "readOnly", "member's", "Größe", "図書館", "v4.4.1", "desk", "the", "of")
QUERIES = (
    "loan fee",
    '"loan fee"',
    "+desk loan",
    "loan -fee",
    "des*",
    "read-only",
    "laon",
    "größe",
    "図書",
    "v4.4.1",
    "fee",
)


def unit(number: int, words: tuple[str, ...], part: str = "rule") -> Unit:
    return Unit(
        id=f"{part}{number}",
        part=part,
        title=" ".join(words[:2]),
        body=" ".join(words[2:]),
        document=f"d{number % 3}",
        tags=(f"t{number % 2}",),
        path=f"docs/{number}.md",
        time=f"2026-01-{1 + number % 28:02}T00:00:00Z",
    )


units = st.builds(
    unit,
    st.integers(0, 12),
    st.lists(st.sampled_from(WORDS), min_size=0, max_size=9).map(tuple),
    st.sampled_from(("rule", "memory")),
)
writes = st.lists(st.one_of(st.lists(units, max_size=6), st.integers(0, 12)), max_size=6)


def answers(engine: SearchEngine, filters: Filters) -> list[Any]:
    found = []
    for text in QUERIES:
        ranking = engine.rank(Question(text=text, scope=SCOPE, filters=filters, recipe="lexical"))
        found.append([(each.id, round(each.score, 4)) for each in ranking.units])
    return found


# Verifies: REQ-d00490-A
@settings(
    max_examples=examples(12),
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(writes, st.sampled_from((Filters(), Filters(tags=("t1",)), Filters(path="docs", document="d1"))))
def test_any_sequence_of_writes_gives_the_answers_of_a_new_index_in_files(
    engine: SearchEngine, tmp_path_factory: pytest.TempPathFactory, steps: list[Any], filters: Filters
) -> None:
    from clew.config import EmbedSettings
    from clew.operation.paging import Cursors

    engine.units.delete([*engine.units.hashes("rule"), *engine.units.hashes("memory")])
    kept: dict[str, Unit] = {}
    for step in steps:
        if isinstance(step, int):
            engine.units.delete([f"rule{step}"])
            kept.pop(f"rule{step}", None)
        else:
            engine.units.put(step)
            kept |= {each.id: each for each in step}
    plain = SearchEngine(tmp_path_factory.mktemp("plain"), cursors=Cursors(bytes(32)), embed=EmbedSettings(kind="none"))
    plain.units.put(kept.values())
    assert engine.units.count() == plain.units.count() == len(kept)
    assert engine.units.hashes("rule") == plain.units.hashes("rule")
    for one, other in zip(answers(engine, filters), answers(plain, filters), strict=True):
        # Units with one score come in the order in which they were put, which is another one here.
        assert sorted(one, key=str) == sorted(other, key=str)
    plain.close()


# Verifies: REQ-d00490-A
def test_frequent_words_and_narrow_filters_find_what_they_should(engines: Engines) -> None:
    draw = random.Random(5)
    engine = engines()
    engine.units.put(
        unit(number, tuple(draw.choices(("loan", "fee", "desk", "shelf"), k=8))) for number in range(4_000)
    )
    engine.units.put([Unit(id="odd", part="rule", title="", body="loan and fee at the pier", status="odd")])
    question = Question(text="loan fee", scope=SCOPE, filters=Filters(statuses=("odd",)), recipe="lexical")
    assert [each.id for each in engine.rank(question).units] == ["odd"]
    assert len(engine.rank(Question(text="loan fee", scope=SCOPE, recipe="lexical")).units) == 200


# Verifies: REQ-d00034-F
def test_a_question_is_ranked_once_until_something_is_written(engines: Engines) -> None:
    engine = engines()
    question = Question(text="loan", scope=SCOPE, recipe="lexical")
    engine.units.put([unit(1, ("loan", "fee"))])
    first = engine.rank(question).units
    assert engine.rank(question).units is first
    assert engine.search(question).results[0].why is first[0].why
    # Another question, or links of one's own, have a ranking of their own, and take that of nobody away.
    assert engine.rank(Question(text="loan", scope=Scope(parts=("memory",)), recipe="lexical")).units == ()
    linked = [engine.rank(question, adjacency=lambda ids: {}).units for _ in range(2)]
    assert linked[0] is not linked[1]
    assert engine.rank(question).units is first
    engine.units.put([unit(2, ("loan", "desk"))])
    second = engine.rank(question).units
    assert {each.id for each in second} == {"rule1", "rule2"}
    engine.units.delete(["rule1"])
    assert [each.id for each in engine.rank(question).units] == ["rule2"]


# Verifies: REQ-d00034-F
def test_rankings_are_forgotten_when_they_hold_too_many_results(engines: Engines) -> None:
    # Room for one.
    engine = engines(rankings=Rankings(150))
    engine.units.put([unit(1, ("loan", "fee")), unit(2, ("desk",))])
    asked = [Question(text=text, scope=SCOPE, recipe="lexical") for text in ("loan", "fee", "loan fee")]
    found = [engine.rank(each).units for each in asked]
    assert engine.rank(asked[-1]).units is found[-1]
    assert engine.rank(asked[0]).units is not found[0]
    assert engine.rank(asked[0]).units == found[0]


# Verifies: REQ-d00490-C
def test_what_is_read_from_files_is_seen_by_its_own_work_tree_only(search_database: str) -> None:
    from clew.config import EmbedSettings
    from clew.operation.paging import Cursors
    from clew.search.database.opening import in_database

    none = EmbedSettings(kind="none")

    def opened(space: str) -> SearchEngine:
        place = in_database(Address(search_database), "two_trees", space, none)
        return SearchEngine(None, cursors=Cursors(bytes(32)), embed=none, backend=place)  # type: ignore[arg-type]

    one, other = opened("one"), opened("other")
    one.units.put([unit(1, ("loan", "fee")), unit(2, ("loan", "day"), "memory")])
    other.units.put([unit(1, ("loan", "desk"))])
    found = {
        name: [each.id for each in engine.rank(Question(text="loan", scope=SCOPE, recipe="lexical")).units]
        for name, engine in (("one", one), ("other", other))
    }
    assert {name: sorted(ids) for name, ids in found.items()} == {
        "one": ["memory2", "rule1"],
        "other": ["memory2", "rule1"],
    }
    assert (one.units.get("rule1"), other.units.get("rule1")) == (unit(1, ("loan", "fee")), unit(1, ("loan", "desk")))
    one.units.delete(["rule1", "memory2"])
    assert sorted(other.units.hashes("rule")) == ["rule1"]
    assert not other.units.hashes("memory")
    one.close()
    other.close()
