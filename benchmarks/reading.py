"""Reading and linking the generated project: cold, warm, and after one file changed."""

import json
import sys
from typing import Any

from benchmarks.figures import Figure, Result, milliseconds
from benchmarks.workspace import BenchmarkFailed, Workspace, run

COLD_SECONDS, WARM_SECONDS, EDIT_MILLISECONDS, PEAK_MEGABYTES = 5.0, 0.7, 100.0, 300.0


def measure(space: Workspace, *, quick: bool) -> Result:
    shape, files = space.shape, space.shape.files_in_all
    cold: list[dict[str, Any]] = []
    warm: list[dict[str, Any]] = []
    _read(space)
    for _ in range(3 if quick else 7):
        space.forget_cache()
        cold.append(_read(space))
        warm.append(_read(space))
    _expect("A cold start parses every file", {files}, {found["parsed"] for found in cold})
    _expect("A warm start parses no file", {(0, files)}, {(found["parsed"], found["from_cache"]) for found in warm})
    rounds = "5" if quick else "15"
    edits = {folder: _probe("edit_file", str(space.generated), rounds, folder) for folder in ("spec", "src", "tests")}
    _expect(
        "One changed file is one parsed file", {1}, {parsed for found in edits.values() for parsed in found["parsed"]}
    )
    return Result(
        f"Reading {files:,} files: {shape.requirements:,} requirements, {shape.assertions:,} assertions,"
        f" {shape.references:,} references, {shape.tests:,} tests and results",
        (
            Figure("cold, nothing cached", "s", _each(cold, "seconds"), COLD_SECONDS, _each(cold, "cpu")),
            Figure("warm, from the cache", "s", _each(warm, "seconds"), WARM_SECONDS, _each(warm, "cpu")),
            Figure("peak memory, cold", "MB", _each(cold, "peak_megabytes"), PEAK_MEGABYTES),
            Figure("peak memory, warm", "MB", _each(warm, "peak_megabytes"), PEAK_MEGABYTES),
            *(
                Figure(
                    f"one file of {folder} edited, refresh",
                    "ms",
                    milliseconds(found["seconds"]),
                    EDIT_MILLISECONDS,
                    milliseconds(found["cpu"]),
                )
                for folder, found in edits.items()
            ),
        ),
    )


def _read(space: Workspace) -> dict[str, Any]:
    found = _probe("read_project", str(space.generated))
    shape = space.shape
    expected = {
        "requirement": shape.requirements,
        "assertion": shape.assertions,
        "code": shape.references,
        "test": shape.tests,
        "result": shape.tests,
    }
    counts = {kind: found["nodes"].get(kind) for kind in expected}
    _expect("Everything that was generated is in the graph", expected, counts)
    _expect("Every result belongs to a test", 0, found["unmatched"])
    return found


def _probe(name: str, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(sys.executable, "-m", f"benchmarks.probes.{name}", *arguments))
    return found


def _expect(what: str, expected: object, found: object) -> None:
    """A figure for something else than it says is worse than none."""
    if found != expected:
        raise BenchmarkFailed(f"{what}: expected {expected}, found {found}.")


def _each(found: list[dict[str, Any]], name: str) -> tuple[float, ...]:
    return tuple(float(item[name]) for item in found)
