"""From what a file holds to what is written: which items are new, which changed, which stay, and what has no place.

| the item | what happens |
|---|---|
| was never imported, and its id is free | added under its id, or under a new one where its own does not fit |
| has the id of a requirement with another title and text | is another one: added under a new id |
| has the id of a requirement and no version, and says else | stays; it is reported as a conflict |
| says what it said before | stays, whatever was done to it here since |
| changed in the source, and not here | is changed here |
| changed in the source and here | stays; it is reported as a conflict |
| was renamed here | is found under its new id |
| is gone from the project | is added again |
| came in before, and does not any more | what it became stays; what the source says now is kept, and reported |
| has no place in the project's format | is kept in the record of the import, and reported |

Before is the last import; for an item that was exported since, it is that export.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from clew.errors import BadInput, Rejected
from clew.exchange import results
from clew.exchange.backends.backend import PlacedItem, RequirementBackend
from clew.exchange.imports_file import ImportRecord, UnplacedParts, left_over, whole
from clew.exchange.model import Exchange, Item, Relation, attribute, checked, is_same, refuse_circles, version_of
from clew.exchange.renames import (
    find_renamed,
    labels_by_record,
    labels_by_text,
    labels_to_record,
    with_current_ids,
    with_ids,
)
from clew.text.display import shortened
from clew.text.hashing import content_hash

_MOST_EXAMPLES = 3
Records = Mapping[tuple[str, str], ImportRecord]


class ImportPlan(msgspec.Struct, frozen=True, kw_only=True):
    added: tuple[PlacedItem, ...]
    changed: tuple[PlacedItem, ...]
    unchanged: int
    ids: Mapping[str, str]
    """The ids of the project by those of the source."""
    conflicts: tuple[results.Problem, ...]
    rejected: tuple[results.Problem, ...]
    unplaced: tuple[results.Unplaced, ...]
    notes: tuple[str, ...]
    """Further notes for a person."""
    records: tuple[ImportRecord, ...]
    """Of this import; they take the place of those that it left before."""


class ImportChoices(msgspec.Struct, frozen=True, kw_only=True):
    """The choices of a user for an import."""

    name: str
    include: tuple[str, ...] = ()
    """Further kinds of items that become requirements."""
    relations: Mapping[str, str] = {}
    """Another kind for each kind of relation."""


def plan_import(
    exchange: Exchange,
    backends: Sequence[RequirementBackend],
    records: Records,
    choices: ImportChoices,
    exists: Callable[[str], bool],
    in_file: Mapping[str, Item],
    as_exported: Collection[str],
) -> list[tuple[RequirementBackend, ImportPlan]]:
    """Plan an import in each backend. The first takes the items that no backend has yet; every other item belongs to
    the backend that has it. `exists` tells if the project has an id which is not imported, `in_file` are the items
    that the file itself has in another form, and items of `as_exported` say no more than an export says now."""
    in_file = {id: _as_chosen(item, choices) for id, item in in_file.items()}
    items = [_as_chosen(item, choices) for item in checked(exchange).items]
    here = [backend.items() for backend in backends]
    every = {id: item for known in here for id, item in known.items()}
    renamed = find_renamed(every, records, choices.name, {item.id: item for item in items})
    records = with_current_ids(records, renamed, choices.name)
    shares: list[list[Item]] = [[] for _ in backends]
    for item in items:
        record = records.get((choices.name, item.id))
        own = {item.id} if item.id in every and is_same(item, every[item.id]) else set()
        own |= {record.as_} if record is not None else set()
        shares[next((number for number, known in enumerate(here) if own & known.keys()), 0)].append(item)
    ids: dict[str, str] = {}
    plans: list[tuple[RequirementBackend, ImportPlan]] = []
    for backend, known, share in zip(backends, here, shares, strict=True):
        if share:
            plan = _Planner(share, backend, known, records, choices, exists, ids, renamed, in_file, as_exported).plan()
            ids |= plan.ids
            plans.append((backend, plan))
    return plans


def _as_chosen(item: Item, choices: ImportChoices) -> Item:
    relations = tuple(
        msgspec.structs.replace(each, kind=choices.relations.get(each.kind, each.kind)) for each in item.relations
    )
    return msgspec.structs.replace(item, relations=tuple(dict.fromkeys(relations)))


class _Planner:
    def __init__(
        self,
        items: Sequence[Item],
        backend: RequirementBackend,
        here: Mapping[str, Item],
        records: Records,
        choices: ImportChoices,
        exists: Callable[[str], bool],
        elsewhere: Mapping[str, str],
        renamed: Mapping[str, str],
        in_file: Mapping[str, Item],
        as_exported: Collection[str],
    ) -> None:
        """`elsewhere` are the ids that items of the same import have in other formats, `renamed` the present ids by
        those of the last import, `in_file` the items that the file itself says otherwise; those
        `as_exported` need no record of this import."""
        self._items = items
        self._backend = backend
        self._choices = choices
        self._exists = exists
        self._records = {id: record for (source, id), record in records.items() if source == choices.name}
        self._here = here
        self._in_file = in_file
        self._as_exported = as_exported
        self._elsewhere = dict(elsewhere)
        self._former = {now: before for before, now in renamed.items()}
        self._ids: dict[str, str] = {}
        self._labels: dict[str, dict[str, str]] = {}
        self._kept: dict[str, list[str]] = {}
        """By what has no place, the items that have it."""
        self._emptied: dict[str, list[str]] = {}
        """By attribute that cannot be empty, the items that empty it."""

    def plan(self) -> ImportPlan:
        """The plan of the import. Refused items get no id, so that nothing cites them here; the ids of the others do
        not depend on them."""
        kinds = self._backend.kinds | set(self._choices.include)
        self._give_ids(item for item in self._items if item.kind in kinds)
        refused: dict[str, results.Problem] = {}
        while True:
            plan = self._plan(refused)
            new = [each for each in plan.rejected if each.id in self._ids and self._ids[each.id] not in self._here]
            if not new:
                return plan
            refused |= {each.id: each for each in new}
            for each in new:
                del self._ids[each.id]

    def _plan(self, refused: Mapping[str, results.Problem]) -> ImportPlan:
        self._kept, self._emptied = {}, {}
        placeable = [item for item in self._items if item.id in self._ids]
        self._give_labels(placeable)
        wanted = {item.id: self._translated(item) for item in placeable}
        # In the ids of the source, which is where a circle has to be opened.
        refuse_circles(placeable, {item.id: self._known_relations(item, wanted[item.id]) for item in placeable})
        added: list[PlacedItem] = []
        changed: list[PlacedItem] = []
        conflicts: list[results.Problem] = []
        rejected: list[results.Problem] = []
        kept: list[ImportRecord] = []
        for item in self._items:
            if item.id in refused:
                rejected.append(refused[item.id])
                kept += self._as_before(item)
                continue
            if item.id not in wanted:
                former = self._as_before(item)
                became = any(each.as_ for each in former)
                self._note(f"{item.kind} now; what it became stays" if became else item.kind, item.id)
                kept += former
                continue
            try:
                decided, record = self._decided(item, wanted[item.id])
            except BadInput as error:
                rejected.append(results.Problem(item.id, str(error)))
                kept += self._as_before(item)
                continue
            if record is not None:
                kept.append(msgspec.structs.replace(record, now=None))
            placing = PlacedItem(wanted[item.id], self._choices.name)
            match decided:
                case "add":
                    added.append(placing)
                case "change":
                    changed.append(placing)
                case "conflict":
                    conflicts.append(results.Problem(item.id, _conflict(item, record)))
        without = {each.id for each in rejected}
        return ImportPlan(
            added=tuple(added),
            changed=tuple(changed),
            unchanged=len(placeable) + len(refused) - len(added) - len(changed) - len(conflicts) - len(rejected),
            ids={id: here for id, here in self._ids.items() if id not in without},
            conflicts=tuple(conflicts),
            rejected=tuple(rejected),
            unplaced=tuple(_counted(self._kept)),
            notes=tuple(
                f"{each.what} cannot be empty here; it stays: {each.count:,} ({', '.join(each.examples)})."
                for each in _counted(self._emptied)
            ),
            records=tuple(kept),
        )

    # Ids

    def _give_ids(self, items: Iterable[Item]) -> None:
        """An item keeps the id that it has here already; then those whose own ids fit get them; then the others."""
        taken = set(self._here)
        waiting: list[Item] = []
        for item in items:
            record = self._records.get(item.id)
            if record is not None and record.as_ in self._here:
                self._ids[item.id] = record.as_
            else:
                waiting.append(item)
        taken |= set(self._ids.values())
        others: list[Item] = []
        for item in waiting:
            if self._backend.fits(item) and (item.id not in taken or self._is_meant(item)):
                self._ids[item.id] = item.id
                taken.add(item.id)
            else:
                others.append(item)
        for item in others:
            self._ids[item.id] = self._backend.fresh(item, taken)
            taken.add(self._ids[item.id])

    def _is_meant(self, item: Item) -> bool:
        """True if the item of the same id in the project is the same item."""
        here = self._here.get(item.id)
        if here is None or item.id in self._ids.values():
            return False
        return item.id in self._as_exported or is_same(item, here)

    # Labels

    def _give_labels(self, items: Sequence[Item]) -> None:
        """Criteria keep the labels that they have here since the last import."""
        before = {item.id: labels_by_record(item, *self._last(item)) for item in items}
        self._labels = {item.id: self._labelled(item, before[item.id]) for item in items}
        for item in items:
            record, here = self._last(item)
            if record is None or here is None or not before[item.id]:
                continue
            if not _says_the_same(record, *self._hashes(item, {})):
                self._labels[item.id] = self._labelled(item, labels_by_text(item, before[item.id], here))

    def _last(self, item: Item) -> tuple[ImportRecord | None, Item | None]:
        return self._records.get(item.id), self._here.get(self._ids[item.id])

    def _labelled(self, item: Item, before: Mapping[str, str]) -> dict[str, str]:
        record, _ = self._last(item)
        taken = record.labels.values() if record is not None and before else ()
        given = (each.label for each in item.criteria)
        return dict(zip(given, self._backend.labels(item, before, frozenset(taken)), strict=True))

    # What an item says in the ids of the project

    def _translated(self, item: Item) -> Item:
        labels, here = self._labels[item.id], self._here.get(self._ids[item.id])
        # What says what an export says now cites what is here, whatever else the file calls so.
        is_own = item.id in self._as_exported and item.id not in self._records
        return msgspec.structs.replace(
            item,
            id=self._ids[item.id],
            title=here.title if here is not None and _has_emptied_title(item) else item.title,
            kind="requirement" if item.kind in self._choices.include else item.kind,
            criteria=tuple(
                msgspec.structs.replace(each, label=labels.get(each.label, each.label)) for each in item.criteria
            ),
            relations=item.relations if is_own else tuple(self._relation(each, here) for each in item.relations),
            parent=(self._here_as(item.parent) or item.parent) if item.parent else None,
            rich="",
            kept={},
            version="",
        )

    def _relation(self, relation: Relation, here: Item | None) -> Relation:
        """A relation in the ids of the project; one that leads nowhere, or that the format has no word for, is left
        as it is and will not be found where the item is placed."""
        target = self._here_as(relation.target)
        if target is None:
            is_known = relation.target in self._here or self._exists(relation.target)
            # What the project itself cites is not corrected by an import.
            is_known = is_known or (here is not None and relation in here.relations)
            return relation if is_known else msgspec.structs.replace(relation, kind=f"unresolved {relation.kind}")
        before = self._records.get(relation.target)
        labels = self._labels.get(relation.target, before.labels if before is not None else {})
        return Relation(relation.kind, target, tuple(labels.get(label, label) for label in relation.labels))

    def _known_relations(self, item: Item, wanted: Item) -> list[Relation]:
        """The relations of an item that the project has already."""
        here = self._here.get(wanted.id)
        pairs = zip(item.relations, wanted.relations, strict=True)
        return [given for given, own in pairs if here is not None and own in here.relations]

    def _here_as(self, id: str) -> str | None:
        """The id here of an item of the source, also of one that came before and is not in the file any more."""
        found = self._ids.get(id) or self._elsewhere.get(id)
        if found is None and id in self._records:
            became = self._records[id].as_
            found = became if became in self._here or self._exists(became) else None
        return found

    # Decisions

    def _decided(self, item: Item, wanted: Item) -> tuple[str, ImportRecord | None]:
        record = self._records.get(item.id)
        hash, file_hash = self._hashes(item, {})
        here = self._here.get(wanted.id)
        known = record if here is not None and record is not None and record.as_ == wanted.id else None
        is_of_another_export = record is None or _is_of_another_export(item, record)
        says_the_same = known is not None and _says_the_same(known, hash, file_hash)
        if known is not None and says_the_same and not is_of_another_export:
            self._note_kept(item, known.kept)
            return "keep", known
        _check_labels(item, here)
        placed = self._backend.placed(PlacedItem(wanted, self._choices.name))
        kept = left_over(item, wanted, placed)
        made = ImportRecord(
            source=self._choices.name,
            id=item.id,
            as_=wanted.id,
            hash=hash,
            file_hash=file_hash if file_hash != hash else "",
            written=version_of(placed),
            labels=labels_to_record(record, self._labels[item.id]),
            kept=kept,
            version=item.version,
        )
        if here is None:
            self._note_kept(item, kept)
            return "add", made
        now, before = version_of(here), version_of(with_ids(here, self._former))
        is_renamed_only = known is not None and _says_the_same(known, *self._hashes(item, self._former))
        if known is not None and is_renamed_only and not is_of_another_export:
            # The source says what it said; only ids changed here.
            if known.file_hash:
                self._note_kept(item, known.kept)
                written = now if before == known.written else known.written
                return "keep", msgspec.structs.replace(known, hash=hash, file_hash=file_hash, written=written)
            self._note_kept(item, kept)
            return "keep", made
        is_as_exported = item.id in self._as_exported
        if now == made.written:
            self._note_emptied(item, placed)
            if known is not None and (
                says_the_same or (is_as_exported and (is_of_another_export or known.written == now))
            ):
                self._note_kept(item, known.kept)
                return "keep", known
            self._note_kept(item, kept)
            # What was exported from here and says nothing new needs no record; a row of a table is no place to keep.
            without_place = msgspec.structs.replace(kept, path="", line=0) if item.version else kept
            is_known = is_as_exported or without_place == UnplacedParts()
            return "keep", None if is_known and record is None and item.id == wanted.id else made
        if made.written == item.version and is_of_another_export:
            # The file says what was exported: only what is here changed.
            return "keep", record
        # A file of an older export than the last import read does not know what that import wrote.
        imported = record.written if record is not None and not is_of_another_export else None
        if {now, before} & {item.version, imported}:
            self._note_emptied(item, placed)
            self._note_kept(item, kept)
            return "change", made
        return "conflict", record

    def _hashes(self, item: Item, ids: Mapping[str, str]) -> tuple[str, str]:
        """The hashes of the item, and of the item as the file itself has it; `ids` are other ids than the project's."""
        hash, file_hash = (
            _hash(each, with_ids(self._translated(each), ids)) if each is not None else ""
            for each in (item, self._in_file.get(item.id))
        )
        return hash, file_hash or hash

    def _as_before(self, item: Item) -> list[ImportRecord]:
        """The record of an item that is not in this import: its former id stays known, so that it is found again.
        Anything kept before it was exported needs no other record."""
        record = self._records.get(item.id)
        if record is None and item.id in self._as_exported:
            return []
        item = self._in_file.get(item.id, item)
        if record is not None and record.as_ in self._here:
            return [msgspec.structs.replace(record, now=whole(item))]
        return [ImportRecord(source=self._choices.name, id=item.id, hash=version_of(item), kept=whole(item))]

    # Reporting

    def _note(self, what: str, id: str) -> None:
        self._kept.setdefault(what, []).append(id)

    def _note_kept(self, item: Item, kept: UnplacedParts) -> None:
        for name in (name for name, value in kept.attributes.items() if value.strip()):
            self._note(f"attribute {name}", item.id)
        for name in kept.fields:
            self._note(f"field {name}", item.id)
        for relation in kept.relations:
            is_here = relation.target in self._ids or self._exists(relation.target)
            where = "" if is_here else f" to {relation.target}, which is not here"
            self._note(f"relation {relation.kind}{where}", item.id)
        for name in ("title", "text", "criteria"):
            if getattr(kept, name):
                self._note(f"{name} as the source spells it", item.id)
        if kept.rich:
            self._note("XHTML of the text", item.id)
        if kept.parent:
            self._note("place in the hierarchy", item.id)

    def _note_emptied(self, item: Item, placed: Item) -> None:
        """Note the parts that were exported with the item and are empty now, if the format needs a value."""
        if _has_emptied_title(item):
            self._emptied.setdefault("title", []).append(item.id)
        for name, value in placed.attributes.items():
            if item.version and value.strip() and not attribute(item, name).strip():
                self._emptied.setdefault(name, []).append(item.id)


def _counted(found: Mapping[str, Sequence[str]]) -> Iterable[results.Unplaced]:
    for what, ids in sorted(found.items()):
        yield results.Unplaced(what, len(ids), tuple(ids[:_MOST_EXAMPLES]))


def _has_emptied_title(item: Item) -> bool:
    """True if an exported item lost its title: every requirement has one."""
    return bool(item.version) and not item.title.strip()


def _check_labels(item: Item, here: Item | None) -> None:
    """A label that the project itself has twice may come back so."""
    labels = Counter(each.label for each in item.criteria)
    there = Counter(each.label for each in here.criteria) if here is not None else Counter()
    for label in labels - there:
        if label and labels[label] > 1:
            texts = " and ".join(f"'{shortened(each.text)}'" for each in item.criteria if each.label == label)
            raise Rejected(
                f"'{shortened(item.id)}' has one label, '{shortened(label)}', for {texts}; a label names one "
                "criterion.",
                hint="Give each criterion a label of its own in the source, or a new one none.",
            )


def _hash(item: Item, wanted: Item) -> str:
    """A hash of the source's content, with the ids of the project."""
    return content_hash(f"{version_of(item)} {version_of(wanted)}".encode(), 8)


def _says_the_same(record: ImportRecord, hash: str, file_hash: str) -> bool:
    """True if the source is the same as at the last import."""
    return record.file_hash == file_hash or record.hash in (hash, file_hash)


def _is_of_another_export(item: Item, record: ImportRecord) -> bool:
    """True if an item comes from another export than the one that the last import read."""
    return item.version not in ("", record.version)


def _conflict(item: Item, record: ImportRecord | None) -> str:
    if record is None and not item.version:
        return (
            "It says something else here, and without its version nobody can say who changed it; what is here stays. "
            "Export again and change that file, or make both say the same."
        )
    since = "its export" if record is None or _is_of_another_export(item, record) else "the last import"
    return f"It changed in the source and here since {since}; what is here stays."
