"""Groups of commands such as `clew req`: their example, and the options that may stand before the command."""

import argparse
from dataclasses import dataclass
from typing import Final, NoReturn

from clew import __version__


@dataclass(frozen=True, slots=True)
class GroupOption:
    """An option that every command of a group has. It may stand before the command or after it."""

    name: str
    """How an operation finds it in the options of its call."""
    metavar: str
    about: str

    @property
    def flag(self) -> str:
        return f"--{self.name}"


@dataclass(frozen=True, slots=True)
class Group:
    summary: str
    example: str
    options: tuple[GroupOption, ...] = ()
    takes_folder: bool = True
    """Whether `-C FOLDER` may stand before the command."""
    has_version: bool = False
    """Whether `--version` may stand after the name of the group, as users of req write it."""


GROUPS: Final = {
    "links": Group(
        "links of tests and code to requirements that are missing: suggest, apply, reject", "clew links suggest"
    ),
    "eval": Group(
        "measure retrieval, or suggested links, on your own data", "clew eval retrieval FOLDER", takes_folder=False
    ),
    "specs": Group("specs: dashboard, list, show, search, validate", "clew specs"),
    "change": Group("changes to specs: list, show, new, validate, conflicts, apply, archive", "clew change"),
    "kb": Group("documents: index, search, ask, show, and what they mention", "clew kb"),
    "memory": Group("what is remembered: status, list, show, edit, forget, restore, history", "clew memory list"),
    "req": Group(
        summary="managed requirements in project.req: add, list, validate, review and more",
        example="""clew req brief
clew req show 2
clew req coverage --by-req""",
        options=(GroupOption("file", "FILE", "the register (default: project.req, or REQ_FILE)"),),
        has_version=True,
    ),
}


def options_of(verb: str | None) -> tuple[GroupOption, ...]:
    """The options that a command has from its group."""
    group = GROUPS.get((verb or "").partition(" ")[0])
    return group.options if group else ()


def set_aside(name: str, words: list[str]) -> tuple[list[str], dict[str, str]]:
    """The words of a command of this group, and the group's options that stand before them."""
    parser = parser_of(name)
    given = vars(parser.parse_args(words))
    left: list[str] = given.pop("command")
    if not left:
        parser.error("the following arguments are required: COMMAND")
    return left, {key: value for key, value in given.items() if value is not None}


def refuse(name: str, words: list[str]) -> NoReturn:
    """Say that a group has no such command; or, where the words begin several commands, which ones."""
    from difflib import get_close_matches

    from clew.surfaces.cli.verbs import verbs_of

    parser = parser_of(name)
    further = [listed.verb or "" for listed in verbs_of(f"{name} {words[0]}")]
    if further and {"-h", "--help"} & set(words[1:]):
        parser.exit(0, _listed(f"{name} {words[0]}") + "\n")
    if further:
        parser.error(f"'{words[0]}' needs one more word: {', '.join(verb.rpartition(' ')[2] for verb in further)}")
    known = sorted({(listed.verb or "").split()[1] for listed in verbs_of(name)})
    close = get_close_matches(words[0], known, n=1)
    parser.error(f"there is no command '{words[0]}'" + (f". Did you mean '{close[0]}'?" if close else ""))


def parser_of(name: str) -> argparse.ArgumentParser:
    group = GROUPS[name]
    summary = group.summary
    parser = argparse.ArgumentParser(
        prog=f"clew {name}",
        description=f"{summary[:1].upper()}{summary[1:]}.\n\n{_listed(name)}",
        epilog="example:\n  " + group.example.replace("\n", "\n  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if group.has_version:
        parser.add_argument("-v", "-V", "--version", action="version", version=f"clew {__version__}")
    for option in group.options:
        parser.add_argument(option.flag, metavar=option.metavar, help=option.about)
    if group.takes_folder:
        parser.add_argument("-C", "--folder", metavar="FOLDER", help="the project's folder (default: this one)")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="one of the commands above")
    return parser


def _listed(group: str) -> str:
    """The commands of a group with their summaries."""
    from clew.surfaces.cli.verbs import verbs_of

    rows = {(each.verb or "").removeprefix(f"{group} "): each.summary or each.title for each in verbs_of(group)}
    width = max(map(len, rows), default=0) + 2
    return "\n".join(("commands:", *(f"  {name:<{width}}{summary}" for name, summary in rows.items())))
