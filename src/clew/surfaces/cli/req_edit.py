"""Commands of `clew req` that change requirements. Each is one transaction."""

import argparse
import sys
from typing import Any

import msgspec

from clew.errors import InvalidArgument
from clew.formats.register.model import Kind, LinkKind, Priority, Status
from clew.formats.register.records import requirement_object
from clew.register.change.changes import Amendment, NewRequirement
from clew.register.change.draft import Draft
from clew.register.change.transaction import check_purpose
from clew.register.service import RegisterService, added
from clew.register.words import LINK_KINDS, parse
from clew.surfaces.cli.req_commands import Command, now, read_input, taking


def _decoded(source: str) -> Any:
    try:
        return msgspec.json.decode(read_input(source))
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArgument(f"'{source}' is not valid JSON: {error}.", hint="See `clew req schema`.") from error


def _texts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-t", "--title", help="5 to 120 characters")
    parser.add_argument("-s", "--statement", help="one sentence with shall, must, should or will")
    parser.add_argument("-r", "--rationale", help="why it is needed")
    parser.add_argument("-k", "--kind", help="functional, non-functional, constraint, interface or business")
    parser.add_argument("-p", "--priority", help="must, should, could or wont")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    _texts(parser)
    parser.add_argument("-a", "--acceptance", action="append", default=[], help="a criterion; may be repeated")
    parser.add_argument("--tag", action="append", default=[], help="a tag; may be repeated")
    parser.add_argument("--parent", help="a requirement it stands below")
    parser.add_argument("--from-json", metavar="FILE", help="take everything from a file, or from - ")
    parser.add_argument("-i", "--interactive", action="store_true", help="ask for everything, on a terminal")


class _Json(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    statement: str
    rationale: str
    kind: str = "functional"
    priority: str = "should"
    acceptance: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    parent: str | None = None


def _given(args: argparse.Namespace) -> _Json:
    if args.from_json:
        try:
            return msgspec.convert(_decoded(args.from_json), _Json)
        except msgspec.ValidationError as error:
            raise InvalidArgument(f"{args.from_json}: {error}.", hint="See `clew req schema add`.") from error
    if args.interactive or (sys.stdin.isatty() and args.title is None and args.statement is None):
        _ask(args)
    missing = [name for name in ("title", "statement", "rationale") if getattr(args, name) is None]
    if missing:
        raise InvalidArgument(
            f"'{missing[0]}' is required.", hint="Pass -t, -s and -r, or --from-json with a file; see --help."
        )
    texts = (args.title, args.statement, args.rationale)
    words = (args.kind or "functional", args.priority or "should")
    return _Json(*texts, *words, tuple(args.acceptance), tuple(args.tag), args.parent)


def _ask(args: argparse.Namespace) -> None:
    """Ask for what was not given. An empty line leaves out what may be left out."""
    if not sys.stdin.isatty():
        raise InvalidArgument("There is no terminal to ask on.", hint="Pass -t, -s and -r, or --from-json.")
    try:
        for name in ("title", "statement", "rationale"):
            while not getattr(args, name):
                setattr(args, name, input(f"{name}: ").strip())
        args.kind = args.kind or input("kind [functional]: ").strip() or None
        args.priority = args.priority or input("priority [should]: ").strip() or None
        while criterion := input("acceptance criterion (empty to end): ").strip():
            args.acceptance.append(criterion)
    except EOFError as error:
        raise InvalidArgument("The answers ended too soon.", hint="Nothing was added.") from error


def _add(service: RegisterService, args: argparse.Namespace) -> dict[str, Any]:
    given = _given(args)
    new = NewRequirement(
        title=given.title,
        statement=given.statement,
        rationale=given.rationale,
        kind=parse(given.kind, Kind, "kind"),
        priority=parse(given.priority, Priority, "priority"),
        acceptance=given.acceptance,
        tags=given.tags,
        parent=given.parent,
    )

    def change(draft: Draft) -> dict[str, Any]:
        made = added(draft, new)
        return {**requirement_object(draft.requirements[made.id]), "warnings": made.warnings}

    return service.change(now(), change)


def _add_text(made: dict[str, Any]) -> str:
    return "\n".join((f"Added {made['id']}.", *(f"warning: {warning}" for warning in made["warnings"])))


def _update_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="REQ-0042; 42 means the same")
    _texts(parser)
    parser.add_argument("-a", "--acceptance", action="append", help="replace the criteria; may be repeated")
    parser.add_argument("--add-acceptance", action="append", default=[], help="append a criterion")
    parser.add_argument("--remove-acceptance", action="append", type=int, default=[], metavar="N", help="from 1")
    parser.add_argument("--status", help="the next status")
    parser.add_argument("--add-tag", action="append", default=[], help="a tag more")
    parser.add_argument("--remove-tag", action="append", default=[], help="a tag less")
    parser.add_argument("--reason", help="kept in the history")
    parser.add_argument(
        "--force", action="store_true", help="allow a move that the life of a requirement does not have"
    )


def _update(service: RegisterService, args: argparse.Namespace) -> Any:
    amendment = Amendment(
        title=args.title,
        statement=args.statement,
        rationale=args.rationale,
        acceptance=tuple(args.acceptance) if args.acceptance is not None else None,
        add_acceptance=tuple(args.add_acceptance),
        remove_acceptance=tuple(args.remove_acceptance),
        kind=parse(args.kind, Kind, "kind") if args.kind else None,
        priority=parse(args.priority, Priority, "priority") if args.priority else None,
        status=parse(args.status, Status, "status") if args.status else None,
        add_tag=tuple(args.add_tag),
        remove_tag=tuple(args.remove_tag),
    )
    return service.update(now(), args.id, amendment, args.reason, force=args.force)


def _update_text(done: Any) -> str:
    if not done.changes:
        return f"{done.id}: nothing changed."
    return "\n".join((f"{done.id}: {'; '.join(done.changes)}", *(f"warning: {warning}" for warning in done.warnings)))


def _delete_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="REQ-0042; 42 means the same")
    parser.add_argument("--hard", action="store_true", help="remove it, where nothing links to it")
    parser.add_argument("--reason", help="kept in the history")


def _link_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="FROM", help="where the link starts")
    parser.add_argument("target", metavar="TO", help="where it leads")
    parser.add_argument("-k", "--kind", default="parent", help="parent, depends-on, conflicts, refines or verifies")
    parser.add_argument("--remove", action="store_true", help="take the link away")


def _link(service: RegisterService, args: argparse.Namespace) -> Any:
    kind = parse(args.kind, LinkKind, "link kind", LINK_KINDS)
    return service.link(now(), args.source, args.target, kind, remove=args.remove)


def _split_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="what to split")
    parser.add_argument("-s", "--into", action="append", default=[], metavar="STATEMENT", help="once for each part")
    parser.add_argument("--reason", help="kept in the history")
    parser.add_argument("--keep-original", action="store_true", help="do not retire what is split")


def _batch(service: RegisterService, args: argparse.Namespace) -> Any:
    document = _decoded(args.source)
    mutations = document.get("mutations") if isinstance(document, dict) else document
    if not isinstance(mutations, list):
        raise InvalidArgument("A batch needs a list of mutations.", hint="See `clew req schema batch`.")
    reason = document.get("reason") if isinstance(document, dict) else None
    return service.batch(now(), mutations, reason)


def _import_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help="a file, or - for standard input")
    parser.add_argument("-f", "--format", required=True, choices=("markdown", "json"), help="what it is written in")
    parser.add_argument("--dry-run", action="store_true", help="say what would happen")
    parser.add_argument("--strict", action="store_true", help="all or nothing")


def _import(service: RegisterService, args: argparse.Namespace) -> Any:
    text = read_input(args.source).decode("utf-8", "replace")
    return service.import_text(now(), text, args.format, dry_run=args.dry_run, strict=args.strict)


def _import_text(done: Any) -> str:
    lines = [f"{each.id or 'would add'}  {each.title}" for each in done.accepted]
    lines += [f"rejected  {each.title}: {'; '.join(each.errors)}" for each in done.rejected]
    return "\n".join(lines)


def _purpose_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("purpose", nargs="?", help="the new purpose; an empty one removes it")
    parser.add_argument("-r", "--reason", help="why it changes; kept in the history of the register")


def _purpose(service: RegisterService, args: argparse.Namespace) -> Any:
    if args.purpose is None:
        return {"purpose": service.register.purpose}
    check_purpose(args.purpose)

    if not args.reason:
        raise InvalidArgument("A purpose changes for a reason.", hint="Pass --reason; the register keeps it.")

    def change(draft: Draft) -> dict[str, Any]:
        purpose = args.purpose or None
        if purpose != draft.purpose:
            draft.purpose = purpose
            draft.record("purpose changed" if purpose else "purpose removed", args.reason)
        return {"purpose": draft.purpose, "reason": args.reason}

    return service.change(now(), change)


EDITING = (
    Command("add", "a new requirement", _add, _add_arguments, _add_text),
    Command("update", "change a requirement", _update, _update_arguments, _update_text),
    Command(
        "delete",
        "retire a requirement, or remove it",
        lambda service, args: service.delete(now(), args.id, args.reason, hard=args.hard),
        _delete_arguments,
        lambda done: f"{done.id}: {'removed' if done.deleted == 'hard' else 'retired'}.",
        aliases=("retire",),
    ),
    Command(
        "link",
        "link two requirements, or take a link away",
        _link,
        _link_arguments,
        lambda done: f"{done.from_} {'no longer' if done.removed else 'now'} has a {done.kind} link to {done.to}.",
    ),
    Command(
        "split",
        "put several requirements in the place of one",
        lambda service, args: service.split(now(), args.id, args.into, args.reason, keep_original=args.keep_original),
        _split_arguments,
        lambda done: f"{done.original} is split into {', '.join(done.parts)}.",
    ),
    Command(
        "batch",
        "many changes at once, all or none",
        _batch,
        taking("source", metavar="FILE", help="mutations as JSON, or - for standard input"),
        lambda done: f"Applied {done.applied} mutations.",
    ),
    Command(
        "import",
        "take in requirements from markdown or JSON",
        _import,
        _import_arguments,
        _import_text,
        lambda done, args: not done.ok,
    ),
    Command(
        "purpose",
        "print or set the purpose of the project",
        _purpose,
        _purpose_arguments,
        lambda found: found["purpose"] or "No purpose is set.",
    ),
)
