"""`clew req tui`: the commands of the register one after another, on a terminal."""

import argparse
import shlex
import sys
from collections.abc import Iterator

from clew.errors import ClewError, Refused
from clew.register.service import RegisterService
from clew.surfaces.cli.output import print_error
from clew.surfaces.cli.req_commands import Command, table
from clew.text.terminal import coloured

_SHOWN = (
    *("brief", "list", "show", "next", "status", "validate", "add", "update", "delete", "link", "split", "verify"),
    *("test", "coverage", "stale", "diff", "review", "lint", "doctor", "export", "help"),
)
"""What the menu offers; every other command can be typed as well."""


def _run(service: RegisterService, args: argparse.Namespace) -> str:
    if not sys.stdin.isatty():
        raise Refused("There is no terminal to ask on.", hint="Run the commands themselves; see `clew req --help`.")
    from clew.surfaces.cli import req

    place = ["--file", str(service.file.place), "-C", str(service.root)]
    print(_menu(req.COMMANDS[name] for name in _SHOWN))
    while (line := _asked()) is not None:
        _carry_out(line, place)
    return ""


def _menu(commands: Iterator[Command]) -> str:
    rows = table((str(number), command.name, command.about) for number, command in enumerate(commands, start=1))
    return f"{rows}\nA number or a command with its arguments; `menu` shows this again, `quit` ends."


def _asked() -> str | None:
    try:
        line = input(coloured("req> ", "bold")).strip()
    except (EOFError, KeyboardInterrupt):
        return None
    return None if line in ("q", "quit", "exit") else line


def _carry_out(line: str, place: list[str]) -> None:
    from clew.surfaces.cli import req

    try:
        words = shlex.split(line)
        if not words:
            return
        if words[0] == "menu":
            print(_menu(req.COMMANDS[name] for name in _SHOWN))
            return
        if words[0].isdecimal() and 1 <= int(words[0]) <= len(_SHOWN):
            words[0] = _SHOWN[int(words[0]) - 1]
        parser = argparse.ArgumentParser(prog="clew req")
        req.configure(parser)
        req.run(parser.parse_args([*words, *place]))
    except ClewError as error:
        print_error(error)
    except ValueError as error:
        print(f"This is no command: {error}.")
    except SystemExit:
        # The parser said what it did not understand.
        return


TUI = Command("tui", "a menu of the commands, on a terminal", _run, text=str)
