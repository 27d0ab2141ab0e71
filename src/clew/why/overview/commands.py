"""The three commands that a new user should try: each gives an answer in this project."""

# Implements: REQ-d00440

import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from clew.graph.model import HIERARCHY, Node, NodeKind
from clew.trace.reports.groups import FLOOD, UNCOVERED
from clew.why.overview.about import AboutProject
from clew.why.overview.overview import Overview, main_symbol
from clew.why.overview.telling_line import telling_place

if TYPE_CHECKING:
    from clew.project import Project
    from clew.trace.reports.groups import Group

MOST = 3
_SUBJECT = re.compile(r"\W*([A-Z][\w.-]*(?: [A-Z][\w.-]*)?) (?:is|are)\b")
_ROOT_NAME = re.compile(r"-(?:monorepo|workspace|root)$", re.IGNORECASE)
_TOLD = (
    (re.compile(r"\W*(?:install|quick ?start|getting started)", re.IGNORECASE), "how is {name} installed?"),
    (re.compile(r"\W*(?:running )?(?:the )?tests?\b", re.IGNORECASE), "how are the tests run?"),
    (re.compile(r"\W*usage\b", re.IGNORECASE), "how is {name} used?"),
)
"""Headings of a README, and the question that the text below them answers."""
_NO_SUBJECT = frozenset(("it", "this", "that", "there", "they", "these", "we", "you", "here", "what"))


class NextCommand(msgspec.Struct, frozen=True):
    command: str
    why: str


def next_commands(project: "Project", seen: Overview, concerns: "tuple[Group, ...]") -> tuple[NextCommand, ...]:
    """Suggested commands, each made of something in the project, so that it has an answer."""
    found = [*_questions(seen), *_reasons(project, seen), *_lists(project, concerns)]
    found += _others(project, seen) if len(found) < MOST else ()
    return tuple(found[:MOST])


def _questions(seen: Overview) -> Iterator[NextCommand]:
    if question := _question(seen.about):
        yield NextCommand(f'clew ask "{question}"', "quotes that answer it")


def _question(about: AboutProject) -> str:
    """A question that the README answers: what the project is, one that it asks, or how something is done; empty where
    it answers none."""
    name = _ROOT_NAME.sub("", about.name.rpartition("/")[2])
    first = re.split(r"(?<=[.?!])\s", about.opening)[0].replace('"', "'")
    if first.endswith("?"):
        return first
    subject = _SUBJECT.match(first)
    if subject is not None and subject[1].casefold() not in _NO_SUBJECT:
        return f"what is {subject[1]}?"
    if asked := next((each for each in about.headings if each.endswith("?") and '"' not in each), None):
        return asked
    told = (question for begin, question in _TOLD if any(begin.match(each) for each in about.headings))
    return next(told, "").format(name=name)


def _reasons(project: "Project", seen: Overview) -> Iterator[NextCommand]:
    paths = _busy_sources(project, seen)
    if (telling := telling_place(project, paths)) is not None:
        yield NextCommand(f"clew why {shlex.quote(telling)}", "who asked for it, what proves it")
        return
    for path in paths:
        symbol = main_symbol(project, path)
        if symbol is not None:
            yield NextCommand(f"clew why {shlex.quote(f'{path}:{symbol.line}')}", "who asked for it, what proves it")
            return


def _busy_sources(project: "Project", seen: Overview) -> list[str]:
    """The busiest files that are no tests: nobody learns a project by a helper of its tests."""
    busy = seen.past.busy if seen.past is not None else ()
    return [each.path for each in busy if not project.uses.tests.holds(each.path)]


def _lists(project: "Project", concerns: "tuple[Group, ...]") -> Iterator[NextCommand]:
    """Commands for a project with requirements."""
    uncovered = next((each for each in concerns if each.code == UNCOVERED and len(each.findings) > FLOOD), None)
    if uncovered is not None and project.links.has_unlinked_tests():
        yield NextCommand("clew links suggest --tests", "which test proves which")
    elif (top := top_requirement(project)) is not None:
        yield NextCommand(f"clew show {shlex.quote(top)}", "what is below, what proves it")


def _others(project: "Project", seen: Overview) -> Iterator[NextCommand]:
    """Commands for any project."""
    symbols = (main_symbol(project, path) for path in _busy_sources(project, seen))
    symbol = next(filter(None, symbols), None)
    if symbol is not None:
        yield NextCommand(f"clew search {shlex.quote(symbol.name)}", "everything that says it")
    if seen.holds.documents:
        yield NextCommand("clew kb", "which documents are read")
    if seen.past is not None and seen.past.commits:
        yield NextCommand("clew why HEAD", "what the last commit changed")
    yield NextCommand("clew init", "set up an MCP client")


def top_requirement(project: "Project") -> str | None:
    """The root of the highest level with the most below it."""
    return project.graph.derived("top_requirement", lambda graph: _top_requirement(project))


def _top_requirement(project: "Project") -> str | None:
    ranks = {level.name: level.rank for level in project.config.elspais.levels}
    roots = [node for node in project.graph.iter_roots() if node.kind is NodeKind.REQUIREMENT]
    if not roots:
        return None

    def order(node: Node) -> tuple[int, int, str]:
        below = sum(1 for _ in project.graph.iter_children(node.id, HIERARCHY))
        return ranks.get(node.get_field("level", ""), len(ranks) + 1), -below, node.id

    return min(roots, key=order).id
