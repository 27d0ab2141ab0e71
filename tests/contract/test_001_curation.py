"""The second source document: curation. Each test is named after the case or criterion that it proves."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.memory_client import WHY, Memory, days_later, remembering, write_project

CIRCULAR_DEPENDENCY = -32013
SAME = ("The margin under the keel is half a metre.", "The margin under the keel is 0.5 metres, half a metre.")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour")) as client:
        yield client


def two(memory: Memory, **second: object) -> list[str]:
    return [memory.store(SAME[0]), memory.store(SAME[1], **second)]


# Verifies: REQ-d00303-A
@pytest.mark.parametrize("strategy", ["summarize", "keep_highest", "concatenate"])
def test_tc_cur_001_us_001_ac_01_two_similar_memories_become_one(memory: Memory, strategy: str) -> None:
    ids = two(memory)
    merged = memory("merge_concepts", source_node_ids=ids, target_name="Margin", merge_strategy=strategy, rationale=WHY)
    assert merged["success"]
    assert merged["merged_node"]["source_count"] == 2
    assert merged["merged_node"]["strategy_used"] == strategy
    assert (merged["summarized_by"] == "extractive") == (strategy == "summarize")
    assert memory.ids("margin keel") == [merged["merged_id"]]
    assert [memory.number("annotate_node", node_id=id, annotations={"tags": ["x"]}) for id in ids] == [-32014] * 2


# Verifies: REQ-d00303-A
def test_tc_cur_002_us_001_ac_02_a_merge_without_rationale_is_refused(memory: Memory) -> None:
    ids = two(memory)
    error = memory.failure("merge_concepts", source_node_ids=ids, target_name="Margin")
    assert error.error.code == -32009
    assert error.error.data["name"] == "MISSING_RATIONALE"
    assert error.error.data["recovery"]
    assert memory.number("merge_concepts", source_node_ids=ids, target_name="Margin", rationale="short") == -32002
    assert len(memory.ids("margin keel")) == 2


# Verifies: REQ-d00303-B
def test_tc_cur_003_ec_mcp_001_incompatible_priors_are_refused_or_linked(memory: Memory) -> None:
    ids = two(memory, metadata={"domain": "Medical"})
    asked = {"source_node_ids": ids, "target_name": "Margin", "rationale": WHY}
    error = memory.failure("merge_concepts", **asked)
    assert error.error.code == -32010
    assert "force_merge" in error.error.data["recovery"]
    merged = memory("merge_concepts", **asked, force_merge=True)
    assert len(merged["kept_source_ids"]) == 1
    around = memory("get_neighborhood", node_id=merged["merged_id"])["neighbors"]
    assert {each["node_id"] for each in around} == set(merged["kept_source_ids"])
    assert "Relational" in {each["edge_type"] for each in around}


# Verifies: REQ-d00302-A
def test_tc_cur_004_us_001_ac_05_forgetting_leaves_a_tombstone(memory: Memory) -> None:
    id = memory.store(SAME[0])
    forgotten = memory("forget_concept", node_id=id, reason="obsolete", rationale=WHY)
    assert forgotten["soft"]
    assert forgotten["reversal_hash"].startswith("sha256:")
    assert memory.ids("margin keel") == []
    (tombstone,) = memory("search_tombstones")["tombstones"]
    assert (tombstone["node_id"], tombstone["reversal_hash"]) == (id, forgotten["reversal_hash"])
    assert memory.number("forget_concept", node_id=id, reason="obsolete", rationale=WHY) == -32014


# Verifies: REQ-d00302-B
def test_tc_cur_005_only_the_user_has_something_deleted_for_good(memory: Memory) -> None:
    id = memory.store(SAME[0])
    earlier = memory("boost_importance", node_id=id, delta=0.1, rationale=WHY)["reversal_hash"]
    asked = {"node_id": id, "soft_delete": False, "rationale": WHY}
    assert memory.number("forget_concept", reason="obsolete", **asked) == -32002
    gone = memory("forget_concept", reason="user_requested", **asked)
    assert gone["reversal_hash"] is None
    assert gone["recoverable_until"] is None
    assert memory("search_tombstones")["tombstones"] == []
    assert memory.number("restore_from_hash", reversal_hash=earlier) == -32014


# Verifies: REQ-d00302-A
def test_tc_cur_006_us_001_ac_03_what_was_forgotten_is_restored_as_it_was(memory: Memory) -> None:
    id = memory.store(SAME[0], tags=["keel"], importance=0.7, metadata={"confidence": 0.9})
    other = memory.store("Pilots know the margin.", link_to=[id], link_type="caused_by")
    tag = f"[node_{id[:8]}]"
    before = memory("hydrate_citation", citation_tag=tag)
    hash = memory("forget_concept", node_id=id, reason="incorrect", rationale=WHY)["reversal_hash"]
    assert memory("get_neighborhood", node_id=other)["count"] == 0
    restored = memory("restore_from_hash", reversal_hash=hash)
    assert (restored["restored_node_ids"], restored["operation"]) == ([id], "forget")
    after = memory("hydrate_citation", citation_tag=tag)
    assert {**after, "_cognitive_pulse": 0} == {**before, "_cognitive_pulse": 0}


# Verifies: REQ-d00302-C
def test_tc_cur_007_ec_mcp_002_after_thirty_days_nothing_is_restored(memory: Memory) -> None:
    id = memory.store(SAME[0])
    forgotten = memory("forget_concept", node_id=id, reason="obsolete", rationale=WHY)
    days_later(memory.project, 29)
    assert memory("search_tombstones")["count"] == 1
    days_later(memory.project, 31)
    error = memory.failure("restore_from_hash", reversal_hash=forgotten["reversal_hash"])
    assert error.error.code == -32011
    assert error.error.data["deleted_at"] == forgotten["deleted_at"]
    assert memory("search_tombstones")["count"] == 0


# Verifies: REQ-d00303-C
def test_tc_cur_008_us_001_ac_04_tags_are_attached_and_the_text_stays(memory: Memory) -> None:
    id = memory.store(SAME[0], tags=["keel"])
    annotated = memory("annotate_node", node_id=id, annotations={"tags": ["depth"], "domain": "Code", "notes": "ok"})
    assert annotated["tags"] == ["keel", "depth"]
    assert annotated["domain"] == "Code"
    found = memory("hydrate_citation", citation_tag=f"[node_{id[:8]}]")
    assert (found["raw_content"], found["notes"]) == (SAME[0], "ok")
    assert memory.ids("margin", filters={"tags": ["depth"]}) == [id]


# Verifies: REQ-d00303-C
def test_tc_cur_009_importance_is_adjusted_within_its_bounds(memory: Memory) -> None:
    id = memory.store(SAME[0], importance=0.7)
    boosted = memory("boost_importance", node_id=id, delta=0.2, rationale=WHY)
    assert (boosted["old_importance"], boosted["new_importance"], boosted["clamped"]) == (0.7, 0.9, False)
    assert memory("boost_importance", node_id=id, delta=0.5, rationale=WHY)["new_importance"] == 1.0


# Verifies: REQ-d00303-C
def test_tc_cur_010_a_step_beyond_the_bounds_is_refused(memory: Memory) -> None:
    id = memory.store(SAME[0])
    error = memory.failure("boost_importance", node_id=id, delta=0.6, rationale=WHY)
    assert error.error.code == -32002
    assert "0.5" in error.error.message
    assert memory.number("boost_importance", node_id=id, delta=0.1) == -32009


# Verifies: REQ-d00303-C
def test_a_memory_that_everything_hangs_on_is_not_made_more_important(memory: Memory) -> None:
    id = memory.store("The tide decides.", importance=0.7)
    for number, domain in enumerate(["Code", "Medical", "Legal", "Creative", "Research"]):
        memory.store(f"Note {number} of {domain} work about ships.", metadata={"domain": domain}, link_to=[id])
    assert memory.number("boost_importance", node_id=id, delta=0.2, rationale=WHY) == -32015
    assert memory("boost_importance", node_id=id, delta=0.05, rationale=WHY)["new_importance"] == 0.75


# Verifies: REQ-d00302-D
def test_nested_merges_are_undone_in_reverse_and_not_otherwise(memory: Memory) -> None:
    ids = [*two(memory), memory.store("The margin under the keel is half a metre at dawn.")]

    def merged(*sources: str) -> dict[str, str]:
        return memory("merge_concepts", source_node_ids=list(sources), target_name="Margin", rationale=WHY)

    inner = merged(*ids[:2])
    outer = merged(inner["merged_id"], ids[2])
    error = memory.failure("restore_from_hash", reversal_hash=inner["reversal_hash"])
    assert error.error.data["name"] == "CONFLICT"
    assert error.error.data["node_id"] == inner["merged_id"]
    memory("restore_from_hash", reversal_hash=outer["reversal_hash"])
    assert sorted(memory.ids("margin keel")) == sorted([inner["merged_id"], ids[2]])
    restored = memory("restore_from_hash", reversal_hash=inner["reversal_hash"])
    assert restored["operation"] == "merge"
    assert sorted(memory.ids("margin keel")) == sorted(ids)


# Verifies: REQ-d00302-D
def test_restoring_twice_says_that_it_is_restored_already(memory: Memory) -> None:
    id = memory.store("Tide tables are read in UTC.")
    memory.store("Lamps burn at night.")
    hash = memory("forget_concept", node_id=id, reason="obsolete", rationale=WHY)["reversal_hash"]
    memory("restore_from_hash", reversal_hash=hash)
    error = memory.failure("restore_from_hash", reversal_hash=hash).error
    assert "already restored" in error.message
    assert error.data["already_restored"]


# Verifies: REQ-d00302-E
def test_lineage_tells_everything_that_happened(memory: Memory) -> None:
    ids = two(memory)
    memory("annotate_node", node_id=ids[0], annotations={"tags": ["a"]})
    memory("boost_importance", node_id=ids[0], delta=0.1, rationale=WHY)
    merged = memory("merge_concepts", source_node_ids=ids, target_name="Margin", rationale=WHY)
    lineage = memory("get_node_lineage", node_id=ids[0])
    assert [event["kind"] for event in lineage["events"]] == ["created", "annotated", "boosted", "merged_into"]
    assert (lineage["forgotten"], lineage["descendants"]) == (True, [merged["merged_id"]])
    result = memory("get_node_lineage", node_id=merged["merged_id"])
    assert sorted(result["ancestors"]) == sorted(ids)
    actions = [entry["action"] for entry in memory("get_system_logs")["entries"]]
    assert actions == ["merge", "boost", "annotate", "store", "store"]


# Verifies: REQ-d00302-C
def test_a_hash_of_another_memory_is_unknown(memory: Memory, tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "other")) as other:
        id = other.store(SAME[0])
        hash = other("forget_concept", node_id=id, reason="obsolete", rationale=WHY)["reversal_hash"]
    assert memory.number("restore_from_hash", reversal_hash=hash) == -32012
    assert memory.number("restore_from_hash", reversal_hash=" ") == -32002


# Verifies: REQ-d00303-D
@pytest.mark.parametrize("link_type", ["part_of", "supersedes"])
def test_a_merge_that_would_close_a_circle_is_refused_and_changes_nothing(memory: Memory, link_type: str) -> None:
    top = memory.store("The harbour is lit at night.")
    middle = memory.store("The pier has lamps.", link_to=[top], link_type=link_type)
    bottom = memory.store("The harbour is lit at night, always.", link_to=[middle], link_type=link_type)
    before = memory("get_recent_context", limit=9)["memories"]
    refused = memory.failure(
        "merge_concepts", source_node_ids=[top, bottom], target_name="Light", rationale=WHY, force_merge=True
    )
    assert refused.error.code == CIRCULAR_DEPENDENCY
    assert (refused.error.data["name"], refused.error.data["node_id"]) == ("CIRCULAR_DEPENDENCY", middle)
    assert refused.error.data["recovery"]
    assert memory("get_recent_context", limit=9)["memories"] == before
