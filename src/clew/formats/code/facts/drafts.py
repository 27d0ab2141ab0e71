"""Symbols while their file is being read, and how they become those of its record."""

from collections.abc import Sequence

from clew.formats.code.facts.model import SCOPES, Extent, Parameter, Shape, Symbol
from clew.formats.code.facts.writing import FactsWriter

MOST_VALUES = 12
"""Values of one variable that are kept; a longer list would be looked through at each use."""
_MOST_PLACES = 50
_LONGEST_HEAD = 200
_MOST_HEAD_ROWS = 40
_DEEPEST = 64


class Draft:
    """A symbol while its file is being read."""

    __slots__ = (
        "about",
        "also",
        "bases",
        "decorators",
        "end_line",
        "form",
        "is_test",
        "kind",
        "line",
        "metaclass",
        "name",
        "name_line",
        "owner",
        "parameters",
        "parent",
        "type",
        "type_defaults",
        "type_parameters",
        "values",
    )

    def __init__(self, name: str, kind: str, line: int, end_line: int, name_line: int, parent: int) -> None:
        self.name = name
        self.kind = kind
        self.line, self.end_line, self.name_line = line, end_line, name_line
        self.parent = parent
        self.is_test = False
        self.owner = ""
        """The type that a method belongs to, where that may be in another file."""
        self.also: list[Extent] = []
        self.about = ""
        self.type = 0
        self.values: dict[int, None] = {}
        self.bases: list[int] = []
        self.decorators: list[int] = []
        self.parameters: list[tuple[str, int, int, int]] = []
        self.form = 0
        self.type_parameters: tuple[str, ...] = ()
        self.metaclass = 0
        self.type_defaults: tuple[int, ...] = ()

    @property
    def place(self) -> Extent:
        return Extent(self.line, self.end_line, self.name_line)

    def declared_again(self, place: Extent) -> None:
        if len(self.also) < _MOST_PLACES:
            self.also.append(place)

    def give(self, value: int) -> None:
        if len(self.values) < MOST_VALUES:
            self.values[value] = None


def finished(drafts: Sequence[Draft], writer: FactsWriter, rows: Sequence[str]) -> tuple[Symbol, ...]:
    """Give the symbols their names and shapes, and put them into the order of their lines."""
    qualnames: list[str] = []
    depths: list[int] = []
    taken: set[str] = set()
    for draft in drafts:
        above = draft.parent
        deep = depths[above] + 1 if above >= 0 else 0
        qualname = f"{qualnames[above]}.{draft.name}" if above >= 0 and deep < _DEEPEST else draft.name
        if draft.owner and above < 0:
            qualname = f"{draft.owner}.{draft.name}"
        if qualname in taken:
            qualname = f"{qualname}@{draft.name_line}"
        taken.add(qualname)
        qualnames.append(qualname)
        depths.append(deep)
        head = _head(rows, draft)
        named = draft.name_line if draft.name_line != draft.line else 0
        also = tuple(dict.fromkeys(each for each in draft.also if each.at != draft.name_line))
        is_test = draft.is_test and draft.kind != "class"
        writer.symbol(
            Symbol(
                qualname,
                draft.name,
                draft.kind,
                draft.line,
                draft.end_line,
                is_test,
                above,
                head,
                named,
                also,
                draft.about,
            ),
            _shape(writer, draft),
        )
    return writer.in_order()


def _head(rows: Sequence[str], draft: Draft) -> str:
    """The line that defines a symbol; of a function or class with all its parameters, also where they take several
    lines."""
    if draft.name_line > len(rows):
        return ""
    head = rows[draft.name_line - 1].strip()
    if draft.kind in SCOPES:
        for row in rows[draft.name_line : min(draft.end_line, draft.name_line + _MOST_HEAD_ROWS)]:
            if len(head) > _LONGEST_HEAD or _is_closed(head):
                break
            part = row.partition(" #")[0].strip()
            head += part if head.endswith("(") or part.startswith(")") else f" {part}"
    return head.replace(",)", ")")[:_LONGEST_HEAD]


def _is_closed(head: str) -> bool:
    return head.count("(") + head.count("[") <= head.count(")") + head.count("]")


def _shape(writer: FactsWriter, draft: Draft) -> Shape:
    values = [each for each in draft.values if each or len(draft.values) > 1]
    return Shape(
        draft.type,
        writer.union(values),
        tuple(draft.bases),
        tuple(draft.decorators),
        tuple(Parameter(*each) for each in draft.parameters),
        int(draft.form),
        draft.type_parameters,
        draft.metaclass,
        draft.type_defaults,
    )
