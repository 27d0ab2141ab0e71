"""Recipes as data, and fusion by them: scores by hand, ties, explanations, expansion, refusals."""

import json
import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.errors import InvalidArgument, NotFound
from clew.search.rank.fuse import Fused, expand, fuse, normalised
from clew.search.rank.recipes import (
    BUILT_IN,
    Agreement,
    Diversity,
    Expansion,
    Feedback,
    Fusion,
    Normalisation,
    Recipe,
    Recipes,
    Signal,
    checked,
    from_json,
)

BOTH = (Signal("lexical"), Signal("dense"))


def scores(fused: tuple[Fused[str], ...]) -> dict[str, float]:
    return {result.id: result.score for result in fused}


def test_reciprocal_ranks_are_added_up_by_weight() -> None:
    recipe = Recipe("r", 1, (Signal("lexical", weight=2.0), Signal("dense")), rrf_k=10)
    fused = fuse({"lexical": [("a", 9.0), ("b", 8.0)], "dense": [("b", 0.9), ("c", 0.1)]}, recipe)
    assert [result.id for result in fused] == ["b", "a", "c"]
    assert scores(fused) == pytest.approx({"a": 2 / 11, "b": 2 / 12 + 1 / 11, "c": 1 / 12})


# Verifies: REQ-d00032-B
def test_a_result_keeps_rank_score_and_share_of_every_signal_and_explains_itself() -> None:
    recipe = Recipe("r", 1, BOTH, rrf_k=9)
    (best, *_) = fuse({"lexical": [("a", 12.5)], "dense": [("b", 0.9), ("a", 0.5)]}, recipe)
    assert [(part.signal, part.rank, part.score) for part in best.contributions] == [
        ("lexical", 1, 12.5),
        ("dense", 2, 0.5),
    ]
    assert best.explain() == "0.1909 = lexical 0.1000 (rank 1, score 12.5) + dense 0.0909 (rank 2, score 0.5)"


def test_scores_are_brought_to_one_scale_before_they_are_added() -> None:
    rankings = {"lexical": [("a", 30.0), ("b", 20.0), ("c", 10.0)], "dense": [("c", 0.8), ("a", 0.2)]}
    recipe = Recipe("r", 1, (Signal("lexical"), Signal("dense", weight=0.5)), fusion=Fusion.WEIGHTED_SCORES)
    assert scores(fuse(rankings, recipe)) == pytest.approx({"a": 1.0, "b": 0.5, "c": 0.5})


def test_a_known_lowest_score_is_where_the_scale_starts() -> None:
    assert normalised([4.0, 3.0], Normalisation.MIN_MAX) == [1.0, 0.0]
    assert normalised([4.0, 3.0], Normalisation.MIN_MAX, floor=0.0) == [1.0, 0.75]


def test_z_counts_deviations_above_the_lowest_and_arctan_each_score_alone() -> None:
    assert normalised([3.0, 1.0], Normalisation.Z) == [2.0, 0.0]
    assert normalised([1.0, 0.0, -5.0], Normalisation.ARCTAN) == pytest.approx([0.5, 0.0, 0.0])


@pytest.mark.parametrize("method", [Normalisation.MIN_MAX, Normalisation.Z])
def test_equal_scores_are_worth_something(method: Normalisation) -> None:
    assert normalised([7.0, 7.0], method) == [1.0, 1.0]
    assert normalised([7.0], method) == [1.0]
    assert normalised([], method) == []


def test_only_the_depth_of_a_signal_takes_part() -> None:
    recipe = Recipe("r", 1, (Signal("lexical", depth=1), Signal("dense")))
    assert scores(fuse({"lexical": [("a", 2.0), ("b", 1.0)], "dense": []}, recipe)).keys() == {"a"}


def test_a_signal_that_was_not_asked_changes_nothing() -> None:
    ranking = [("a", 2.0), ("b", 1.0)]
    assert fuse({"lexical": ranking}, Recipe("r", 1, BOTH)) == fuse(
        {"lexical": ranking, "dense": []}, Recipe("r", 1, BOTH)
    )
    assert fuse({}, Recipe("r", 1, BOTH)) == ()


def test_equal_results_stand_by_best_rank_and_then_by_id() -> None:
    recipe = Recipe("r", 1, BOTH)
    same = fuse({"lexical": [("b", 2.0), ("a", 1.0)], "dense": [("a", 2.0), ("b", 1.0)]}, recipe)
    assert [result.id for result in same] == ["a", "b"]
    weightless = Recipe("r", 1, (Signal("lexical", weight=0.0), Signal("dense")))
    assert [result.id for result in fuse({"lexical": [("z", 2.0), ("a", 1.0)]}, weightless)] == ["z", "a"]


def test_ids_may_be_numbers() -> None:
    assert [result.id for result in fuse({"lexical": [(10, 2.0), (9, 1.0)]}, Recipe("r", 1, BOTH))] == [10, 9]


RANKING = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(-1e6, 1e6)), unique_by=lambda hit: hit[0]).map(
    lambda hits: sorted(hits, key=lambda hit: -hit[1])
)


# Verifies: REQ-d00032-B
@settings(max_examples=examples(200))
@given(
    RANKING,
    RANKING,
    st.sampled_from(Fusion),
    st.sampled_from(Normalisation),
    st.floats(0, 10),
    st.dictionaries(st.sampled_from("abcdxyz"), st.floats(0, 1)),
)
def test_values_add_up_order_follows_scores_and_nothing_is_lost(
    lexical: list[tuple[str, float]],
    dense: list[tuple[str, float]],
    fusion: Fusion,
    normalisation: Normalisation,
    weight: float,
    walked: dict[str, float],
) -> None:
    recipe = Recipe("r", 1, (Signal("lexical", weight=weight), Signal("dense")), fusion, normalisation=normalisation)
    fused = fuse({"lexical": lexical, "dense": dense}, recipe)
    further = expand(fused, walked, 1.5)
    assert scores(fused).keys() == {item for item, _ in [*lexical, *dense]}
    assert scores(further).keys() == scores(fused).keys() | walked.keys()
    for results in (fused, further):
        assert [result.score for result in results] == sorted((result.score for result in results), reverse=True)
        for result in results:
            assert result.score == pytest.approx(math.fsum(part.value for part in result.contributions))
    assert fused == fuse({"dense": dense, "lexical": lexical}, recipe)


def test_a_walk_lifts_what_it_met_and_brings_in_what_was_not_found() -> None:
    fused = fuse({"lexical": [("a", 3.0), ("b", 2.0)]}, Recipe("r", 1, (Signal("lexical"),), rrf_k=0))
    further = expand(fused, {"a": 0.2, "c": 0.4}, 1.5)
    assert scores(further) == pytest.approx({"a": 1.0 + 0.75, "c": 1.5, "b": 0.5})
    assert [result.id for result in further] == ["a", "c", "b"]
    assert further[0].explain().endswith("+ pagerank 0.7500 (rank 2, score 0.2)")


def test_a_walk_that_met_nothing_keeps_the_order() -> None:
    fused = fuse({"lexical": [("b", 3.0), ("a", 2.0)]}, Recipe("r", 1, BOTH))
    assert [result.id for result in expand(fused, {}, 1.5)] == ["b", "a"]
    assert expand((), {"a": 0.5}, 2.0)[0].score == 2.0
    assert expand((), {}, 2.0) == ()


@pytest.mark.parametrize(
    ("rankings", "reason"),
    [
        ({"magic": [("a", 1.0)]}, "no signal 'magic'"),
        ({"lexical": [("a", 1.0), ("a", 0.5)]}, "'a' twice"),
        ({"lexical": [("a", math.nan)]}, "score nan"),
        ({"lexical": [("a", math.inf)]}, "score inf"),
    ],
)
def test_rankings_that_make_no_sense_are_refused(rankings: dict[str, list[tuple[str, float]]], reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        fuse(rankings, Recipe("r", 1, BOTH))


FULL = Recipe(
    "full",
    3,
    (Signal("lexical", 1.0, 100), Signal("dense", 0.5, 50, floor=-1.0)),
    Fusion.WEIGHTED_SCORES,
    normalisation=Normalisation.Z,
    expansion=Expansion(alpha=0.3, seeds=5),
    feedback=Feedback(documents=5),
    agreement=Agreement(share=0.2),
    diversity=Diversity(max_per_document=2, novelty=0.3),
)


# Verifies: REQ-d00032-A
@pytest.mark.parametrize("recipe", [FULL, *BUILT_IN], ids=lambda recipe: recipe.name)
def test_recipes_travel_as_json(recipe: Recipe) -> None:
    assert from_json(msgspec.json.encode(recipe)) == recipe
    assert from_json(msgspec.json.encode(recipe)).fingerprint == recipe.fingerprint


# Verifies: REQ-d00032-A
def test_every_change_of_a_recipe_changes_its_fingerprint() -> None:
    changed = [
        msgspec.structs.replace(FULL, version=4),
        msgspec.structs.replace(FULL, expansion=None),
        msgspec.structs.replace(FULL, signals=FULL.signals[::-1]),
        msgspec.structs.replace(FULL, diversity=Diversity()),
    ]
    assert len({recipe.fingerprint for recipe in [FULL, *changed]}) == 5


# Verifies: REQ-d00032-A
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": " "}, "name is ' '"),
        ({"version": 0}, "version is 0"),
        ({"signals": ()}, "signals is \\[\\]"),
        ({"signals": (Signal("lexical"), Signal("lexical"))}, "each of them once"),
        ({"signals": (Signal("smell"),)}, "signals\\[0\\].name is 'smell', but must be one of lexical, dense"),
        ({"signals": (Signal("lexical", weight=-1.0),)}, "signals\\[0\\].weight is -1.0"),
        ({"signals": (Signal("lexical", weight=math.nan),)}, "weight is nan"),
        ({"signals": (Signal("lexical", weight=0.0),)}, "one has weight"),
        ({"signals": (Signal("lexical", depth=0),)}, "depth is 0"),
        ({"signals": (Signal("lexical", floor=math.inf),)}, "floor is inf"),
        ({"rrf_k": -1.0}, "rrf_k is -1.0"),
        ({"expansion": Expansion(alpha=0.0)}, "expansion.alpha is 0.0"),
        ({"expansion": Expansion(eps=1.0)}, "expansion.eps is 1.0"),
        ({"expansion": Expansion(seeds=0)}, "expansion.seeds is 0"),
        ({"expansion": Expansion(named=-1.0)}, "expansion.named is -1.0"),
        ({"expansion": Expansion(weight=-2.0)}, "expansion.weight is -2.0"),
        ({"expansion": Expansion(max_edges=0)}, "expansion.max_edges is 0"),
        ({"feedback": Feedback(documents=0)}, "feedback.documents is 0"),
        ({"feedback": Feedback(terms=0)}, "feedback.terms is 0"),
        ({"feedback": Feedback(weight=1.0)}, "feedback.weight is 1.0, but must be from 0 to below 1"),
        ({"agreement": Agreement(neighbours=0)}, "agreement.neighbours is 0"),
        ({"agreement": Agreement(share=1.5)}, "agreement.share is 1.5"),
        ({"agreement": Agreement(among=0)}, "agreement.among is 0"),
        ({"agreement": Agreement(from_words=-1)}, "agreement.from_words is -1"),
        ({"agreement": Agreement(named_share=-0.1)}, "agreement.named_share is -0.1"),
        ({"diversity": Diversity(max_per_document=0)}, "diversity.max_per_document is 0"),
        ({"diversity": Diversity(novelty=-0.1)}, "diversity.novelty is -0.1"),
    ],
)
def test_a_recipe_that_cannot_work_is_refused_with_field_value_and_rule(change: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        checked(msgspec.structs.replace(FULL, **change))


# Verifies: REQ-d00032-A
@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"name": "x", "version": 1, "signals": [{"name": "lexical", "wieght": 2}]}',
        '{"name": "x", "version": 1, "signals": [{"name": "lexical"}], "fusion": "magic"}',
        '{"name": "x", "version": 1, "signals": [{"name": "lexical"}], "expansion": {"kind": "guess"}}',
        json.dumps({"name": "x", "version": "1", "signals": [{"name": "lexical"}]}),
    ],
)
def test_text_that_is_no_recipe_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="This is not a recipe"):
        from_json(text)


# Verifies: REQ-d00032-A
def test_the_recipe_that_follows_links_is_the_default_one_otherwise() -> None:
    linked = BUILT_IN.get("linked")
    assert linked.expansion is not None
    assert msgspec.structs.replace(linked, name="default", expansion=None) == BUILT_IN.get("default")


# Verifies: REQ-d00032-A
def test_a_signal_that_found_alone_what_it_found_by_far_is_believed() -> None:
    alone = [("a", 30.0), *((f"l{n}", 10.0 - n / 10) for n in range(20))]
    middling = [(f"l{n}", 0.5 - n / 100) for n in range(20)]
    best = fuse({"lexical": alone, "dense": middling}, BUILT_IN.get("default"))[0]
    assert best.id == "a"


# Verifies: REQ-d00032-D
@pytest.mark.parametrize("finds", [1, 2, 5])
def test_a_rare_word_stands_out_of_many_that_only_resemble_the_question(finds: int) -> None:
    resembling = [(f"d{number}", 0.6 * 0.97**number) for number in range(200)]
    rare = [(f"d{199 - number}", 6.0 - number / 10) for number in range(finds)]
    found = fuse({"lexical": rare, "dense": resembling}, BUILT_IN.get("default"))
    assert [each.id for each in found[:finds]] == [id for id, _ in rare]


# Verifies: REQ-d00032-A
def test_recipes_are_found_by_name_and_a_near_miss_is_named() -> None:
    assert BUILT_IN.get("default").name == "default"
    with pytest.raises(NotFound) as error:
        BUILT_IN.get("defualt")
    assert error.value.hint == "Did you mean 'default'?"
    with pytest.raises(NotFound) as error:
        BUILT_IN.get("???")
    assert "lexical" in error.value.hint


# Verifies: REQ-d00032-A
def test_a_recipe_never_takes_the_place_of_another() -> None:
    more = Recipes((*BUILT_IN, FULL))
    assert more.get("full") == FULL
    assert len(more) == len(BUILT_IN) + 1
    with pytest.raises(InvalidArgument, match="Two recipes are called 'full'"):
        Recipes((*more, FULL))
    own = Recipes((Recipe("smell", 1, (Signal("smell"),)),), signals=("smell",))
    assert [recipe.name for recipe in own] == ["smell"]
