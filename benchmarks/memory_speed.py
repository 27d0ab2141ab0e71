"""How fast a memory of 100,000 notes answers, without the model's time."""

import json
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from benchmarks.probes.ask_memory import COGNITION, OPENING
from benchmarks.workspace import run
from clew.search.eval.metrics import percentile

ROUNDS = 60
STATUS, NAVIGATION, CURATION = 25.0, 50.0, 100.0
RECALL_AGAINST_ENGINE = 1.3
OPENING_MS, MEMORY_MB = 150.0, 700.0
LIMITS: dict[str, float | None] = {
    OPENING: OPENING_MS,
    **dict.fromkeys(
        (
            *("get_memetic_status", "utl_status", "homeostatic_status", "get_graph_manifest", "get_recent_context"),
            *("get_system_instructions", "get_system_logs", "search_tombstones", "get_johari_classification"),
            *COGNITION,
        ),
        STATUS,
    ),
    **dict.fromkeys(
        ("get_neighborhood", "hydrate_citation", "get_node_lineage", "find_causal_path", "entailment_query"),
        NAVIGATION,
    ),
    **dict.fromkeys(
        (
            *("store_memory", "annotate_node", "boost_importance", "forget_concept", "restore_from_hash"),
            "merge_concepts",
        ),
        CURATION,
    ),
    "engine, default": None,
    "search_graph": None,
    "inject_context": None,
}


def report(memories: int, kept: Path | None) -> None:
    with tempfile.TemporaryDirectory(prefix="clew-bench-") if kept is None else nullcontext(str(kept)) as folder:
        print(
            f"Speed on {memories:,} memories, p95 of the processor's time without the model's; what passed in brackets"
        )
        if not (Path(folder) / "clew.toml").exists():
            began = time.perf_counter()
            filled = json.loads(
                run(sys.executable, "-m", "benchmarks.probes.fill_memory", folder, str(memories), patience=1800)
            )
            parts = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in filled.items())
            print(f"  filled in {time.perf_counter() - began:.0f} s ({parts})")
        found = json.loads(
            run(sys.executable, "-m", "benchmarks.probes.ask_memory", folder, str(ROUNDS), patience=1800)
        )
    slow = {name: percentile(each["seconds"], 0.95) * 1000 for name, each in found["times"].items()}
    busy = {name: percentile(each["cpu"], 0.95) * 1000 for name, each in found["times"].items()}
    for name, limit in LIMITS.items():
        _line(f"{name}, ms ({slow[name]:.1f} passed)", busy[name], limit)
    engine = percentile(found["times"]["engine, default"]["cpu"], 0.5)
    for name in ("search_graph", "inject_context"):
        ratio = percentile(found["times"][name]["cpu"], 0.5) / engine
        _line(
            f"{name} against the engine's default, x (medians of calls that take turns)", ratio, RECALL_AGAINST_ENGINE
        )
    _line("resident memory, MB", found["memory"], MEMORY_MB)


def _line(name: str, value: float, limit: float | None) -> None:
    verdict = "" if limit is None else f"  (limit {limit:g}) {'ok' if value <= limit else 'over'}"
    print(f"  {name}: {value:.2f}{verdict}")
