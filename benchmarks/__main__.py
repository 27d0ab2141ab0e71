"""`make bench`: measures every figure and prints one table.

Slow figures never fail the command; they are marked `over`. The exit code is 1 only where a benchmark gave no figure.
"""

import argparse
import json
import sys
from collections.abc import Sequence

from benchmarks import calls, changing, http_calls, imports, minutes, page, reading, register, specs, start, table, why
from benchmarks.figures import Result
from benchmarks.workspace import BenchmarkFailed, workspace

BENCHMARKS = {
    "start": start.measure,
    "reading": reading.measure,
    "calls": calls.measure,
    "http": http_calls.measure,
    "changing": changing.measure,
    "imports": imports.measure,
    "specs": specs.measure,
    "register": register.measure,
    "why": why.measure,
    "minutes": minutes.measure,
    "page": page.measure,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure Clew's figures and print them as a table.",
        epilog="example:\n  python -m benchmarks --only reading --only calls --quick",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", choices=tuple(BENCHMARKS), help="just this one; may be repeated")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", action="store_true", help="print every sample as JSON")
    args = parser.parse_args()
    machine = table.machine()
    results, failures = _measured(args.only or tuple(BENCHMARKS), quick=args.quick)
    if args.json:
        sections = [
            {"title": result.title, "figures": [figure.as_data() for figure in result.figures]} for result in results
        ]
        print(json.dumps({"machine": machine, "results": sections, "failures": failures}, indent=2))
    else:
        print(", ".join(f"{name} {value}" for name, value in machine.items()), table.render(results), sep="\n\n")
    for failure in failures:
        sys.stderr.write(f"{failure}\n")
    return 1 if failures else 0


def _measured(names: Sequence[str], *, quick: bool) -> tuple[list[Result], list[str]]:
    results: list[Result] = []
    failures: list[str] = []
    with workspace() as space:
        for name in names:
            _say(f"measuring {name} ...")
            try:
                results.append(BENCHMARKS[name](space, quick=quick))
            except BenchmarkFailed as error:
                failures.append(f"{name} failed: {error}")
    return results, failures


def _say(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
