"""Completions of a command line: commands, options, choices, and the ids of the project."""

# Implements: REQ-d00445

import argparse
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from clew.errors import ClewError
from clew.operation.listing import all_verbs
from clew.surfaces.cli.main import COMMANDS, all_commands, module_and_parser
from clew.surfaces.cli.opening import HERE, Here
from clew.surfaces.cli.resolve import commands_of
from clew.surfaces.cli.verbs import parser_of
from clew.text.display import one_line
from clew.workspace.root import admitted

if TYPE_CHECKING:
    from clew.project import Project

MOST = 200
FILES = (":files", "")
"""Tells the shell to complete names of files too."""
_WITHOUT_IDS = ("ask", "search", "remember", "recall", "init", "eval", "req add", "change new")
"""Commands whose words are free text, or paths."""

Completion = tuple[str, str]


def completions(typed: list[str]) -> Iterator[Completion]:
    """The words that begin like the last one, each with what it means."""
    *before, current = typed
    found = (each for each in _all(before, current) if each[0].startswith(current) or each == FILES)
    seen: set[str] = set()
    for word, about in found:
        if word not in seen and len(seen) < MOST:
            seen.add(word)
            yield word, one_line(about, 80)


def _all(before: list[str], current: str) -> Iterator[Completion]:
    if before[:1] in (["-C"], ["--folder"]):
        before = before[2:] if len(before) > 1 else before
    if not before or before == ["help"]:
        yield from all_commands().items()
        return
    if before in (["-C"], ["--folder"]):
        yield FILES
        return
    verb, rest = _verb([word for word in before if word != "help"])
    if not rest:
        yield from _next_words(verb)
    parser = _parser(verb)
    if parser is None:
        return
    option = parser._option_string_actions.get(before[-1]) if before else None
    if option is not None and option.nargs != 0:
        yield from _values(option)
    elif current.startswith("-"):
        yield from _options(parser)
    else:
        yield from _arguments(verb, parser, current, _folder(before))


def _verb(words: list[str]) -> tuple[str, list[str]]:
    """The longest beginning of the words that names a command or a group, and the words after it."""
    known = {*all_verbs(), *COMMANDS, *all_commands()}
    known |= {verb.rpartition(" ")[0] for verb in all_verbs() if " " in verb}
    for end in range(len(words), 0, -1):
        if " ".join(words[:end]) in known:
            return " ".join(words[:end]), words[end:]
    return words[0], words[1:]


def _next_words(group: str) -> Iterator[Completion]:
    for each in commands_of(group):
        word, _, deeper = (each.verb or "").removeprefix(f"{group} ").partition(" ")
        yield word, f"{word}: more commands" if deeper else each.summary or each.title


def _parser(verb: str) -> argparse.ArgumentParser | None:
    if verb in COMMANDS:
        return module_and_parser(verb)[1]
    listed = all_verbs().get(verb)
    return parser_of(listed.operation) if listed is not None else None


def _options(parser: argparse.ArgumentParser) -> Iterator[Completion]:
    for action in parser._actions:
        if action.help is not argparse.SUPPRESS:
            for flag in action.option_strings:
                if flag.startswith("--") or len(action.option_strings) == 1:
                    yield flag, action.help or ""


def _values(option: argparse.Action) -> Iterator[Completion]:
    metavar = option.metavar if isinstance(option.metavar, str) else ""
    choices = option.choices or (metavar.strip("{}").split(",") if metavar.startswith("{") else ())
    yield from ((str(choice), "") for choice in choices)
    if not choices and not any(word in metavar for word in ("N", "TEXT")):
        yield FILES


def _folder(words: list[str]) -> str:
    """The folder of -C, at any position."""
    for flag in ("-C", "--folder"):
        if flag in words[:-1]:
            return words[words.index(flag) + 1]
    return HERE


def _arguments(verb: str, parser: argparse.ArgumentParser, current: str, folder: str) -> Iterator[Completion]:
    places = [action for action in parser._actions if not action.option_strings]
    for action in places:
        if action.choices:
            yield from _values(action)
    if verb == "completion":
        yield from (("bash", ""), ("zsh", ""), ("fish", ""))
        return
    if not places:
        return
    is_text = any(verb == each or verb.startswith(f"{each} ") for each in _WITHOUT_IDS)
    if not is_text and any(action.dest != "folder" for action in places):
        with suppress(ClewError, OSError):
            yield from _ids(verb, folder)
    yield FILES


def _ids(verb: str, folder: str) -> Iterator[Completion]:
    """The ids in the project that a command takes."""
    from clew.graph.model import NodeKind
    from clew.project import Project

    project = Project.open(admitted(Path(folder), named=not isinstance(folder, Here)), drafts=False)
    try:
        group = verb.partition(" ")[0]
        if group == "memory":
            yield from _memories(project)
            return
        project.ensure_graph()
        graph = project.graph
        if group == "change":
            changes = {node.get_field("change_id") for node in graph.nodes_by_kind(NodeKind.REMAINDER)}
            yield from ((change, "open change") for change in sorted(filter(None, changes)))
            return
        kinds = [NodeKind.SPEC] if group == "specs" else [NodeKind.REQUIREMENT, NodeKind.SPEC, NodeKind.USER_JOURNEY]
        for kind in kinds:
            for node in sorted(graph.nodes_by_kind(kind), key=lambda node: node.id):
                if group != "req" or node.get_field("level") == "register":
                    yield node.id.removeprefix("spec:"), node.title
    finally:
        project.close()


def _memories(project: "Project") -> Iterator[Completion]:
    if project.memory.exists:
        view = project.memory.shared_view()
        yield from ((memory.id[:8], memory.text) for memory, _ in view.library.latest(MOST))
