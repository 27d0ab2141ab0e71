"""What stands beside a result vouches for it: the turns of a conversation, the sections of a document."""

import pytest
from tests.search.conftest import Engines

from clew.errors import InvalidArgument
from clew.search.question import Question, RankedUnit
from clew.search.rank.recipes import BUILT_IN, Recipe, Recipes, Signal, Surroundings, checked
from clew.search.rank.recipes import from_json as recipe_from_json
from clew.search.units import Scope, Unit

TALK = (
    ("Ann", "Have you moved the lighthouse lamp since we met?"),
    ("Bob", "Yes, last week, it stands on the pier now."),
    ("Ann", "Good. Shall we have tea?"),
    ("Bob", "Tea would be fine, thank you."),
    ("Ann", "Did the ferry come in time?"),
    ("Bob", "No, the fog kept it out."),
)


def turns(session: str = "s1", agent: str = "", part: str = "turn") -> list[Unit]:
    return [
        Unit(
            id=f"{session}-{place}",
            part=part,
            title="",
            body=text,
            session=session,
            document=session,
            place=place,
            speaker=speaker,
            role="user" if speaker == "Ann" else "assistant",
            agent=agent,
            time=f"2026-0{3 if session == 's1' else 5}-01T12:00:00Z",
        )
        for place, (speaker, text) in enumerate(TALK)
    ]


def recipe(**around: object) -> Recipes:
    own = Recipe("own", 1, (Signal("lexical"),), surroundings=Surroundings(**around))  # type: ignore[arg-type]
    return Recipes((*BUILT_IN, own))


def ask(
    engines: Engines, text: str, *, agents: tuple[str, ...] | None = None, **around: object
) -> tuple[RankedUnit, ...]:
    engine = engines(recipes=recipe(**around))
    engine.units.put([*turns(), *turns("s2", "planner")])
    return engine.rank(Question(text=text, scope=Scope(parts=("turn",), agents=agents), recipe="own")).units


# Verifies: REQ-d00331-A
def test_the_turn_after_a_result_comes_in_with_its_share(engines: Engines) -> None:
    found = {unit.id: unit for unit in ask(engines, "lighthouse lamp", before=(0.4, 0.2), after=(0.3,))}
    best = found["s1-0"].score
    assert {id for id in found if id.startswith("s1")} == {"s1-0", "s1-1", "s1-2"}
    assert found["s1-1"].signal("surroundings") == pytest.approx(0.4 * best)
    assert found["s1-2"].score == pytest.approx(0.2 * best)
    assert found["s1-1"].signal("lexical") is None
    for unit in found.values():
        assert sum(part.value for part in unit.why) == pytest.approx(unit.score)


# Verifies: REQ-d00331-A
def test_results_side_by_side_vouch_for_each_other_within_a_document_too(engines: Engines) -> None:
    alone = [unit.id for unit in ask(engines, "tea ferry")]
    beside = [unit.id for unit in ask(engines, "tea ferry", before=(0.5,), after=(0.5,), within="document")]
    assert set(alone[:4]) == {"s1-2", "s1-3", "s2-2", "s2-3"} or alone[0].endswith("-4")
    assert beside[0] in ("s1-3", "s2-3"), "it has tea itself, tea before it and the ferry after it"


# Verifies: REQ-d00331-B
def test_what_may_not_be_seen_neither_comes_in_nor_counts_as_a_step(engines: Engines) -> None:
    units = [
        *turns(),
        Unit(id="secret", part="turn", title="", body="Nobody may see this.", session="s1", place=1, agent="b"),
    ]
    shifted = [units[0], *(Unit(**{**_fields(unit), "place": (unit.place or 0) + 1}) for unit in units[1:6]), units[6]]
    engine = engines(recipes=recipe(before=(0.4,)))
    engine.units.put(shifted)
    scope = Scope(parts=("turn",), agents=("",))
    found = [unit.id for unit in engine.rank(Question(text="lighthouse lamp", scope=scope, recipe="own")).units]
    assert found == ["s1-0", "s1-1"]


def _fields(unit: Unit) -> dict[str, object]:
    return {name: getattr(unit, name) for name in Unit.__struct_fields__}


# Verifies: REQ-d00331-C
@pytest.mark.parametrize(
    ("text", "around", "first"),
    [
        ("did Bob say tea", {"own_speaker": 1.0}, "s1-3"),
        ("tea", {"roles": {"assistant": 1.0}}, "s1-3"),
        ("tea in May 2026", {"month": 1.0}, "s2-2"),
        ("when was the lamp on the pier moved", {"before": (0.9,), "time_words": 2.0}, "s1-1"),
    ],
)
def test_who_speaks_and_when_counts_where_the_recipe_says_so(
    engines: Engines, text: str, around: dict[str, object], first: str
) -> None:
    assert ask(engines, text, **around)[0].id == first


# Verifies: REQ-d00331-C
def test_both_recipes_of_conversations_travel_as_json_and_bad_ones_are_refused() -> None:
    import msgspec

    for name in ("conversation", "assistant"):
        own = BUILT_IN.get(name)
        assert recipe_from_json(msgspec.json.encode(own)) == own
    for bad in (Surroundings(before=(1.0,)), Surroundings(after=(0.1,) * 9), Surroundings(roles={"user": -1.0})):
        with pytest.raises(InvalidArgument, match="surroundings"):
            checked(Recipe("own", 1, (Signal("lexical"),), surroundings=bad))
