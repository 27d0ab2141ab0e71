"""The register on a generated project: 2,000 requirements with history and evidence over a tree of 5,000 files.

Growth is measured on the same tree with fewer requirements, as CPU time in a fresh process: where a question costs
requirements times files, twice the requirements take twice the time.
"""

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, Result, milliseconds, paired
from benchmarks.generate import SETTLED_SECONDS
from benchmarks.prose import Prose
from benchmarks.workspace import Workspace, run
from clew.formats.register.ids import format_id
from clew.formats.register.model import (
    ActorKind,
    EvidenceKind,
    HistoryEntry,
    LinkKind,
    Priority,
    RecordedOutcome,
    Register,
    Requirement,
    RequirementKind,
    RequirementLink,
    Status,
    TestRecord,
)
from clew.formats.register.single import write_single

REQUIREMENTS, FILES = 2_000, 5_000
GROWTH = (500, 1_000, 2_000)
SEED = 2_028
AT = "2026-03-01T08:00:00Z"

COLD_SECONDS = 1.5
LIMITS_MS: dict[str, float] = {
    "req_list": 10.0,
    "req_show": 10.0,
    "req_status": 10.0,
    "req_next": 10.0,
    "req_validate, after a change": 250.0,
    "req_coverage, warm": 150.0,
    "req_stale, warm": 150.0,
    "req_review": 2_500.0,
    "req_add, synced": 60.0,
}
CONFIGURATION = '[code]\nfolders = ["src"]\n[tests]\nfolders = ["tests"]\n[search]\nbackground = false\n'


def measure(space: Workspace, *, quick: bool) -> Result:
    folder = space.demo.parent / "register"
    generate(folder)
    rounds = 3 if quick else 7
    cold = {tool: [_probe(folder, "cold", tool) for _ in range(rounds)] for tool in ("req_coverage", "req_stale")}
    asked = _probe(folder, "warm", "5" if quick else "20")
    return Result(
        f"Register of {REQUIREMENTS:,} requirements over {FILES:,} files",
        (
            *(
                Figure(f"{tool}, cold", "s", _each(found, "seconds"), COLD_SECONDS, _each(found, "cpu"))
                for tool, found in cold.items()
            ),
            *(
                Figure(name, "ms", milliseconds(asked[name]["seconds"]), limit, milliseconds(asked[name]["cpu"]))
                for name, limit in LIMITS_MS.items()
            ),
            *_growth(folder, rounds),
        ),
    )


def _growth(folder: Path, rounds: int) -> list[Figure]:
    """CPU time against that of the smallest register, round by round. 1 x is none at all."""
    samples: dict[str, dict[int, list[float]]] = {tool: {} for tool in ("req_coverage", "req_stale")}
    for _ in range(rounds):
        for count in GROWTH:
            write_register(folder, count)
            for tool, by_count in samples.items():
                by_count.setdefault(count, []).append(float(_probe(folder, "cold", tool)["cpu"]))
    return [
        Figure(f"{tool}, {count:,} requirements against {GROWTH[0]:,}", "x", paired(tuple(cpu), tuple(by[GROWTH[0]])))
        for tool, by in samples.items()
        for count, cpu in by.items()
        if count != GROWTH[0]
    ]


def _probe(folder: Path, *arguments: str) -> dict[str, Any]:
    module = "benchmarks.probes.ask_register"
    found: dict[str, Any] = json.loads(run(sys.executable, "-m", module, str(folder), *arguments))
    return found


def _each(found: list[dict[str, Any]], name: str) -> tuple[float, ...]:
    return tuple(float(item[name]) for item in found)


# The project


def generate(folder: Path) -> None:
    """Write the project and commit it twice; the same bytes every time."""
    rng = random.Random(SEED)
    prose = Prose(rng)
    for number in range(FILES):
        _write(folder / path_of(number), _source(number, rng, prose))
    _write(folder / "clew.toml", CONFIGURATION)
    _write(folder / ".gitignore", ".clew/\n.*.req.lock\n")
    run("git", "init", "--quiet", "--initial-branch=main", cwd=folder)
    _commit(folder, "Begin")
    write_register(folder, REQUIREMENTS)
    _commit(folder, "The register")
    for number in range(0, FILES, 250):
        path = folder / path_of(number)
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8", newline="\n")
    for path in (*folder.rglob("*"), folder):
        if ".git" not in path.parts:
            os.utime(path, (SETTLED_SECONDS, SETTLED_SECONDS))


def write_register(folder: Path, count: int) -> None:
    """A register of so many requirements; more than half have evidence from the first commit."""
    commit = run("git", "rev-list", "--max-parents=0", "HEAD", cwd=folder).strip()
    rng = random.Random(SEED)
    prose = Prose(rng)
    requirements = {format_id(number): _requirement(number, commit, rng, prose) for number in range(1, count + 1)}
    register = Register(name="generated", created=AT, updated=AT, next_id=count + 1, requirements=requirements)
    place = folder / "project.req"
    place.write_bytes(write_single(register))
    os.utime(place, (SETTLED_SECONDS, SETTLED_SECONDS))


def path_of(number: int) -> str:
    """Four of five files are code; a third of them is in another language than the rest."""
    area = f"area_{number % 40:02}"
    if number % 5 == 0:
        return f"tests/{area}/test_part_{number:04}.py"
    return f"src/{area}/part_{number:04}.{'rs' if number % 3 == 0 else 'py'}"


def _source(number: int, rng: random.Random, prose: Prose) -> str:
    """Two of three files cite a requirement."""
    cited = format_id(rng.randint(1, REQUIREMENTS)) if number % 3 else ""
    if path_of(number).endswith(".rs"):
        body = "".join(f"fn step_{each}(count: u32) -> u32 {{\n    count + {each}\n}}\n\n" for each in range(8))
        return f"//! {prose.title()}\n\n{f'// {cited}' if cited else '// No requirement.'}\n{body}"
    name = "test_step" if number % 5 == 0 else "step"
    body = "".join(
        f"def {name}_{each}(count=1):\n    # {prose.title()}\n    assert count + {each} >= 0\n\n\n" for each in range(8)
    )
    return f'"""{prose.title()}."""\n\n\n{f"# {cited}" if cited else "# No requirement."}\n{body}'


def _requirement(number: int, commit: str, rng: random.Random, prose: Prose) -> Requirement:
    links = (
        (RequirementLink(kind=LinkKind.DEPENDS_ON, target=format_id(rng.randint(1, number - 1))),)
        if number % 4 == 1 < number
        else ()
    )
    record = TestRecord(
        at=AT, actor="ann", commit=commit, outcome=RecordedOutcome.PASS, notes="1 pass", kind=EvidenceKind.AUTOMATED
    )
    entry = HistoryEntry(at=AT, actor="ann", actor_kind=ActorKind.HUMAN, action="created", reason=prose.title())
    return Requirement(
        id=format_id(number),
        title=f"{prose.title()} {number}"[:120],
        statement=prose.assertion().replace("SHALL", "shall"),
        rationale=prose.paragraph(1),
        acceptance=(prose.title(), prose.title()),
        kind=RequirementKind.FUNCTIONAL,
        priority=rng.choice(tuple(Priority)),
        status=rng.choice((Status.DRAFT, Status.APPROVED, Status.IMPLEMENTED, Status.VERIFIED)),
        tags=(f"area-{number % 20}",),
        links=links,
        created=AT,
        updated=AT,
        history=(entry,) * 6,
        tests=(record,) * 3 if number % 3 else (),
    )


def _commit(folder: Path, message: str) -> None:
    run("git", "add", "--all", cwd=folder)
    run("git", "commit", "--quiet", f"--message={message}", cwd=folder)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
