"""Calls the tools for specs in process, as the server does, and says how long each call took: FOLDER ROUNDS."""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.probes.stopwatch import Stopwatch
from benchmarks.specs import SPECS, spec_id
from clew.operation.call import Call, carry_out
from clew.operation.listing import all_tools
from clew.project import Project
from clew.search.engine import SearchEngine

QUERIES = (
    "duplicate invoice after a restart",
    "who may cancel a pending shipment",
    "audit record of the scheduler",
    "expired credential in the gateway",
    "telemetry that is older than the contract",
    "retry a payment",
)
STARTS = 5
PAUSE_SECONDS = 0.1
ADDED = "unwaveringly"
"""A word that no spec has."""
_TOOLS = {tool.name: tool for tool in all_tools()}


class Asking:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.project = Project.open(folder)
        self.project.ensure_graph()
        self.watches: dict[str, Stopwatch] = {}

    def ask(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return carry_out(_TOOLS[tool], arguments, Call(self.project, all_tools())).data

    def timed(self, figure: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        with self.watches.setdefault(figure, Stopwatch()).sample():
            return self.ask(tool, arguments)

    def edited(self, number: int, work: Callable[[], None]) -> None:
        """Do something while a spec is another one."""
        path = self._folder / "openspec" / "specs" / spec_id(number) / "spec.md"
        before, times = path.read_bytes(), path.stat()
        path.write_bytes(before.replace(b" SHALL ", f" SHALL {ADDED} ".encode(), 1))
        try:
            work()
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            self.project.refresh()


def main() -> None:
    folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
    first = Stopwatch()
    for _ in range(STARTS):
        asking = Asking(folder)
        with first.sample():
            asking.ask("list_specs", {})
        asking.project.close()
    asking = Asking(folder)
    asking.watches["list_specs, first call after the start"] = first
    for number in range(rounds):
        asking.timed("list_specs, first page", "list_specs", {})
        asking.timed("spec_catalogue", "spec_catalogue", {"max_tokens": 3_000})
        asking.timed("change_conflicts", "change_conflicts", {})
        _scenarios(asking, number)
    asking.ask("rebuild_index", {})
    _searches(asking, rounds)
    for number in range(rounds):
        _edits(asking, number * 7 % SPECS)
    asking.project.close()
    print(json.dumps({figure: watch.as_data() for figure, watch in asking.watches.items()}))


def _scenarios(asking: Asking, number: int) -> None:
    for each in range(number * 13 % SPECS, SPECS, 31):
        spec = {"spec_id": spec_id(each)}
        found = asking.timed("get_spec_requirements", "get_spec_requirements", spec)["requirements"]
        chosen = found[number % len(found)]["name"]
        asking.timed("get_scenario", "get_scenario", {**spec, "requirement": chosen})
    # Whoever asks after a pause also pays for the look at all files, which those who follow at once share.
    time.sleep(PAUSE_SECONDS)
    asking.timed("get_scenario, after a pause", "get_scenario", {**spec, "requirement": chosen})


def _searches(asking: Asking, rounds: int) -> None:
    engine = asking.project.index.engine
    assert engine is not None
    _fill_vectors(engine)
    for number in range(rounds):
        query = f"{QUERIES[number % len(QUERIES)]} {number}"
        engine.embed_query(query)
        asking.timed("search_specs, without the query's embedding", "search_specs", {"query": query})


def _fill_vectors(engine: SearchEngine) -> None:
    """Vectors of no meaning: the time of a search does not depend on it, and making real ones takes minutes."""
    import numpy as np

    spaces = engine.spaces
    embedder = spaces.configured()
    if embedder is None:
        return
    spaces.register(embedder, complete=True)
    count = engine.state().units
    draw = np.random.default_rng(5).standard_normal((count, embedder.dimensions), np.float32)
    numbers = np.arange(1, count + 1)
    vectors = spaces.space(embedder).vectors
    vectors.put(numbers, draw / np.linalg.norm(draw, axis=1, keepdims=True))
    vectors.fold()


def _edits(asking: Asking, number: int) -> None:
    spec = {"spec_id": spec_id(number)}
    requirement = asking.ask("get_spec_requirements", spec)["requirements"][0]["name"]
    scenario = {**spec, "requirement": requirement}

    def look() -> None:
        with asking.watches.setdefault("one spec edited, until get_scenario shows it", Stopwatch()).sample():
            while ADDED not in asking.ask("get_scenario", scenario)["requirement_description"]:
                pass

    def find() -> None:
        with asking.watches.setdefault("one spec edited, until search_specs finds it", Stopwatch()).sample():
            while not _is_found(asking.ask("search_specs", {"query": ADDED})):
                pass

    asking.edited(number, look)
    asking.edited(number, find)


def _is_found(answer: Mapping[str, Any]) -> bool:
    return any(ADDED in hit["snippet"] for hit in answer["results"])


main()
