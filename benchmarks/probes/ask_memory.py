"""Asks a large memory that is there: FOLDER ROUNDS. Prints its figures as JSON.

Every call goes the way of a tool call. The vectors of the texts are ready before, so the model takes no time.
"""

import json
import random
import resource
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.probes.stopwatch import Stopwatch
from benchmarks.search_speed import questions
from clew.memory.model import Memory
from clew.operation.call import Call, carry_out
from clew.operation.listing import all_tools
from clew.project import Project
from clew.search.question import Question
from clew.search.units import Scope

WHY = "Needed to measure a large memory"
WARM_UP = 3
OPENING = "opening"
STATUS = (
    *("get_memetic_status", "utl_status", "homeostatic_status", "get_graph_manifest", "get_recent_context"),
    *("get_system_instructions", "get_system_logs", "search_tombstones"),
)

COGNITION = (
    *("get_consciousness_state", "get_kuramoto_sync", "get_workspace_status", "get_ego_state", "get_dream_status"),
    *("get_neuromodulation_state", "get_threshold_status", "get_calibration_metrics", "get_learner_state"),
    *("get_meta_learning_status", "get_health_status", "get_autonomous_status", "get_alignment_drift"),
    "get_steering_feedback",
)


def main() -> None:
    folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
    opening = Stopwatch()
    with opening.sample():
        project = Project.open(folder)
        count = project.memory.home.index.count(project.memory.view(Call(project, ())).viewer)
    asking = _Asking(project)
    asking.read(rounds)
    asking.recall(rounds)
    asking.cognition(rounds)
    asking.write(rounds)
    project.close()
    print(
        json.dumps(
            {
                "memories": count,
                "times": {name: watch.as_data() for name, watch in {OPENING: opening, **asking.watches}.items()},
                "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


class _Asking:
    def __init__(self, project: Project) -> None:
        self.watches: dict[str, Stopwatch] = {}
        self._project = project
        self._tools = {tool.name: tool for tool in all_tools()}
        self._call = Call(project, tuple(self._tools.values()))
        view = project.memory.view(self._call)
        draw = random.Random(3)
        total = view.library.index.count(view.viewer)
        self._memories: list[Memory] = [
            memory for _ in range(8) for memory, _ in view.library.latest(40, offset=draw.randrange(total // 2))
        ]
        draw.shuffle(self._memories)
        self._texts = questions(2_000)
        engine = project.memory.units.engine()
        assert engine is not None
        self._engine = engine

    def read(self, rounds: int) -> None:
        """The tools that tell how the memory is doing, and those that walk through it."""
        for tool in STATUS:
            self._run(tool, rounds, lambda at: {})
        self._run("get_johari_classification", rounds, lambda at: {"node_id": self._ready(at).id})
        self._run("get_neighborhood", rounds, lambda at: {"node_id": self._memories[at].id, "depth": 2})
        self._run("hydrate_citation", rounds, lambda at: {"citation_tag": self._memories[at].tag})
        self._run("get_node_lineage", rounds, lambda at: {"node_id": self._memories[at].id})
        self._run("find_causal_path", rounds, lambda at: {
            "source_id": self._memories[at].id, "target_id": self._memories[at + 1].id, "max_hops": 4,
        })  # fmt: skip
        self._run("entailment_query", rounds, lambda at: {"node_id": self._ready(at).id})

    def recall(self, rounds: int) -> None:
        """Search and injection beside the engine's own ranking of the same question: they take turns."""
        scope = Scope(parts=("memory",), agents=("",))
        for at in range(rounds + WARM_UP):
            plain, asked, injected = self._texts[at], self._texts[200 + at], self._texts[400 + at]
            for text in (plain, asked, injected):
                self._engine.embed_query(text)
            with self._sample("engine, default", at):
                self._engine.rank(Question(text=plain, scope=scope))
            with self._sample("search_graph", at):
                self._ask("search_graph", {"query": asked})
            with self._sample("inject_context", at):
                self._ask("inject_context", {"query": injected})

    def cognition(self, rounds: int) -> None:
        """What tells how the memory is doing once questions were asked of it."""
        for tool in COGNITION:
            self._run(tool, rounds, lambda at: {})

    def write(self, rounds: int) -> None:
        stored: list[dict[str, Any]] = []
        for at in range(rounds + WARM_UP):
            text = f"{self._texts[600 + at]} {self._texts[900 + at]} {self._texts[1200 + at]}"
            self._engine.embed_query(text)
            with self._sample("store_memory", at):
                stored.append(self._ask("store_memory", {"content": text, "rationale": WHY}))
        ids = [each["node_id"] for each in stored]
        self._run("annotate_node", rounds, lambda at: {"node_id": ids[at], "annotations": {"notes": "Looked at."}})
        self._run("boost_importance", rounds, lambda at: {"node_id": ids[at], "delta": 0.1, "rationale": WHY})
        undo: list[str] = []
        self._run(
            "forget_concept",
            rounds,
            lambda at: {"node_id": ids[at], "reason": "obsolete", "rationale": WHY},
            lambda answer: undo.append(answer["reversal_hash"]),
        )
        self._run("restore_from_hash", rounds, lambda at: {"reversal_hash": undo[at]})
        pairs = ids[: len(ids) // 2 * 2]
        self._run(
            "merge_concepts",
            len(pairs) // 2 - WARM_UP,
            lambda at: {
                "source_node_ids": pairs[2 * at : 2 * at + 2],
                "target_name": f"Joined {at}",
                "rationale": WHY,
                "merge_strategy": "keep_highest",
                "force_merge": True,
            },
        )

    def _ready(self, at: int) -> Memory:
        memory = self._memories[at]
        self._engine.embed_query(memory.text[:4_000])
        return memory

    def _run(
        self,
        tool: str,
        rounds: int,
        arguments: Callable[[int], Mapping[str, Any]],
        then: Callable[[dict[str, Any]], object] = lambda answer: None,
    ) -> None:
        for at in range(rounds + WARM_UP):
            given = arguments(at)
            with self._sample(tool, at):
                answer = self._ask(tool, given)
            then(answer)

    def _sample(self, name: str, at: int) -> Any:
        watch = Stopwatch() if at < WARM_UP else self.watches.setdefault(name, Stopwatch())
        return watch.sample()

    def _ask(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        data: dict[str, Any] = carry_out(self._tools[tool], arguments, self._call).data
        return data


if __name__ == "__main__":
    main()
