"""`python -m benchmarks.kb_growth`: how soon answers are nearly as good as they get, while vectors are still made.

The own questions for tuning (`kb_registry`) are asked by words alone, then again each time some seconds of processor
time went into vectors, until all are made. What counts is when 90 % of the final share of answers was found first.
"""

import argparse
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from benchmarks import kb_registry
from benchmarks.kb_found import ask, half
from benchmarks.workspace import BenchmarkFailed
from clew.errors import Cancelled
from clew.project import Project
from clew.search.engine import SearchEngine

NEARLY = 0.9


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kb_growth", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--project", choices=sorted(kb_registry.PROJECTS), help="the pages of one project instead of all"
    )
    parser.add_argument("--step", type=float, default=10.0, help="seconds of processor time between two looks")
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/clew-bench").expanduser(), help="of the archives")
    parser.add_argument("--corpus", type=Path, help="an empty folder for the pages and their index")
    args = parser.parse_args()
    try:
        with nullcontext(args.corpus) if args.corpus else tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
            measured = measure(kb_registry.build(Path(folder), args.cache), args.project, args.step)
    except BenchmarkFailed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    final = measured[-1][1]
    for seconds, found in measured:
        print(f"after {seconds:6.1f} s of processor time: found {found:.3f}, {found / max(final, 1e-9):.0%} of the end")
    soon = next(seconds for seconds, found in measured if found >= NEARLY * final)
    print(f"{NEARLY:.0%} of the final quality after {soon:.1f} of {measured[-1][0]:.1f} s")
    return 0


def measure(folder: Path, only: str | None, step: float) -> list[tuple[float, float]]:
    """How many questions were answered after how many seconds of encoding."""
    if only is not None:
        config = folder / "clew.toml"
        names = ", ".join(f'"{name}"' for name in kb_registry.PROJECTS)
        config.write_text(config.read_text(encoding="utf-8").replace(names, f'"{only}"'), encoding="utf-8")
    project = Project.open(folder)
    try:
        project.kb.index()
        engine = project.index.engine
        if engine is None:
            raise BenchmarkFailed("There is no index.")
        questions = [
            each
            for each in half(kb_registry.questions("registry"), tuning=True)
            if only is None or each.project == only
        ]
        spent, is_done = 0.0, False
        measured: list[tuple[float, float]] = []
        while True:
            found = sum(ask(project, question).found_twice for question in questions)
            measured.append((spent, found / max(1, len(questions))))
            if is_done:
                return measured
            seconds, is_done = _encoded(engine, step)
            spent += seconds
    finally:
        project.close()


def _encoded(engine: SearchEngine, step: float) -> tuple[float, bool]:
    """Make vectors for so long; how long it was, and whether all are made."""
    began = time.process_time()

    def enough(*_: object) -> None:
        if time.process_time() - began >= step:
            raise Cancelled("It is time to look.")

    try:
        if (note := engine.index_vectors(enough).note) is not None:
            raise BenchmarkFailed(f"No vectors were made: {note}.")
    except Cancelled:
        return time.process_time() - began, False
    return time.process_time() - began, True


if __name__ == "__main__":
    sys.exit(main())
