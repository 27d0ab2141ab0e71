"""Commands of `clew req` that look after the file and the clone."""

import argparse
import sys
from pathlib import Path, PurePosixPath
from typing import Any

from clew.errors import ClewError, FormatError, Refused
from clew.formats.register import read_single, write_single
from clew.formats.register.directory import FOLDER, INDEX
from clew.formats.register.ids import MENTION, in_order, nearest
from clew.formats.register.model import Layout, Register
from clew.register.agents_block import install
from clew.register.draft import rejection
from clew.register.durable import replace_file
from clew.register.hooks import STRICT_LINES
from clew.register.merge import MergeConflict, Merged, merge
from clew.register.service import RegisterService
from clew.register.setup import SetupReport, SetupStep, set_up, take_down
from clew.register.transaction import RegisterFile, new_register
from clew.register.validator import validate_register
from clew.surfaces.cli.req_clients import MCP, SERVE, tell_claude_code
from clew.surfaces.cli.req_commands import Command, now, read_input, table, taking
from clew.surfaces.cli.req_menu import TUI

AGENTS = "AGENTS.md"


def _init_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--name", required=True, help="of the project")
    parser.add_argument("-o", "--output", default=None, metavar="PLACE", help="the file or folder to make")
    parser.add_argument("--layout", choices=("single", "directory"), default="single", help="one file, or many")
    parser.add_argument("--purpose", help="what the project is for")
    parser.add_argument("--force", action="store_true", help="replace what is there")


def _init(service: RegisterService, args: argparse.Namespace) -> dict[str, Any]:
    layout = Layout(args.layout)
    place = Path(args.output).absolute() if args.output else service.file.place
    file = RegisterFile(place, layout=layout)
    register = new_register(args.name, now(), purpose=args.purpose).replaced(layout=layout)
    file.create(register, force=args.force, keep=True)
    return {"created": str(file.place), "name": args.name, "layout": layout.value}


def _repair_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--confirm-direct-edit", action="store_true", help="yes, the edit by hand is meant")
    parser.add_argument("--force", action="store_true", help="accept it although the validator has errors")


def _repair(service: RegisterService, args: argparse.Namespace) -> dict[str, Any]:
    if not args.confirm_direct_edit:
        raise Refused(
            "Repair accepts whatever the file holds now.",
            hint="Look at `git diff` first, then pass --confirm-direct-edit.",
        )

    def check(register: Register) -> None:
        errors = [each for each in validate_register(register) if each.is_error]
        if errors and not args.force:
            raise rejection(errors)

    register = service.file.repair(now(), check)
    return {"repaired": str(service.file.place), "requirements": len(register.requirements)}


def _setup_arguments(parser: argparse.ArgumentParser) -> None:
    _strictness(parser)
    parser.add_argument("-n", "--name", help="make a register of this name where there is none")
    parser.add_argument("--no-hooks", action="store_true", help="only .gitattributes and the merge driver")
    parser.add_argument("--no-agents", action="store_true", help="leave AGENTS.md alone")
    parser.add_argument("--uninstall", action="store_true", help="remove the hooks again")
    _claude_code(parser)


def _strictness(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--strict", action="store_true", default=None, help=f"ask for a marker within {STRICT_LINES} lines of changes"
    )
    which.add_argument("--no-strict", dest="strict", action="store_false", help="ask for a marker in the file only")


def _setup(service: RegisterService, args: argparse.Namespace) -> SetupReport:
    if args.uninstall:
        return take_down(service.root, service.file.place)
    steps: list[SetupStep] = []
    if args.name and not service.file.exists():
        service.file.create(new_register(args.name, now()))
        steps.append(SetupStep("register", True, f"made {service.file.place}"))
    steps += set_up(service.root, service.file.place, strict=args.strict, hooks=not args.no_hooks).steps
    if not args.no_agents:
        installed = install(service.root / AGENTS, "agents")
        steps.append(SetupStep(AGENTS, True, "renewed" if installed.changed else "as it should be"))
    if args.claude_code:
        steps.append(tell_claude_code(service.root))
    return _reported(steps)


def _hooks_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("install", "uninstall"), help="put the hooks there, or take them away")
    _strictness(parser)
    _claude_code(parser)


def _claude_code(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--claude-code", action="store_true", help="tell Claude Code of the register, in .claude")


def _hooks(service: RegisterService, args: argparse.Namespace) -> SetupReport:
    if args.what == "uninstall":
        return take_down(service.root, service.file.place)
    done = set_up(service.root, service.file.place, strict=args.strict)
    return _reported([*done.steps, *([tell_claude_code(service.root)] if args.claude_code else [])])


def _reported(steps: list[SetupStep]) -> SetupReport:
    return SetupReport(all(step.done for step in steps), tuple(steps))


def _message(service: RegisterService, args: argparse.Namespace) -> dict[str, Any]:
    """Runs as git's commit-msg hook: an id that nobody has is a slip of the pen, or a requirement that was lost."""
    text = read_input(args.message).decode("utf-8", "replace")
    said = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    unknown = in_order(set(MENTION.findall(said)) - service.register.requirements.keys())
    near = {id: nearest(id, service.register.requirements) for id in unknown}
    return {"ok": not unknown, "unknown": near}


def _message_text(found: dict[str, Any]) -> str:
    lines = [
        f"There is no requirement {id}." + (f" Did you mean {near}?" if near else "")
        for id, near in found["unknown"].items()
    ]
    return "\n".join(lines) or "Every id in the message exists."


def _setup_text(done: SetupReport) -> str:
    return table(("ok" if step.done else "SKIPPED", step.what, step.detail) for step in done.steps)


def _is_not_done(done: SetupReport, args: argparse.Namespace) -> bool:
    return not done.ok


def _merge_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("base", help="the version both sides go back to (%%O)")
    parser.add_argument("ours", help="our version, which becomes the merged one (%%A)")
    parser.add_argument("theirs", help="their version (%%B)")
    parser.add_argument("--path", default="project.req", help="what the file is called (%%P)")


def _merge(service: RegisterService, args: argparse.Namespace) -> dict[str, Any]:
    """Runs where git runs it: in the work tree, in the middle of a merge."""
    place = PurePosixPath(args.path)
    if place.name == INDEX or place.parent.name == FOLDER:
        print(f"CONFLICT in {args.path}: the register is a folder; `clew req merge` merges it whole.", file=sys.stderr)
        return {"merged": False, "requirements": 0, "renumbered": {}, "conflicts": [args.path]}
    ours = read_single(Path(args.ours).read_bytes(), f"{args.path} (ours)")
    theirs = read_single(Path(args.theirs).read_bytes(), f"{args.path} (theirs)")
    merged = merge(_base(Path(args.base), ours), ours, theirs, now())
    replace_file(Path(args.ours), write_single(merged.register))
    return _told(merged, service, args.path)


def _merge_branch(service: RegisterService, args: argparse.Namespace) -> dict[str, Any]:
    merged = service.merge_branch(now(), args.branch)
    return _told(merged, service, service.file.place.name)


def _told(merged: Merged, service: RegisterService, path: str) -> dict[str, Any]:
    """What a merge came to. What people have to look at goes to standard error, where git shows it."""
    for line in (*_renumbered(merged, service), *(_conflict(path, each) for each in merged.conflicts)):
        print(line, file=sys.stderr)
    return {
        "merged": not merged.conflicts,
        "requirements": len(merged.register.requirements),
        "renumbered": merged.renumbered,
        "conflicts": [f"{each.id}.{each.field}" for each in merged.conflicts],
    }


def _base(file: Path, ours: Register) -> Register:
    """Without a common version, or with one that cannot be read, everything is new on both sides."""
    try:
        return read_single(file.read_bytes(), trusted=True)
    except FormatError:
        return ours.replaced(requirements={}, hazards={}, safety_functions={}, safety_requirements={})


def _renumbered(merged: Merged, service: RegisterService) -> list[str]:
    if not merged.renumbered:
        return []
    try:
        places = service.everything_cited().places()
    except ClewError:
        places = {}
    lines = []
    for old, new in merged.renumbered.items():
        files = ", ".join(dict.fromkeys(path for path, _ in places.get(old, ())))
        where = f"; look for markers of it in {files}" if files else ""
        lines.append(f"{old} of the other branch is now {new}{where}")
    return lines


def _conflict(path: str, each: MergeConflict) -> str:
    return f"CONFLICT in {path}: {each.id}, {each.field}: ours {each.ours!r}, theirs {each.theirs!r}"


UPKEEP = (
    Command(
        "init",
        "make a new register",
        _init,
        _init_arguments,
        lambda made: f"Made {made['created']}. Next: clew req add, clew req setup.",
        finds_register=False,
    ),
    Command(
        "migrate",
        "bring a file of an older format up to date, with a backup",
        lambda service, args: service.migrate(),
        text=lambda done: done.message,
    ),
    Command(
        "repair",
        "accept a file that was edited by hand",
        _repair,
        _repair_arguments,
        lambda done: f"Renewed the checksum of {done['repaired']}.",
    ),
    Command(
        "setup",
        "install hooks, .gitattributes and the merge driver in this clone",
        _setup,
        _setup_arguments,
        _setup_text,
        _is_not_done,
    ),
    Command("hooks", "install the hooks, or remove them", _hooks, _hooks_arguments, _setup_text, _is_not_done),
    Command(
        "merge",
        "merge the register of another branch, or of the merge that git is in the middle of",
        _merge_branch,
        taking("branch", nargs="?", help="a branch, tag or commit"),
        lambda done: f"Merged into {done['requirements']} requirements.",
        lambda done, args: not done["merged"],
    ),
    Command(
        "check-message",
        "whether a commit message names only requirements that exist",
        _message,
        taking("message", metavar="FILE", help="the message, or - for standard input"),
        _message_text,
        lambda found, args: not found["ok"],
    ),
    MCP,
    SERVE,
    TUI,
    Command(
        "merge-driver",
        "merge two versions of a register, as git calls it",
        _merge,
        _merge_arguments,
        lambda done: f"Merged into {done['requirements']} requirements.",
        lambda done, args: not done["merged"],
        finds_register=False,
    ),
)
