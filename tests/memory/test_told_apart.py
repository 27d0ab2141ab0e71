"""Answers that agree with each other: health in two tools, deletion for good, subjects that memories share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.memory_client import WHY, Memory, remembering, write_project

from clew.memory.cognition.dreams.dream_steps import _is_subject


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour")) as client:
        yield client


# Verifies: REQ-d00349-A
def test_two_tools_give_one_status(memory: Memory) -> None:
    memory.store("The harbour lamps burn at night.")
    for _ in range(6):
        memory("search_graph", query="harbour lamps burn at night")
    ill = memory("get_health_status")["overall_status"]
    whole = memory("get_autonomous_status")
    assert whole["overall_health"]["status"] == ill
    assert ill == max(whole["services"].values(), key=("insufficient data", "healthy", "degraded", "critical").index)


# Verifies: REQ-d00302-F
def test_of_what_was_deleted_for_good_nothing_offers_to_bring_it_back(memory: Memory) -> None:
    id = memory.store("The harbour lamps burn at night.")
    other = memory.store("The crane lifts forty tons.")
    memory("forget_concept", node_id=id, reason="user_requested", rationale=WHY, soft_delete=False)
    memory("forget_concept", node_id=other, reason="obsolete", rationale=WHY)
    gone = str(memory.failure("hydrate_citation", citation_tag=f"[node_{id[:8]}]").error)
    assert "deleted for good" in gone
    assert "restore_from_hash" not in gone
    assert [each["reversal_hash"] for each in memory("get_node_lineage", node_id=id)["events"]] == ["", ""]
    assert "restore_from_hash" in str(memory.failure("hydrate_citation", citation_tag=f"[node_{other[:8]}]").error)
    assert all(each["reversal_hash"] for each in memory("get_node_lineage", node_id=other)["events"])


# Verifies: REQ-d00348-F
def test_blind_spots_are_words() -> None:
    named = ("the", "20", "80 %", "a", "eta", "rate_limiter", "src/tides.py", "Kafka")
    assert [each for each in named if _is_subject(each)] == ["eta", "rate_limiter", "src/tides.py", "Kafka"]
