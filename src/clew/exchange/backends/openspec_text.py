"""Texts of others in specs: a line that would be read as something else gets a backslash in front of it."""

import re
from collections.abc import Callable

from clew.exchange.backends.backend import free_name, one_line, title_of, writable
from clew.exchange.model import Criterion, Item, Relation
from clew.formats.code.prose_citations import cited_in_prose
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.openspec.lines import SpecLines
from clew.formats.openspec.records import Requirement
from clew.text.markdown import CODE, FENCE, TEXT

CITED = ("implements", "refines", "verifies")
ID = "ID"
METADATA = re.compile(r"\s*(?:[-*+]\s+)?(?:\*\*|__)([^*_:]{1,60}?)(?::(?:\*\*|__)|(?:\*\*|__)\s*:)\s*(.*)")
_CITATION = re.compile(r"\s*(Implements|Refines|Verifies):\s(.*)", re.IGNORECASE)
_NAME = re.compile(r"[^\s*_:][^*_:\n]{0,58}")
_BETWEEN = re.compile(r"[,;&]|(?<!\S)and(?!\S)")
_CLOSING = re.compile(r"\s#+$")
_STARTS_SOMETHING = re.compile(r"#|\s*(?:```|~~~)")


def name_of(item: Item) -> str:
    return title_of(item, without="")


def scenario_name(criterion: Criterion) -> str:
    return one_line(criterion.title or criterion.label) or "Criterion"


def scenario_lines(criterion: Criterion) -> list[str]:
    text = plain(criterion.text)
    return [closed(f"#### Scenario: {scenario_name(criterion)}"), "", *([*text.split("\n"), ""] if text else [])]


def metadata_line(name: str, value: str) -> str:
    return f"- **{name}**: {one_line(value)}"


def is_own(name: str) -> bool:
    """True if a line of metadata of this name holds the id or the citations of a requirement; no attribute has such a
    name."""
    return name.casefold() in (ID.casefold(), *CITED)


def attribute_names(record: Requirement) -> list[str]:
    """The names of a requirement's attributes: those of its metadata, and then the headings that are no scenarios."""
    taken: set[str] = set()
    names: list[str] = []
    said = (name for name, _ in record.metadata if not is_own(name))
    for name in (*said, *(each.heading for each in record.asides)):
        names.append(free_name(name, taken))
        taken.add(names[-1].casefold())
    return names


def can_be_metadata(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and not is_own(name)


def references(relations: list[Relation], grammar: IdGrammar) -> str:
    return ", ".join(_reference(each, grammar) for each in relations)


def citation_line(kind: str, relations: list[Relation], grammar: IdGrammar) -> str:
    return f"{kind.capitalize()}: {references(relations, grammar)}"


def _reference(relation: Relation, grammar: IdGrammar) -> str:
    if not relation.labels:
        return relation.target
    if grammar.canonical(relation.target) is None:
        return f"{relation.target}#{'+'.join(relation.labels)}"
    return grammar.assertion_id(relation.target, grammar.settings.label_multi_separator.join(relation.labels))


def citation(line: str) -> re.Match[str] | None:
    """The kind of citation in a line, and the position of its target."""
    found = _CITATION.match(line) or METADATA.match(line)
    return found if found is not None and found[1].strip().casefold() in CITED else None


def cited_relations(text: str, grammar: IdGrammar) -> tuple[Relation, ...]:
    """The relations that a description cites."""
    cited = cited_in_prose(text, grammar, register=True, specs=True)
    return tuple(dict.fromkeys(Relation(each.kind, each.target, each.labels) for each in cited))


def field_lines(lines: SpecLines, first: int, stop: int, grammar: IdGrammar) -> list[int]:
    """The lines of a description that are metadata or citations and nothing else. In code nothing is."""
    places = (index for index in range(first, stop) if lines.kinds[index] == TEXT)
    return [index for index in places if _is_field(lines.text[index], grammar)]


def _is_field(line: str, grammar: IdGrammar) -> bool:
    """True for a line of citations only; with other words between them it is text."""
    found = citation(line)
    if found is None:
        return METADATA.match(line) is not None
    parts = [each.split() for each in _BETWEEN.split(found[2]) if each.strip()]
    return all(len(each) == 1 for each in parts) and 0 < len(parts) <= len(cited_relations(line, grammar))


def misread(item: Item, grammar: IdGrammar) -> Callable[[str], bool]:
    """A test for lines of an item's text that would be read as metadata, or as a citation that the item does not
    have."""

    known = frozenset(item.relations)
    return lambda line: _is_field(line, grammar) or not known.issuperset(cited_relations(line, grammar))


def renamed(heading: str, word: str, former: str, name: str) -> str:
    """A heading with another name in the place of the former one; `word` is written before it, with a colon."""
    before = rf"#*\s*{word}\s*:\s*" if word else r"#*\s*"
    start = len(heading) - len(re.sub(before, "", heading, count=1, flags=re.IGNORECASE))
    made, behind = exchanged(heading, start, former, name), heading[start + len(former) :]
    return (made if behind.strip() else closed(made)) + behind


def closed(heading: str) -> str:
    """A heading that reads as it is said: number signs at its end would be none of its words, but for a last one."""
    return f"{heading} #" if _CLOSING.search(heading) else heading


def exchanged(line: str, start: int, former: str, text: str) -> str:
    """A line with another text behind its start; with a space before it, where there was nothing."""
    space = "" if former.strip() or line[:start][-1:].isspace() else " "
    return line[:start] + space + text


def trimmed(text: str) -> str:
    """A text without the blank lines around it, and without white space at its end."""
    lines = text.split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), len(lines))
    return "\n".join(lines[first:]).rstrip()


def plain(text: str, is_field: Callable[[str], bool] = lambda _: False) -> str:
    """A text that is read as text and nothing else."""
    return "\n".join(plain_lines(trimmed(writable(text)), is_field)[1])


def plain_lines(text: str, is_field: Callable[[str], bool] = lambda _: False) -> tuple[list[str], list[str]]:
    """The lines of a text as they are said and as they are written. Code blocks stay as they are, unless one is never
    closed."""
    said = [line.rstrip() for line in writable(text).split("\n")]
    lines = list(said)
    found = SpecLines("\n".join(lines).encode())
    for index, line in enumerate(lines):
        is_code = found.kinds[index] in (FENCE, CODE) if index < len(found) else False
        if found.fence_line and index + 1 >= found.fence_line:
            is_code = False
        if not is_code and (_STARTS_SOMETHING.match(line) or is_field(line)):
            lines[index] = f"\\{line.lstrip()}"
    return said, lines
