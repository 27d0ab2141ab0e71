"""`make bench-memory`: how good and how fast the memory is.

Quality is measured on public material beside the project and skipped, with a reason, where it is absent. Speed is
measured on generated memories. Misses are marked; they never fail the command.
"""

import argparse
from pathlib import Path

from benchmarks import memory_causes, memory_hooks, memory_pairs, memory_promises, memory_quality, memory_speed

FOLDER = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
PARTS = (*memory_quality.REPORTS, "pairs", "causes", "promises", "hooks", "speed")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=FOLDER, help="the folder with the development data")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--memories", type=int, default=100_000, help="memories for the speed (default: 100000)")
    parser.add_argument("--rounds", type=int, default=100, help="hooks of each sort (default: 100)")
    parser.add_argument("--kept", type=Path, help="a folder that keeps the generated memories for the next run")
    parser.add_argument("--misses", action="store_true", help="print the errors on the development half of the pairs")
    args = parser.parse_args()
    wanted = (args.only,) if args.only else PARTS
    for name, report in memory_quality.REPORTS.items():
        if name not in wanted:
            continue
        if args.data.is_dir():
            report(args.data)
        else:
            print(f"{name}: skipped, because {args.data} is not there")
    if "pairs" in wanted:
        memory_pairs.report(misses=args.misses)
    if "causes" in wanted:
        memory_causes.report()
    if "promises" in wanted:
        memory_promises.report()
    if "hooks" in wanted:
        memory_hooks.report(args.rounds)
    if "speed" in wanted:
        memory_speed.report(args.memories, args.kept)


if __name__ == "__main__":
    main()
