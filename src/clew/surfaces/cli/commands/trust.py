"""`clew trust`."""

import argparse
import os
import sys
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clew.config import load
from clew.edit.admission import accept, asked_stores, folders_of, withdraw
from clew.errors import InvalidArgument, Refused
from clew.surfaces.cli.opening import Here, add_folder, add_json
from clew.surfaces.cli.output import print_json
from clew.text.terminal import columns, wrapped
from clew.trust import ALLOWED, ConfigurationTrust, Grant, give, given, is_granted, record, revoke
from clew.workspace.git.find import repository_elsewhere
from clew.workspace.root import project_at

ADMITS = True
"""It reads nothing but the configuration, and gives the grant that others ask for."""
EXAMPLE = "clew trust --show\nclew trust --yes\nclew trust --grant store --yes\nclew trust --revoke store"
_STATES = {
    "trusted": "is trusted",
    "changed": "was trusted, but what it asks for changed since",
    "untrusted": "is not trusted",
}
_NAMES = ", ".join(f"`{grant}`" for grant in Grant)
_EVERY = ""
"""`--revoke` without a name."""


def configure(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--show", action="store_true", help="say what the project asks for, and which grants it has")
    what.add_argument(
        "--grant",
        action="append",
        choices=[grant.value for grant in Grant],
        help=f"give this grant (default: configuration); one of {_NAMES}",
    )
    what.add_argument(
        "--revoke",
        action="append",
        nargs="?",
        const=_EVERY,
        metavar="GRANT",
        help="take this grant back; without a name, all of them",
    )
    parser.add_argument("-y", "--yes", action="store_true", help="give it without being asked")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    revoked = _revoked(args) if args.revoke else ()
    trust = load(project_at(Path(args.folder), named=not isinstance(args.folder, Here))).trust
    if revoked:
        return _take_back(trust, revoked, as_json=args.json)
    if args.show:
        return _show(trust, as_json=args.json)
    wanted = tuple(map(Grant, args.grant or [Grant.CONFIGURATION]))
    if not args.json:
        sys.stdout.write(wrapped(_before(trust, wanted), columns()))
    missing = [grant for grant in wanted if not _has(trust, grant)]
    if missing:
        if not args.yes and not _agrees(trust, missing, as_json=args.json):
            return 1
        for grant in missing:
            _give(trust, grant)
    if args.json:
        print_json(_data(load(trust.root).trust))
    else:
        sys.stdout.write(wrapped("".join(_after(trust, grant) for grant in wanted), columns()))
    return 0


def _revoked(args: argparse.Namespace) -> tuple[Grant, ...]:
    """The grants that --revoke names. A word after it that is no grant but a folder names the project."""
    names = set(Grant)
    for word in args.revoke:
        if word != _EVERY and word not in names:
            if args.folder != "." or not os.path.isdir(word):  # noqa: PTH112
                raise InvalidArgument(f"--revoke names '{word}', which is not a grant.", hint=f"Name one of {_NAMES}.")
            args.folder = word
    said = [Grant(word) for word in args.revoke if word in names]
    return tuple(said) or tuple(Grant)


def _show(trust: ConfigurationTrust, *, as_json: bool) -> int:
    if as_json:
        print_json(_data(trust))
    else:
        grants = "".join(f"  {_line(trust, grant)}\n" for grant in Grant)
        sys.stdout.write(wrapped(f"{_described(trust)}Grants:\n{grants}", columns()))
    return 0 if trust.is_trusted or not trust.asked else 1


def _take_back(trust: ConfigurationTrust, grants: Collection[Grant], *, as_json: bool) -> int:
    gone = revoke(trust.root, grants)
    if Grant.REPOSITORY in grants and (place := _bound(trust, Grant.REPOSITORY)[0]) != trust.root:
        gone += revoke(place, [Grant.REPOSITORY])
    if Grant.STORE in gone:
        for folder in folders_of(trust.root):
            withdraw(folder)
    if as_json:
        print_json(_data(load(trust.root).trust))
    elif len(grants) == len(Grant):
        sys.stdout.write(f"{trust.root} {'is trusted no longer' if gone else 'was not trusted'}.\n")
    else:
        for grant in grants:
            sys.stdout.write(f"{trust.root} {'has' if grant in gone else 'had'} no grant `{grant}`.\n")
    return 0


def _has(trust: ConfigurationTrust, grant: Grant) -> bool:
    if grant is Grant.CONFIGURATION:
        return trust.is_trusted
    place, bound = _bound(trust, grant)
    # Another folder may have come to the place of the one that was trusted.
    return is_granted(place, grant, bound=bound) and not (grant is Grant.STORE and asked_stores(trust.root))


def _give(trust: ConfigurationTrust, grant: Grant) -> None:
    if grant is Grant.CONFIGURATION:
        record(trust, datetime.now(UTC))
        return
    place, bound = _bound(trust, grant)
    if grant is Grant.REPOSITORY and not bound:
        raise Refused(
            f"The .git of '{place}' leads to no repository that does not name this folder, so there is nothing to "
            "grant.",
            hint="`clew doctor` says what git finds.",
        )
    give(place, grant, datetime.now(UTC), bound=bound)
    if grant is Grant.STORE:
        for folder in folders_of(trust.root):
            accept(folder)


def _bound(trust: ConfigurationTrust, grant: Grant) -> tuple[Path, str]:
    """The folder that gets a grant, and the thing that it is bound to."""
    elsewhere = repository_elsewhere(trust.root) if grant is Grant.REPOSITORY else None
    return elsewhere or (trust.root, "")


def _before(trust: ConfigurationTrust, wanted: Collection[Grant]) -> str:
    others = (f"The grant `{grant}`: {_allows(grant)}.\n" for grant in wanted if grant is not Grant.CONFIGURATION)
    where = _bound(trust, Grant.REPOSITORY)[1] if Grant.REPOSITORY in wanted else ""
    leads = f"It leads to:\n{''.join(f'  {place!a}' + chr(10) for place in where.splitlines())}" if where else ""
    return (_described(trust) if Grant.CONFIGURATION in wanted else "") + "".join(others) + leads


def _after(trust: ConfigurationTrust, grant: Grant) -> str:
    if grant is Grant.CONFIGURATION:
        return f"{trust.root} is trusted. `clew trust --revoke configuration` takes that back.\n"
    return f"{trust.root} has the grant `{grant}`. `clew trust --revoke {grant}` takes it back.\n"


def _described(trust: ConfigurationTrust) -> str:
    """The values of a grant, made harmless for a terminal because they come from a file of the project."""
    asked = "".join(f"  {key} = {value!a}\n" for key, value in trust.shown.items())
    asks = f"clew.toml asks for:\n{asked}" if asked else "clew.toml asks for nothing that needs trust.\n"
    return f"{trust.root} {_STATES[trust.state]}.\n{asks}"


def _line(trust: ConfigurationTrust, grant: Grant) -> str:
    since = _since(trust, grant)
    if since is None:
        state = "not given"
    elif _has(trust, grant):
        state = f"given {since}"
    else:
        other = {Grant.CONFIGURATION: "keys or values", Grant.STORE: "stores"}.get(grant, "places")
        state = f"given {since}, for other {other} than now"
    asking = asked_stores(trust.root) if grant is Grant.STORE else ()
    asks = f" It is asked for: {' and '.join(map(str, asking))}." if asking else ""
    return f"{grant}: {state}.{asks} It allows that {_allows(grant)}."


def _since(trust: ConfigurationTrust, grant: Grant) -> str | None:
    if grant is Grant.CONFIGURATION:
        return trust.at
    found = given(_bound(trust, grant)[0]).get(grant)
    return found.at if found else None


def _allows(grant: Grant) -> str:
    allowed = ALLOWED[grant]
    return allowed.what if allowed.is_used else f"{allowed.what} (nothing asks for it yet)"


def _data(trust: ConfigurationTrust) -> dict[str, Any]:
    grants = [
        {
            "name": grant.value,
            "granted": _has(trust, grant),
            "since": _since(trust, grant),
            "allows": ALLOWED[grant].what,
            "is_used": ALLOWED[grant].is_used,
        }
        for grant in Grant
    ]
    return {"root": str(trust.root), "state": trust.state, "asks_for": trust.shown, "grants": grants}


def _agrees(trust: ConfigurationTrust, missing: Collection[Grant], *, as_json: bool) -> bool:
    is_configuration = Grant.CONFIGURATION in missing
    if as_json or not sys.stdin.isatty():
        asked = "is trusted" if is_configuration else f"gets the grant `{'`, `'.join(missing)}`"
        raise Refused(
            f"Nobody can be asked here whether '{trust.root}' {asked}.",
            hint="Look at `clew trust --show`, then repeat with --yes.",
        )
    if is_configuration:
        sys.stdout.write(f"It allows that {_allows(Grant.CONFIGURATION)}.\n")
    sys.stdout.write("Trust this project? [y/N] " if is_configuration else "Allow that? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
