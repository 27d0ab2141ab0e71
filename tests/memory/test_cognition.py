"""Every computed figure moves in its documented direction when something is planted, and not by what has no bearing."""

import itertools
import math
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.memory_client import WHY, Memory, remembering, write_project
from tests.memory.filling import LAMPS, NOW, SHIPS, at, fill, link, view_of
from tests.properties import examples

from clew.memory.cognition.agreement import order
from clew.memory.cognition.gauges.oscillators import FREQUENCIES, simulated
from clew.memory.cognition.learning.learner import weighed
from clew.memory.cognition.learning.thresholds import ORDER, THRESHOLDS, ordered
from clew.memory.model import MemoryLinkKind, MemoryScope


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour")) as client:
        at(client.project, NOW)
        yield client


def ask(memory: Memory, times: int = 4, query: str = "harbour lamps burn at night") -> list[str]:
    return [memory.ids(query) for _ in range(times)][-1]


# Verifies: REQ-d00340-A
def test_r_is_high_where_the_spaces_order_alike_and_low_where_they_do_not(memory: Memory) -> None:
    fill(
        memory.project, ["Lamps burn.", "Lamps burn and horns blow.", "Lamps and horns and ropes and sails and docks."]
    )
    memory("search_graph", query="lamps burn")
    agreed = memory("get_kuramoto_sync")
    assert agreed["samples"] == 1
    assert agreed["coupling"] == 2.0
    # The most recent is the worst answer: recency orders them the other way round.
    fill(memory.project, ["Buoys float here.", "A buoy."], days_ago=1)
    for text in ("Buoys float, said the pilots of the tug", "Of buoys many tales are told by all pilots of this tug"):
        fill(memory.project, [text])
    for _ in range(8):
        memory("search_graph", query="buoys float here")
    apart = memory("get_kuramoto_sync")
    assert 0 <= apart["r"] < agreed["r"] <= 1
    assert apart["phases"][1] > math.pi / 2
    assert memory("get_kuramoto_sync")["r"] == apart["r"]


# Verifies: REQ-d00340-A
@settings(max_examples=examples(60))
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=13), st.floats(0, 10))
def test_r_stays_between_0_and_1(angles: list[float], strength: float) -> None:
    assert 0 <= order(angles)[0] <= 1
    start = dict(zip(FREQUENCIES, angles, strict=False))
    assert 0 <= simulated(start, 0.0) <= 1
    assert order([angles[0]] * 5)[0] == pytest.approx(1)


# Verifies: REQ-d00340-A
def test_a_stronger_coupling_brings_simulated_phases_together(memory: Memory) -> None:
    start = {space: at for at, space in enumerate(FREQUENCIES)}
    assert simulated(start, 0.5) < simulated(start, 2.0) < simulated(start, 8.0)
    changed = memory("adjust_coupling", new_K=99)
    assert (changed["old_K"], changed["new_K"], changed["K_clamped"]) == (2.0, 10.0, True)
    assert memory("get_kuramoto_sync")["coupling"] == 10.0


# Verifies: REQ-d00340-B
def test_the_workspace_holds_what_is_most_salient(memory: Memory) -> None:
    ids = fill(memory.project, LAMPS, importance=0.4)
    heavy = fill(memory.project, ["Lamps of the harbour burn at night for ships"], importance=0.9)[0]
    ask(memory)
    space = memory("get_workspace_status")
    assert space["active_memory"] == heavy
    assert [each["salience"] for each in space["competing"]] == sorted(
        (each["salience"] for each in space["competing"]), reverse=True
    )
    light = ids[0]
    refused = memory("trigger_workspace_broadcast", memory_id=light, importance=0.01, alignment=0.01)
    assert (refused["success"], refused["reversal_hash"]) == (False, None)
    assert refused["reason"]
    put = memory("trigger_workspace_broadcast", memory_id=light, importance=0.01, force=True)
    assert put["success"]
    now = memory("get_workspace_status")
    assert (now["active_memory"], now["is_broadcasting"]) == (light, True)
    at(memory.project, NOW + timedelta(milliseconds=100))
    assert memory("get_workspace_status")["active_memory"] == heavy


# Verifies: REQ-d00340-C
def test_the_composite_state_is_a_product_of_three(memory: Memory) -> None:
    fill(memory.project, LAMPS)
    assert memory("get_consciousness_state")["C"] is None
    ask(memory, 6)
    state = memory("get_consciousness_state")
    assert state["C"] == pytest.approx(state["integration"] * state["reflection"] * state["differentiation"], abs=1e-3)
    assert state["component_analysis"]["samples"]["outcomes"] >= 6
    tag = memory("search_graph", query="harbour lamps burn at night")["results"][0]["citation_tag"]
    memory("hydrate_citation", citation_tag=tag)
    assert memory("get_consciousness_state")["meta_score"] > state["meta_score"]


# Verifies: REQ-d00340-D
def test_subjects_are_steady_until_they_change(memory: Memory) -> None:
    fill(memory.project, LAMPS, days_ago=9, importance=0.5)
    fill(memory.project, LAMPS, days_ago=1)
    ask(memory)
    steady = memory("get_ego_state")
    assert steady["identity_coherence"] is not None
    # The same subject again changes nothing; another one does.
    other = [f"Call parse_{n}() and render_{n}() of module_{n}, see Table {n}" for n in range(8)]
    fill(memory.project, other, days_ago=0.5)
    moved = memory("get_ego_state")
    assert (
        moved["identity_continuity"]["similarity_to_last_week"]
        < steady["identity_continuity"]["similarity_to_last_week"]
    )


# Verifies: REQ-d00340-E
def test_what_is_unlike_everything_is_newer(memory: Memory) -> None:
    ids = fill(memory.project, LAMPS)
    known = {"content": "The harbour lamps burn at night in winter"}
    strange = {"content": "Quarterly dividends of harbour zinc mines fell in Bolivia"}
    one, other = (
        memory("gwt_compute_delta_sc", old_fingerprint=ids[0], new_fingerprint=each, include_diagnostics=True)
        for each in (known, strange)
    )
    assert one["delta_s_per_embedder"][5] < other["delta_s_per_embedder"][5]
    assert one["change_per_embedder"][5] < other["change_per_embedder"][5]
    assert len(one["johari_quadrants"]) == 13


def scores(memory: Memory) -> dict[str, float]:
    found = memory("search_graph", query="harbour lamps burn at night")["results"]
    return {each["node_id"]: each["score"] for each in found}


def spread(found: dict[str, float]) -> float:
    return max(found.values()) - min(found.values())


# Verifies: REQ-d00341-A, REQ-d00341-B
def test_knobs_change_the_ranking_in_their_direction_and_only_in_the_profile(memory: Memory, tmp_path: Path) -> None:
    fill(memory.project, LAMPS)
    usual = scores(memory)
    assert memory("get_neuromodulation_state")["neutral"]
    raised = memory("adjust_neuromodulator", modulator="dopamine", delta=2)
    assert spread(scores(memory)) > spread(usual)
    # Two of the memories have the same score: which of them comes first is chance.
    assert [usual[id] for id in scores(memory)] == sorted(usual.values(), reverse=True)
    with Memory(memory.project) as plain:
        assert scores(plain) == usual
    memory("restore_from_hash", reversal_hash=raised["reversal_hash"])
    assert scores(memory) == usual
    raised = memory("adjust_neuromodulator", modulator="noradrenaline", delta=1)
    assert spread(scores(memory)) < spread(usual)
    memory("restore_from_hash", reversal_hash=raised["reversal_hash"])
    memory("adjust_neuromodulator", modulator="serotonin", delta=0.5)
    broad = scores(memory)
    assert all(broad[id] > usual[id] for id in usual)
    assert memory("get_neuromodulation_state")["space_weights"][8] == 1.0


# Verifies: REQ-d00341-C
def test_levels_stay_in_range_and_fade(memory: Memory) -> None:
    changed = memory("adjust_neuromodulator", modulator="dopamine", delta=99)
    assert (changed["new_level"], changed["delta_applied"], changed["clamped"]) == (5.0, 2.0, True)

    def dopamine() -> Any:
        return memory("get_neuromodulation_state")["modulators"]["dopamine"]

    assert dopamine()["last_cause"] == "adjust_neuromodulator"
    at(memory.project, NOW + timedelta(seconds=20))
    assert 3.0 < dopamine()["level"] < 5.0
    at(memory.project, NOW + timedelta(minutes=10))
    assert dopamine()["level"] == pytest.approx(3.0)
    memory("search_graph", query="zebra")
    alarmed = memory("get_neuromodulation_state")
    assert alarmed["modulators"]["noradrenaline"]["level"] == 1.5
    assert alarmed["neutral"]
    assert memory("get_neuromodulation", session_id="other")["modulators"]["noradrenaline"]["level"] == 1.0


def used_and_ignored(memory: Memory, rounds: int = 6) -> None:
    """Whoever asks reads the best result in full and ignores the others."""
    for _ in range(rounds):
        best = memory("search_graph", query="harbour lamps burn at night")["results"][0]
        memory("hydrate_citation", citation_tag=best["citation_tag"])


# Verifies: REQ-d00342-A, REQ-d00342-B
def test_calibration_counts_what_happened_to_shown_memories(memory: Memory) -> None:
    ids = fill(memory.project, LAMPS)
    assert memory("get_calibration_metrics")["sufficient_data"] is False
    memory("search_graph", query="harbour lamps")
    refused = memory("trigger_recalibration", level=4)
    assert (refused["recalibration"]["action"], refused["reversal_hash"]) == ("skipped", None)
    used_and_ignored(memory)
    found = memory("get_calibration_metrics")
    assert found["outcomes"]["used"] >= 5
    assert found["outcomes"]["ignored"] >= 10
    assert found["calibration"]["sample_count"] == sum(found["outcomes"].values())
    memory("forget_concept", node_id=ids[5], reason="incorrect", rationale=WHY)
    assert memory("get_calibration_metrics")["outcomes"]["undone"] >= 1
    before = found["calibration"]["brier"]
    fitted = memory("trigger_recalibration", level=2)
    assert fitted["metrics_after"]["brier"] <= fitted["metrics_before"]["brier"]
    assert fitted["metrics_before"]["brier"] == pytest.approx(before, abs=0.2)
    memory("search_graph", query="anything else entirely")
    assert memory("get_calibration_metrics")["outcomes"]["used"] == found["outcomes"]["used"]


# Verifies: REQ-d00342-C
@settings(max_examples=examples(100))
@given(st.sampled_from(sorted(THRESHOLDS)), st.floats(0, 1), st.data())
def test_thresholds_keep_their_order(name: str, value: float, data: st.DataObject) -> None:
    others = {each: about.prior for each, about in THRESHOLDS.items()}
    for _ in range(3):
        moved = data.draw(st.sampled_from(sorted(THRESHOLDS)))
        others[moved] = ordered(moved, data.draw(st.floats(0, 1)), others)
    others[name] = ordered(name, value, others)
    assert all(others[above] > others[below] for above, below in ORDER)
    assert all(about.low <= others[each] <= about.high for each, about in THRESHOLDS.items())


# Verifies: REQ-d00342-C, REQ-d00342-D
def test_a_threshold_follows_use_and_its_history_says_why(memory: Memory) -> None:
    fill(memory.project, LAMPS)
    used_and_ignored(memory)
    before = memory("explain_threshold", threshold_type="acceptable")
    assert before["learned_delta"] is None
    memory("trigger_recalibration", level=1)
    after = memory("explain_threshold", threshold_type="acceptable")
    # What was used had a similarity of 1, so the threshold rises, and stays below `optimal`.
    assert after["value"] > before["value"]
    assert after["value"] < memory("explain_threshold", threshold_type="optimal")["value"]
    assert memory("explain_threshold", threshold_type="johari")["value"] == 0.5
    memory("set_threshold_prior", threshold_type="acceptable", value=0.6, rationale=WHY)
    told = memory("get_threshold_history", threshold_type="acceptable")
    assert [entry["new"] for entry in told["history"]] == [after["value"], 0.6]
    assert told["history"][1]["reason"] == WHY
    assert len(told["calibration_changes"]) == 1
    assert memory("get_threshold_history", threshold_type="johari")["history"] == []
    strict = memory("get_threshold_status", domain="Medical")["thresholds"]["tool_gate"]["value"]
    assert strict > memory("get_threshold_status")["thresholds"]["tool_gate"]["value"]


# Verifies: REQ-d00343-A
def test_outcomes_that_are_told_move_accuracy_and_weights(memory: Memory) -> None:
    fill(memory.project, LAMPS)
    ask(memory, 6)
    state = memory("get_learner_state")
    open_ones = state["open_predictions"]
    assert len(open_ones) == 10
    old = state["lambda_weights"]["delta_s"]
    for each in open_ones[:5]:
        memory("observe_outcome", prediction_id=each["prediction_id"], actual_outcome=each["predicted"])
    assert memory("get_learner_state")["accuracy"] > state["accuracy"]
    assert memory("get_learner_state")["lambda_weights"]["delta_s"] == old
    told = [memory("observe_outcome", prediction_id=each["prediction_id"], actual_outcome=1) for each in open_ones[5:]]
    assert told[0]["prediction_error"] < 0
    # Too little was foreseen: the weight of novelty rises.
    assert memory("get_learner_state")["lambda_weights"]["delta_s"] > old
    log = memory("get_meta_learning_log")
    assert log["total_count"] == sum(each["lambda_adjusted"] for each in told) > 0
    assert memory("get_meta_learning_log", limit=1)["has_more"] == (log["total_count"] > 1)
    late = open_ones[0]["prediction_id"]
    at(memory.project, NOW + timedelta(hours=25))
    assert memory.number("observe_outcome", prediction_id=late, actual_outcome=1) == -32012


# Verifies: REQ-d00342-A, REQ-o00042-C
def test_undoing_what_settled_an_outcome_opens_it_again(memory: Memory) -> None:
    ids = fill(memory.project, LAMPS)
    memory("search_graph", query="harbour lamps burn at night")

    def outcomes() -> Any:
        return memory("get_calibration_metrics")["outcomes"]

    state = memory("get_learner_state")
    shown = {each["memory_id"]: each["prediction_id"] for each in state["open_predictions"]}
    told = memory("observe_outcome", prediction_id=shown[ids[0]], actual_outcome=1)
    forgotten = memory("forget_concept", node_id=ids[5], reason="incorrect", rationale=WHY)
    boosted = memory("boost_importance", node_id=ids[4], delta=0.1, rationale=WHY)
    assert outcomes() == {"told": 1, "undone": 1, "used": 1}
    for done in (boosted, forgotten, told):
        memory("restore_from_hash", reversal_hash=done["reversal_hash"])
    assert outcomes() == {}
    after = memory("get_learner_state")
    assert (after["lambda_weights"], after["prediction_count"]) == (state["lambda_weights"], 6)
    # A fresh process reads the same from the store.
    memory("trigger_healing", subsystem="utl", severity="low")
    assert outcomes() == {}
    # What is told wins over what was seen, and gives way to it when it is taken back.
    memory("boost_importance", node_id=ids[4], delta=0.1, rationale=WHY)
    told = memory("observe_outcome", prediction_id=shown[ids[4]], actual_outcome=0)
    assert outcomes() == {"told": 1}
    memory("restore_from_hash", reversal_hash=told["reversal_hash"])
    assert outcomes() == {"used": 1}


# Verifies: REQ-d00342-A
def test_observations_are_read_again_however_much_was_written_since(memory: Memory) -> None:
    fill(memory.project, LAMPS)
    ask(memory, 4)
    before = memory("get_calibration_metrics")
    assert before["samples"] == 6
    view = view_of(memory.project)
    for number in range(600):
        with view.changes.make("note", "test", f"{number}"):
            pass
    memory("trigger_healing", subsystem="utl", severity="low")
    assert memory("get_calibration_metrics")["calibration"] == before["calibration"]


# Verifies: REQ-d00343-C
def test_the_log_says_what_kind_of_change_it_was(memory: Memory) -> None:
    fill(memory.project, LAMPS)
    ask(memory, 8)
    # Nothing was used: use was foreseen badly.
    done = memory("trigger_lambda_recalibration")
    assert done["adjustment"]["alpha"] == pytest.approx(0.05)
    memory("trigger_lambda_recalibration", force_bayesian=True)
    log = memory("get_meta_learning_log")["events"]
    assert [each["event_type"] for each in log] == ["bayesian_escalation", "accuracy_alert"]
    assert memory("get_meta_learning_status")["recent_events_count"] == 2
    only = memory("get_meta_learning_log", event_type="accuracy_alert")
    assert (only["total_count"], only["events"][0]["accuracy"] < 0.7) == (1, True)
    assert memory("get_meta_learning_log", event_type="accuracy_recovery")["total_count"] == 0


# Verifies: REQ-d00343-B
@settings(max_examples=examples(100))
@given(st.floats(-5, 5))
def test_weights_sum_to_1(delta_s: float) -> None:
    weights = weighed(delta_s)
    assert weights.delta_s + weights.delta_c == pytest.approx(1, abs=1e-9)
    assert 0.1 <= weights.delta_s <= 0.9


# Verifies: REQ-d00343-B
def test_weights_are_fitted_to_what_happened_and_a_dry_run_changes_nothing(memory: Memory) -> None:
    fill(memory.project, LAMPS)
    used_and_ignored(memory)
    before = memory("get_meta_learning_status")
    tried = memory("trigger_lambda_recalibration", force_bayesian=True, dry_run=True)
    assert tried["expected_improvement"] >= 0
    assert memory("get_meta_learning_status")["current_lambdas"] == before["current_lambdas"]
    done = memory("trigger_lambda_recalibration", force_bayesian=True)
    assert done["new_lambdas"] == tried["new_lambdas"]
    after = memory("get_meta_learning_status", include_accuracy_history=True)
    assert after["current_lambdas"] == done["new_lambdas"]
    assert len(after["accuracy_history"]) == min(after["samples"], 20)


# Verifies: REQ-d00344-A
def test_the_goal_is_what_most_of_the_memory_is_about(memory: Memory) -> None:
    private = MemoryScope(repository="x", agent="spy", visibility="private")
    fill(memory.project, [f"Secret zeppelin plan {n} for zeppelins" for n in range(20)], scope=private)
    fill(memory.project, LAMPS)
    fill(memory.project, SHIPS[:4])
    found = memory("auto_bootstrap_north_star", confidence_threshold=0.5)
    goal = found["bootstrap_result"]
    assert found["status"] == "bootstrapped"
    assert {"lamps", "harbour"} & set(goal["goal_text"].split(", "))
    assert goal["member_count"] >= 5
    assert memory("auto_bootstrap_north_star")["status"] == "already_bootstrapped"
    topics = memory("discover_sub_goals", min_confidence=0.3)
    assert any("invoices" in each["goal_text"] for each in topics["discovered_goals"])
    assert "zeppelin" not in str(topics)
    memory("restore_from_hash", reversal_hash=found["reversal_hash"])
    assert memory("auto_bootstrap_north_star", confidence_threshold=1)["status"] == "no_coherent_topic"


# Verifies: REQ-d00344-B, REQ-d00344-C
def test_drift_rises_with_another_subject_and_a_correction_follows_it(memory: Memory) -> None:
    fill(memory.project, LAMPS, days_ago=20)
    memory("auto_bootstrap_north_star", confidence_threshold=0.1)
    fill(memory.project, [f"{text} again" for text in LAMPS], days_ago=2)
    same = memory("get_alignment_drift", timeframe="7d")["overall_drift"]
    fill(memory.project, SHIPS, days_ago=1)
    fill(memory.project, SHIPS, days_ago=0.5)
    drifted = memory("get_alignment_drift", timeframe="7d", include_history=True)
    assert drifted["overall_drift"]["drift_score"] > same["drift_score"] + 0.2
    assert drifted["overall_drift"]["has_drifted"]
    assert drifted["reference_type"] == "north_star"
    history = memory("get_drift_history", time_range="30d")["history"]
    assert history[-1]["similarity"] < 0.8
    store = memory.project.memory.home.store
    memories = {record.id: record.data for record in store.scan("memory")}
    done = memory("trigger_drift_correction")
    assert done["correction_result"]["success"]
    assert {record.id: record.data for record in store.scan("memory")} == memories
    assert (
        memory("get_alignment_drift", timeframe="7d")["overall_drift"]["similarity"]
        > drifted["overall_drift"]["similarity"]
    )


# Verifies: REQ-d00345-A
def test_a_text_about_the_goal_is_nearer_to_it(memory: Memory) -> None:
    ids = fill(memory.project, LAMPS)
    memory("auto_bootstrap_north_star", confidence_threshold=0.1)
    fill(memory.project, SHIPS)
    near = memory("compute_teleological_vector", content="The harbour lamps burn at night")
    far = memory("compute_teleological_vector", content="The ferry company pays invoices", include_per_embedder=True)
    assert near["reference"] == far["reference"] == "north_star"
    assert near["purpose_vector"][5] > far["purpose_vector"][5]
    assert near["group_alignments"]["factual"] > far["group_alignments"]["factual"]
    assert (near["purpose_vector"][9], len(near["cross_correlations"])) == (None, 78)
    for strategy in ("cosine", "euclidean", "synergy_weighted", "group_hierarchical", "cross_correlation_dominant",
                     "tucker_compressed", "adaptive"):  # fmt: skip
        found = memory(
            "search_teleological", query_content="harbour lamps at night", strategy=strategy, min_similarity=0
        )
        assert found["results"]
        assert all(0 <= each["similarity"] <= 1 for each in found["results"])
    assert memory("search_teleological", query_vector_id=ids[0], max_results=3)["count"] <= 3


# Verifies: REQ-d00345-B
@settings(max_examples=examples(15))
@given(data=st.data())
def test_the_synergy_matrix_stays_symmetric(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    with remembering(write_project(tmp_path_factory.mktemp("synergy"))) as memory:
        ids = fill(memory.project, LAMPS)
        for _ in range(data.draw(st.integers(1, 4))):
            one, other = data.draw(st.lists(st.sampled_from(ids), min_size=2, max_size=2, unique=True))
            done = memory(
                "update_synergy_matrix",
                query_vector_id=one,
                result_vector_id=other,
                feedback=data.draw(st.sampled_from(("relevant", "not_relevant", "partially_relevant"))),
                learning_rate=data.draw(st.floats(0.001, 0.5)),
                update_scope=data.draw(st.sampled_from(("all_pairs", "high_synergy_only", "contributing_pairs"))),
            )
            matrix = done["matrix"]
            assert all(matrix[i][i] == 1 for i in range(13))
            assert all(matrix[i][j] == matrix[j][i] and 0 <= matrix[i][j] <= 1 for i in range(13) for j in range(13))


# Verifies: REQ-d00345-B, REQ-d00345-C
def test_feedback_and_profiles_change_what_is_fused(memory: Memory) -> None:
    ids = fill(memory.project, LAMPS)
    up = memory("update_synergy_matrix", query_vector_id=ids[0], result_vector_id=ids[1], feedback="relevant")
    down = memory("update_synergy_matrix", query_vector_id=ids[0], result_vector_id=ids[1], feedback="not_relevant")
    half = memory(
        "update_synergy_matrix", query_vector_id=ids[0], result_vector_id=ids[1], feedback="partially_relevant"
    )
    assert [each["pairs_updated"][0]["new"] - each["pairs_updated"][0]["old"] for each in (up, down, half)] == [
        pytest.approx(0.01),
        pytest.approx(-0.01),
        pytest.approx(0.005),
    ]
    only_words = [1.0 if at == 5 else 0.0 for at in range(13)]
    made = memory("manage_teleological_profile", action="create", name="words", embedder_weights=only_words)["profile"]
    plain = memory("fuse_embeddings", memory_id=ids[0], fusion_method="linear", apply_synergy=False)
    words = memory(
        "fuse_embeddings", memory_id=ids[0], fusion_method="linear", apply_synergy=False, profile_id=made["profile_id"]
    )
    assert words["fused_alignment"] == pytest.approx(words["purpose_vector"][5], abs=1e-3) != plain["fused_alignment"]
    for method in ("attention", "gated", "hierarchical", "tucker"):
        assert 0 <= memory("fuse_embeddings", memory_id=ids[0], fusion_method=method)["fused_alignment"] <= 1
    named = memory("manage_teleological_profile", action="update", profile_id=made["profile_id"], name="terms")
    assert named["profile"]["embedder_weights"] == only_words
    assert memory("manage_teleological_profile", action="list")["count"] == 1
    gone = memory("manage_teleological_profile", action="delete", profile_id=made["profile_id"])
    assert memory("manage_teleological_profile", action="list")["count"] == 0
    memory("restore_from_hash", reversal_hash=gone["reversal_hash"])
    assert (
        memory("manage_teleological_profile", action="read", profile_id=made["profile_id"])["profile"]["name"]
        == "terms"
    )


# Verifies: REQ-d00346-A, REQ-d00346-B
def test_inference_follows_causes_and_repeated_walks_become_shortcuts(memory: Memory) -> None:
    ids = fill(memory.project, LAMPS[:5])
    link(memory.project, *itertools.pairwise(ids[:4]))
    foreign = fill(memory.project, ["A fee is due"], domain="Legal")[0]
    link(memory.project, (ids[3], foreign), weight=0.5)
    (found,) = memory("omni_infer", source=ids[0], target=ids[2])["results"]
    assert (found["strength"], found["path"], found["is_direct"]) == (pytest.approx(0.64), ids[:3], False)
    assert memory("omni_infer", source=ids[2], target=ids[0])["results"] == []
    (back,) = memory("omni_infer", source=ids[2], target=ids[0], direction="backward")["results"]
    assert back["path"] == ids[:3]
    bridge = memory("omni_infer", source=ids[0], direction="bridge")["results"]
    assert [each["target"] for each in bridge] == [foreign]
    causes = memory("omni_infer", source=ids[2], direction="abduction")["results"]
    assert [each["target"] for each in causes] == [ids[1], ids[0]]
    assert memory("omni_infer", source=ids[4], direction="abduction")["sufficient_data"] is False
    assert memory.number("omni_infer", source=ids[0]) == -32002
    for _ in range(4):
        memory("find_causal_path", source_id=ids[0], target_id=ids[3])
    assert memory("get_amortized_shortcuts")["shortcuts"] == []
    memory("find_causal_path", source_id=ids[0], target_id=ids[3])
    memory("find_causal_path", source_id=ids[0], target_id=ids[2])
    (shortcut,) = memory("get_amortized_shortcuts")["shortcuts"]
    assert (shortcut["path"], shortcut["traversal_count"]) == (ids[:4], 5)
    assert shortcut["combined_weight"] == pytest.approx(0.512)


# Verifies: REQ-d00347-A, REQ-d00347-B
def test_pruning_proposes_what_is_alone_and_forgets_what_is_named(memory: Memory) -> None:
    old = fill(memory.project, LAMPS[:3], days_ago=40)
    pinned = fill(memory.project, ["Pinned things stay"], days_ago=40, pinned=True)[0]
    young = fill(memory.project, LAMPS[3:])
    link(memory.project, (old[0], young[0]), (old[0], young[1]), (old[0], young[2]))
    found = memory("get_pruning_candidates")
    assert {each["memory_id"] for each in found["candidates"]} == set(old[1:])
    assert found["summary"]["by_reason"] == {"orphaned": 2}
    part = fill(memory.project, ["A part of it"])[0]
    link(memory.project, (part, old[1]), kind=MemoryLinkKind.PART_OF)
    done = memory(
        "execute_prune",
        node_ids=[old[1], "00000000-0000-4000-8000-000000000000", pinned],
        reason="orphan",
        cascade=True,
    )
    assert (done["pruned_count"], done["cascade_pruned"]) == (2, 1)
    assert len(done["errors"]) == 1
    assert memory.number("annotate_node", node_id=old[1], annotations={"tags": ["x"]}) == -32014
    for each in done["pruned"]:
        memory("restore_from_hash", reversal_hash=each["reversal_hash"])
    assert memory("get_recent_context")["count"] == 8


# Verifies: REQ-d00347-C
def test_consolidation_merges_the_same_only_when_told(memory: Memory) -> None:
    same = ("The harbour lamps burn at night in winter", "In winter the lamps of the harbour burn at night")
    differ = ("Berth 4 takes ships of 90 metres in length", "Berth 4 takes ships of 120 metres in length")
    denied = ("The gate opens at six in the morning", "The gate does not open at six in the morning")
    ids = fill(memory.project, (*same, *differ, *denied))
    proposed = memory("trigger_consolidation", min_similarity=0.8)
    assert [set(each["source_ids"]) for each in proposed["candidates_sample"]] == [set(ids[:2])]
    assert (proposed["pairs_consolidated"], memory("get_recent_context")["count"]) == (0, 6)
    done = memory("trigger_consolidation", min_similarity=0.8, dry_run=False)
    assert (done["pairs_consolidated"], memory("get_recent_context")["count"]) == (1, 5)
    memory("restore_from_hash", reversal_hash=done["merges"][0]["reversal_hash"])
    assert memory("get_recent_context")["count"] == 6


# Verifies: REQ-d00347-D
def test_steering_follows_links_confidence_and_use(memory: Memory) -> None:
    ids = fill(memory.project, LAMPS, confidence=0.9)
    bare = memory("get_steering_feedback")
    assert (bare["reward"]["gardener_score"], bare["reward"]["curator_score"]) == (-1.0, 0.8)
    assert bare["reward"]["assessor_score"] is None
    link(memory.project, *itertools.pairwise(ids))
    linked = memory("get_steering_feedback", content="Ropes are coiled by hand.")
    assert linked["reward"]["gardener_score"] == 1.0
    assert linked["reward"]["curator_score"] == 0.8
    again = memory("get_steering_feedback", content=LAMPS[0])
    assert again["candidate"]["value"] < 0 < linked["candidate"]["value"]
    assert memory("get_recent_context")["count"] == 6
    assert view_of(memory.project).service.adjustments.last() == []


# Verifies: REQ-d00335-A
def test_coming_next_in_a_session_is_no_link_of_the_gardener_and_of_no_reward(memory: Memory) -> None:
    memory.store("Oil is bought in winter.")
    stored = memory("store_memory", content="Ropes are coiled twice.", rationale=WHY)
    parts = {part["name"]: part for part in stored["steering_reward"]["parts"]}
    assert (parts["linkage"]["value"], parts["linkage"]["because"]) == (0, "0 links and 0 citations")
    assert memory("get_steering_feedback")["reward"]["gardener_score"] == -1.0
