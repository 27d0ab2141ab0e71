"""A dream keeps order and takes nothing away; it gives way, can be ended and killed, and goes on."""

import itertools
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from tests import forked
from tests.contract.memory_client import WHY, Memory, remembering, write_project
from tests.mcp_client import Options
from tests.memory.filling import LAMPS, NOW, at, fill, link

from clew.errors import Conflict
from clew.memory.cognition.dreams import dream, dream_steps
from clew.memory.cognition.dreams.dream_steps import StepResult
from clew.memory.cognition.dreams.recall_check import compare, recall_of
from clew.memory.model import MemoryKind, MemoryLinkKind
from clew.store import processes

NREM, REM = ["judge", "replay", "stale"], ["links", "episodes", "shortcuts", "thresholds"]
KILLED = """
import os, signal, sys
from pathlib import Path
from tests.contract.memory_client import remembering
from clew.memory.cognition.dreams import dream_steps
def dying(view, marks, most, give_way):
    with view.changes.make("dream", "dream", "half of a step") as change:
        change.link(dream_steps.linked("a", "b", dream_steps.MemoryLinkKind.RELATED, "half"))
        os.kill(os.getpid(), signal.SIGKILL)
dream_steps.STEPS["replay"] = dying
with remembering(Path(sys.argv[1])) as memory:
    memory("trigger_dream", blocking=True)
"""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour", {"src/lamps.py": "def burn():\n    return 1\n"})) as client:
        at(client.project, NOW)
        yield client


def dreamt(memory: Memory, **arguments: Any) -> dict[str, Any]:
    return memory("trigger_dream", **{"blocking": True, "force": True, "abort_on_query": False, **arguments})


# Verifies: REQ-d00493-B
def test_a_dream_keeps_its_job_alive_during_a_long_step(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "RENEWED_SECONDS", 0.001)
    store = memory.project.memory.home.store
    renewals: list[bool] = []

    def long(*_: Any) -> StepResult:
        before = store.jobs(limit=1)[0].updated_at
        renewals.append(
            any(store.jobs(limit=1)[0].updated_at > before or threading.Event().wait(0.001) for _ in range(10_000))
        )
        return StepResult()

    monkeypatch.setitem(dream_steps.STEPS, "replay", long)
    assert dreamt(memory, phase="nrem")["steps_done"] == NREM
    assert renewals == [True]


# Verifies: REQ-d00348-A, REQ-d00348-B
def test_a_dream_judges_links_and_proposes_and_takes_nothing_away(memory: Memory) -> None:
    ids = fill(memory.project, ("The gate opens at six in the morning", "The gate does not open at six in the morning"))
    same = fill(memory.project, ("The harbour lamps burn at night", "The harbour lamps burn at night, always at night"))
    cited = memory.store("Beware of the last hour of burn.", about=["src/lamps.py::burn"])
    (memory.root / "src/lamps.py").write_text("def burn():\n    return 2\n")
    fill(memory.project, ["docs/guide.md tells about it"])
    (memory.root / "docs").mkdir()
    (memory.root / "docs/guide.md").write_text("# Guide\n")
    store = memory.project.memory.home.store
    before = {record.id: record.data for record in store.scan("memory")}
    done = dreamt(memory)
    report = done["report"]
    assert done["steps_done"] == [*NREM, *REM]
    assert report["contradictions_linked"] == 1
    assert [{each["old"], each["new"]} for each in report["merge_proposals"] if each["relation"] == "says_more"] == [
        set(same)
    ]
    assert [each["memory_id"] for each in report["stale"]] == [cited]
    assert [each["node"] for each in report["link_proposals"]] == ["file:docs/guide.md"]
    assert {record.id: record.data for record in store.scan("memory")} == before
    conflicts = [task for task in memory("get_memetic_status")["curation_tasks"] if task["task_type"] == "conflict"]
    assert [set(task["target_nodes"]) for task in conflicts] == [set(ids)]
    # What was judged is not judged again, and every step can be undone.
    assert dreamt(memory)["report"]["pairs_judged"] == 0
    links = {record.id for record in store.scan("link")}
    for hash in done["reversal_hashes"]:
        memory("restore_from_hash", reversal_hash=hash)
    assert {record.id for record in store.scan("link")} < links


# Verifies: REQ-d00348-A
def test_use_strengthens_links_and_makes_shortcuts_and_thresholds(memory: Memory) -> None:
    ids = fill(memory.project, LAMPS)
    link(memory.project, (ids[0], ids[1]), kind=MemoryLinkKind.RELATED, weight=0.5)
    link(memory.project, *itertools.pairwise(ids[2:]))
    unused = fill(memory.project, ["Ropes are coiled", "Sails are dried"])
    link(memory.project, (unused[0], unused[1]), kind=MemoryLinkKind.RELATED, weight=0.5)
    for _ in range(9):
        memory("search_graph", query="harbour lamps burn at night")
        memory("find_causal_path", source_id=ids[2], target_id=ids[5])
    report = dreamt(memory)["report"]
    weights = {record.id: record.data.get("weight", 0.5) for record in memory.project.memory.home.store.scan("link")}
    assert weights[f"{ids[0]}.related.{ids[1]}"] > 0.5
    assert weights[f"{unused[0]}.related.{unused[1]}"] == 0.5
    assert report["edges_strengthened"] >= 1
    assert report["shortcuts_created"] == 1
    assert weights[f"{ids[2]}.causes.{ids[5]}"] == pytest.approx(0.512)
    assert (report["thresholds_fitted"], report["observations"] >= 30) == (True, True)
    assert memory("get_amortized_shortcuts")["created_this_cycle"] == 1


# Verifies: REQ-d00348-A
def test_repeated_episodes_are_proposed_with_a_count(memory: Memory) -> None:
    runs = fill(memory.project, [f"Test run {n} failed in lamps.py" for n in range(4)], kind=MemoryKind.EPISODE)
    fill(memory.project, ["Something else happened once"], kind=MemoryKind.EPISODE)
    before = memory.project.memory.home.store.count("memory")
    (repeated,) = dreamt(memory)["report"]["repeated_episodes"]
    assert (repeated["count"], set(repeated["episodes"])) == (4, set(runs))
    assert memory.project.memory.home.store.count("memory") == before


# Verifies: REQ-d00348-A
def test_a_dream_goes_on_where_the_last_one_stopped_judging(memory: Memory) -> None:
    fill(memory.project, [f"Berth {n} takes ships of {n} metres" for n in range(25)])
    judged = [dreamt(memory, synthetic_query_count=10)["report"]["memories_judged"] for _ in range(4)]
    assert judged == [10, 10, 5, 0]
    assert memory("get_dream_status")["scheduler"]["suggested"] is False


# Verifies: REQ-d00348-E
def test_recall_on_saved_questions_is_compared_and_a_drop_takes_the_run_back(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = fill(memory.project, LAMPS)
    assert dreamt(memory)["recall"]["note"].startswith("insufficient data")
    for id, article in zip(ids, ("a", "the", "some", "any", "no", "each"), strict=True):
        memory("test_recall_accuracy", query=f"{article} harbour lamps", expected_node_ids=[id])
    steady = dreamt(memory)["recall"]
    assert (steady["questions"], steady["before"], steady["after"], steady["taken_back"]) == (6, 1.0, 1.0, False)

    def harmful(view: Any, marks: Any, most: int, give_way: Any) -> StepResult:
        # Whatever hides the answers meanwhile: they are no longer among the first ten.
        fill(memory.project, [f"Harbour lamps. Lamps of harbour {n}." for n in range(15)])
        return StepResult(links=[dream_steps.linked(ids[0], ids[1], MemoryLinkKind.CONTRADICTS, "wrong")])

    monkeypatch.setitem(dream_steps.STEPS, "stale", harmful)
    dropped = dreamt(memory)
    assert dropped["recall"]["after"] < dropped["recall"]["before"] == 1.0
    assert dropped["recall"]["taken_back"]
    assert dropped["reversal_hashes"] == []
    links = {record.id for record in memory.project.memory.home.store.scan("link")}
    assert f"{ids[0]}.contradicts.{ids[1]}" not in links


# Verifies: REQ-d00348-C
def test_a_dream_gives_way_before_each_saved_question_and_each_fit(memory: Memory) -> None:
    ids = fill(memory.project, LAMPS)
    for _ in range(8):
        memory("search_graph", query="harbour lamps burn at night")
    for word in ("one", "two", "three"):
        memory("test_recall_accuracy", query=f"harbour lamps {word}", expected_node_ids=ids)
    view, times = memory.project.memory.shared_view(), Mock()
    assert len(recall_of(view, times)) == times.call_count == 3
    times.reset_mock()
    assert dream_steps.fit_thresholds(view, dream_steps.Marks(), 10, times).fitted
    # Each of 51 temperatures, and the threshold.
    assert times.call_count > 51


# Verifies: REQ-d00348-D
def test_a_dream_that_failed_at_its_end_is_ended_by_the_next_one(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(memory.project, LAMPS)

    def failing(*_: Any) -> Any:
        raise Conflict("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(dream, "compare", failing)
        assert memory.number("trigger_dream", blocking=True) == -32603
    left = memory("get_dream_status")
    assert (left["is_dreaming"], left["steps_left"], left["time_since_last_dream_secs"]) == (False, [], None)
    done = dreamt(memory, phase="nrem")
    assert (done["resumed"], done["phase"], done["steps_done"]) == (True, "full_cycle", [*NREM, *REM])
    assert done["duration_seconds"] == 0


# Verifies: REQ-d00348-E
def test_one_question_less_is_within_chance() -> None:
    assert compare({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 0.0})[1] is False
    assert compare(dict.fromkeys("abcd", 1.0), dict.fromkeys("abcd", 0.0))[1] is False
    assert compare(dict.fromkeys("abcde", 1.0), dict.fromkeys("abcde", 0.0))[1] is True
    assert compare(dict.fromkeys("abcdef", 0.5), {**dict.fromkeys("abcde", 0.0), "f": 1.0})[1] is False
    assert compare({}, {})[0].before is None


class Held:
    """A step that goes on until it is told to end."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.free = threading.Event()

    def __call__(self, view: Any, marks: Any, most: int, give_way: Any) -> StepResult:
        self.begun.set()
        while not self.free.wait(0.005):
            give_way()
        return StepResult(report={"held": True})


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    step = Held()
    monkeypatch.setitem(dream_steps.STEPS, "links", step)
    yield step
    step.free.set()


# Verifies: REQ-d00348-C
def test_a_dream_runs_beside_calls_and_is_ended_by_abort_or_a_question(memory: Memory, held: Held) -> None:
    fill(memory.project, LAMPS)
    assert memory("abort_dream")["reason"] == "not dreaming"
    assert memory("trigger_dream")["triggered"]
    assert held.begun.wait(60)
    status = memory("get_dream_status")
    assert (status["state"], status["is_dreaming"], status["current_step"]) == ("rem", True, "links")
    twice = memory("trigger_dream", force=True)
    assert (twice["triggered"], twice["state"]) == (False, "rem")
    assert "already" in twice["error"]
    ended = memory("abort_dream")
    assert (ended["aborted"], ended["previous_state"]) == (True, "rem")
    assert ended["abort_latency_ms"] >= 0
    left = memory("get_dream_status")
    assert (left["state"], left["steps_left"]) == ("awake", REM)
    # The next one goes on with what is left; a question ends it.
    held.begun.clear()
    again = memory("trigger_dream", force=True)
    assert (again["triggered"], again["resumed"], again["steps_done"]) == (True, True, NREM)
    assert held.begun.wait(60)
    assert len(memory.ids("harbour lamps")) == 6
    memory.project.memory.dreams._ended.wait(60)
    assert memory("get_dream_status")["is_dreaming"] is False
    mended = memory("trigger_healing", subsystem="dream")
    assert (len(mended["actions_taken"]), memory("get_dream_status")["steps_left"]) == (1, [])
    memory("restore_from_hash", reversal_hash=mended["reversal_hash"])
    assert memory("get_dream_status")["steps_left"] == REM
    held.free.set()
    done = dreamt(memory)
    assert (done["resumed"], done["steps_done"]) == (True, [*NREM, *REM])


# Verifies: REQ-d00348-C
def test_a_dream_of_another_server_is_seen_and_ended(memory: Memory, held: Held) -> None:
    fill(memory.project, LAMPS)
    with remembering(memory.root) as other:
        assert other("trigger_dream")["triggered"]
        assert held.begun.wait(60)
        assert memory("get_dream_status")["current_step"] == "links"
        assert memory("trigger_dream", force=True)["triggered"] is False
        ended = memory("abort_dream")
        assert (ended["aborted"], ended["previous_state"]) == (True, "rem")
        assert other("get_dream_status")["steps_left"] == REM


# Verifies: REQ-d00348-D
def test_ec_mcp_005_a_client_that_comes_back_is_told_from_the_current_phase(
    memory: Memory, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(memory.project, LAMPS)
    watch = dream.Dreams.watch

    def watched(self: Any, view: Any, report: Any, check: Any) -> None:
        def told(*arguments: Any) -> None:
            report(*arguments)
            held.free.set()

        watch(self, view, told, check)

    monkeypatch.setattr(dream.Dreams, "watch", watched)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(memory.told, "trigger_dream", blocking=True, abort_on_query=False)
        assert held.begun.wait(60)
        with Memory(memory.project, Options.of(profile="context-graph")) as back:
            messages, answer = back.told("trigger_dream", blocking=True, force=True)
        assert messages[0] == "rem: links"
        assert answer["steps_done"] == [*NREM, *REM]
        assert [message.split(":")[0] for message in first.result(60)[0]] == ["nrem"] * 3 + ["rem"] * 4


# Verifies: REQ-d00348-C
def test_a_dream_waits_a_minute_after_the_last_one(memory: Memory) -> None:
    fill(memory.project, LAMPS)
    assert memory("trigger_dream", phase="nrem", blocking=True)["steps_done"] == NREM
    refused = memory("trigger_dream", blocking=True)
    assert (refused["triggered"], refused["cooldown_remaining_secs"]) == (False, 60.0)
    assert memory("get_memetic_status")["dream_available"] is False
    at(memory.project, NOW + timedelta(seconds=61))
    assert memory("get_memetic_status")["dream_available"] is True
    assert memory("trigger_dream", phase="rem", blocking=True)["steps_done"] == REM
    assert memory("get_dream_status")["completed_cycles"] == 2


# Verifies: REQ-d00348-D
def test_a_process_killed_in_the_middle_of_a_dream_leaves_whole_steps(tmp_path: Path) -> None:
    root = write_project(tmp_path / "harbour")
    with remembering(root) as memory:
        fill(memory.project, LAMPS)
    top = Path(__file__).parent.parent.parent
    killed = forked.run([sys.executable, "-c", KILLED, str(root)], cwd=top, check=False)
    assert killed.returncode == -signal.SIGKILL
    with remembering(root) as memory:
        status = memory("get_dream_status")
        assert (status["is_dreaming"], status["steps_left"]) == (False, ["replay", "stale", *REM])
        assert memory("get_health_status", subsystem="dream")["overall_status"] == "degraded"
        assert "a.related.b" not in {record.id for record in memory.project.memory.home.store.scan("link")}
        done = dreamt(memory)
        assert (done["resumed"], done["steps_done"]) == (True, [*NREM, *REM])


# Verifies: REQ-d00349-A, REQ-d00349-B
def test_health_is_judged_by_figures_and_mending_tells_what_it_did(memory: Memory) -> None:
    assert memory("get_health_status")["overall_status"] == "healthy"
    assert memory("get_autonomous_status")["overall_health"]["score"] is None
    fill(memory.project, LAMPS)
    for _ in range(6):
        memory("search_graph", query="harbour lamps burn at night")
    ill = memory("get_health_status")
    assert ill["subsystems"]["utl"]["status"] in ("degraded", "critical")
    assert [each["action"] for each in ill["recommendations"] if each["subsystem"] == "utl"]
    assert memory("trigger_healing", subsystem="dream")["actions_taken"] == []
    memory("trigger_lambda_recalibration")
    mended = memory("trigger_healing", subsystem="utl")
    assert len(mended["actions_taken"]) == 2
    assert memory("get_meta_learning_status")["lambda_deviation"] == 0
    memory("adjust_coupling", new_K=5)
    mended = memory("trigger_healing", subsystem="gwt", severity="high")
    assert any("coupling" in each for each in mended["actions_taken"])
    assert memory("get_kuramoto_sync")["coupling"] == 2.0
    memory("restore_from_hash", reversal_hash=mended["reversal_hash"])
    assert memory("get_kuramoto_sync")["coupling"] == 5.0
    assert len(memory("trigger_healing", subsystem="storage", severity="critical")["actions_taken"]) == 3
    assert len(memory.ids("harbour lamps")) == 6
    state = memory("get_autonomous_status", include_metrics=True, include_history=True)
    assert "trigger_healing" in {each["action"] for each in state["history"]}
    assert memory("get_system_logs", component="gwt")["entries"][0]["action"] == "adjust_coupling"
    assert WHY
