"""What expired is removed by one job that is announced, and nothing else is."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.contract.memory_client import CONFIG, WHY, Memory, remembering, write_project
from tests.memory.filling import LAMPS, NOW, at, fill, link, view_of

from clew.errors import Cancelled, ConfigError
from clew.memory.curation.expiry import Expiry
from clew.memory.model import MemoryKind
from clew.project import Project

LATER = NOW + timedelta(days=31)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour")) as client:
        at(client.project, NOW)
        yield client


def episodes(memory: Memory, count: int, days_ago: float) -> list[str]:
    return fill(
        memory.project, [f"User: prompt {days_ago} {n}" for n in range(count)], days_ago, kind=MemoryKind.EPISODE
    )


def dreamt(memory: Memory) -> Any:
    return memory("trigger_dream", blocking=True, force=True, abort_on_query=False)["report"]["expired"]


def values(memory: Memory, id: str) -> list[Any]:
    events = memory.project.memory.home.store.events(collection="memory", id=id)
    return [value for event in events for value in (event.before, event.after)]


# Verifies: REQ-d00351-A, REQ-d00351-B, REQ-d00351-C
def test_what_expired_is_announced_then_removed_and_the_rest_stays(memory: Memory) -> None:
    old, young = episodes(memory, 2, 70), episodes(memory, 1, 10)
    fact, gone, back = fill(memory.project, LAMPS[:3], days_ago=400)
    link(memory.project, (fact, gone))
    hash = memory("forget_concept", node_id=gone, reason="obsolete", rationale=WHY)["reversal_hash"]
    other = memory("forget_concept", node_id=back, reason="obsolete", rationale=WHY)["reversal_hash"]
    memory("restore_from_hash", reversal_hash=other)
    assert memory("get_dream_status")["expiry"] == {
        "keep": "usual", "episodes": 0, "forgotten": 0, "note": "Nothing is due."
    }  # fmt: skip
    assert dreamt(memory) == {"episodes": 0, "forgotten": 0}
    at(memory.project, LATER)
    due = memory("get_memetic_status")["expiry"]
    assert (due["episodes"], due["forgotten"]) == (2, 1)
    assert dreamt(memory) == {"episodes": 2, "forgotten": 1}
    store = memory.project.memory.home.store
    assert {record.id for record in store.scan("memory")} == {fact, back, *young}
    assert not any(values(memory, id) != [None] * len(values(memory, id)) for id in (gone, *old))
    assert values(memory, fact)[1]["text"] == LAMPS[0]
    assert store.tombstones("memory") == store.tombstones("link") == []
    error = memory.failure("restore_from_hash", reversal_hash=hash).error
    assert (error.code, "deleted_at" in error.data) == (-32011, True)
    assert memory("search_tombstones")["count"] == 0
    (job,) = [each for each in store.jobs() if each.kind == "expiry"]
    assert (job.state, "2 episodes" in job.message, "1 memories" in job.message) == ("done", True, True)
    logged = memory("get_system_logs", component="storage")["entries"][0]
    assert (logged["action"], logged["recoverable"]) == ("expiry", False)
    # Nothing is due any more, also for an index that is made anew.
    memory("trigger_healing", subsystem="storage")
    assert dreamt(memory) == {"episodes": 0, "forgotten": 0}
    assert memory("get_memetic_status")["forgotten"] == 0
    assert store.check() == []


# Verifies: REQ-d00351-D
def test_nothing_is_removed_where_everything_is_kept_forever(tmp_path: Path) -> None:
    root = write_project(tmp_path / "harbour", config=f'{CONFIG}[memory]\nkeep = "forever"\n')
    with remembering(root) as memory:
        at(memory.project, NOW)
        old = episodes(memory, 2, 400)
        gone = memory.store("Ropes are coiled.")
        memory("forget_concept", node_id=gone, reason="obsolete", rationale=WHY)
        at(memory.project, NOW + timedelta(days=400))
        assert "forever" in memory("get_dream_status")["expiry"]["note"]
        assert dreamt(memory) == {"episodes": 0, "forgotten": 0}
        assert set(old) <= {record.id for record in memory.project.memory.home.store.scan("memory")}
        assert [each.id for each in memory.project.memory.home.store.tombstones("memory")] == [gone]


# Verifies: REQ-d00351-D
def test_another_word_is_refused_with_those_that_are_allowed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="forever"):
        Project.open(write_project(tmp_path, config='[memory]\nkeep = "never"\n'))


# Verifies: REQ-d00351-B
def test_the_job_goes_in_small_steps_and_goes_on_where_it_ended(memory: Memory) -> None:
    old = episodes(memory, 120, 100)
    times: list[int] = []

    def give_way() -> None:
        times.append(1)
        if len(times) == 2:
            raise Cancelled("A question came.")

    expiry = Expiry(view_of(memory.project))
    with pytest.raises(Cancelled):
        expiry.remove(give_way)
    store = memory.project.memory.home.store
    assert store.count("memory") == len(old) - 50
    assert store.jobs()[0].state == "cancelled"
    # A process that was killed between the two halves of a step.
    with store.transaction(actor="expiry", reason="older than 90 days") as transaction:
        transaction.delete("memory", store.scan("memory")[0].id)
    assert expiry.remove().episodes == len(old) - 51
    assert (store.count("memory"), store.tombstones("memory")) == (0, [])
