"""`clew token`: who may use a server of a team over HTTP."""

import argparse
import sys
from datetime import UTC, datetime

from clew.errors import InvalidArgument
from clew.setup.tokens import MOST_DAYS, USUAL_DAYS, add, listed, revoke
from clew.surfaces.cli.opening import add_json
from clew.surfaces.cli.output import print_json

EXAMPLE = """clew token add alice --days 90
clew token add dashboard --read-only
clew token list
clew token revoke alice"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("add", "list", "revoke"), help="what to do")
    parser.add_argument("name", nargs="?", help="the principal: a person, or a program")
    parser.add_argument(
        "--days",
        type=int,
        default=USUAL_DAYS,
        metavar="N",
        help=f"how long it is good for (default: {USUAL_DAYS}, at most {MOST_DAYS})",
    )
    parser.add_argument("--read-only", action="store_true", help="may call only tools that change nothing")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    if args.action == "list":
        return _list(as_json=args.json)
    if args.name is None:
        raise InvalidArgument(f"{args.action} needs a name.", hint=f"clew token {args.action} NAME")
    if args.action == "revoke":
        revoke(args.name)
        sys.stdout.write(f"The token of {args.name} is refused from now on.\n")
        return 0
    token = add(args.name, days=args.days, read_only=args.read_only, now=datetime.now(UTC))
    if args.json:
        print_json({"principal": args.name, "token": token, "expires_at": listed()[args.name].expires_at})
        return 0
    sys.stdout.write(f"{token}\n")
    sys.stderr.write(
        f"The token of {args.name}, good for {args.days} days. It is shown only now; Clew keeps its hash. "
        "Clients send it as `Authorization: Bearer TOKEN`.\n"
    )
    return 0


def _list(*, as_json: bool) -> int:
    now = datetime.now(UTC)
    found = {
        name: {
            "made_at": token.made_at,
            "expires_at": token.expires_at,
            "read_only": token.read_only,
            "expired": token.has_expired(now),
        }
        for name, token in listed().items()
    }
    if as_json:
        print_json({"tokens": found})
        return 0
    for name, token in found.items():
        state = "expired" if token["expired"] else "until"
        may = "reads" if token["read_only"] else "reads and writes"
        sys.stdout.write(f"{name}  {may}, {state} {str(token['expires_at'])[:10]}\n")
    if not found:
        sys.stdout.write("Nobody has a token. `clew token add NAME` makes one.\n")
    return 0
