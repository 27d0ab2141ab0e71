"""Sets of true links, for measuring and fitting suggestions: two sides of texts and which belong together.

Three come from the development data that lies beside the repository, and one from Clew itself:

- `warc`: high-level and low-level requirements of a library, linked by hand;
- `changes`: proposals of changes and the specs they change; `scenarios`: requirements and their scenarios;
  `tasks`: specs and the task lists of the changes that touched them;
- `clew`: the requirements of this repository and its tests.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.workspace import REPOSITORY
from clew.graph.model import NodeKind
from clew.project import Project
from clew.trace.links.match.evidence import cited_by
from clew.trace.links.match.texts import LinkableText, requirement_artefact
from clew.trace.links.match.units import read_units
from clew.trace.links.measure import LinkSet, read_link_set

DATA = REPOSITORY.parent / "shared" / "data"
WARC = DATA / "traceability" / "warc"
OPENSPEC = DATA / "openspec"

SCENARIO_SPECS = 14
"""So many specs give their scenarios: more would drown the other sets."""

_IMPACT = re.compile(r"^## (?:Impact|Capabilities|Affected)", re.MULTILINE)
_REQUIREMENT = re.compile(r"^### Requirement: (.*?)\n(.*?)(?=^### Requirement: |\Z)", re.DOTALL | re.MULTILINE)
_SCENARIO = re.compile(r"^#### Scenario: ", re.MULTILINE)


def warc() -> LinkSet:
    return read_link_set(WARC, sources="high", targets="low", answers="answer.csv")


def changes() -> LinkSet:
    specs = _specs()
    sources: list[LinkableText] = []
    answers: dict[str, frozenset[str]] = {}
    for folder, touched in _changed(specs):
        # The proposal ends with a list of the specs it touches, which would give the answer away.
        text = _IMPACT.split((folder / "proposal.md").read_text(encoding="utf-8"))[0]
        sources.append(LinkableText(folder.name, folder.name.lstrip("0123456789-"), text))
        answers[folder.name] = touched
    return LinkSet(tuple(sources), tuple(specs.values()), answers)


def tasks() -> LinkSet:
    specs = _specs()
    targets: list[LinkableText] = []
    answers: dict[str, frozenset[str]] = {}
    for folder, touched in _changed(specs):
        if (folder / "tasks.md").is_file():
            targets.append(LinkableText(folder.name, "", (folder / "tasks.md").read_text(encoding="utf-8")))
            for spec in touched:
                answers[spec] = answers.get(spec, frozenset()) | {folder.name}
    return LinkSet(tuple(specs.values()), tuple(targets), answers)


def scenarios() -> LinkSet:
    sources: list[LinkableText] = []
    targets: list[LinkableText] = []
    answers: dict[str, frozenset[str]] = {}
    names = sorted(_specs())
    for name in names[:: max(1, len(names) // SCENARIO_SPECS)]:
        text = (OPENSPEC / "specs" / name / "spec.md").read_text(encoding="utf-8")
        for requirement in _REQUIREMENT.finditer(text):
            statement, *parts = _SCENARIO.split(requirement[2])
            id = f"{name}/{requirement[1]}"
            sources.append(LinkableText(id, requirement[1], statement))
            own = [_scenario(id, part) for part in parts]
            targets.extend(own)
            if own:
                answers[id] = frozenset(artefact.id for artefact in own)
    return LinkSet(tuple(sources), tuple(targets), answers)


def clew() -> LinkSet:
    """Requirements and tests of this repository, the citations taken out of the tests."""
    project = Project.open(REPOSITORY)
    try:
        project.ensure_graph()
        graph = project.graph
        requirements = tuple(requirement_artefact(node) for node in graph.nodes_by_kind(NodeKind.REQUIREMENT))
        targets: list[LinkableText] = []
        answers: dict[str, set[str]] = {requirement.id: set() for requirement in requirements}
        for path in sorted({node.source.path for node in graph.nodes_by_kind(NodeKind.TEST) if node.source}):
            file = read_units((REPOSITORY / path).read_bytes(), path, graph.nodes_in_file(path), is_test=True)
            for unit in file.units:
                node = graph.get_node(unit.id)
                cited = cited_by(graph, node) if node is not None else frozenset()
                if cited:
                    targets.append(unit.artefact())
                for id in cited:
                    answers[id].add(unit.id)
    finally:
        project.close()
    found = {id: frozenset(tests) for id, tests in answers.items() if tests}
    return LinkSet(requirements, tuple(targets), found)


def _specs() -> dict[str, LinkableText]:
    paths = sorted((OPENSPEC / "specs").glob("*/spec.md"))
    return {
        path.parent.name: LinkableText(path.parent.name, path.parent.name, path.read_text(encoding="utf-8"))
        for path in paths
    }


def _changed(specs: dict[str, LinkableText]) -> Iterator[tuple[Path, frozenset[str]]]:
    """The folders of changes, each with the specs that it changes."""
    for proposal in sorted((OPENSPEC / "changes").rglob("proposal.md")):
        touched = {path.name for path in (proposal.parent / "specs").glob("*")} & specs.keys()
        if touched:
            yield proposal.parent, frozenset(touched)


def _scenario(requirement: str, text: str) -> LinkableText:
    title, _, steps = text.partition("\n")
    return LinkableText(f"{requirement}#{title.strip()}", title.strip(), steps.strip())


SETS: dict[str, Callable[[], LinkSet]] = {
    "warc": warc,
    "changes": changes,
    "scenarios": scenarios,
    "tasks": tasks,
    "clew": clew,
}
