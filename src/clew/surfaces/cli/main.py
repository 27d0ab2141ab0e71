"""The `clew` command.

A command is an operation, or a module of `commands/` with `EXAMPLE`, `configure(parser)` and `run(args)`. Either is
imported only when it is used, so that starting the program costs next to nothing. Exit codes: 0 done, 1 the answer is
no (findings, nothing found), 2 the call or the configuration is wrong, 3 Clew itself failed, 4 standard output took no
more.
"""

import gc
import os
import sys

from clew import __version__

# A hook starts here with every prompt, so not even `typing` is imported when this runs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from types import ModuleType

DONE = 0
FAILED = 3
OUTPUT_LOST = 4
READER_GONE = 141
"""Exit code of a program whose output is no longer read, as after `head`."""

COMMANDS = {
    "init": "set up a folder: detect what it holds, write clew.toml, configure MCP clients",
    "uninstall": "take Clew out of your own configuration of MCP clients, and say what stays",
    "serve": "serve a project to MCP clients over stdio, streamable HTTP or SSE",
    "web": "show a project in a browser: requirements, proof, documents, sources, memory, activity",
    "lsp": "serve an editor: hover, definitions, references, findings and completion of ids",
    "store": "show where the store is; move it to a team's database and back, back it up, restore it",
    "token": "create and revoke tokens for a team's server over HTTP",
    "trust": "allow a project's services and programs, and other grants, after showing them",
    "doctor": "examine the installation, the configuration and the store",
    "tools": "list the tools that MCP clients see",
    "call": "call any tool and print its structured result",
    "hook": "report events of a session to the memory; started by the hooks of agents",
    "completion": "print the completion script of bash, zsh or fish",
}
"""The commands that are modules of `commands/`. Those of `FOR_AGENTS` are for agents, the others set something up."""
FOR_AGENTS = ("tools", "call", "hook")

OVERVIEW = os.path.join(os.path.dirname(__file__), "overview.txt")
"""Text that `clew help` prints, written by `make docs`, so that no declaration is read for it."""


def all_commands() -> dict[str, str]:
    """Every command with its summary."""
    from clew.operation.listing import all_verbs
    from clew.surfaces.cli.groups import GROUPS

    groups = {name: group.summary for name, group in GROUPS.items() if " " not in name}
    verbs = {verb: listed.summary or listed.title for verb, listed in all_verbs().items() if " " not in verb}
    return {**verbs, **groups, **COMMANDS}


def main(arguments: list[str], *, is_named: bool = False) -> int:
    """Carry out a command. `is_named` says that the current folder was named, by -C before the command."""
    if arguments[:1] == ["-C"] or (arguments and arguments[0].startswith("--folder")):
        return _guarded(lambda: _elsewhere(arguments))
    if arguments in ([], ["--json"]) and (is_named or _is_in_project()):
        arguments = ["brief", *arguments]
    if arguments[:1] == ["help"] and len(arguments) > 1:
        # `clew help kb ask` is `clew kb ask --help`.
        arguments = [*arguments[1:], "--help"]
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        from clew.surfaces.cli.help import overview

        return _guarded(lambda: overview(OVERVIEW))
    name, *rest = arguments
    if name in ("-V", "--version", "version"):
        return _guarded(_version)
    return _guarded(lambda: _answered(name, rest, is_named=is_named))


def _answered(name: str, words: list[str], *, is_named: bool) -> int:
    """Have a command answered by the project's running server, or carry it out."""
    from clew.surfaces.cli.asking import answered

    code = answered([name, *words], is_named=is_named)
    return _carry_out(name, words, is_named=is_named) if code is None else code


def _version() -> int:
    sys.stdout.write(f"clew {__version__}\n")
    return DONE


def _is_in_project() -> bool:
    """True if the current folder is a project, or in one."""
    from clew.workspace.root import marked

    return marked(os.getcwd()) is not None


def _elsewhere(arguments: list[str]) -> int:
    """The folder of `clew -C FOLDER COMMAND`, which is `clew COMMAND` in that folder, as with git and make."""
    from clew.errors import InvalidArgument

    first, equals, given = arguments[0].partition("=")
    folder, rest = (given, arguments[1:]) if equals else ((arguments[1:2] or [""])[0], arguments[2:])
    try:
        os.chdir(folder)
    except OSError as error:
        raise InvalidArgument(
            f"{first} names '{folder}', which is not a folder.", hint="Write `clew -C FOLDER COMMAND`."
        ) from error
    return main(rest, is_named=True)


def module_and_parser(name: str) -> "tuple[ModuleType, argparse.ArgumentParser]":
    """The module of a command that is no operation, and its parser."""
    import argparse
    from importlib import import_module

    from clew.surfaces.cli.parsing import CommandParser

    module = import_module(f"clew.surfaces.cli.commands.{name}")
    parser = CommandParser(
        prog=f"clew {name}",
        description=COMMANDS[name][0].upper() + COMMANDS[name][1:] + ".",
        epilog="example:\n  " + module.EXAMPLE.strip().replace("\n", "\n  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.configure(parser)
    if not any("-C" in action.option_strings for action in parser._actions):
        from clew.surfaces.cli.opening import add_place

        add_place(parser)
    return module, parser


def _carry_out(name: str, words: list[str], *, is_named: bool) -> int:
    if name in COMMANDS:
        from clew.surfaces.cli.opening import admit, go_to_place

        module, parser = module_and_parser(name)
        args = go_to_place(parser.parse_args(words), is_named=is_named)
        if not getattr(module, "ADMITS", False):
            admit(args)
        return int(module.run(args))
    from clew.surfaces.cli.resolve import resolve, unknown_command
    from clew.surfaces.cli.verbs import run_verb

    if name not in all_commands():
        raise unknown_command("", name, all_commands())
    listed, rest = resolve(name, words)
    return run_verb(listed.operation, rest, is_named=is_named)


def _guarded(command: "Callable[[], int]") -> int:
    from clew.text.terminal import harmless_output

    with harmless_output():
        return _exit_code(command)


def _exit_code(command: "Callable[[], int]") -> int:
    try:
        try:
            return command()
        finally:
            # What is written at Python's end fails without a word of ours.
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = None
        return READER_GONE
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> int:
    """Print the error that ended a command; returns its exit code."""
    from clew.errors import ClewError
    from clew.text.terminal import OutputLost

    if isinstance(error, ClewError):
        from clew.surfaces.cli.output import told

        return told(error)
    if isinstance(error, OutputLost):
        sys.stdout = None
        sys.stderr.write(
            f"clew: Standard output cannot be written: {error}.\n"
            "      What was printed is incomplete; what the command changed is done.\n"
        )
        return OUTPUT_LOST
    import traceback

    traceback.print_exception(error)
    sys.stderr.write("clew: this is a fault in Clew; please report it with the lines above.\n")
    return FAILED


NEW_OBJECTS = 50_000
"""So many are made before Python looks for circles among them. By default it does after 700, which takes a tenth of the
time of every start and finds nothing: what is imported stays."""


def _load_msgspec() -> None:
    """msgspec takes from `typing_extensions`, where that is installed, what `typing` has in every Python that Clew runs
    on; loading it takes half the time of loading msgspec."""
    known = sys.modules.get("typing_extensions")
    if known is None:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
        import msgspec  # noqa: F401

        del sys.modules["typing_extensions"]


def _open_closed_streams() -> None:
    """Open a substitute for each missing standard stream: otherwise the next opened file, such as a database, would
    get its number. The substitute for input cannot be read, and that for output cannot be written.
    """
    for number, name, flags, mode in (
        (0, "stdin", os.O_RDONLY, "r"),
        (1, "stdout", os.O_RDONLY, "w"),
        (2, "stderr", os.O_WRONLY, "w"),
    ):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                # The lowest number that is free is this one.
                opened = os.open(os.devnull, flags)
                setattr(sys, name, os.fdopen(opened, mode, encoding="utf-8"))


def entry() -> None:
    _open_closed_streams()
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
        from clew.memory.hooks.client import run

        run(sys.argv[2:])
    gc.set_threshold(NEW_OBJECTS)
    if sys.argv[1:2] == ["req"] and sys.argv[2:3] in (["validate"], ["review"]):
        _load_msgspec()
        from clew.register.fast_path import answer

        try:
            code = answer(sys.argv[2], sys.argv[3:])
        except OSError:
            # Standard output took nothing; the ordinary way says so.
            code = None
        if code is not None:
            # What Python does at its end takes a tenth of the time, and there is nothing to do.
            os._exit(code)
    sys.exit(main(sys.argv[1:]))


def serve_entry() -> None:
    """`clew-mcp`: serves, so that a client only has to start `uvx clew-mcp`. Every command works by this name too,
    because it is the only one that uvx finds by itself."""
    words = sys.argv[1:]
    if not _is_command(words):
        sys.argv[1:] = ["serve", *words]
    entry()


def _is_command(words: list[str]) -> bool:
    if not words or words[0] in ("-C", "-h", "--help"):
        return False
    return words[0] in ("help", "version", "-V", "--version") or words[0] in all_commands()
