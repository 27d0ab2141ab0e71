"""Markdown specs of elspais: items become requirements with assertions, and journeys stay journeys."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count

import msgspec

from clew.context import Context
from clew.edit.edits import FileEdit
from clew.edit.targets import read_if_there
from clew.errors import InvalidArgument, Rejected
from clew.exchange.backends.backend import FreeIds, PlacedItem, grouped, some, title_of
from clew.exchange.backends.journeys import (
    edited_journey,
    fresh_journey_id,
    journey_item,
    journey_labels,
    journey_lines,
)
from clew.exchange.backends.requirements import (
    ATTRIBUTES,
    Fields,
    attribute_texts,
    edited_requirement,
    is_template,
    listed_line,
    requirement_item,
)
from clew.exchange.backends.spec_text import SpecText, criterion_text, keeps_blocks, open_fence
from clew.exchange.model import JOURNEY, REQUIREMENT, Item, Relation, attribute
from clew.formats.elspais.fields import REFERENCE_FIELDS
from clew.formats.elspais.hashes import NOT_APPLICABLE, HashRule, hash_state, hash_to_write, rule_of_file
from clew.formats.elspais.ids.grammar import IdGrammar, label_at, position_of
from clew.formats.elspais.lines import RequirementLines
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Journey, Requirement
from clew.formats.elspais.requirement import UNKNOWN
from clew.formats.elspais.write.blocks import with_blocks, with_hash
from clew.formats.elspais.write.sections import with_changelog_entry
from clew.formats.openspec.names import slug
from clew.graph.model import NodeKind
from clew.text.display import shortened
from clew.text.lines import newline_of, with_newlines
from clew.workspace.find import selects
from clew.workspace.paths import is_glob, raw

_PER_FILE = 500
"""Requirements that an import writes into one file; more go into further ones."""
_DEFAULT_STATUS = "Draft"


class ElspaisBackend:
    name = "elspais"
    kinds = frozenset({REQUIREMENT, JOURNEY})

    def __init__(self, context: Context, *, level: str | None = None) -> None:
        self._context = context
        self._grammar: IdGrammar = context.grammar
        self._settings = context.grammar.settings
        self._level = self._checked_level(level)
        self._highest: dict[str, int] = {}
        """The last number that was given on each level."""
        self._highest_journey: dict[str, int] = {}
        """The last number that was given to journeys of each name."""
        self._free_ids = FreeIds()
        self._rules: dict[str, HashRule] = {}
        """Of hashes, by file."""

    # What the project has

    @cached_property
    def _records(self) -> dict[str, tuple[str, Requirement | Journey]]:
        """The requirements and journeys of all files, with their paths."""
        found: dict[str, tuple[str, Requirement | Journey]] = {}
        for path in self._paths():
            data = read_if_there(self._context.root / raw(path))
            for block in read(data or b"", self._grammar).blocks:
                if isinstance(block, Requirement | Journey):
                    found.setdefault(block.id, (path, block))
        return found

    def _paths(self) -> list[str]:
        graph = self._context.graph
        nodes = [node for node in graph.nodes_by_kind(NodeKind.REQUIREMENT) if "hash_now" in node.fields]
        nodes += graph.nodes_by_kind(NodeKind.USER_JOURNEY)
        own = (node for node in nodes if "associate" not in node.fields)
        return sorted({node.source.path for node in own if node.source is not None})

    def items(self) -> Mapping[str, Item]:
        return {id: item_of(record, path) for id, (path, record) in self._records.items()}

    def beside(self) -> list[str]:
        kept = [each for _, each in self._records.values() if isinstance(each, Requirement) and each.changelog]
        return some(len(kept), "changelog")

    # Ids and labels

    def fits(self, item: Item) -> bool:
        parsed = self._grammar.parse_header(item.id)
        is_journey = item.kind == JOURNEY
        return parsed is not None and parsed.target == item.id and self._grammar.is_journey(item.id) is is_journey

    def fresh(self, item: Item, taken: set[str]) -> str:
        if item.kind == JOURNEY:
            return fresh_journey_id(item, taken, self._highest_journey)
        level = self._level_of(item, None)
        if self._settings.component_style == "numeric":
            return self._numbered(level, taken)
        return self._named(item, level, taken)

    def _numbered(self, level: str, taken: set[str]) -> str:
        number = self._highest.get(level) or self._highest_number(level, taken)
        while True:
            number += 1
            id = self._grammar.composed(level, str(number))
            if id is None:
                raise InvalidArgument(
                    f"The ids of level {level} are used up: {number} has more digits than the template allows.",
                    hint="Raise the digits of ids in .elspais.toml, or import at another --level.",
                )
            if id not in taken:
                self._highest[level] = number
                return id

    def _highest_number(self, level: str, taken: set[str]) -> int:
        own = (re.search(r"(\d+)\D*$", id) for id in taken if self._grammar.level_of(id) in (level, None))
        return max((int(found[1]) for found in own if found and len(found[1]) < 19), default=0)

    def _named(self, item: Item, level: str, taken: set[str]) -> str:
        words = re.findall(r"[A-Za-z0-9]+", f"{item.id} {item.title}")[:6] or ["requirement"]
        style = self._settings.component_style
        capitals = "".join(word[:1].upper() + word[1:].lower() for word in words)
        spelled = {
            "camelCase": capitals[:1].lower() + capitals[1:],
            "snake_case": "_".join(words).lower(),
            "kebab-case": "-".join(words).lower(),
        }.get(style, capitals)
        spelled = spelled if spelled[:1].isalpha() else f"r{spelled}"
        id = self._free_ids.take(spelled, lambda word: self._grammar.composed(level, word), taken)
        if id is not None:
            return id
        raise InvalidArgument(
            f"No id of this project can be made for '{shortened(item.id)}': ids are {self._settings.id_template} with "
            f"components of the style {style}.",
            hint="Give the item such an id in the source.",
        )

    def labels(self, item: Item, before: Mapping[str, str], taken: Collection[str]) -> tuple[str, ...]:
        if item.kind == JOURNEY:
            return journey_labels(item)
        given = tuple(each.label for each in item.criteria)
        if before and len(set(given)) == len(given):
            return self._labels_after(given, before, taken)
        _, here = self._records.get(item.id, ("", None)) if item.version else ("", None)
        there = [each.label for each in here.assertions] if isinstance(here, Requirement) else []
        return self._labels_beside(given, there)

    def _labels_beside(self, given: Sequence[str], there: Sequence[str]) -> tuple[str, ...]:
        """Labels that the project has already stay, whatever they are, and so do those that it may have. Every other
        criterion gets the next one behind all of these, so that no label comes to mean another criterion."""
        left = Counter(there)
        kept: list[str] = []
        for label in given:
            is_free = label not in there and label not in kept and self._grammar.is_label(label)
            kept.append(label if left[label] > 0 or is_free else "")
            left[label] -= 1
        free = self._free_labels({*there, *kept})
        return tuple(label or next(free, "") for label in kept)

    def _labels_after(
        self, given: tuple[str, ...], before: Mapping[str, str], taken: Collection[str]
    ) -> tuple[str, ...]:
        """The labels of an earlier import; a new criterion gets the next one behind all that were given."""
        free = self._free_labels({*before.values(), *taken})
        return tuple(before.get(label) or next(free, "") for label in given)

    def _free_labels(self, used: set[str]) -> Iterator[str]:
        places = (position_of(label, self._settings) for label in used)
        following = max((place for place in places if place is not None), default=-1) + 1
        for numbers in (count(following), range(following)):
            for number in numbers:
                label = label_at(number, self._settings)
                if label is None:
                    break
                if label not in used:
                    yield label

    # Writing

    def placed(self, placing: PlacedItem) -> Item:
        _, old = self._records.get(placing.item.id, ("", None))
        block = self._block(placing.item, old)
        found = [each for each in read(block, self._grammar).blocks if isinstance(each, Requirement | Journey)]
        wanted = placing.item
        read_back = item_of(found[0], "") if len(found) == 1 else None
        if (
            read_back is None
            or (read_back.id, read_back.kind) != (wanted.id, wanted.kind)
            or len(read_back.criteria) != len(wanted.criteria)
            or not keeps_blocks(old.raw.encode() if old else b"", block, self._grammar, () if old else (wanted.id,))
        ):
            raise Rejected(
                f"'{shortened(wanted.id)}' cannot be written as a {wanted.kind} of elspais: its text would be read as "
                "something else.",
                hint="Correct its criteria in the source: each needs a text, and none may begin with a heading.",
            )
        return msgspec.structs.replace(read_back, path=wanted.path if self._reads(wanted.path) else "")

    def _block(self, item: Item, old: Requirement | Journey | None = None, former: bytes | None = None) -> bytes:
        """The text of a requirement or journey; an existing one with the changes. `former` is the present text, byte
        for byte."""
        if item.kind != JOURNEY:
            self._check_criteria(item, len(old.assertions) if isinstance(old, Requirement) else 0)
        if old is not None:
            former = former or old.raw.encode()
            data = self._edited(item, old, former)
            if self._says(data, item, former):
                return data
            return with_newlines(self._whole(item, old).decode(), newline_of(former))
        return self._whole(item)

    def _says(self, data: bytes, item: Item, former: bytes) -> bool:
        """True if an edited block is read as one block, with the criteria of the item."""
        if not keeps_blocks(former, data, self._grammar):
            return False
        found = [each for each in read(data, self._grammar).blocks if isinstance(each, Requirement | Journey)]
        return [each.label for each in item_of(found[0], "").criteria] == [each.label for each in item.criteria]

    def _whole(self, item: Item, old: Requirement | Journey | None = None) -> bytes:
        """The text of a requirement or journey that is new, or that cannot be had by changing the old one."""
        if item.kind == JOURNEY:
            cited = [(kind, list(map(self._reference, each))) for kind, each in grouped(item.relations).items()]
            return "\n".join(journey_lines(item, cited, SpecText(self._grammar, item.id))).encode()
        data = "\n".join(self._lines(item, old if isinstance(old, Requirement) else None)).encode()
        if isinstance(old, Requirement):
            lines = old.raw.encode().splitlines()
            for each in reversed(old.changelog):
                data = with_changelog_entry(data, self._grammar, lines[each.line - old.span.line].decode())
        record = next((each for each in read(data, self._grammar).blocks if isinstance(each, Requirement)), None)
        value = hash_state(record, self._settings).value if record is not None else NOT_APPLICABLE
        return with_hash(data, self._grammar, value)

    def _check_criteria(self, item: Item, there: int) -> None:
        most = self._settings.label_max_count
        if len(item.criteria) > max(most, there) or "" in (each.label for each in item.criteria):
            raise Rejected(
                f"'{shortened(item.id)}' has {len(item.criteria)} criteria; a requirement has at most {most}.",
                hint="Split it in the source, or raise max_count in .elspais.toml.",
            )

    def _edited(self, item: Item, old: Requirement | Journey, former: bytes) -> bytes:
        """The present text with the changes."""
        if isinstance(old, Journey):
            return edited_journey(former, self._grammar, item, self._reference)
        fields = Fields(self._level_of(item, item.id, old), self._status_of(item, old), self._reference)
        data = edited_requirement(former, self._grammar, item, fields)
        found = [each for each in read(data, self._grammar).blocks if isinstance(each, Requirement)]
        rule = hash_state(old, self._settings).rule or self._rule_beside(old)
        value = hash_to_write(old, found[0], self._settings, rule) if len(found) == 1 else None
        return with_hash(data, self._grammar, value) if value is not None else data

    def _rule_beside(self, old: Requirement) -> HashRule:
        path, _ = self._records[old.id]
        if path not in self._rules:
            beside = (each for place, each in self._records.values() if place == path and isinstance(each, Requirement))
            self._rules[path] = rule_of_file(beside, self._settings)
        return self._rules[path]

    def _lines(self, item: Item, old: Requirement | None) -> Iterator[str]:
        """The text of a requirement that is new, or rewritten."""
        title = title_of(item)
        level, status = self._level_of(item, item.id, old), self._status_of(item, old)
        fields = [("Level", level.upper())] if level != UNKNOWN else []
        fields += [("Status", status)] if status != UNKNOWN else []
        fields += [(kind.capitalize(), ", ".join(map(self._reference, each))) for kind, each in self._cited(item)]
        flags = ["**Template**"] if is_template(item, old) else []
        texts = SpecText(self._grammar, item.id)
        above = SpecText(self._grammar, item.id, are_assertions_behind=bool(item.criteria))
        fields_line = " | ".join((*(f"**{name}**: {value}" for name, value in fields), *flags))
        yield from (f"## {item.id}: {title}", "", *((fields_line, "") if fields_line else ()))
        if text := above.preamble(item.text):
            yield from (*text.split("\n"), "")
        if item.criteria:
            yield from ("### Assertions", "")
            for each in item.criteria:
                yield from f"{each.label}. {texts.assertion(each.label, criterion_text(each))}".split("\n")
            yield ""
        sections, listed = attribute_texts(item, texts)
        for name, text in sections.items():
            yield from (f"### {name}", "", *text.split("\n"), "")
        if listed:
            yield from (f"### {ATTRIBUTES}", "", *(listed_line(*each) for each in listed.items()), "")
        yield from (f"*End* *{title}* | **Hash**: {NOT_APPLICABLE}", "")

    def _cited(self, item: Item) -> list[tuple[str, list[Relation]]]:
        return [(kind, each) for kind, each in grouped(item.relations).items() if kind in REFERENCE_FIELDS]

    def _reference(self, relation: Relation) -> str:
        if not relation.labels:
            return relation.target
        return self._grammar.assertion_id(relation.target, self._settings.label_multi_separator.join(relation.labels))

    def _checked_level(self, level: str | None) -> str:
        if level is None:
            return min(self._settings.levels, key=lambda each: each.rank).name
        found = self._settings.level(level)
        if found is None:
            known = ", ".join(each.name for each in self._settings.levels)
            raise InvalidArgument(f"'{shortened(level)}' is not a level.", hint=f"Levels of this project: {known}.")
        return found.name

    def _level_of(self, item: Item, id: str | None, old: Requirement | None = None) -> str:
        """The level of a requirement: the item's own, else the present one, else that of its id, else that of the
        import."""
        of_id = self._grammar.level_of(id) if id is not None else None
        of_item = self._settings.level(attribute(item, "level")) if attribute(item, "level") else None
        if old is not None and of_item is None:
            return old.level
        return of_id or (of_item.name if of_item is not None else self._level)

    def _status_of(self, item: Item, old: Requirement | None) -> str:
        """The status that the item names, if it is a status of the project or in use there; else the present one."""
        wanted = attribute(item, "status")
        configured = [status for _, statuses in self._settings.status_roles for status in statuses]
        found = next((each for each in configured if each.casefold() == wanted.casefold()), None)
        if found is not None or wanted in self._statuses_in_use:
            return found or wanted
        return old.status if old is not None else self._default_status

    @cached_property
    def _statuses_in_use(self) -> frozenset[str]:
        every = (each.status for _, each in self._records.values() if isinstance(each, Requirement))
        return frozenset(status for status in every if status != UNKNOWN)

    @property
    def _default_status(self) -> str:
        """Draft, or the project's own status of requirements that nobody has agreed to."""
        roles = dict(self._settings.status_roles)
        if any(_DEFAULT_STATUS in statuses for statuses in roles.values()):
            return _DEFAULT_STATUS
        return next(iter(roles.get("provisional", ())), _DEFAULT_STATUS)

    def edits(self, added: Sequence[PlacedItem], changed: Sequence[PlacedItem]) -> list[FileEdit]:
        files = _Files(self._context)
        for placing in changed:
            path, old = self._records[placing.item.id]
            files.replace(path, old, self._block(placing.item, old, files.former(path, old)))
        for path, placings in self._new_files(added).items():
            for placing in placings:
                files.append(path, placing.item.id, self._block(placing.item))
        return files.edits()

    def commit(
        self, added: Sequence[PlacedItem], changed: Sequence[PlacedItem], files: Callable[[], None]
    ) -> tuple[str, ...]:
        return ()

    def _reads(self, path: str) -> bool:
        """True if a file of this path would be read as one of requirements."""
        steps = path.split("/")
        if not path.endswith(".md") or ".." in steps or path.startswith("/"):
            return False
        return selects(self._context.root, self._context.config.requirements, path)

    def _new_files(self, added: Sequence[PlacedItem]) -> dict[str, list[PlacedItem]]:
        """In which file each goes: the one that it comes from where that is one of requirements, else one for the
        import."""
        folders = self._context.config.requirements.folders
        folder = next((each for each in folders if not is_glob(each)), "spec")
        counts: dict[str, int] = {}
        for path, _ in self._records.values():
            counts[path] = counts.get(path, 0) + 1
        chosen: dict[str, list[PlacedItem]] = {}
        for placing in added:
            own = placing.item.path
            if not self._reads(own):
                stem = slug(placing.source.rpartition(".")[0] or placing.source, "import")
                number = 1
                while counts.get(own := _numbered_file(folder, stem, number), 0) >= _PER_FILE:
                    number += 1
            counts[own] = counts.get(own, 0) + 1
            chosen.setdefault(own, []).append(placing)
        return chosen


def _numbered_file(folder: str, stem: str, number: int) -> str:
    name = f"{stem}.md" if number == 1 else f"{stem}-{number}.md"
    return name if folder == "." else f"{folder}/{name}"


class _Files:
    """The files that an import changes, as they will be."""

    def __init__(self, context: Context) -> None:
        self._root = context.root
        self._grammar = context.grammar
        self._before: dict[str, bytes | None] = {}
        self._replaced: dict[str, list[tuple[int, int, bytes]]] = {}
        self._appended: dict[str, list[tuple[str, bytes]]] = {}
        """Ids and blocks."""
        self._fence_lines: dict[str, int] = {}

    def former(self, path: str, old: Requirement | Journey) -> bytes:
        """The present text of a requirement or journey."""
        self._read(path)
        return (self._before[path] or b"")[old.span.start : old.span.end]

    def replace(self, path: str, old: Requirement | Journey, block: bytes) -> None:
        """Replace a block. Rejected if an open code block begins in it: the text after that may be other
        requirements."""
        self._read(path)
        line = self._fence_line(path)
        if old.span.line <= line <= old.span.end_line:
            raise open_fence(path, line)
        self._replaced.setdefault(path, []).append((old.span.start, old.span.end, block))

    def append(self, path: str, id: str, block: bytes) -> None:
        self._read(path)
        self._appended.setdefault(path, []).append((id, block))

    def _read(self, path: str) -> None:
        if path not in self._before:
            self._before[path] = read_if_there(self._root / raw(path))

    def _fence_line(self, path: str) -> int:
        if path not in self._fence_lines:
            data = self._before[path] or b""
            self._fence_lines[path] = RequirementLines(data, self._grammar.header_prefixes).fence_line
        return self._fence_lines[path]

    def edits(self) -> list[FileEdit]:
        """The edits of files. Rejected if a file would not be read back as its requirements."""
        found = [FileEdit(path, before, self._after(path, before or b"")) for path, before in self._before.items()]
        for edit in found:
            added = [id for id, _ in self._appended.get(edit.path, ())]
            if not keeps_blocks(edit.before or b"", edit.after or b"", self._grammar, added):
                if line := self._fence_line(edit.path):
                    raise open_fence(edit.path, line)
                raise Rejected(
                    f"{edit.path} would not be read as the requirements that it holds, so nothing is imported.",
                    hint="Close the code blocks (```) of the items that come into it.",
                )
        return found

    def _after(self, path: str, data: bytes) -> bytes:
        for start, end, block in sorted(self._replaced.get(path, ()), reverse=True):
            former = data[start:end]
            data = data[:start] + block.rstrip(b"\r\n") + former[len(former.rstrip(b"\r\n")) :] + data[end:]
        blocks = [with_newlines(block.decode(), newline_of(data)) for _, block in self._appended.get(path, ())]
        return with_blocks(data or b"# Imported requirements\n", blocks) if blocks else data


def item_of(record: Requirement | Journey, path: str) -> Item:
    """A requirement or journey in the neutral form."""
    return journey_item(record, path) if isinstance(record, Journey) else requirement_item(record, path)
