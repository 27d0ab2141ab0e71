"""`clew trust`."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from clew.config import load
from clew.errors import Refused
from clew.surfaces.cli.opening import add_folder, add_json
from clew.surfaces.cli.output import print_json
from clew.text.terminal import columns, wrapped
from clew.trust import Trust, record, revoke

EXAMPLE = "clew trust --show\nclew trust --yes\nclew trust --revoke"
_ALLOWS = (
    "A trusted project may use these keys as long as they stay as they are, and `clew req precheck` may run cargo."
)
_STATES = {
    "trusted": "is trusted",
    "changed": "was trusted, but what it asks for changed since",
    "untrusted": "is not trusted",
}


def configure(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--show", action="store_true", help="say whether the project is trusted, and what it asks for")
    what.add_argument("--revoke", action="store_true", help="trust the project no longer")
    what.add_argument("-y", "--yes", action="store_true", help="trust it without being asked")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    trust = load(Path(args.folder)).trust
    if args.revoke:
        return _revoke(trust, as_json=args.json)
    if not args.json:
        sys.stdout.write(wrapped(_described(trust), columns()))
    if args.show:
        if args.json:
            print_json({"root": str(trust.root), "state": trust.state, "asks_for": trust.shown})
        return 0 if trust.is_trusted or not trust.asked else 1
    if not trust.is_trusted:
        if not args.yes and not _agrees(trust, as_json=args.json):
            return 1
        record(trust, datetime.now(UTC))
    if args.json:
        print_json({"root": str(trust.root), "state": "trusted", "asks_for": trust.shown})
    else:
        sys.stdout.write(f"{trust.root} is trusted. `clew trust --revoke` takes that back.\n")
    return 0


def _revoke(trust: Trust, *, as_json: bool) -> int:
    was_trusted = revoke(trust.root)
    if as_json:
        print_json({"root": str(trust.root), "state": "untrusted", "asks_for": trust.shown})
    else:
        sys.stdout.write(f"{trust.root} {'is trusted no longer' if was_trusted else 'was not trusted'}.\n")
    return 0


def _described(trust: Trust) -> str:
    """The values come from a file of the project, so that no sign in them may do anything to a terminal."""
    asked = "".join(f"  {key} = {value!a}\n" for key, value in trust.shown.items())
    asks = f"clew.toml asks for:\n{asked}" if asked else "clew.toml asks for nothing that needs trust.\n"
    return f"{trust.root} {_STATES[trust.state]}.\n{asks}"


def _agrees(trust: Trust, *, as_json: bool) -> bool:
    if as_json or not sys.stdin.isatty():
        raise Refused(
            f"Nobody can be asked here whether '{trust.root}' is trusted.",
            hint="Look at `clew trust --show`, then repeat with --yes.",
        )
    sys.stdout.write(f"{_ALLOWS}\nTrust this project? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
