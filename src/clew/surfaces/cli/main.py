"""The `clew` command.

A command is an operation, or a module of this folder with `EXAMPLE`, `configure(parser)` and `run(args)`. Either is
imported only when it is used, so that starting the program costs next to nothing. Exit codes: 0 done, 1 the answer is
no (findings, nothing found), 2 the call or the configuration is wrong, 3 Clew itself failed.
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

COMMANDS = {
    "init": "set up a folder: detect what it holds, write clew.toml, configure MCP clients",
    "serve": "serve a project to MCP clients over stdio, streamable HTTP or SSE",
    "web": "show a project in a browser: requirements, proof, documents, sources, memory, activity",
    "trust": "let a project's clew.toml name services, programs and keys, after showing which",
    "doctor": "examine the installation, the configuration and the store",
    "tools": "list the tools that MCP clients see",
    "call": "call any tool and print its structured result",
    "hook": "tell the memory what happens in a session; started by the hooks of agents",
}
"""The commands that are modules of this folder."""

ORDER = (
    "init",
    "serve",
    "web",
    "brief",
    "why",
    "context",
    "status",
    "search",
    "ask",
    "index",
    "show",
    "impact",
    "changed",
    "check",
    "trace",
    "coverage",
    "fix",
    "review",
    "links",
    "terms",
    "terms",
    "specs",
    "change",
    "kb",
    "remember",
    "recall",
    "memory",
    "req",
    "trust",
    "doctor",
    "tools",
    "eval",
    "call",
    "hook",
)
"""How the overview is sorted."""

OVERVIEW = os.path.join(os.path.dirname(__file__), "overview.txt")
"""What `clew` alone prints. `make docs` writes it, so that no declaration is read for it."""


def all_commands() -> dict[str, str]:
    """Every command with what it does, in the order of the overview."""
    from clew.operation.listing import all_verbs
    from clew.surfaces.cli.groups import GROUPS

    groups = {name: group.summary for name, group in GROUPS.items() if " " not in name}
    verbs = {verb: listed.summary or listed.title for verb, listed in all_verbs().items() if " " not in verb}
    said = {**COMMANDS, **verbs, **groups}
    return {name: said[name] for name in sorted(said, key=ORDER.index)}


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        title = f"clew {__version__}: one thread through everything a project knows."
        with open(OVERVIEW, encoding="utf-8") as overview:
            sys.stdout.write(f"{title}\n\n{overview.read()}")
        return DONE
    name, *rest = arguments
    if name in ("-V", "--version", "version"):
        sys.stdout.write(f"clew {__version__}\n")
        return DONE
    return _guarded(lambda: _carry_out(name, rest))


def module_and_parser(name: str) -> "tuple[ModuleType, argparse.ArgumentParser]":
    """The module of a command that is no operation, and its parser."""
    import argparse
    from importlib import import_module

    module = import_module(f"clew.surfaces.cli.{name}")
    parser = argparse.ArgumentParser(
        prog=f"clew {name}",
        description=COMMANDS[name][0].upper() + COMMANDS[name][1:] + ".",
        epilog="example:\n  " + module.EXAMPLE.strip().replace("\n", "\n  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.configure(parser)
    return module, parser


def _carry_out(name: str, words: list[str]) -> int:
    if name in COMMANDS:
        module, parser = module_and_parser(name)
        return int(module.run(parser.parse_args(words)))
    from clew.surfaces.cli.resolve import resolve, unknown_command
    from clew.surfaces.cli.verbs import run_verb

    if name not in all_commands():
        raise unknown_command("", name, all_commands())
    listed, rest = resolve(name, words)
    return run_verb(listed.operation, rest)


def _guarded(command: "Callable[[], int]") -> int:
    from clew.text.terminal import harmless_output

    with harmless_output():
        return _exit_code(command)


def _exit_code(command: "Callable[[], int]") -> int:
    from clew.errors import ClewError
    from clew.surfaces.cli.output import end_progress, exit_code_of, print_error

    try:
        return command()
    except ClewError as error:
        end_progress()
        print_error(error)
        return exit_code_of(error)
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; a shell reports that as 141.
        sys.stdout = None
        return 141
    except KeyboardInterrupt:
        return 130
    except Exception:
        import traceback

        traceback.print_exc()
        sys.stderr.write("clew: this is a fault in Clew; please report it with the lines above.\n")
        return FAILED


NEW_OBJECTS = 50_000
"""So many are made before Python looks for circles among them. By default it does after 700, which takes a tenth of the
time of every start and finds nothing: what is imported stays."""


def entry() -> None:
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
        from clew.memory.hooks.client import run

        run(sys.argv[2:])
    gc.set_threshold(NEW_OBJECTS)
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
        from clew.memory.hooks.client import run

        run(sys.argv[2:])
    sys.exit(main(sys.argv[1:]))
