"""The first index of Clew beside that of codegraph, on the same folders in the same run.

`python -m benchmarks.code.peer --codegraph PROGRAM`, where PROGRAM comes from `npm install
@colbymchenry/codegraph@1.6.1` in a folder of its own: the package holds its runtime and needs no network. Without it
Clew alone is measured. Folders are Python files of the archives that `projects.py` names; processor time is that of a
whole process and its children, and programs take turns.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchmarks.code.asking import Asked
from benchmarks.code.drawing import draw, symbols_of
from benchmarks.code.projects import SOURCES, committed, unpacked
from benchmarks.table import machine
from benchmarks.workspace import REPOSITORY, BenchmarkFailed, run

ROUNDS = 3
LARGEST_FOR_PEER = 1_000
QUIET = {"DO_NOT_TRACK": "1", "CODEGRAPH_TELEMETRY": "0", "CODEGRAPH_NO_DAEMON": "1", "CI": "1"}


class Cost(msgspec.Struct, frozen=True):
    processor_seconds: float
    wall_seconds: float
    peak_megabytes: float
    """Of the largest of the processes."""
    kept_megabytes: float
    """Of the index on the disk."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.code.peer", description=__doc__)
    parser.add_argument("--codegraph", type=Path, help="the program of codegraph")
    parser.add_argument("--sizes", default="88,500,10000", help="numbers of files")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    print(" ".join(f"{name} {value}" for name, value in machine().items()) + "\n")
    print(f"{'files':>7}  {'program':10}  {'cpu s':>7}  {'wall s':>7}  {'peak MB':>8}  {'index MB':>8}  ratio")
    with tempfile.TemporaryDirectory(prefix="clew-peer-") as folder:
        for size in map(int, options.sizes.split(",")):
            root = Path(folder).resolve() / f"files{size}"
            fill(root, size)
            committed(root)
            compare(root, size, options.codegraph, options.rounds if size <= LARGEST_FOR_PEER else 1)
            answers(root, size)
            shutil.rmtree(root)
    return 0


def compare(root: Path, size: int, codegraph: Path | None, rounds: int) -> None:
    programs: dict[str, Sequence[str]] = {"clew": _clew(root)}
    if codegraph is not None and size <= LARGEST_FOR_PEER:
        programs["codegraph"] = (str(codegraph), "init", str(root))
    costs: dict[str, list[Cost]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, command in programs.items():
            _forget(root)
            costs[name].append(_run(command, root))
    _forget(root)
    middle = {name: statistics.median(each.processor_seconds for each in found) for name, found in costs.items()}
    for name, found in costs.items():
        ratio = f"{middle['clew'] / middle['codegraph']:.2f} x" if name == "clew" and "codegraph" in middle else ""
        wall, peak, kept = (
            statistics.median(getattr(each, field) for each in found)
            for field in ("wall_seconds", "peak_megabytes", "kept_megabytes")
        )
        print(f"{size:7,}  {name:10}  {middle[name]:7.2f}  {wall:7.2f}  {peak:8.0f}  {kept:8.1f}  {ratio}", flush=True)


def answers(root: Path, size: int) -> None:
    """How long Clew's answers take about symbols that are drawn from all files."""
    with tempfile.NamedTemporaryFile("wb", suffix=".json") as targets:
        targets.write(msgspec.json.encode([each.target for each in draw("peer", symbols_of(root, "."))]))
        targets.flush()
        output = run(*_asking(root, Path(targets.name)), patience=1800)
    found = msgspec.json.decode(output, type=Asked)
    warm, busy, cold = map(sorted, (found.milliseconds, found.cpu_milliseconds, found.cold_milliseconds))
    middle, late = int(len(warm) * 0.5), int(len(warm) * 0.95)
    print(
        f"{size:7,}  find_uses about {len(warm)} symbols: p50 {warm[middle]:.1f} ms, p95 {warm[late]:.1f} ms warm"
        f" ({busy[late]:.1f} ms of processors), p95 {cold[late]:.1f} ms of processors for first answers",
        flush=True,
    )


def fill(root: Path, size: int) -> None:
    """So many Python files: Django's first, then those of the other projects, then copies of Django."""
    first, *others = sorted((each for each in SOURCES if each.origin == "pypi"), key=lambda each: each.name != "django")
    with tempfile.TemporaryDirectory(prefix="clew-archives-") as folder:
        # A small project is one package, a larger one all of an archive, the largest several.
        waiting = _files(unpacked(first, Path(folder) / "django"), "django") if size <= LARGEST_FOR_PEER else iter(())
        for number, source in enumerate((first, *others, *[first] * 9) if size > LARGEST_FOR_PEER else ()):
            target = unpacked(source, Path(folder) / f"{source.name}{number}")
            waiting = _chained(waiting, target)
        left = size
        for base, file in waiting:
            if not left:
                break
            place = root / file.relative_to(base)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
            left -= 1
        if left:
            raise BenchmarkFailed(f"The archives hold {size - left} Python files, not {size}.")


def _files(root: Path, inside: str) -> Iterator[tuple[Path, Path]]:
    for file in sorted((root / inside).rglob("*.py")):
        # Hundreds of these are a few settings each, and stand for no program.
        if "locale" not in file.relative_to(root).parts:
            yield root, file


def _chained(before: Iterator[tuple[Path, Path]], root: Path) -> Iterator[tuple[Path, Path]]:
    yield from before
    for file in sorted(root.rglob("*.py")):
        yield root.parent, file


def _clew(root: Path) -> Sequence[str]:
    nothing = root.with_name("nothing.json")
    nothing.write_text("[]", encoding="utf-8")
    return _asking(root, nothing)


def _asking(root: Path, targets: Path) -> tuple[str, ...]:
    return (sys.executable, "-m", "benchmarks.code.asking", str(root), str(targets))


def _forget(root: Path) -> None:
    for name in (".clew", ".codegraph"):
        shutil.rmtree(root / name, ignore_errors=True)


def _run(command: Sequence[str], root: Path) -> Cost:
    began = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=REPOSITORY, env={**os.environ, **QUIET}, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - began
        if process.returncode:
            output.seek(0)
            raise BenchmarkFailed(f"{Path(command[0]).name} ended with {process.returncode}: {output.read()[-800:]!r}")
    kept = [
        file.stat().st_size for name in (".clew", ".codegraph") for file in (root / name).rglob("*") if file.is_file()
    ]
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1e3, sum(kept) / 1e6)


if __name__ == "__main__":
    sys.exit(main())
