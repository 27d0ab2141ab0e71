"""Finding the command in a command line.

Commands are alone (`clew show`) or in groups (`clew kb search`, `clew req test run`). The options of a command may
are before its last word too: `clew kb --limit 1 search tide` is `clew kb search --limit 1 tide`. Where the name of a
group alone is a command, it is the one that lists an empty alias: `clew kb` is `clew kb status`.
"""

import argparse
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from clew import __version__
from clew.errors import InvalidArgument
from clew.operation.listing import ListedOperation, all_verbs
from clew.surfaces.cli.groups import GROUPS
from clew.surfaces.cli.parsing import CommandParser
from clew.surfaces.cli.verbs import parser_of
from clew.text.display import shortened


def resolve(name: str, words: list[str]) -> tuple[ListedOperation, list[str]]:
    """The command for a name and the words after it, and the words left for its own parser. On request it prints the
    help of a group, and its usage if the command is missing, and exits."""
    if not any(commands_of(name)):
        return all_verbs()[name], words
    options, rest = _split(name, words)
    if not rest:
        if name not in all_verbs():
            group_parser(name).error(f"`clew {name}` needs one more word: {', '.join(_next_words(name))}")
        return all_verbs()[name], options
    word, *others = rest
    if word not in _next_words(name):
        raise unknown_command(name, word, _next_words(name))
    return resolve(f"{name} {word}", [*options, *others])


def commands_of(group: str) -> list[ListedOperation]:
    """The commands of a group such as `req`, in the order of the listing."""
    return [each for verb, each in all_verbs().items() if verb == each.verb and verb.startswith(f"{group} ")]


def unknown_command(group: str, word: str, known: Iterable[str]) -> InvalidArgument:
    """The error for an unknown command of a group; the group is empty for a command without one."""
    close = get_close_matches(word[:80], known, n=1)
    suggestion = f"Did you mean '{close[0]}'? " if close else ""
    return InvalidArgument(
        f"There is no command '{' '.join(filter(None, ('clew', group, shortened(word))))}'.",
        hint=f"{suggestion}`{' '.join(filter(None, ('clew', group, '--help')))}` lists them.",
    )


def group_parser(group: str) -> argparse.ArgumentParser:
    """The parser of options before the command of a group: the options that all its commands have. Its help lists the
    commands."""
    about, members = GROUPS[group], commands_of(group)
    parser = CommandParser(
        prog=f"clew {group}",
        usage=f"clew {group} [OPTIONS] {'[COMMAND]' if group in all_verbs() else 'COMMAND'} ...",
        description=f"{about.summary[:1].upper()}{about.summary[1:]}.\n\n{_overview(group, members)}",
        epilog="example:\n  " + about.example.replace("\n", "\n  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if about.has_version:
        parser.add_argument("-v", "-V", "--version", action="version", version=f"clew {__version__}")
    options = [parser_of(each.operation)._option_string_actions for each in members]
    for flag, option in {flag: option for known in options for flag, option in known.items()}.items():
        if flag not in parser._option_string_actions:
            flags = [each for each in option.option_strings if each not in parser._option_string_actions]
            is_shared = all(flag in known for known in options)
            more: dict[str, Any] = {"action": "store_true"} if option.nargs == 0 else {"metavar": option.metavar}
            parser.add_argument(*flags, help=option.help if is_shared else argparse.SUPPRESS, **more)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="one of the commands above")
    return parser


def _split(group: str, words: list[str]) -> tuple[list[str], list[str]]:
    """The options that are before the next word of a command, and the words from there on."""
    if not words or not words[0].startswith("-"):
        # What all commands of a group take is learned only where it has to be known.
        return [], words
    rest: list[str] = group_parser(group).parse_args(words).command
    return words[: len(words) - len(rest)], rest


def _next_words(group: str) -> list[str]:
    """The words that may be after the name of a group: commands, their aliases, and smaller groups."""
    after = (verb.removeprefix(f"{group} ").split()[0] for verb in all_verbs() if verb.startswith(f"{group} "))
    return list(dict.fromkeys(after))


def _overview(group: str, members: list[ListedOperation]) -> str:
    rows = {(each.verb or "").removeprefix(f"{group} "): each.summary or each.title for each in members}
    width = max(map(len, rows)) + 2
    lines = ["commands:", *(f"  {name:<{width}}{summary}" for name, summary in rows.items())]
    alone = f" `clew {group}` alone means `clew {all_verbs()[group].verb}`." if group in all_verbs() else ""
    return "\n".join((*lines, "", f"`clew {group} COMMAND --help` explains a command and its options.{alone}"))
