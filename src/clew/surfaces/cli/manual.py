"""The manual page `clew.1`, made from the same declarations as `docs/cli.md`."""

# Implements: REQ-d00524-A

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from clew import __version__
from clew.operation.listing import all_verbs
from clew.surfaces.cli.groups import GROUPS
from clew.surfaces.cli.main import COMMANDS, all_commands, module_and_parser
from clew.surfaces.cli.reference import EXIT_CODES, actions_of, by_heading, flags_of, help_of, usage_parts
from clew.surfaces.cli.resolve import commands_of, group_parser
from clew.surfaces.cli.verbs import parser_of

_HEAD = """.TH CLEW 1 "" "Clew {version}" "User Commands"
.SH NAME
clew, clew\\-mcp \\- one thread through everything a project knows
.SH SYNOPSIS
.B clew
.RI [ COMMAND ]
.RI [ ARGUMENT ...]
.br
.B clew\\-mcp
.RI [ "OPTION OF serve" ...]
.SH DESCRIPTION
Clew reads a project's requirements, specs, documents, code and tests into one graph, updates it when files change, and
remembers what was decided about them.
.PP
.B clew
alone prints the brief of the project here,
.B clew help
lists the commands by task, and
.B clew help
.I COMMAND
explains one.
.B clew\\-mcp
serves the project here to MCP clients over standard input and output, as
.B clew serve
does.
.PP
A command works on the project at or above a folder: the current one, or the one given with
.B \\-C
.IR FOLDER ,
before the command or after it."""

_TAIL = """.SH ENVIRONMENT
.TP
.B NO_COLOR
Turns colours off, which appear on terminals only.
.TP
.B CLEW_TOKEN
The token that clients of
.B clew serve
send over HTTP.
.TP
.B CLEW_MEMORY
.B off
switches the hooks of the memory off for a session.
.SH FILES
.TP
.I clew.toml
The configuration of a project.
.TP
.I .clew/
What is kept and what can be made again.
.TP
.I $XDG_CONFIG_HOME/clew/config.toml
The configuration of a user.
.SH SEE ALSO
.BR git (1)"""


def manual() -> str:
    lines = [*_HEAD.format(version=__version__).splitlines(), ".SH COMMANDS"]
    known = all_commands()
    for heading, names in by_heading().items():
        lines += [".PP", f".B {_text(heading)}"]
        for name in names:
            lines += [".TP", f".B clew {_text(name)}", _line(known[name])]
    for name in known:
        lines += [f'.SH "CLEW {_text(name.upper())}"', *(_group(name) if name in GROUPS else _single(name))]
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_CODES.items():
        lines += [".TP", f".B {code}", _line(meaning)]
    return "\n".join((*lines, *_TAIL.splitlines())) + "\n"


def _single(name: str) -> Iterator[str]:
    parser = module_and_parser(name)[1] if name in COMMANDS else parser_of(all_verbs()[name].operation)
    yield from _described(parser, ())


def _group(name: str) -> Iterator[str]:
    yield _line(f"{GROUPS[name].summary[:1].upper()}{GROUPS[name].summary[1:]}.")
    shared = [action for action in actions_of(group_parser(name)) if action.option_strings]
    yield from _options(shared)
    flags = tuple(flag for action in shared for flag in action.option_strings)
    for listed in commands_of(name):
        yield f'.SS "clew {_text(listed.verb or "")}"'
        yield from _described(parser_of(listed.operation), flags)


def _described(parser: argparse.ArgumentParser, shared: tuple[str, ...]) -> Iterator[str]:
    actions = [each for each in actions_of(parser) if not set(each.option_strings) & set(shared)]
    yield _line(parser.description or "")
    yield ".PP"
    yield ".nh"
    yield ".na"
    yield f".B {_text(parser.prog)}"
    yield from (_line(part.replace(" ", "\0")).replace("\0", "\\ ") for part in usage_parts(actions))
    yield ".ad"
    yield ".hy"
    yield from _options(actions)


def _options(actions: list[argparse.Action]) -> Iterator[str]:
    for action in actions:
        yield ".TP"
        yield f".B {_text(', '.join(flags_of(action)))}"
        yield _line(help_of(action))


def _line(text: str) -> str:
    """Text as a line of its own that is not taken for a request of roff."""
    plain = _text(text)
    return f"\\&{plain}" if plain.startswith((".", "'")) or not plain else plain


def _text(text: str) -> str:
    plain = text.replace("\n", " ").strip(" ")
    return plain.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(manual(), encoding="utf-8", newline="\n")
    print(target)
