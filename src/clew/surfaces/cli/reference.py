"""The reference of the commands, written by `make docs`: the page `docs/cli.md`, and the overview of `clew help`."""

import argparse
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from clew.operation.declare import HelpHeading
from clew.operation.listing import ListedOperation, all_verbs
from clew.surfaces.cli.groups import GROUPS
from clew.surfaces.cli.main import COMMANDS, FOR_AGENTS, OVERVIEW, all_commands, module_and_parser
from clew.surfaces.cli.resolve import commands_of, group_parser
from clew.surfaces.cli.verbs import parser_of

WIDTH: Final = 100
LONGEST_EXAMPLE: Final = 34

HEAD: Final = """# Command line

Made by `make docs` from the commands; do not edit.

`clew` alone prints the brief of the project here, `clew help` lists the commands by task, and `clew help COMMAND`
explains one. Most commands call the same operations as MCP clients, so `--json` prints the data that an agent gets.
`clew --version` prints the version, and `clew completion SHELL` what bash, zsh or fish need to complete commands and
ids.

**Folder.** A command works on the project at or above a folder: the current one, or the one given with `-C FOLDER`,
before the command or after it. Some commands also take it as their last argument.

**Output.** Data goes to standard output; errors, notes, progress and logs go to standard error. Colours
appear only on a terminal, and `NO_COLOR` turns them off. On a terminal, lines are broken between words at its width.
What takes longer than two seconds shows its progress: a bar on a terminal, and elsewhere a line every few seconds. Long
lists come in pages: `--page 2` shows the second.

**Exit codes.**

| code | meaning |
|---|---|
{codes}

The examples run in `examples/demo`.
"""

EXIT_CODES: Final = {
    "0": "done",
    "1": "the answer is no: findings of severity error, nothing found, an unknown id, a failed check",
    "2": "the call or the configuration is wrong; standard error says what and what to do",
    "3": "a fault in Clew; please report it with the lines on standard error",
    "4": "standard output took no more, because its disk is full or it is closed; what the command changed is done",
    "130": "interrupted",
    "141": "what reads the output went away, as `head` does",
}

MORE: Final = {
    "init": "getting-started.md",
    "uninstall": "getting-started.md#taking-clew-out-again",
    "serve": "mcp.md",
    "web": "page.md",
    "lsp": "editors.md",
    "store": "teams.md",
    "token": "teams.md#serving-others-over-http",
    "search": "search.md",
    "index": "search.md",
    "impact": "impact.md",
    "changed": "impact.md",
    "check": "findings.md",
    "trace": "matrix.md",
    "coverage": "matrix.md",
    "fix": "findings.md",
    "review": "impact.md",
    "links": "links.md",
    "terms": "formats/elspais.md",
    "specs": "formats/openspec.md",
    "change": "formats/openspec.md#applying-a-change",
    "kb": "documents.md",
    "remember": "memory.md",
    "recall": "memory.md",
    "memory": "memory.md",
    "req": "formats/register.md",
    "tools": "tools/README.md",
    "eval": "search.md",
    "call": "tools/README.md",
}
"""The page that explains more about a command."""


OVERVIEW_END: Final = """
`clew help COMMAND` explains a command and its options. `-C FOLDER` works on the project of another folder.
`clew` alone describes the project here and suggests commands for it; the examples above run in `examples/demo`.
"""


def by_heading() -> dict[HelpHeading, tuple[str, ...]]:
    """The commands under the headings of the overview."""
    commands = all_commands()
    return {heading: tuple(name for name in commands if _heading_of(name) is heading) for heading in HelpHeading}


def _heading_of(name: str) -> HelpHeading:
    if name in COMMANDS:
        return HelpHeading.MEASURE if name in FOR_AGENTS else HelpHeading.SET_UP
    return GROUPS[name].heading if name in GROUPS else all_verbs()[name].heading


def overview() -> str:
    """The commands by task: an example of each, a tab, and its explanation."""
    commands = all_commands()
    lines: list[str] = []
    for heading, names in by_heading().items():
        lines += ("", heading, *(f"{short_example(name)}\t{commands[name]}" for name in names))
    return "\n".join(lines) + "\n" + OVERVIEW_END


def short_example(name: str) -> str:
    """An example of a command that is short enough for a list: the first such one, or the shortest."""
    if name in COMMANDS:
        example = module_and_parser(name)[0].EXAMPLE
    elif name in GROUPS:
        example = GROUPS[name].example
    else:
        example = all_verbs()[name].operation.about.epilog
    lines = [line.partition("  #")[0].strip() for line in example.strip().splitlines()]
    own = [line for line in lines if line == "clew" or line.split()[:2] == ["clew", name]]
    short = next((line for line in own if len(line) <= LONGEST_EXAMPLE), None)
    return short or min(own, key=len, default=f"clew {name}")


def page() -> str:
    known = all_commands()
    commands = {name: known[name] for names in by_heading().values() for name in names}
    rows = [f"| [`clew {name}`](#clew-{name}) | {_cell(summary)} |" for name, summary in commands.items()]
    codes = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())
    parts = [HEAD.format(codes=codes).rstrip(), "\n".join(("| command | what it does |", "|---|---|", *rows))]
    for name in commands:
        parts += _group(name) if name in GROUPS else _single(name)
    return "\n\n".join(parts) + "\n"


def _single(name: str) -> Iterator[str]:
    if name in COMMANDS:
        module, parser = module_and_parser(name)
        example = module.EXAMPLE
    else:
        operation = all_verbs()[name].operation
        parser, example = parser_of(operation), operation.about.epilog
    yield f"## clew {name}"
    yield _about(parser.description or "", name)
    yield from _usage_and_options(parser, ())
    yield from _example(example)


def _group(name: str) -> Iterator[str]:
    group, members = GROUPS[name], commands_of(name)
    shared = [action for action in actions_of(group_parser(name)) if action.option_strings]
    flags = {flag for action in shared for flag in action.option_strings}
    yield f"## clew {name}"
    yield _about(f"{group.summary[:1].upper()}{group.summary[1:]}.", name)
    yield _table(f"options of every `clew {name}` command", shared)
    yield from _example(group.example)
    for member in members:
        yield from _member(member, tuple(flags))


def _member(listed: ListedOperation, shared: tuple[str, ...]) -> Iterator[str]:
    group, _, last = (listed.verb or "").rpartition(" ")
    operation = listed.operation
    parser = parser_of(operation)
    others = [f"`clew {group} {alias}".rstrip() + "`" for alias in listed.aliases]
    yield f"### clew {group} {last}"
    yield " ".join((parser.description or "", f"Also {' or '.join(others)}." if others else "")).rstrip()
    yield from _usage_and_options(parser, shared)
    yield from _example(operation.about.epilog)


def _about(description: str, name: str) -> str:
    link = MORE.get(name)
    return description if link is None else f"{description} More: [{link}]({link})."


def _usage_and_options(parser: argparse.ArgumentParser, shared: tuple[str, ...]) -> Iterator[str]:
    actions = [action for action in actions_of(parser) if not set(action.option_strings) & set(shared)]
    # A part such as `[--limit N]` is never broken.
    whole = " ".join(part.replace(" ", "\0") for part in usage_parts(actions))
    indent = " " * (len(parser.prog) + 1)
    lines = textwrap.wrap(
        f"{parser.prog} {whole}".rstrip(), WIDTH, subsequent_indent=indent, break_on_hyphens=False,
        break_long_words=False,
    )  # fmt: skip
    yield "```\n" + "\n".join(lines).replace("\0", " ") + "\n```"
    if actions:
        yield _table("argument", actions)


def actions_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The options and arguments of a command, without --help and hidden ones."""
    known = parser._actions
    return [each for each in known if each.dest != "help" and each.help is not argparse.SUPPRESS]


def usage_parts(actions: list[argparse.Action]) -> list[str]:
    """The usage line after the name of a command: options, then arguments."""
    optional = [_bracketed(action) for action in actions if action.option_strings]
    return [*optional, *(_positional(action) for action in actions if not action.option_strings)]


def flags_of(action: argparse.Action) -> list[str]:
    """The spellings of an option or argument, each by itself."""
    if not action.option_strings:
        return [_positional(action)]
    *first, last = action.option_strings
    return [*first, f"{last} {_value(action)}".rstrip()]


def _table(heading: str, actions: list[argparse.Action]) -> str:
    rows = [f"| {_spelled(action)} | {_cell(help_of(action))} |" for action in actions]
    return "\n".join((f"| {heading} | meaning |", "|---|---|", *rows))


def _spelled(action: argparse.Action) -> str:
    return ", ".join(f"`{_escaped(flag)}`" for flag in flags_of(action))


def _bracketed(action: argparse.Action) -> str:
    spelled = f"{action.option_strings[0]} {_value(action)}".rstrip()
    return spelled if action.required else f"[{spelled}]"


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if action.choices:
        return "|".join(map(str, action.choices))
    named = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return named.strip("{}").replace(",", "|") if named.startswith("{") else named


def _positional(action: argparse.Action) -> str:
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} ..."}.get(str(action.nargs), name)


def help_of(action: argparse.Action) -> str:
    return (action.help or "") % vars(action)


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split()))


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _example(text: str) -> Iterator[str]:
    if text.strip():
        yield "```sh\n" + text.strip() + "\n```"


if __name__ == "__main__":
    target = Path(sys.argv[1])
    for file, text in ((target, page()), (Path(OVERVIEW), overview())):
        file.write_text(text, encoding="utf-8", newline="\n")
        print(file)
