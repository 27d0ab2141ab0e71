"""The second source document: the toolset cognition on stores of any size, with every bad input."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.memory_client import WHY, Memory, remembering, write_project
from tests.mcp_client import Options, list_tools
from tests.memory.filling import NOW, at, fill, link

MISSING = "00000000-0000-4000-8000-000000000000"
NAN = float("nan")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour")) as client:
        yield client


def cognition() -> list[str]:
    return [
        name for name in list_tools(Options(toolsets=("cognition",))) if name not in list_tools(Options(toolsets=()))
    ]


def calls(ids: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """One useful call of every tool; those that need memories only where there are some."""
    plain: list[tuple[str, dict[str, Any]]] = [
        ("get_consciousness_state", {}),
        ("get_kuramoto_sync", {}),
        ("get_workspace_status", {}),
        ("get_ego_state", {}),
        ("adjust_coupling", {"new_K": 3}),
        ("get_threshold_status", {"embedder_id": 1}),
        ("get_calibration_metrics", {}),
        ("trigger_recalibration", {"level": 2}),
        ("set_threshold_prior", {"threshold_type": "edge", "value": 0.6, "rationale": WHY}),
        ("get_threshold_history", {"threshold_type": "edge"}),
        ("explain_threshold", {"threshold_type": "acceptable"}),
        ("get_neuromodulation_state", {}),
        ("get_neuromodulation", {"session_id": "another"}),
        ("adjust_neuromodulator", {"modulator": "dopamine", "delta": 0.5}),
        ("get_steering_feedback", {"content": "Lamps break in winter."}),
        ("search_teleological", {"query_content": "lamps are checked in season"}),
        ("compute_teleological_vector", {"content": "lamps in winter", "compute_tucker": True}),
        ("manage_teleological_profile", {"action": "create", "name": "code"}),
        ("auto_bootstrap_north_star", {"confidence_threshold": 0.1}),
        ("get_alignment_drift", {"timeframe": "7d", "include_history": True}),
        ("trigger_drift_correction", {"force": True}),
        ("get_pruning_candidates", {"min_staleness_days": 0}),
        ("trigger_consolidation", {"max_memories": 2_000}),
        ("discover_sub_goals", {"min_confidence": 0.1}),
        ("get_learner_state", {}),
        ("get_drift_history", {"time_range": "7d"}),
        ("execute_prune", {"node_ids": ids[:1], "reason": "orphan"}),
        ("get_meta_learning_status", {"include_accuracy_history": True, "include_embedder_breakdown": True}),
        ("trigger_lambda_recalibration", {}),
        ("get_meta_learning_log", {}),
        ("get_amortized_shortcuts", {}),
        ("get_autonomous_status", {"include_metrics": True, "include_history": True}),
        ("get_dream_status", {}),
        ("abort_dream", {}),
        ("get_health_status", {}),
        ("trigger_dream", {"blocking": True, "abort_on_query": False}),
        ("trigger_healing", {"subsystem": "storage", "severity": "critical"}),
    ]
    if not ids:
        return plain
    one, other = ids[-2:]
    return [
        *plain,
        ("trigger_workspace_broadcast", {"memory_id": one, "force": True}),
        ("gwt_compute_delta_sc", {"old_fingerprint": one, "new_fingerprint": {"content": "Lamps break."}}),
        ("omni_infer", {"source": one, "target": other}),
        ("fuse_embeddings", {"memory_id": one}),
        ("update_synergy_matrix", {"query_vector_id": one, "result_vector_id": other, "feedback": "relevant"}),
    ]


COMPUTED = (
    "get_consciousness_state", "get_kuramoto_sync", "get_workspace_status", "get_ego_state", "get_threshold_status",
    "get_calibration_metrics", "trigger_recalibration", "get_steering_feedback", "search_teleological",
    "compute_teleological_vector", "auto_bootstrap_north_star", "get_alignment_drift", "trigger_drift_correction",
    "get_pruning_candidates", "trigger_consolidation", "discover_sub_goals", "get_learner_state", "get_drift_history",
    "get_meta_learning_status", "trigger_lambda_recalibration", "get_amortized_shortcuts",
    "get_autonomous_status", "get_health_status", "explain_threshold", "gwt_compute_delta_sc",
)  # fmt: skip


FROM_OUTCOMES = (
    "get_threshold_status", "get_calibration_metrics", "trigger_recalibration", "explain_threshold",
    "get_learner_state", "get_meta_learning_status", "trigger_lambda_recalibration", "get_amortized_shortcuts",
    "get_autonomous_status",
)  # fmt: skip
"""What needs a history of use, which a fresh store has not."""


# Verifies: REQ-d00350-B, REQ-o00042-B
def test_on_an_empty_store_what_is_computed_says_insufficient_data(memory: Memory) -> None:
    text = {"content": "Lamps break."}
    texts = ("gwt_compute_delta_sc", {"old_fingerprint": text, "new_fingerprint": text})
    for tool, arguments in (*calls([]), texts):
        answer = memory.answer(tool, **arguments)
        if tool in COMPUTED:
            assert answer.data["sufficient_data"] is False, tool
            assert answer.data["note"].startswith("insufficient data"), tool
            assert answer.data["samples"] == 0, tool


# Verifies: REQ-d00350-B
@pytest.mark.parametrize("count", [12, 2_000])
def test_every_tool_answers_on_many_memories(memory: Memory, count: int) -> None:
    at(memory.project, NOW)
    things = ("lamps", "buoys", "anchors", "ropes", "sails", "decks", "cranes", "docks", "horns", "tides")
    texts = [
        f"The {things[n % 10]} of berth {n} are checked in {things[n * 7 % 10]} season because they break."
        for n in range(count)
    ]
    ids = fill(memory.project, texts)
    link(memory.project, *itertools.pairwise(ids))
    for query in ("lamps of berth", "ropes break", "why are docks checked"):
        memory("search_graph", query=query)
    for tool, arguments in calls(ids):
        answer = memory.answer(tool, **arguments).data
        assert answer.get("samples") != 0 or tool in FROM_OUTCOMES, tool
    shown = memory("get_learner_state")["open_predictions"][0]["prediction_id"]
    assert memory("observe_outcome", prediction_id=shown, actual_outcome=1)["accepted"]
    assert {tool for tool, _ in calls(ids)} | {"observe_outcome"} == set(cognition())


# Verifies: REQ-o00042-C
def test_everything_that_writes_is_undone_by_its_hash(memory: Memory) -> None:
    at(memory.project, NOW)
    ids = fill(memory.project, [f"The lamp of berth {n} burns at night." for n in range(12)])
    store = memory.project.memory.home.store
    memory("search_graph", query="lamp of berth")

    def dump() -> Any:
        # How far dreams have come is a mark, and no change of anything.
        kept = ("memory", "link", "cognition")
        return {
            name: {each.id: each.data for each in store.scan(name) if not each.id.startswith("dream")} for name in kept
        }

    before, hashes = dump(), []
    for tool, arguments in calls(ids):
        answer = memory.answer(tool, **arguments).data
        hashes += [answer["reversal_hash"]] if answer.get("reversal_hash") else []
        hashes += [each["reversal_hash"] for each in answer.get("pruned", ())]
        hashes += reversed(answer.get("reversal_hashes", ()))
    assert len(hashes) >= 8
    assert dump() != before
    for hash in reversed(hashes):
        memory("restore_from_hash", reversal_hash=hash)
    assert dump() == before


# Verifies: REQ-d00350-A
@pytest.mark.parametrize(
    ("tool", "arguments", "allowed"),
    [
        ("trigger_workspace_broadcast", {"memory_id": MISSING, "importance": 1.1}, "1"),
        ("trigger_workspace_broadcast", {"memory_id": "17"}, "UUID"),
        ("adjust_coupling", {"new_K": "strong"}, "float"),
        ("adjust_coupling", {"new_K": NAN}, "float"),
        ("gwt_compute_delta_sc", {"old_fingerprint": {"vector": [1]}, "new_fingerprint": "x"}, "content"),
        ("gwt_compute_delta_sc", {"old_fingerprint": 7, "new_fingerprint": "x"}, "str"),
        ("gwt_compute_delta_sc", {"old_fingerprint": "x", "new_fingerprint": "x", "johari_threshold": 2}, "1"),
        ("get_threshold_status", {"domain": "Cooking"}, "Medical"),
        ("get_threshold_status", {"embedder_id": 14}, "13"),
        ("get_calibration_metrics", {"timeframe": "1y"}, "30d"),
        ("trigger_recalibration", {"level": 5}, "4"),
        ("trigger_recalibration", {"level": True}, "int"),
        ("set_threshold_prior", {"threshold_type": "edge", "value": 0.99, "rationale": WHY}, "0.85"),
        ("set_threshold_prior", {"threshold_type": "warning", "value": 0.70, "rationale": WHY}, "acceptable"),
        ("set_threshold_prior", {"threshold_type": "mood", "value": 0.5, "rationale": WHY}, "tool_gate"),
        ("get_threshold_history", {"threshold_type": "edge", "since": "yesterday"}, "2026"),
        ("explain_threshold", {"threshold_type": "edge", "domain": "x"}, "Creative"),
        ("adjust_neuromodulator", {"modulator": "acetylcholine", "delta": 0.1}, "serotonin"),
        ("adjust_neuromodulator", {"modulator": "dopamine", "delta": NAN}, "float"),
        ("get_steering_feedback", {"content": ""}, "1"),
        ("get_steering_feedback", {"content": "a\0b"}, "NUL"),
        ("omni_infer", {"source": MISSING, "direction": "sideways"}, "abduction"),
        ("search_teleological", {}, "query_content"),
        ("search_teleological", {"query_content": "x", "query_vector_id": MISSING}, "one"),
        ("search_teleological", {"query_content": "x", "strategy": "magic"}, "euclidean"),
        ("search_teleological", {"query_content": "x", "scope": "all"}, "full"),
        ("search_teleological", {"query_content": "x", "specific_groups": ["odd"]}, "relational"),
        ("search_teleological", {"query_content": "x", "specific_embedder": 13}, "12"),
        ("search_teleological", {"query_content": "x", "max_results": 1_001}, "1000"),
        ("compute_teleological_vector", {"content": "x", "tucker_ranks": [4, 4]}, "3"),
        ("compute_teleological_vector", {"content": "x" * 65_537}, "65536"),
        ("fuse_embeddings", {"memory_id": MISSING, "custom_weights": [1.0] * 12}, "13"),
        ("fuse_embeddings", {"memory_id": MISSING, "custom_weights": [NAN] * 13}, "float"),
        ("fuse_embeddings", {"memory_id": MISSING, "fusion_method": "welded"}, "gated"),
        (
            "update_synergy_matrix",
            {"query_vector_id": MISSING, "result_vector_id": MISSING, "feedback": "ok"},
            "relevant",
        ),
        ("manage_teleological_profile", {"action": "rename"}, "create"),
        ("manage_teleological_profile", {"action": "create"}, "name"),
        ("manage_teleological_profile", {"action": "read"}, "profile_id"),
        ("manage_teleological_profile", {"action": "create", "name": "x", "embedder_weights": [2.0] * 13}, "0 to 1"),
        ("manage_teleological_profile", {"action": "create", "name": "x", "group_priorities": {"odd": 1}}, "causal"),
        ("manage_teleological_profile", {"action": "create", "name": "x", "task_type": "odd"}, "debugging"),
        ("auto_bootstrap_north_star", {"confidence_threshold": -0.1}, "0"),
        ("auto_bootstrap_north_star", {"max_candidates": 101}, "100"),
        ("get_alignment_drift", {"timeframe": "6h"}, "24h"),
        ("get_drift_history", {"time_range": "1y"}, "all"),
        ("get_drift_history", {"limit": 0}, "1"),
        ("trigger_drift_correction", {"target_alignment": 1.5}, "1"),
        ("get_pruning_candidates", {"limit": 1_001}, "1000"),
        ("get_pruning_candidates", {"min_staleness_days": -1}, "0"),
        ("execute_prune", {"node_ids": [], "reason": "boredom"}, "redundancy"),
        ("execute_prune", {"node_ids": [MISSING] * 101, "reason": "orphan"}, "100"),
        ("trigger_consolidation", {"strategy": "wild"}, "temporal"),
        ("trigger_consolidation", {"max_memories": 10_001}, "10000"),
        ("discover_sub_goals", {"max_goals": 21}, "20"),
        ("get_learner_state", {"domain": "x"}, "Legal"),
        ("observe_outcome", {"prediction_id": "x", "actual_outcome": 2}, "1"),
        ("observe_outcome", {"prediction_id": "x", "actual_outcome": 1, "context": {"mood": 1}}, "query_type"),
        ("get_meta_learning_log", {"event_type": "party"}, "weight_clamped"),
        ("get_meta_learning_log", {"limit": 1_001}, "1000"),
        ("get_amortized_shortcuts", {"limit": 101}, "100"),
        ("get_amortized_shortcuts", {"min_confidence": 2}, "1"),
        ("trigger_dream", {"phase": "nap"}, "full_cycle"),
        ("trigger_dream", {"duration_minutes": 11}, "10"),
        ("trigger_dream", {"synthetic_query_count": 9}, "10"),
        ("trigger_dream", {"rationale": "x" * 1_025}, "1024"),
        ("get_health_status", {"subsystem": "soul"}, "storage"),
        ("trigger_healing", {"subsystem": "all"}, "gwt"),
        ("trigger_healing", {"subsystem": "utl", "severity": "mild"}, "critical"),
        ("get_autonomous_status", {"history_count": 0}, "1"),
    ],
)
def test_bad_input_is_refused_with_what_is_allowed(
    memory: Memory, tool: str, arguments: dict[str, Any], allowed: str
) -> None:
    error = memory.failure(tool, **arguments).error
    assert error.code == -32002, error.message
    assert allowed in error.message, error.message
    assert error.data["jsonrpc_code"] == -32602


# Verifies: REQ-o00042-A
def test_tc_def_001_the_profile_lists_75_tools(memory: Memory) -> None:
    tools = memory.tools
    assert len(tools) == 75
    assert len(cognition()) == 43
    assert set(cognition()) <= set(tools)
    assert not set(cognition()) & set(list_tools(Options()))
    with Memory(memory.project) as plain:
        found = plain("tools_search", query="dream consolidate memory")
    assert "trigger_dream" in str(found)


# Verifies: REQ-d00350-A
def test_tc_val_003_us_007_ac_03_a_wrong_phase_is_answered_with_the_phases(memory: Memory) -> None:
    error = memory.failure("trigger_dream", phase="deep").error
    assert error.code == -32002
    assert all(phase in error.message for phase in ("nrem", "rem", "full"))


# Verifies: REQ-d00350-A
def test_unknown_ids_and_missing_reasons_have_their_own_numbers(memory: Memory) -> None:
    for tool, arguments in (
        ("trigger_workspace_broadcast", {"memory_id": MISSING}),
        ("gwt_compute_delta_sc", {"old_fingerprint": MISSING, "new_fingerprint": MISSING}),
        ("omni_infer", {"source": MISSING, "direction": "abduction"}),
        ("search_teleological", {"query_vector_id": MISSING}),
        ("compute_teleological_vector", {"content": "x", "profile_id": "none"}),
        ("fuse_embeddings", {"memory_id": MISSING}),
        ("update_synergy_matrix", {"query_vector_id": MISSING, "result_vector_id": MISSING, "feedback": "relevant"}),
        ("manage_teleological_profile", {"action": "delete", "profile_id": "none"}),
        ("get_alignment_drift", {"memory_ids": [MISSING]}),
        ("get_drift_history", {"goal_id": "goal-1"}),
        ("discover_sub_goals", {"parent_goal_id": "goal-1"}),
        ("observe_outcome", {"prediction_id": "none", "actual_outcome": 1}),
    ):
        assert memory.number(tool, **arguments) == -32012, tool
    assert memory.number("set_threshold_prior", threshold_type="edge", value=0.6) == -32009
    pruned = memory("execute_prune", node_ids=[MISSING], reason="orphan")
    assert (pruned["pruned_count"], len(pruned["errors"])) == (0, 1)
