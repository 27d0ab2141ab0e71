"""Commands of `clew req` that look after the file and the clone."""

import argparse
import os
from pathlib import Path
from typing import Any

from clew.errors import AlreadyExists, InvalidArgument, OutsideProject, Refused
from clew.formats.register.directory import INDEX
from clew.formats.register.ids import MENTION, in_order, nearest
from clew.formats.register.model import Layout, Register
from clew.graph.readers.register_places import FILE_VARIABLE, SINGLE
from clew.register.change.draft import rejection
from clew.register.change.transaction import RegisterFile, new_register
from clew.register.git.agents_block import install
from clew.register.git.hooks import STRICT_LINES
from clew.register.git.setup import SetupReport, SetupStep, bounds_of, set_up, take_down
from clew.register.location import locate
from clew.register.rules.validator import validate_register
from clew.register.service import RegisterService
from clew.surfaces.cli.req_clients import MCP, SERVE, tell_claude_code
from clew.surfaces.cli.req_commands import Command, now, read_input, table, taking
from clew.surfaces.cli.req_menu import TUI
from clew.surfaces.cli.req_merge import MERGING

AGENTS = "AGENTS.md"


def _init_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--name", required=True, help="of the project")
    parser.add_argument("-o", "--output", default=None, metavar="PLACE", help="the file or folder to make")
    parser.add_argument("--layout", choices=[each.value for each in Layout], help="one file, or many (default: single)")
    parser.add_argument("--purpose", help="what the project is for")
    parser.add_argument("--force", action="store_true", help="replace what is there")


def _init(service: RegisterService, args: argparse.Namespace) -> dict[str, Any]:
    place = _place_to_begin(service, args)
    present = Layout.DIRECTORY if (place / INDEX).is_file() else Layout.SINGLE if place.is_file() else None
    layout = Layout(args.layout) if args.layout else present or Layout.SINGLE
    if present not in (layout, None):
        raise InvalidArgument(
            f"{place} holds a register of the layout {present}.", hint="Name another place for this one with --output."
        )
    if layout is Layout.SINGLE and place.is_dir():
        raise InvalidArgument(
            f"{place} is a folder.", hint=f"Name a file, such as {place / SINGLE}, or pass --layout directory."
        )
    file = RegisterFile(place, layout=layout)
    kept = file.create(new_register(args.name, now(), purpose=args.purpose).replaced(layout=layout), force=args.force)
    made = {"created": str(file.place), "name": args.name, "layout": layout.value}
    return made if kept is None else {**made, "kept": str(kept)}


def _place_to_begin(service: RegisterService, args: argparse.Namespace) -> Path:
    """Where a register is to be made. One at the root hides those further down, so that has to be meant."""
    if args.output:
        return Path(args.output).absolute()
    if args.file:
        return service.file.place
    place = locate(service.root)
    further_down = place not in (service.root, service.root / SINGLE)
    if further_down and place.exists() and not os.environ.get(FILE_VARIABLE, "").strip():
        raise AlreadyExists(
            f"The project has a register already: {place}.",
            hint=f"Say with --output which place is meant: that one, or {SINGLE}, which would hide it.",
        )
    return place


def _init_text(made: dict[str, Any]) -> str:
    before = f" What was there is now {made['kept']}." if "kept" in made else ""
    return f"Made {made['created']}.{before} Next: clew req add, clew req setup."


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
        steps.append(_tell_agents(service.root))
    if args.claude_code:
        steps.append(tell_claude_code(service.root))
    return _reported(steps)


def _tell_agents(root: Path) -> SetupStep:
    file = root / AGENTS
    try:
        installed = install(file, "agents", within=bounds_of(root, file))
    except OutsideProject as error:
        return SetupStep(AGENTS, False, str(error))
    return SetupStep(AGENTS, True, "renewed" if installed.changed else "as it should be")


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


UPKEEP = (
    Command(
        "init",
        "make a new register",
        _init,
        _init_arguments,
        _init_text,
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
    *MERGING,
)
