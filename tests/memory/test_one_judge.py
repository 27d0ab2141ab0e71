"""One verdict on a pair of memories in every tool, and no tool that joins what differs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.memory_client import WHY, Memory, remembering, write_project

OPPOSITES = (
    "The coverage gate of 85 % is on changed lines, not on the whole repository.",
    "The coverage gate of 85 % is on the whole repository, not on changed lines.",
)
NUMBERS = ("The test suite takes less than 12 minutes.", "The test suite takes less than 8 minutes.")
LETTERS = ("Customer X is on plan B.", "Customer Y is on plan A.")
MORE = ("Gates open at six.", "Gates open at six, and the warden has the only key.")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour")) as client:
        yield client


def dreamt(memory: Memory) -> dict[str, object]:
    memory("trigger_dream", phase="nrem", force=True, rationale=WHY)
    report: dict[str, object] = memory("get_dream_status")
    return report


# Verifies: REQ-d00333-D, REQ-d00333-E
@pytest.mark.parametrize(
    ("texts", "relation"), [(OPPOSITES, "contradicts"), (NUMBERS, "contradicts"), (LETTERS, "other_thing")]
)
def test_no_tool_joins_or_calls_equal_what_differs(memory: Memory, texts: tuple[str, str], relation: str) -> None:
    one = memory.store(texts[0])
    stored = memory("store_memory", content=texts[1], rationale=WHY)
    ids = [one, stored["node_id"]]
    assert bool(stored["conflicts"]) == (relation == "contradicts")
    assert [each["relation"] for each in stored["neighbours"]] == [relation]
    assert "duplication" not in str(stored["steering_reward"]["parts"])
    critique = memory("critique_context")
    assert critique["duplicates"] == []
    assert [each["type"] for each in critique["conflicts"]] == ([relation] if relation == "contradicts" else [])
    tasks = memory("get_memetic_status")["curation_tasks"]
    assert [each["task_type"] for each in tasks] == (["conflict"] if relation == "contradicts" else [])
    assert memory("trigger_consolidation", dry_run=False)["merges"] == []
    error = memory.failure("merge_concepts", source_node_ids=ids, target_name="Both", rationale=WHY).error
    assert (error.code, error.data["relation"]) == (-32010, relation)
    assert memory("get_memetic_status")["node_count"] == 2


# Verifies: REQ-d00333-E
def test_what_says_more_is_joined_without_a_loss_and_a_forced_merge_shows_what_it_leaves_out(memory: Memory) -> None:
    for text in MORE:
        memory.store(text)
    (merge,) = memory("trigger_consolidation", dry_run=False)["merges"]
    assert (merge["text"], merge["left_out"]) == (MORE[1], [])
    ids = [memory.store(text) for text in OPPOSITES]
    merged = memory(
        "merge_concepts",
        source_node_ids=ids,
        target_name="Gate",
        merge_strategy="keep_highest",
        rationale="A person decided it",
        force_merge=True,
    )
    assert merged["text"] in OPPOSITES
    ids = [memory.store(text) for text in ("Ropes are coiled twice.", "Sails are dried in the loft.")]
    merged = memory(
        "merge_concepts",
        source_node_ids=ids,
        target_name="Work",
        merge_strategy="keep_newest",
        rationale=WHY,
        force_merge=True,
    )
    assert merged["text"] == "Sails are dried in the loft."
    assert merged["left_out"] == [{"node_id": ids[0], "text": "Ropes are coiled twice."}]


# Verifies: REQ-d00303-E
def test_a_verdict_that_was_dismissed_is_raised_by_no_tool_again(memory: Memory) -> None:
    ids = [memory.store(text) for text in NUMBERS]
    memory(
        "annotate_node",
        node_id=ids[0],
        annotations={"related_concepts": [f"both_hold:{ids[1]}"], "notes": "One is for the fast suite."},
    )
    assert memory("critique_context")["conflicts"] == []
    assert memory("get_memetic_status")["curation_tasks"] == []
    dreamt(memory)
    assert memory("critique_context")["conflicts"] == []
    assert memory("get_memetic_status")["curation_tasks"] == []


# Verifies: REQ-d00303-E, REQ-d00303-F
def test_links_between_stored_memories_are_stated_with_a_reason_and_undone(tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "harbour"), toolsets="memory,cognition,added") as memory:
        cause, effect, more = (
            memory.store(text) for text in ("Oil runs out early.", "Lamps go dark at four.", "Ships miss the pier.")
        )
        memory("link_memories", source_id=cause, target_id=effect, link_type="causes", rationale=WHY)
        made = memory("link_memories", source_id=more, target_id=effect, link_type="because_of", rationale=WHY)
        assert made["cycle"] == []
        path = memory("find_causal_path", source_id=cause, target_id=more)
        assert [hop["node_id"] for hop in path["path"]] == [cause, effect, more]
        circle = memory("link_memories", source_id=more, target_id=cause, link_type="causes", rationale=WHY)
        assert circle["cycle"] == [cause, effect, more]
        memory("restore_from_hash", reversal_hash=circle["reversal_hash"])
        assert not memory("find_causal_path", source_id=more, target_id=cause)["path_found"]
        memory("link_memories", source_id=cause, target_id=effect, link_type="part_of", rationale=WHY)
        refused = memory.result("link_memories", source_id=effect, target_id=cause, link_type="part_of", rationale=WHY)
        assert refused.is_error
        replaced = memory("link_memories", source_id=more, target_id=effect, link_type="replaces", rationale=WHY)
        assert replaced["reversal_hash"]
        assert memory.result(
            "link_memories", source_id=more, target_id=more, link_type="causes", rationale=WHY
        ).is_error


# Verifies: REQ-d00303-G
def test_a_further_question_is_about_the_next_gap_and_settled_ones_are_left_out(memory: Memory) -> None:
    for text in (
        "Oil is dear.",
        "Ropes are coiled.",
        "Sails dry in the loft.",
        "Pilots sleep on board.",
        "Fog is rare.",
    ):
        memory.store(text)
    ids = [memory.store(text) for pair in (NUMBERS, OPPOSITES) for text in pair]
    memory.store("Who pays for the tug?", kind="question")
    asked = [memory("epistemic_action", force=True)["focal_nodes"] for _ in range(4)]
    assert len({tuple(each) for each in asked[:3]}) == 3
    assert asked[3] == asked[0]
    memory("annotate_node", node_id=ids[0], annotations={"related_concepts": [f"both_hold:{ids[1]}"]})
    left = {tuple(sorted(memory("epistemic_action", force=True)["focal_nodes"])) for _ in range(4)}
    assert tuple(sorted(ids[:2])) not in left
    assert len(left) == 2
