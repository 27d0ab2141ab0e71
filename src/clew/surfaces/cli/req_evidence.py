"""Commands of `clew req` that say how far requirements are: evidence, adoption, and new numbers."""

import argparse
import shlex
import subprocess
from typing import Any

import msgspec

from clew.errors import InvalidArgument
from clew.formats.register.model import Outcome, Status
from clew.formats.register.records import requirement_object
from clew.register.change.adopt import LADDER, AdoptReport, RenumberReport
from clew.register.results import NO_MATCH
from clew.register.service import RegisterService
from clew.register.words import parse
from clew.surfaces.cli.req_commands import Command, as_json, now, read_input

_TO = {status.word: status for status in LADDER[1:]}


def _verify_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="REQ-0042; 42 means the same")
    parser.add_argument("--by", required=True, help="composition or inspection")
    parser.add_argument("--notes", required=True, help="what was looked at, and what was seen")
    parser.add_argument("--cites", action="append", default=[], help="a test or requirement that supports it")
    parser.add_argument("--promote", action="store_true", help="make it verified, where it is implemented")
    parser.add_argument("--force", action="store_true", help="promote it from any status")


def _test_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("record", "run", "list"), help="one outcome, a log, or what is recorded")
    parser.add_argument("id", nargs="?", help="the requirement, for record and list")
    parser.add_argument("--result", help="pass or fail")
    parser.add_argument("--notes", default="", help="what was tested")
    log = parser.add_mutually_exclusive_group()
    log.add_argument("--from-file", metavar="FILE", help="the saved log, for run")
    log.add_argument("--cmd", metavar="COMMAND", help="what prints the log, for run; it is started in the project")
    parser.add_argument("--map", metavar="FILE", help="names of tests as JSON, each with the ids it verifies")
    parser.add_argument("--dry-run", action="store_true", help="say what would happen")
    parser.add_argument("--promote", action="store_true", help="implemented requirements that pass become verified")


def _test(service: RegisterService, args: argparse.Namespace) -> Any:
    needed = {"record": ("id", "result"), "list": ("id",), "run": ()}[args.what]
    for name in needed:
        if getattr(args, name) is None:
            raise InvalidArgument(f"`test {args.what}` needs {name}.", hint="See --help.")
    if args.what == "list":
        return requirement_object(service.show(args.id))["tests"]
    if args.what == "record":
        return service.record_test(now(), args.id, parse(args.result, Outcome, "result"), args.notes)
    names = _map(args.map) if args.map else {}
    done = service.record_run(now(), _log(service, args), names, promote=args.promote, dry_run=args.dry_run)
    return done if done is not None else {"matched": 0, "message": NO_MATCH}


def _log(service: RegisterService, args: argparse.Namespace) -> bytes:
    if args.from_file:
        return read_input(args.from_file)
    if not args.cmd:
        raise InvalidArgument("`test run` needs --from-file or --cmd.", hint="For instance --cmd 'cargo test'.")
    try:
        # The exit code says only that some test failed; the log says which.
        done = subprocess.run(
            shlex.split(args.cmd), cwd=service.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
    except (OSError, ValueError) as error:
        raise InvalidArgument(
            f"'{args.cmd}' cannot be run: {error}.", hint="Name a program and its options."
        ) from error
    return done.stdout


def _map(source: str) -> dict[str, tuple[str, ...]]:
    try:
        return msgspec.json.decode(read_input(source), type=dict[str, tuple[str, ...]])
    except msgspec.DecodeError as error:
        raise InvalidArgument(f"{source}: {error}.", hint="See `clew req schema test-map`.") from error


def _adopt_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="what to adopt")
    parser.add_argument("--all-drafts", action="store_true", help="every draft")
    parser.add_argument("--to", default="implemented", choices=tuple(_TO), help="how far (default: implemented)")
    parser.add_argument("--reason", required=True, help="kept in the history")
    parser.add_argument("--dry-run", action="store_true", help="say what would happen")


def _adopt(service: RegisterService, args: argparse.Namespace) -> AdoptReport:
    if bool(args.ids) is args.all_drafts:
        raise InvalidArgument("Name what to adopt, or pass --all-drafts.", hint="One of the two.")
    drafts = [each.id for each in service.register.requirements.values() if each.status is Status.DRAFT]
    return service.adopt(now(), args.ids or drafts, _TO[args.to], args.reason, dry_run=args.dry_run)


def _adopt_text(done: AdoptReport) -> str:
    lines = [f"{each.id}  {' -> '.join(each.hops) or 'as far already'}" for each in done.adopted]
    return "\n".join(lines) or "There is nothing to adopt."


def _renumber_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base", required=True, metavar="REF", help="the revision whose ids stay")
    parser.add_argument("--dry-run", action="store_true", help="say what would happen")


def _renumber_text(done: RenumberReport) -> str:
    lines = [f"{old} -> {new}  {' '.join(done.markers.get(old, ()))}".rstrip() for old, new in done.renumbered.items()]
    if done.markers:
        lines.append("The places named still say the old id: clew req coverage --remap OLD=NEW --apply.")
    return "\n".join(lines) or "No id means two requirements."


EVIDENCE = (
    Command(
        "verify",
        "record evidence by composition or inspection",
        lambda service, args: service.verify(
            *(now(), args.id, args.by, args.notes), cites=args.cites, promote=args.promote, force=args.force
        ),
        _verify_arguments,
        lambda done: f"{done.id}: {done.kind} recorded{', promoted to verified' if done.promoted else ''}.",
    ),
    Command("test", "record the outcome of tests", _test, _test_arguments, as_json),
    Command("adopt", "take over requirements of what exists already", _adopt, _adopt_arguments, _adopt_text),
    Command(
        "renumber",
        "give new ids to requirements whose ids mean others in a revision",
        lambda service, args: service.renumber(now(), args.base, dry_run=args.dry_run),
        _renumber_arguments,
        _renumber_text,
    ),
)
