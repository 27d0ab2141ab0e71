"""Composite figures move by what they are documented to measure, and stay where something else changes."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import MCPError
from tests.contract.memory_client import CONFIG, WHY, Memory, remembering, write_project
from tests.memory.filling import LAMPS, NOW, SHIPS, at, fill, link
from tests.properties import examples

QUERY = "harbour lamps burn at night"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour")) as client:
        at(client.project, NOW)
        yield client


def ask(memory: Memory, times: int = 4) -> None:
    for _ in range(times):
        memory("search_graph", query=QUERY)


# Verifies: REQ-d00340-B, REQ-d00340-C
def test_state_and_workspace_stay_where_something_else_changes(memory: Memory) -> None:
    ids = fill(memory.project, LAMPS)
    ask(memory, 6)

    def told() -> tuple[Any, ...]:
        state, space = memory("get_consciousness_state"), memory("get_workspace_status")
        return state["C"], state["psi"], space["competing"], space["active_memory"]

    before = told()
    assert before[0] is not None
    memory("set_threshold_prior", threshold_type="edge", value=0.6, rationale=WHY)
    fill(memory.project, SHIPS, days_ago=20)
    assert told() == before
    memory("boost_importance", node_id=ids[0], delta=0.5, rationale=WHY)
    memory("search_graph", query=QUERY)
    salient, now = ({each["memory_id"]: each["salience"] for each in space} for space in (before[2], told()[2]))
    assert now.pop(ids[0]) > 1.8 * salient.pop(ids[0])
    assert now == pytest.approx(salient, rel=0.1)


# Verifies: REQ-d00340-D
def test_more_of_the_same_subject_is_steadier_than_another_one(memory: Memory) -> None:
    fill(memory.project, LAMPS, days_ago=9)
    fill(memory.project, LAMPS, days_ago=1)
    ask(memory)

    def steady() -> float:
        found: float = memory("get_ego_state")["identity_continuity"]["similarity_to_last_week"]
        return found

    before = steady()
    fill(memory.project, LAMPS, days_ago=0.5)
    same = steady()
    fill(memory.project, [f"Call parse_{n}() of module_{n}, see Table {n}" for n in range(8)], days_ago=0.2)
    assert abs(same - before) < (before - steady()) / 2


# Verifies: REQ-d00340-E
def test_novelty_and_its_parts_follow_the_nearest_memories_only(memory: Memory) -> None:
    fill(memory.project, LAMPS)
    new = {"content": "Harbour lamps burn at night in winter"}

    def delta() -> dict[str, Any]:
        return memory("gwt_compute_delta_sc", old_fingerprint=new, new_fingerprint=new, include_diagnostics=True)

    before = delta()
    parts = before["diagnostics"]["per_embedder"][5]
    made = parts["delta_c_components"]
    assert before["delta_s_per_embedder"][5] == pytest.approx(parts["cluster_fit_details"]["intra"], abs=1e-3)
    # The text of a memory of the same words is known afterwards; what is about nothing of it changes nothing.
    fill(memory.project, ["Zinc mines of Bolivia pay dividends", "Quarterly reports of zinc mines"])
    assert delta()["delta_s_per_embedder"][5] == before["delta_s_per_embedder"][5]
    fill(memory.project, ["Harbour lamps burn at night in winter, too", "In winter harbour lamps burn at night"])
    assert delta()["delta_s_per_embedder"][5] < before["delta_s_per_embedder"][5]
    assert set(made) == {"connectivity", "cluster_fit", "consistency"}


# Verifies: REQ-d00340-E
def test_a_changed_text_is_compared_by_its_meaning_where_there_is_a_model(tmp_path: Path) -> None:
    root = write_project(tmp_path / "harbour", config=CONFIG.replace('"none"', '"minilm"'))
    with remembering(root) as memory:
        id = memory.store(LAMPS[0])
        old, same, other = ({"content": text} for text in (LAMPS[0], LAMPS[1], SHIPS[0]))
        changes = [
            memory("gwt_compute_delta_sc", old_fingerprint=old, new_fingerprint=each)["change_per_embedder"][0]
            for each in (old, same, other)
        ]
        assert changes == sorted(changes)
        assert changes[0] == pytest.approx(0, abs=0.01)
        assert changes[2] > changes[1] + 0.2
        engine = memory.project.memory.units.engine()
        assert engine is not None
        engine.index_vectors()
        kept = memory("gwt_compute_delta_sc", old_fingerprint=id, new_fingerprint=other)["change_per_embedder"][0]
        assert kept == pytest.approx(changes[2], abs=0.01)


# Verifies: REQ-d00345-A, REQ-d00345-C
def test_what_is_like_the_goal_is_fused_higher(memory: Memory) -> None:
    lamps = fill(memory.project, LAMPS)
    memory("auto_bootstrap_north_star", confidence_threshold=0.1)
    (ship,) = fill(memory.project, SHIPS[:1])

    def fused(id: str, **more: Any) -> float:
        found: float = memory("fuse_embeddings", memory_id=id, store_result=False, **more)["fused_alignment"]
        return found

    near, far = fused(lamps[0]), fused(ship)
    assert near > far
    memory("manage_teleological_profile", action="create", name="other", embedder_weights=[0.0] * 12 + [1.0])
    memory("adjust_coupling", new_K=5)
    assert (fused(lamps[0]), fused(ship)) == (near, far)
    memory("update_synergy_matrix", query_vector_id=lamps[0], result_vector_id=lamps[1], feedback="relevant",
           learning_rate=0.5, update_scope="contributing_pairs")  # fmt: skip
    assert fused(lamps[0], fusion_method="linear") != fused(lamps[0], fusion_method="linear", apply_synergy=False)
    found = memory("search_teleological", query_vector_id=lamps[0], min_similarity=0, max_results=100)["results"]
    ranks = {each["id"]: each["rank"] for each in found}
    assert ship not in ranks or ranks[ship] == max(ranks.values())


# Verifies: REQ-d00344-A
def test_a_topic_appears_with_its_memories_and_one_note_is_none(memory: Memory) -> None:
    fill(memory.project, LAMPS)

    def topics() -> list[str]:
        return [each["goal_text"] for each in memory("discover_sub_goals", min_confidence=0)["discovered_goals"]]

    assert not any("invoices" in each for each in topics())
    fill(memory.project, ["Zinc is mined in Bolivia"])
    assert not any("zinc" in each for each in topics())
    fill(memory.project, SHIPS)
    assert any("invoices" in each for each in topics())


# Verifies: REQ-d00344-B
def test_the_trend_of_drift_worsens_with_another_subject_only(memory: Memory) -> None:
    for week in (5, 4, 3):
        fill(memory.project, [f"{text} in week {week}" for text in LAMPS], days_ago=7 * week - 1)
    memory("auto_bootstrap_north_star", confidence_threshold=0.1)
    fill(memory.project, LAMPS, days_ago=8)
    fill(memory.project, LAMPS, days_ago=1)
    same = memory("get_alignment_drift", timeframe="7d")["trend"]
    assert (same["direction"], same["samples"]) == ("stable", 2)
    fill(memory.project, [*SHIPS, *SHIPS], days_ago=0.5)
    moved = memory("get_alignment_drift", timeframe="7d")
    assert (moved["trend"]["direction"], moved["history"]) == ("worsening", [])
    history = memory("get_drift_history", time_range="all", include_per_embedder=True)
    assert (history["trend"]["direction"], len(history["history"])) == ("worsening", 5)
    assert history["history"][-1]["delta"] < 0
    one = memory("get_drift_history", time_range="24h")
    assert one["note"].startswith("insufficient data: 1 of 6")


# Verifies: REQ-d00347-A
def test_priority_falls_with_links_and_rises_with_age(memory: Memory) -> None:
    old, older = fill(memory.project, LAMPS[:1], days_ago=100)[0], fill(memory.project, LAMPS[1:2], days_ago=300)[0]
    young = fill(memory.project, LAMPS[2:4])

    def priorities() -> dict[str, float]:
        return {each["memory_id"]: each["priority_score"] for each in memory("get_pruning_candidates")["candidates"]}

    before = priorities()
    assert before[older] > before[old]
    fill(memory.project, SHIPS)
    assert priorities() == before
    link(memory.project, (old, young[0]))
    assert priorities()[old] < before[old]
    assert priorities()[older] == before[older]


# Verifies: REQ-d00349-A
def test_health_falls_with_foresight_and_not_with_a_knob(memory: Memory) -> None:
    fill(memory.project, LAMPS)

    def score() -> Any:
        return memory("get_autonomous_status")["overall_health"]["score"]

    before = score()
    memory("adjust_coupling", new_K=9)
    memory("adjust_neuromodulator", modulator="serotonin", delta=0.2)
    assert score() == before == 1.0
    ask(memory, 8)
    assert score() < before
    bias = memory("get_meta_learning_status")["bias"]
    for each in memory("get_learner_state")["open_predictions"]:
        memory("observe_outcome", prediction_id=each["prediction_id"], actual_outcome=1)
    assert memory("get_meta_learning_status")["bias"] < bias


# Verifies: REQ-d00347-D
def test_feedback_on_a_domain_is_about_its_memories(memory: Memory) -> None:
    fill(memory.project, LAMPS, confidence=0.9, domain="Code")
    legal = fill(memory.project, SHIPS, confidence=0.1, domain="Legal")
    link(memory.project, *itertools.pairwise(legal))
    code, law = (memory("get_steering_feedback", domain=each)["reward"] for each in ("Code", "Legal"))
    assert (code["curator_score"], code["gardener_score"]) == (0.8, -1.0)
    assert (law["curator_score"], law["gardener_score"]) == (-0.8, 1.0)


Write = Callable[[Memory, list[str], int], dict[str, Any]]


def _observed(memory: Memory, ids: list[str], n: int) -> dict[str, Any]:
    open_ones = memory("get_learner_state")["open_predictions"]
    if not open_ones:
        return {}
    return memory("observe_outcome", prediction_id=open_ones[n % len(open_ones)]["prediction_id"], actual_outcome=n % 2)


WRITES: tuple[Write, ...] = (
    lambda m, ids, n: m("adjust_coupling", new_K=n),
    lambda m, ids, n: m("adjust_neuromodulator", modulator="dopamine", delta=n / 10 - 0.4),
    lambda m, ids, n: m("trigger_workspace_broadcast", memory_id=ids[n % 6], force=True),
    lambda m, ids, n: m("set_threshold_prior", threshold_type="edge", value=0.5 + n / 40, rationale=WHY),
    lambda m, ids, n: m("trigger_recalibration", level=1 + n % 4),
    lambda m, ids, n: m("trigger_lambda_recalibration", force_bayesian=bool(n % 2)),
    _observed,
    lambda m, ids, n: m("auto_bootstrap_north_star", confidence_threshold=0),
    lambda m, ids, n: m("trigger_drift_correction", force=True),
    lambda m, ids, n: m("fuse_embeddings", memory_id=ids[n % 6]),
    lambda m, ids, n: m(
        "update_synergy_matrix", query_vector_id=ids[n % 6], result_vector_id=ids[(n + 1) % 6], feedback="relevant"
    ),
    lambda m, ids, n: m("manage_teleological_profile", action="create", name=f"profile {n}"),
    lambda m, ids, n: m("execute_prune", node_ids=[ids[6 + n % 6]], reason="orphan"),
    lambda m, ids, n: m("trigger_consolidation", dry_run=False, min_similarity=0.3),
    lambda m, ids, n: m("trigger_healing", subsystem=("utl", "gwt", "dream")[n % 3], severity="critical"),
    lambda m, ids, n: m("trigger_dream", blocking=True, force=True, abort_on_query=False),
)


def hashes(answer: dict[str, Any]) -> list[str]:
    own = [answer["reversal_hash"]] if answer.get("reversal_hash") else []
    parts = [each["reversal_hash"] for name in ("pruned", "merges") for each in answer.get(name, ())]
    return [*own, *parts, *reversed(answer.get("reversal_hashes", ()))]


# Verifies: REQ-o00042-C
@settings(max_examples=examples(40))
@given(st.lists(st.tuples(st.sampled_from(range(len(WRITES))), st.integers(0, 9)), min_size=3, max_size=12))
def test_any_writes_of_cognition_are_undone_in_reverse(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[int, int]]
) -> None:
    with remembering(write_project(tmp_path_factory.mktemp("undo"))) as memory:
        at(memory.project, NOW)
        ids = fill(memory.project, [*LAMPS, *SHIPS])
        link(memory.project, *itertools.pairwise(ids[:4]))
        ask(memory, 5)
        store = memory.project.memory.home.store

        def dump() -> Any:
            # How far dreams have come is a mark, and no change of anything.
            records = {
                name: {each.id: each.data for each in store.scan(name) if not each.id.startswith("dream")}
                for name in ("memory", "link", "cognition")
            }
            return records, memory("get_calibration_metrics")["outcomes"], memory("get_learner_state")["accuracy"]

        before, made = dump(), []
        for which, number in writes:
            try:
                made += hashes(WRITES[which](memory, ids, number))
            except MCPError as error:
                # What was merged or pruned before can be used no more.
                if error.error.code != -32014:
                    raise
        for hash in reversed(made):
            memory("restore_from_hash", reversal_hash=hash)
        assert dump() == before
