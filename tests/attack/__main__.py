"""Attacks on Clew: `python -m tests.attack NAME --rounds N`. Exits with 1 where something got through.

Each attack is a module beside this one with `run(rounds) -> Outcome`, and a line in the table below.
"""

import argparse
import sys
from importlib import import_module

ATTACKS = {
    "kills": (500, "kill writers of files at every moment"),
}
"""For each attack the rounds of a full run, and what it does."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description="Attack Clew.")
    commands = parser.add_subparsers(dest="attack", required=True)
    for name, (rounds, about) in ATTACKS.items():
        commands.add_parser(name, help=about).add_argument("--rounds", type=int, default=rounds)
    args = parser.parse_args()
    outcome = import_module(f"tests.attack.{args.attack}").run(args.rounds)
    counts = "".join(f", {number} {what}" for what, number in outcome.counts.items())
    sys.stdout.write(f"{args.attack}: {outcome.tried} tried, {len(outcome.faults)} got through{counts}\n")
    sys.stdout.writelines(f"  {fault}\n" for fault in outcome.faults)
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
