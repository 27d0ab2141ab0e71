"""Uses that no language server confirms, drawn at random for judging by hand, with the lines around them.

`python -m benchmarks.code.drawn FOLDER --defining src --kinds patch,string,fixture,registry --number 100`: strings,
patches, fixtures and registries of a Python project. For another language `--symbols FILE` gives the symbols, a target
a line, and `--kinds any` takes every use.
"""

import argparse
import json
import random
import sys
from pathlib import Path

from benchmarks.code.asking import Shown, answers
from benchmarks.code.drawing import symbols_of
from benchmarks.code.score import is_shown

PER_SYMBOL = 2
AROUND = 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.code.drawn", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--defining", default=".", help="the folder whose symbols are asked about")
    parser.add_argument("--tests", action="store_true", help="ask about what tests define as well: fixtures")
    parser.add_argument("--symbols", type=Path, help="a file with one target a line, for languages other than Python")
    parser.add_argument("--kinds", default="patch,string,fixture,registry,override")
    parser.add_argument("--basis", default="", help="only uses of one basis")
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most-asked", type=int, default=5_000)
    parser.add_argument("--json", action="store_true", help="without the lines around")
    options = parser.parse_args()
    root, chance = options.folder.resolve(), random.Random(options.seed)
    if options.symbols:
        targets = options.symbols.read_text(encoding="utf-8").split()
    else:
        targets = [each.target for each in symbols_of(root, options.defining, tests=options.tests)]
    chance.shuffle(targets)
    kinds = None if options.kinds == "any" else frozenset(options.kinds.split(","))
    found: list[tuple[str, Shown]] = []
    asked = 0
    for target, uses in answers(root, targets[: options.most_asked]):
        asked += 1
        fitting = [
            use
            for use in uses
            if is_shown(use) and (kinds is None or use.kind in kinds) and options.basis in ("", use.basis)
        ]
        found += [(target, use) for use in chance.sample(fitting, min(PER_SYMBOL, len(fitting)))]
    chance.shuffle(found)
    chosen = sorted(found[: options.number], key=lambda each: (each[1].path, each[1].line))
    if options.json:
        print(json.dumps([[target, use.path, use.line, use.kind, use.basis] for target, use in chosen]))
        return 0
    for number, (target, use) in enumerate(chosen, 1):
        print(f"--- {number}. {target}\n    {use.kind}, {use.basis}: {use.path}:{use.line}")
        print(_around(root / use.path, use.line))
    print(f"\n{len(chosen)} of {len(found)} uses drawn from {asked} symbols, at most {PER_SYMBOL} of each.")
    return 0


def _around(file: Path, line: int) -> str:
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    first = max(line - AROUND, 1)
    return "\n".join(
        f"  {'>' if number == line else ' '} {number:5} {text[:160]}"
        for number, text in enumerate(lines[first - 1 : line + AROUND], first)
    )


if __name__ == "__main__":
    sys.exit(main())
