"""Attacks on Clew: `python -m tests.attack [NAME] [--long] [--rounds N]`, all of them without a name. Exits with 1
where something got through. All of them together take a few minutes; with `--long`, an hour or more.

Each attack is a module beside this one with `run(rounds) -> Outcome`, and a line in the table below.
"""

import argparse
import sys
from importlib import import_module

from tests.attack.outcome import Outcome

ATTACKS = {
    "kills": (500, 5_000, "kill writers of files at every moment"),
    "repository": (1, 1, "work in a repository that names programs in every known way"),
    "elsewhere": (1, 1, "unpack folders whose .git leads to a repository of the user"),
    "readers": (400, 1_000_000, "give readers texts made to keep them busy"),
    "patterns": (2_000, 100_000, "give regular expressions that are expensive to compile"),
    "devices": (200, 10_000, "put devices, pipes and endless files where files are read"),
    "arguments": (1_000, 10_000, "put bytes that no file name has into every argument of every tool"),
    "hooks": (400, 50_000, "run hooks with every fault that can befall them"),
    "team": (2_000, 10_000, "kill writers to a team's store, and the database itself"),
    "quiet": (1, 1, "look for whoever is told, and for files left outside, by every command and a server's day"),
    "members": (5, 5, "have members of a team change what others wrote, over SQL"),
    "databases": (160, 5_000, "damage databases, and put crafted ones in their place"),
    "disk": (80, 5_000, "damage databases as a failing disk does, of which the system knows nothing"),
    "state_folder": (1, 2, "open projects whose state folder somebody else made"),
    "client": (2_500, 25_000, "send malformed messages over stdio and HTTP"),
    "editor": (1_000, 50_000, "send the language server what a hostile clone or a broken editor sends"),
}
"""For each attack the rounds of a run and of a long one, and what it does."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description="Attack Clew.")
    parser.add_argument("attack", nargs="*", metavar="NAME", help="which ones (default: all)")
    parser.add_argument("--long", action="store_true", help="try everything, however long it takes")
    parser.add_argument("--rounds", type=int, help="how often")
    args = parser.parse_args()
    if unknown := set(args.attack) - ATTACKS.keys():
        parser.error(f"there is no attack {', '.join(unknown)}; there are {', '.join(ATTACKS)}")
    return max(attack(name, args.rounds or ATTACKS[name][args.long]) for name in args.attack or ATTACKS)


def attack(name: str, rounds: int) -> int:
    return report(name, import_module(f"tests.attack.{name}").run(rounds))


def report(name: str, outcome: Outcome) -> int:
    counts = "".join(f", {number} {what}" for what, number in outcome.counts.items())
    sys.stdout.write(f"{name}: {outcome.tried} tried, {len(outcome.faults)} got through{counts}\n")
    if outcome.skipped:
        sys.stdout.write(f"  not tried: {outcome.skipped}\n")
    sys.stdout.writelines(f"  {fault}\n" for fault in outcome.faults)
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
