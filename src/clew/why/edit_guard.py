"""The facts about lines that are about to be edited, for hooks: what must stay true, what proves it, and with the grant
`history` why the lines are as they are.

A hook has no time: what is asked is the graph as it is, and nothing is read but the file that is edited.
"""

# Implements: REQ-d00860

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from clew.errors import ClewError
from clew.formats.code.outline import enclosing, holds_code
from clew.grants import Grant, is_granted
from clew.graph.model import Edge, EdgeKind, Node, NodeKind
from clew.memory.hooks.pushed import EditFacts, EditSwitches, PushedLine
from clew.operation.call import Call
from clew.text.display import one_line
from clew.text.instruction_like import flags_of
from clew.trace.read.assertions import written
from clew.why.changes.tests_to_run import tests_to_run
from clew.why.inquiry import Inquiry
from clew.why.sections.asked import TargetCitations
from clew.why.target import Target, TargetText, read_text

if TYPE_CHECKING:
    from clew.derived.code_file import FiledSymbol
    from clew.project import Project

_LONGEST, _LONGEST_NAME = 170, 110
_MOST_FILES, _MOST_OBLIGATIONS = 4, 6
_HISTORY_SECONDS = 0.12
_AFTER_SECONDS = 0.5
_MOST_COMMANDS = 2
_VERDICTS = {"passed": 0, None: 1}
"""A test that passed is named before one without a result, and that before one that failed."""


class EditedLines(msgspec.Struct, frozen=True):
    path: str
    first: int
    last: int
    """0 where the place is not known."""
    text: TargetText


class ProjectEditGuard:
    def __init__(self, project: "Project") -> None:
        self._project = project

    @property
    def switches(self) -> EditSwitches:
        return EditSwitches(**msgspec.structs.asdict(self._project.config.push))

    def before(self, paths: Sequence[str], texts: Sequence[str]) -> EditFacts:
        project = self._project
        if not project.context.keeper.is_built:
            return EditFacts()
        places = list(self._places(paths, texts))
        cited: dict[tuple[str, tuple[str, ...]], tuple[PushedLine, PushedLine]] = {}
        with project.context.lock.reading():
            for place in places:
                for edge in self._edges(place):
                    key = (edge.target, edge.labels)
                    if key not in cited and (line := self._obligation(edge)) is not None:
                        cited[key] = (line, self._proof(edge))
        found = list(cited.values())[:_MOST_OBLIGATIONS]
        return EditFacts(
            obligations=tuple(line for line, _ in found),
            proofs=tuple(proof for _, proof in found),
            history=self._history(places),
            requirements=tuple(dict.fromkeys(target for target, _ in cited)),
            symbols=tuple(name for place in places for name in _around(place)),
            spans=tuple((place.path, place.first, place.last) for place in places),
        )

    def after(self, paths: Sequence[str], texts: Sequence[str]) -> Sequence[PushedLine]:
        project = self._project
        if not project.context.keeper.is_built:
            return ()
        project.ensure_graph()
        project.code.ensure(_AFTER_SECONDS)
        places = list(self._places(paths, texts))
        lines = []
        with project.context.lock.reading():
            for place in places:
                for edge in self._edges(place):
                    if (line := self._obligation(edge)) is not None and line not in lines:
                        lines.append(line)
            symbols = [symbol for place in places for symbol in self._filed(place)]
            run = tests_to_run(project, symbols, limit=50, check=lambda: None, seconds=_AFTER_SECONDS)
        commands = "; ".join(run.commands[:_MOST_COMMANDS])
        return (*lines[:_MOST_OBLIGATIONS], *([PushedLine("run", commands)] if commands else []))

    def _places(self, paths: Sequence[str], texts: Sequence[str]) -> Iterator[EditedLines]:
        for path in paths[:_MOST_FILES]:
            text = read_text(self._project, path)
            if text is None:
                continue
            whole = "\n".join(text.lines)
            spans = [span for each in texts if (span := _span(whole, each)) is not None]
            for first, last in spans or [(0, 0)]:
                yield EditedLines(path, first, last, text)

    def _edges(self, place: EditedLines) -> list[Edge]:
        """The citations of the lines, the narrowest first; only what is stated around them, not what a package says."""
        name = f"{place.path}:{place.first}-{place.last}" if place.first else place.path
        target = Target(
            asked=name, kind="lines" if place.first else "file", name=name, path=place.path, first=place.first,
            last=place.last,
        )  # fmt: skip
        inquiry = Inquiry(Call(self._project, ()), name, target=target)
        found = TargetCitations(inquiry).edges
        own = [each for each in found if not each[2].startswith("the package ")]
        own.sort(key=lambda each: (each[1] != "stated", each[2] == place.path))
        return [edge for edge, _, _ in own if edge.kind in (EdgeKind.IMPLEMENTS, EdgeKind.VERIFIES, EdgeKind.REFINES)]

    def _obligation(self, edge: Edge) -> PushedLine | None:
        graph = self._project.graph
        node = graph.get_node(edge.target)
        if node is None or node.kind not in (NodeKind.REQUIREMENT, NodeKind.ASSERTION):
            return None
        parts = {str(part.get_field("label")): part for part in graph.iter_children(node.id, (EdgeKind.STRUCTURES,))}
        meant = [parts[label] for label in edge.labels if label in parts]
        said = " ".join(one_line(part.title, _LONGEST) for part in meant) if meant else _statement(node)
        if flags_of(said):
            return None
        source = (meant[0] if meant else node).source
        place = f" ({source.path}:{source.line})" if source is not None else ""
        name = written(graph, edge)
        return PushedLine(f"requirement:{name}", f"must stay true, {name}{place}: {one_line(said, _LONGEST)}")

    def _proof(self, edge: Edge) -> PushedLine:
        """The test that verifies what an edge cites, one that passed first."""
        graph, found = self._project.graph, []
        for each in graph.memory.iter_incoming_edges(edge.target):
            same = not edge.labels or not each.labels or set(each.labels) & set(edge.labels)
            node = graph.get_node(each.source) if each.kind is EdgeKind.VERIFIES and same else None
            if node is not None and node.kind is NodeKind.TEST and node.source is not None:
                verdict = graph.evidence.verdict(node.id)
                found.append((_VERDICTS.get(verdict, 2), node.source.path, node.source.line, verdict, node))
        if not found:
            return PushedLine("", "")
        _, path, line, verdict, node = min(found, key=lambda each: each[:3])
        name = one_line(node.id.partition("::")[2] or node.title, _LONGEST_NAME)
        result = f", {verdict}" if verdict else ""
        return PushedLine(f"test:{node.id}", f"proved by {path}:{line} {name}{result}")

    def _history(self, places: Iterable[EditedLines]) -> PushedLine | None:
        """The reason of the lines in the words of a commit, where the user lets commits speak to agents."""
        project = self._project
        if not (self.switches.history and is_granted(project.config.root, Grant.HISTORY)):
            return None
        from clew.why.sections.made import begin_story, made

        place = next((each for each in places if each.first), None)
        if place is None:
            return None
        name = f"{place.path}:{place.first}-{place.last}"
        target = Target(asked=name, kind="lines", name=name, path=place.path, first=place.first, last=place.last)
        inquiry = Inquiry(Call(project, ()), name, target=target, seconds=_HISTORY_SECONDS)
        try:
            begin_story(inquiry)
            reason = made(inquiry).reason
        except ClewError:
            return None
        fact = next((each for each in reason.facts if each.basis == "recorded"), None) if reason is not None else None
        if fact is None or flags_of(fact.text):
            return None
        return PushedLine(f"commit:{fact.place}", f"history, {fact.place}: {one_line(fact.text, _LONGEST)}")

    def _filed(self, place: EditedLines) -> "list[FiledSymbol]":
        """The definitions that the lines belong to, the innermost around each place."""
        if not holds_code(place.path) or not place.first:
            return []
        symbols = self._project.code.file.symbols_of(place.path)
        around = enclosing(symbols, place.first, place.last)
        return [each for each in symbols if around and each.at == around[-1].at]


def _statement(node: Node) -> str:
    """The first sentence of a requirement's text, or its title."""
    body = str(node.get_field("body") or "").strip()
    return one_line(body, _LONGEST) or one_line(node.title, _LONGEST)


def _span(text: str, part: str) -> tuple[int, int] | None:
    """The lines at which a text holds a part; None where it does not, or more than once."""
    at = text.find(part) if part.strip() else -1
    if at < 0 or text.find(part, at + 1) >= 0:
        return None
    first = text.count("\n", 0, at) + 1
    return first, first + part.rstrip("\n").count("\n")


def _around(place: EditedLines) -> list[str]:
    if not place.first or not holds_code(place.path):
        return []
    return [each.qualname for each in enclosing(place.text.outline.symbols, place.first, place.last)]
