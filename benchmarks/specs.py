"""Specs and changes on a generated tree of specs: reading it, and the tools that agents call most."""

import json
import os
import random
import shutil
import sys
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, Result, milliseconds
from benchmarks.generate import SETTLED_SECONDS
from benchmarks.prose import Prose
from benchmarks.workspace import BenchmarkFailed, Workspace, run

SPECS, REQUIREMENTS, SCENARIOS = 300, 10, 3
"""Specs, requirements of each, scenarios of each requirement."""
CHANGES = 20
SEED = 2_027

COLD_SECONDS, WARM_SECONDS = 1.5, 0.2
LIMITS_MS: dict[str, float | None] = {
    "list_specs, first call after the start": 5.0,
    "list_specs, first page": 5.0,
    "spec_catalogue": None,
    "get_spec_requirements": None,
    "get_scenario": 1.0,
    "get_scenario, after a pause": None,
    "search_specs, without the query's embedding": 30.0,
    "one spec edited, until get_scenario shows it": 50.0,
    "one spec edited, until search_specs finds it": 50.0,
    "change_conflicts": None,
}
CONFIGURATION = '[specs]\nfolders = ["openspec"]\n[search]\nbackground = false\n'


def measure(space: Workspace, *, quick: bool) -> Result:
    folder = space.demo.parent / "specs"
    generate(folder)
    _read(folder)
    cold: list[dict[str, Any]] = []
    warm: list[dict[str, Any]] = []
    for _ in range(3 if quick else 7):
        shutil.rmtree(folder / ".clew")
        cold.append(_read(folder))
        warm.append(_read(folder))
    if any(found["parsed"] for found in warm) or any(found["from_cache"] for found in cold):
        raise BenchmarkFailed("A cold start parses every file of a tree of specs, and a warm one none.")
    asked = _probe("ask_specs", str(folder), "5" if quick else "20")
    return Result(
        f"{SPECS:,} specs, {SPECS * REQUIREMENTS:,} requirements, {SPECS * REQUIREMENTS * SCENARIOS:,} scenarios",
        (
            Figure("specs cold, nothing cached", "s", _each(cold, "seconds"), COLD_SECONDS, _each(cold, "cpu")),
            Figure("specs warm, from the cache", "s", _each(warm, "seconds"), WARM_SECONDS, _each(warm, "cpu")),
            *(
                Figure(name, "ms", milliseconds(asked[name]["seconds"]), limit, milliseconds(asked[name]["cpu"]))
                for name, limit in LIMITS_MS.items()
            ),
        ),
    )


def _read(folder: Path) -> dict[str, Any]:
    found = _probe("read_project", str(folder))
    expected = {"spec": SPECS, "requirement": SPECS * REQUIREMENTS, "assertion": SPECS * REQUIREMENTS * SCENARIOS}
    if {kind: found["nodes"].get(kind) for kind in expected} != expected:
        raise BenchmarkFailed(f"Not every spec that was generated is in the graph: {found['nodes']}.")
    return found


def _probe(name: str, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(sys.executable, "-m", f"benchmarks.probes.{name}", *arguments))
    return found


def _each(found: list[dict[str, Any]], name: str) -> tuple[float, ...]:
    return tuple(float(item[name]) for item in found)


# The tree


def generate(folder: Path) -> None:
    """Write a tree as OpenSpec lays it out; the same bytes every time."""
    prose = Prose(random.Random(SEED))
    specs = folder / "openspec" / "specs"
    for number in range(SPECS):
        _write(specs / spec_id(number) / "spec.md", _spec(number, prose))
    for number in range(CHANGES):
        _change(folder / "openspec" / "changes" / f"change-{number:02}", number, prose)
    _write(folder / "clew.toml", CONFIGURATION)
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (SETTLED_SECONDS, SETTLED_SECONDS))


def spec_id(number: int) -> str:
    """Every fifth lies in a folder of folders."""
    return f"area-{number % 7}/part-{number:03}" if number % 5 == 0 else f"part-{number:03}"


def _spec(number: int, prose: Prose) -> str:
    head = f"# Part {number} Specification\n\n## Purpose\n\n{prose.paragraph(2)}\n\n## Requirements\n"
    return "\n".join((head, *(_requirement(f"{prose.title()} {each}", prose) for each in range(REQUIREMENTS))))


def _requirement(name: str, prose: Prose) -> str:
    scenarios = "\n".join(
        f"#### Scenario: {prose.title()} {each}\n\n- **GIVEN** {prose.paragraph(1)}\n- **WHEN** {prose.title()}\n"
        f"- **THEN** {prose.assertion()}\n- **AND** {prose.paragraph(1)}\n"
        for each in range(SCENARIOS)
    )
    return f"### Requirement: {name}\n\n{prose.assertion()}\n\n{scenarios}"


def _change(folder: Path, number: int, prose: Prose) -> None:
    """Every change adds to one spec; of two neighbours both add the same requirement, with other words."""
    _write(folder / "proposal.md", f"## Why\n\n{prose.paragraph(2)}\n\n## What Changes\n\n- {prose.title()}\n")
    _write(folder / "tasks.md", "".join(f"- [ ] 1.{each} {prose.title()}\n" for each in range(1, 9)))
    delta = f"## ADDED Requirements\n\n{_requirement(f'Added {number // 2}', prose)}"
    _write(folder / "specs" / spec_id(number // 2) / "spec.md", delta)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
