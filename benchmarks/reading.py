"""Reading and linking the generated project: cold, warm, and after one file changed."""

import json
import sys
from typing import Any

from benchmarks.figures import Figure, Result, milliseconds
from benchmarks.workspace import BenchmarkFailed, Workspace, run

COLD_SECONDS, WARM_SECONDS, PEAK_MEGABYTES = 3.0, 0.4, 250.0


def measure(space: Workspace, *, quick: bool) -> Result:
    files = space.shape.files
    cold: list[dict[str, Any]] = []
    warm: list[dict[str, Any]] = []
    _read(space)
    for _ in range(3 if quick else 7):
        space.forget_cache()
        cold.append(_read(space))
        warm.append(_read(space))
    _expect("A cold start parses every file", {files}, {found["parsed"] for found in cold})
    _expect("A warm start parses no file", {(0, files)}, {(found["parsed"], found["from_cache"]) for found in warm})
    edits = _probe("edit_file", str(space.generated), "5" if quick else "15")
    _expect("One changed file is one parsed file", {1}, set(edits["parsed"]))
    return Result(
        f"Reading {space.shape.requirements:,} requirements with {space.shape.assertions:,} assertions, {files} files",
        (
            Figure("cold, nothing cached", "s", _each(cold, "seconds"), COLD_SECONDS, _each(cold, "cpu")),
            Figure("warm, from the cache", "s", _each(warm, "seconds"), WARM_SECONDS, _each(warm, "cpu")),
            Figure("peak memory, cold", "MB", _each(cold, "peak_megabytes"), PEAK_MEGABYTES),
            Figure("peak memory, warm", "MB", _each(warm, "peak_megabytes"), PEAK_MEGABYTES),
            Figure("one file edited, refresh", "ms", milliseconds(edits["seconds"]), cpu=milliseconds(edits["cpu"])),
        ),
    )


def _read(space: Workspace) -> dict[str, Any]:
    found = _probe("read_project", str(space.generated))
    counts = {kind: found["nodes"].get(kind) for kind in ("requirement", "assertion")}
    _expect(
        "Everything that was generated is in the graph",
        {"requirement": space.shape.requirements, "assertion": space.shape.assertions},
        counts,
    )
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
