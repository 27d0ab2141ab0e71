"""`clew change`."""

import argparse
from typing import TYPE_CHECKING

from clew.errors import InvalidArgument
from clew.project import Project
from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import print_json
from clew.surfaces.cli.specs import EVERYTHING, looking, print_changes, print_validation
from clew.text.counting import counted
from clew.text.terminal import coloured

if TYPE_CHECKING:
    from clew.specs.results import ConflictList
    from clew.specs.service import SpecsService

EXAMPLE = """clew change conflicts
clew change archive add-login --dry-run
clew change archive add-login --take change"""

READING = ("list", "status", "show", "validate", "conflicts", "rebase")
ACTIONS = (*READING, "new", "apply", "archive")
SIDES = ("spec", "change")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="list", help="default: list")
    parser.add_argument("change", nargs="?", help="the id of a change")
    parser.add_argument("--title", default="", help="new: the title of the proposal")
    parser.add_argument("--full", action="store_true", help="show: the whole text of the deltas")
    parser.add_argument("--strict", action="store_true", help="validate: warnings count as errors")
    parser.add_argument("--rules", choices=("all", "openspec", "spox"), default="all", help="validate: whose rules")
    parser.add_argument("--dry-run", action="store_true", help="apply, archive: print the difference, write nothing")
    parser.add_argument("--take", choices=SIDES, help="apply, archive: which side wins where there is a conflict")
    parser.add_argument("-y", "--yes", action="store_true", help="archive: though tasks are not done")
    parser.add_argument("--skip-specs", action="store_true", help="archive: only move the folder")
    add_folder(parser, positional=False)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as project:
        if args.action in _WRITING:
            return _WRITING[args.action](project, args)
        with looking(project) as specs:
            return _READING[args.action](specs, args)


def _named(args: argparse.Namespace) -> str:
    if not args.change:
        raise InvalidArgument(
            f"`clew change {args.action}` needs the id of a change.", hint="`clew change list` shows the open ones."
        )
    change: str = args.change
    return change


def _list(specs: "SpecsService", args: argparse.Namespace) -> int:
    found = specs.list_changes(limit=EVERYTHING)
    if args.json:
        print_json(found)
        return 0
    print_changes(found.changes)
    if not found.changes:
        print("No open changes.")
    return 0


def _show(specs: "SpecsService", args: argparse.Namespace) -> int:
    found = specs.change(_named(args), texts=EVERYTHING if args.full else 0)
    if args.json:
        print_json(found)
        return 0
    print(coloured(found.change_id, "bold"))
    if found.proposal is not None:
        print("\n\n".join(filter(None, (found.proposal.why, found.proposal.what_changes))))
    if found.tasks is not None:
        print(f"\n{found.tasks.completed}/{counted(found.tasks.total, 'task')}")
    for delta in found.deltas or ():
        print(coloured(f"\n{delta.capability}", "cyan"))
        for item in delta.items:
            print(f"  {item.operation}: {item.name}{f' → {item.new_name}' if item.new_name else ''}")
            if item.text:
                print(item.text)
    return 0


def _status(specs: "SpecsService", args: argparse.Namespace) -> int:
    """One change, or all: progress, whether it is valid, and its conflicts."""
    if not args.change:
        return _list(specs, args)
    tasks = specs.change(args.change).tasks
    valid = specs.validate_changes(args.change)
    conflicts = specs.conflicts(args.change, limit=EVERYTHING)
    completed, total = (tasks.completed, tasks.total) if tasks is not None else (0, 0)
    if args.json:
        progress = {"completed": completed, "total": total}
        found = {"change_id": args.change, "tasks": progress, "validation": valid, "conflicts": conflicts.conflicts}
        print_json({**found, "dependencies": conflicts.dependencies})
    else:
        print(coloured(args.change, "bold"))
        print(f"{completed}/{counted(total, 'task')}; {valid.summary}")
        _print_conflicts(conflicts)
    return 0 if valid.valid and not conflicts.conflicts else 1


def _validate(specs: "SpecsService", args: argparse.Namespace) -> int:
    found = specs.validate_changes(args.change, args.rules, strict=args.strict)
    return print_validation(found, as_json=args.json)


def _conflicts(specs: "SpecsService", args: argparse.Namespace) -> int:
    found = specs.conflicts(args.change, limit=EVERYTHING)
    if args.json:
        print_json(found)
    else:
        _print_conflicts(found)
    return 1 if found.conflicts or found.circular else 0


def _print_conflicts(found: "ConflictList") -> None:
    for conflict in found.conflicts:
        print(f"{coloured(conflict.kind, 'red')}  {conflict.spec_id}: {conflict.requirement}")
        print(f"  {conflict.message}")
        if conflict.scenarios:
            print(f"  scenarios at stake: {', '.join(conflict.scenarios)}")
        sides = (("since then, in the spec", "theirs"), ("in the change", "ours")) if conflict.view else ()
        for heading, key in sides:
            if difference := getattr(conflict.view, key):
                print(coloured(f"  {heading}:", "dim"))
                print("\n".join(f"    {line}" for line in difference.splitlines()))
    if not found.conflicts:
        print("No conflicts.")
    for needed in found.dependencies:
        print(f"{needed.first} must come before {needed.then}, which {needed.reason}: {needed.requirement}")
    if found.circular:
        print(coloured(f"These wait for each other: {', '.join(found.circular)}", "red"))
    for note in found.notes:
        print(coloured(note, "dim"))


def _rebase(specs: "SpecsService", args: argparse.Namespace) -> int:
    found = specs.rebase(_named(args))
    if args.json:
        print_json(found)
    else:
        moved = f" Moved since it was written: {', '.join(found.moved)}." if found.moved else ""
        print(f"{found.change_id} is compared with the specs as they are now.{moved}")
        for issue in found.errors:
            print(f"{issue.file}:{issue.line or 1}: {coloured('error', 'red')} {issue.code}: {issue.description}")
    return 0 if found.valid else 1


def _new(project: Project, args: argparse.Namespace) -> int:
    files = project.specs.new_change(_named(args), args.title)
    if args.json:
        print_json({"change_id": args.change, "files": files})
    else:
        for path in files:
            print(path)
    return 0


def _archive(project: Project, args: argparse.Namespace) -> int:
    from clew.specs.archive import Manner

    manner = Manner(
        dry_run=args.dry_run,
        move=args.action == "archive",
        skip_specs=args.skip_specs,
        unfinished=args.yes,
        take=args.take,
        actor="command line",
    )
    report = project.specs.archive(_named(args), manner)
    if args.json:
        print_json(report)
        return 0
    if report.diff:
        print(report.diff)
    print(report.summary, end="")
    if report.archived_to is not None:
        print(f"Archived as {report.archived_to}.")
    elif args.dry_run:
        print("Nothing was written.")
    return 0


_READING = {
    "list": _list,
    "status": _status,
    "show": _show,
    "validate": _validate,
    "conflicts": _conflicts,
    "rebase": _rebase,
}
_WRITING = {"new": _new, "apply": _archive, "archive": _archive}
