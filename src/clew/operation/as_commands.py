"""Names of tools in messages, replaced by commands for people.

Services speak to agents: "req_list shows every requirement with its id". On the command line the same sentence names
the command: "`clew req list` shows every requirement with its id". A tool without a command is reached by `clew call`.
"""

import json
import re
import shlex
from collections.abc import Mapping
from functools import cache

from clew.operation.listing import ListedOperation, all_operations, all_tools
from clew.operation.names import by_any_spelling
from clew.operation.options import words_of

_ARGUMENT = r"(\w+)=(\"[^\"]*\"|[\w-]+)"


def as_commands(text: str) -> str:
    """A text that names tools, for people: `req_link and remove=true` becomes `clew req link --remove`."""
    return _mentions().sub(_command, text)


def _command(mention: re.Match[str]) -> str:
    name, following = mention["name"], mention["called"] or mention["named"] or ""
    arguments = {key: value.strip('"') for key, value in re.findall(_ARGUMENT, following)}
    tool = by_any_spelling(all_tools())[name]
    command = _commands().get(tool.name)
    words = None if command is None else words_of(command.operation, arguments)
    if command is None or words is None:
        return f"`clew call {name}{_as_json(arguments)}`"
    return "`" + " ".join((f"clew {command.verb}", *map(_quoted, words))) + "`"


@cache
def _commands() -> Mapping[str, ListedOperation]:
    """The command of each tool that has one; the first one declared, where several have to do with it."""
    found: dict[str, ListedOperation] = {}
    for each in all_operations():
        if each.verb is not None and (tool := each.tool or each.command_of):
            found.setdefault(tool, each)
    return found


@cache
def _mentions() -> re.Pattern[str]:
    """Finds tools in a text, with the arguments that are named beside them. A name that is a plain word, such as
    `search`, is one only where it is written as a call."""
    known = sorted(by_any_spelling(all_tools()), key=len, reverse=True)
    plain = [name for name in known if name.isalpha()]
    spelled = "|".join(re.escape(name) for name in known if name not in plain)
    return re.compile(
        rf"(?<![\w./-])(?<!clew call )(?P<tick>`?)(?P<name>{spelled}|(?:{'|'.join(plain)})(?=\())(?![\w-])"
        rf"(?:\((?P<called>[^()]*)\)|(?P<named> (?:with |and )?{_ARGUMENT}))?(?P=tick)"
    )


def _as_json(arguments: Mapping[str, str]) -> str:
    values = {key: value == "true" if value in ("true", "false") else value for key, value in arguments.items()}
    return f" '{json.dumps(values, ensure_ascii=False)}'" if values else ""


def _quoted(word: str) -> str:
    return f'"{word}"' if shlex.quote(word) != word or word == "..." else word
