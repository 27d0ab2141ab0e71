"""Commands of req that show the register in another way: a server, pages in a browser, a menu."""

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from clew.compat.req.clients import SERVER, write_entry
from clew.errors import Refused
from clew.graph.readers.locations import FILE_VARIABLE
from clew.operation.call import Call
from clew.operation.declare import Option
from clew.register.operations.fields import RegisterOperation, register_of
from clew.surfaces.cli.main import main
from clew.surfaces.cli.resolve import commands_of
from clew.text.terminal import coloured, table


class ServeAgents(RegisterOperation, verb="req mcp", summary="the server for agents, over stdio", writes=True):
    """Serves the tools of req to agents, or writes the entry that starts this server."""

    init_config: Annotated[bool, Meta(description="Write the entry of the server into .mcp.json")] = False
    config_path: Annotated[str, Meta(description="Another file"), Option(metavar="FILE")] = ".mcp.json"
    force: Annotated[bool, Meta(description="Replace another entry of the same name")] = False

    def run(self, call: Call) -> dict[str, Any]:
        root = call.project.config.root
        if self.init_config:
            return write_entry(root, root / self.config_path, force=self.force)
        from clew.surfaces.cli.commands import serve

        if "file" in call.options:
            os.environ[FILE_VARIABLE] = str(Path(call.options["file"]).absolute())
        parser = argparse.ArgumentParser(prog="clew req mcp")
        serve.configure(parser)
        raise SystemExit(serve.run(parser.parse_args([str(root), "--profile", SERVER])))

    def render(self, result: dict[str, Any]) -> str:
        return f"{result['path']} {'now names' if result['changed'] else 'already named'} the server {SERVER}."


class ServePages(RegisterOperation, verb="req serve", summary="the register in a browser, to read"):
    """Serves the register to a browser until it is stopped."""

    host: Annotated[str, Meta(description="Address to listen on")] = "127.0.0.1"
    port: Annotated[int, Meta(description="Port to listen on; 0: any"), Option("-p", metavar="PORT")] = 7878
    allow_host: Annotated[tuple[str, ...], Meta(description="A further Host to answer to"), Option(metavar="NAME")] = ()
    read_only: Annotated[bool, Meta(description="It always is")] = False

    def run(self, call: Call) -> None:
        from clew.surfaces.req.web import open_server

        address, run, _ = open_server(register_of(call), self.host, self.port, self.allow_host)
        print(f"The register is at {address}  (Ctrl-C ends)", flush=True)
        run()

    def render(self, result: None) -> str:
        return ""


class ShowMenu(RegisterOperation, verb="req tui", summary="a menu of the commands, on a terminal", writes=True):
    """Offers the commands one after another, on a terminal."""

    def run(self, call: Call) -> None:
        if not sys.stdin.isatty():
            raise Refused("There is no terminal to ask on.", hint="Run the commands themselves; see `clew req --help`.")
        register = register_of(call)
        show_menu(["--file", str(register.file.place), "-C", str(register.root)])

    def render(self, result: None) -> str:
        return ""


_SHOWN = (
    *("brief", "list", "show", "next", "status", "validate", "add", "update", "delete", "link", "split", "verify"),
    *("test run", "coverage", "stale", "diff", "review", "lint", "doctor", "export", "help"),
)
"""The commands in the menu; every other command can be typed as well."""


def show_menu(place: list[str]) -> None:
    """Ask for commands and carry them out until there are no more; `place` are the options that name the register."""
    print(_menu())
    while (line := _asked()) is not None:
        _carry_out(line, place)


def _menu() -> str:
    summaries = {listed.verb: listed.summary for listed in commands_of("req")}
    rows = table((str(number), name, summaries[f"req {name}"]) for number, name in enumerate(_SHOWN, start=1))
    return f"{rows}\nA number or a command with its arguments; `menu` shows this again, `quit` ends."


def _asked() -> str | None:
    try:
        line = input(coloured("req> ", "bold")).strip()
    except (EOFError, KeyboardInterrupt):
        return None
    return None if line in ("q", "quit", "exit") else line


def _carry_out(line: str, place: list[str]) -> None:
    try:
        words = shlex.split(line)
    except ValueError as error:
        print(f"This is not a command: {error}.")
        return
    if not words:
        return
    if words[0] == "menu":
        print(_menu())
        return
    if words[0].isdecimal() and 1 <= int(words[0]) <= len(_SHOWN):
        words[:1] = _SHOWN[int(words[0]) - 1].split()
    try:
        main(["req", *words, *place])
    except SystemExit:
        # The parser said what it did not understand.
        return
