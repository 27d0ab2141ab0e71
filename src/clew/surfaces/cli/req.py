"""`clew req`: managed requirements on the command line.

A command is a row of `COMMANDS`: what it takes, what it does with the register, how its answer reads, and whether the
answer is a no. With --json every command prints the data that the MCP tool of the same name returns.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import msgspec

from clew import __version__
from clew.config import find_root, load
from clew.errors import ClewError, ConfigError, NotFound
from clew.graph.readers.register_places import SINGLE
from clew.register.error_codes import envelope
from clew.register.reports.mentions import MentionScanner
from clew.register.service import RegisterService
from clew.surfaces.cli.output import print_json
from clew.surfaces.cli.req_code import CODE
from clew.surfaces.cli.req_commands import Command
from clew.surfaces.cli.req_edit import EDITING
from clew.surfaces.cli.req_evidence import EVIDENCE
from clew.surfaces.cli.req_read import READING
from clew.surfaces.cli.req_upkeep import UPKEEP

EXAMPLE = "clew req brief\nclew req add -t 'Lock the account' -s 'The system shall ...' -r 'Because ...' -a '...'"

COMMANDS: Mapping[str, Command] = {command.name: command for command in (*READING, *CODE, *EDITING, *EVIDENCE, *UPKEEP)}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-v", "-V", "--version", action="version", version=f"clew {__version__}")
    _add_place(parser, otherwise=None, folder=".")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS.values():
        own = commands.add_parser(command.name, help=command.about, description=command.about, aliases=command.aliases)
        command.configure(own)
        own.add_argument("--json", action="store_true", help="print the data as JSON")
        _add_place(own, otherwise=argparse.SUPPRESS, folder=argparse.SUPPRESS)
        own.set_defaults(chosen=command)


def _add_place(parser: argparse.ArgumentParser, *, otherwise: str | None, folder: str) -> None:
    """Which register is meant: said before the command, as req takes it, or after it."""
    parser.add_argument(
        "--file", default=otherwise, metavar="FILE", help="the register (default: project.req, or REQ_FILE)"
    )
    parser.add_argument("-C", "--folder", default=folder, metavar="FOLDER", help="the project's folder")


def _service(command: Command, args: argparse.Namespace) -> RegisterService:
    named = str(Path(args.file).absolute()) if args.file else None if command.finds_register else SINGLE
    try:
        return RegisterService.of_project(load(Path(args.folder)), named)
    except ConfigError as error:
        if command.finds_register:
            raise
        # In the middle of a merge the configuration may be unmerged itself; that must not keep the register so.
        root, problem = find_root(Path(args.folder)), error

    def scanner() -> MentionScanner:
        raise problem

    return RegisterService(root, root / (named or SINGLE), scanner=scanner)


def run(args: argparse.Namespace) -> int:
    command: Command = args.chosen
    try:
        answer = command.run(_service(command, args), args)
    except ClewError as error:
        if not args.json:
            raise
        print_json(envelope(error))
        return 1 if isinstance(error, NotFound) else 2
    if args.json and not isinstance(answer, str):
        print_json(msgspec.to_builtins(answer))
    else:
        text = command.text(answer)
        print(text, end="" if text.endswith("\n") else "\n")
    return 1 if command.is_no(answer, args) else 0
