"""Attacks on Clew: `python -m tests.attack [NAME] [--rounds N]`, all of them without a name. Exits with 1 where
something got through.

Each attack is a module beside this one with `run(rounds) -> Outcome`, and a line in the table below.
"""

import argparse
import sys
from importlib import import_module

ATTACKS = {
    "kills": (500, "kill writers of files at every moment"),
    "repository": (1, "work in a repository that names programs in every known way"),
    "readers": (150, "give readers texts made to keep them busy"),
    "hooks": (10_000, "run hooks with every fault that can befall them"),
    "team": (10_000, "kill writers to a team's store, and the database itself"),
    "client": (2_500, "send malformed messages over stdio and HTTP"),
}
"""For each attack the rounds of a full run, and what it does."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description="Attack Clew.")
    parser.add_argument("attack", nargs="*", metavar="NAME", help="which ones (default: all)")
    parser.add_argument("--rounds", type=int, help="how often (default: as a full run)")
    args = parser.parse_args()
    if unknown := set(args.attack) - ATTACKS.keys():
        parser.error(f"there is no attack {', '.join(unknown)}; there are {', '.join(ATTACKS)}")
    return max(attack(name, args.rounds or ATTACKS[name][0]) for name in args.attack or ATTACKS)


def attack(name: str, rounds: int) -> int:
    outcome = import_module(f"tests.attack.{name}").run(rounds)
    counts = "".join(f", {number} {what}" for what, number in outcome.counts.items())
    sys.stdout.write(f"{name}: {outcome.tried} tried, {len(outcome.faults)} got through{counts}\n")
    sys.stdout.writelines(f"  {fault}\n" for fault in outcome.faults)
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
