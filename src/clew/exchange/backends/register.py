"""The register of req: items become managed requirements, whose validator has the last word."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from clew.edit.edits import FileEdit
from clew.errors import InvalidArgument, Rejected
from clew.exchange.backends.backend import PlacedItem, some, title_of, writable
from clew.exchange.backends.spec_text import criterion_text
from clew.exchange.model import REQUIREMENT, Criterion, Item, Relation, attribute
from clew.formats.register.ids import PREFIX, format_id, number_of
from clew.formats.register.model import (
    LINK_KINDS,
    LinkKind,
    Priority,
    Requirement,
    RequirementKind,
    RequirementLink,
    Spelling,
    Status,
    parse_word,
)
from clew.text.display import shortened

if TYPE_CHECKING:
    from clew.operation.call import Call

_TITLE_LEAST, _TITLE_MOST = 5, 120
_KINDS = {kind.word.replace("-", "_"): kind for kind in LINK_KINDS}
_SPLIT = re.compile(r"\s*[,;|]\s*")

AnyWord = TypeVar("AnyWord", bound=Spelling)


class RegisterBackend:
    name = "register"
    kinds = frozenset({REQUIREMENT})

    def __init__(self, call: "Call") -> None:
        self._call = call
        self._register = call.project.register
        self._snapshot = self._register.snapshot()
        self._next = max(
            (
                self._snapshot.register.next_id,
                *(1 + (number_of(id) or 0) for id in self._snapshot.register.requirements),
            )
        )

        self._given = 0
        """The last number that was given to an item whose own id does not fit."""

    def items(self) -> Mapping[str, Item]:
        path = self._register.file.place.name
        return {id: item_of(each, path) for id, each in self._snapshot.register.requirements.items()}

    def beside(self) -> list[str]:
        register = self._snapshot.register
        dated = [each for each in register.requirements.values() if each.history or each.tests or each.validation]
        safety = len(register.hazards) + len(register.safety_functions) + len(register.safety_requirements)
        return [
            *some(len(dated), "entry's history and evidence", "entries' history and evidence"),
            *some(safety, "part of the safety case", "parts of the safety case"),
        ]

    def fits(self, item: Item) -> bool:
        number = number_of(item.id)
        is_own = number is not None and item.id == format_id(number) and item.id.startswith(PREFIX)
        # An id that was given before is never given again.
        return is_own and (item.id in self._snapshot.register.requirements or (number or 0) >= self._next)

    def fresh(self, item: Item, taken: set[str]) -> str:
        if not self._given:
            self._given = max((self._next - 1, *(number_of(id) or 0 for id in taken)))
        self._given += 1
        while (id := format_id(self._given)) in taken:
            self._given += 1
        return id

    def labels(self, item: Item, before: Mapping[str, str], taken: Collection[str]) -> tuple[str, ...]:
        return tuple(str(number) for number in range(1, len(item.criteria) + 1))

    def placed(self, placing: PlacedItem) -> Item:
        requirement = self._requirement(placing)
        faults = self._register.faults(requirement)
        if faults:
            reasons = "; ".join(each.rstrip(".") for each in faults)
            raise Rejected(f"The validator of the register rejects it: {reasons}.", hint="Correct it in the source.")
        return item_of(requirement, self._register.file.place.name)

    def _requirement(self, placing: PlacedItem) -> Requirement:
        item = placing.item
        old = self._snapshot.register.requirements.get(item.id)
        here = item_of(old, "") if old is not None else None
        title = title_of(item, _TITLE_MOST).rstrip(".")
        if len(title) < _TITLE_LEAST:
            title = f"{item.id}: {title}"
        if here is not None and here.title == item.title:
            title = here.title
        known = frozenset(old.acceptance if old is not None else ())
        criteria = tuple(
            each.text if each.text in known and not each.title else writable(criterion_text(each)).strip()
            for each in item.criteria
        )
        usual = RequirementKind.FUNCTIONAL if criteria else RequirementKind.CONSTRAINT
        links = dict.fromkeys(
            (_KINDS[each.kind], each.target)
            for each in item.relations
            if each.kind in _KINDS
            and (
                (here is not None and each in here.relations)
                or (not each.labels and number_of(each.target) is not None)
            )
        )
        tags = tuple(dict.fromkeys(filter(None, _SPLIT.split(writable(attribute(item, "tags")).strip()))))
        if old is not None and here is not None and attribute(item, "tags") == attribute(here, "tags"):
            tags = old.tags
        return Requirement(
            id=item.id,
            title=title,
            statement=item.text if here is not None and here.text == item.text else _statement(item, criteria) or title,
            rationale=_rationale(item, here) or (old.rationale if old else f"It was imported from {placing.source}."),
            acceptance=criteria,
            kind=_word(attribute(item, "kind"), RequirementKind, old.kind if old else usual),
            priority=_word(attribute(item, "priority"), Priority, old.priority if old else Priority.SHOULD),
            status=_word(attribute(item, "status"), Status, old.status if old else Status.DRAFT),
            tags=tags,
            links=tuple(RequirementLink(kind=kind, target=target) for kind, target in links),
            created="",
            updated="",
            history=(),
            tests=(),
        )

    def edits(self, added: Sequence[PlacedItem], changed: Sequence[PlacedItem]) -> list[FileEdit]:
        """None: the register is written by its own transaction, which is tried here."""
        wanted, source = self._wanted(added, changed)
        self._register.check_placing(self._call, wanted, source=source)
        return []

    def commit(
        self, added: Sequence[PlacedItem], changed: Sequence[PlacedItem], files: Callable[[], None]
    ) -> tuple[str, ...]:
        """Write under the lock of the register. The files come first, with the record of the import: an item that it
        names and that is missing is made by the next import."""
        wanted, source = self._wanted(added, changed)
        self._register.place(self._call, wanted, source=source, expected=self._snapshot.version, before=files)
        return (self._register.file.place.name,)

    def _wanted(self, added: Sequence[PlacedItem], changed: Sequence[PlacedItem]) -> tuple[list[Requirement], str]:
        """The requirements to write, and the names of the imports that they come from."""
        placings = (*added, *changed)
        return [self._requirement(each) for each in placings], ", ".join(sorted({each.source for each in placings}))


def item_of(requirement: Requirement, path: str) -> Item:
    attributes = {
        "kind": requirement.kind.word,
        "priority": requirement.priority.word,
        "status": requirement.status.value,
        "Rationale": requirement.rationale,
    }
    if requirement.tags:
        attributes["tags"] = ", ".join(requirement.tags)
    links = (each for each in requirement.links if each.kind in LINK_KINDS)
    return Item(
        id=requirement.id,
        title=requirement.title,
        text=requirement.statement,
        criteria=tuple(Criterion(str(n), text) for n, text in enumerate(requirement.acceptance, start=1)),
        attributes=attributes,
        relations=tuple(Relation(_relation_word(each.kind), each.target) for each in links),
        path=path,
    )


def _rationale(item: Item, here: Item | None) -> str:
    """The present rationale if it says the same, else the new one."""
    said = attribute(item, "rationale")
    return said if here is not None and said == attribute(here, "rationale") else writable(said).strip()


def _statement(item: Item, criteria: tuple[str, ...]) -> str:
    """The text; where it says nothing, the first criterion."""
    return writable(item.text).strip() or next(iter(criteria), "")


def _relation_word(kind: LinkKind) -> str:
    return kind.word.replace("-", "_")


def _word(written: str, type_: type[AnyWord], otherwise: AnyWord) -> AnyWord:
    try:
        return parse_word(shortened(written), type_, "word") if written else otherwise
    except InvalidArgument:
        return otherwise
