"""Texts of others in specs: a line that would be read as something else gets a backslash in front of it."""

import re
from collections.abc import Callable

from clew.exchange.model import Criterion, Relation
from clew.exchange.places.place import one_line, writable
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.openspec.lines import CODE, FENCE, Lines

CITED = ("implements", "refines", "verifies")
ID = "ID"
METADATA = re.compile(r"\s*(?:[-*+]\s+)?(?:\*\*|__)([^*_:]{1,60}?)(?::(?:\*\*|__)|(?:\*\*|__)\s*:)\s*(.*)")
CITATION = re.compile(r"\s*(Implements|Refines|Verifies):\s", re.IGNORECASE)
NAME = re.compile(r"[^\s*_:][^*_:\n]{0,58}")
_STARTS_SOMETHING = re.compile(r"\s*(?:#|```|~~~)")


def scenario_name(criterion: Criterion) -> str:
    return one_line(criterion.title or criterion.label) or "Criterion"


def scenario_lines(criterion: Criterion) -> list[str]:
    return [f"#### Scenario: {scenario_name(criterion)}", "", *plain(criterion.text).split("\n"), ""]


def metadata_line(name: str, value: str) -> str:
    return f"- **{name}**: {one_line(value)}"


def citation_line(kind: str, relations: list[Relation], grammar: IdGrammar) -> str:
    return f"{kind.capitalize()}: {', '.join(_reference(each, grammar) for each in relations)}"


def _reference(relation: Relation, grammar: IdGrammar) -> str:
    if not relation.labels:
        return relation.target
    if grammar.canonical(relation.target) is None:
        return f"{relation.target}#{'+'.join(relation.labels)}"
    return grammar.assertion_id(relation.target, grammar.settings.label_multi_separator.join(relation.labels))


def is_field(line: str) -> bool:
    """Whether a line before the first scenario would be read as metadata or as a citation."""
    return bool(METADATA.match(line) or CITATION.match(line))


def plain(text: str, is_field: Callable[[str], bool] = lambda _: False) -> str:
    """A text that is read as text and nothing else."""
    return "\n".join(plain_lines(text.strip(), is_field)[1])


def plain_lines(text: str, is_field: Callable[[str], bool] = lambda _: False) -> tuple[list[str], list[str]]:
    """The lines of a text as they are said and as they are written. Code blocks stay as they are, unless one is never
    closed."""
    said = [line.rstrip() for line in writable(text).split("\n")]
    lines = list(said)
    found = Lines("\n".join(lines).encode())
    for index, line in enumerate(lines):
        is_code = found.kinds[index] in (FENCE, CODE) if index < len(found) else False
        if found.fence_line and index + 1 >= found.fence_line:
            is_code = False
        if not is_code and (_STARTS_SOMETHING.match(line) or is_field(line)):
            lines[index] = f"\\{line.lstrip()}"
    return said, lines
