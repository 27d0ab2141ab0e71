"""Markdown specs of elspais: items become requirements with assertions, and other attributes become sections.

An attribute of one line stands in the section `Attributes`, one of several lines is a section of its own. Journeys stay
journeys.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from clew.context import Context
from clew.edit.edits import FileEdit
from clew.edit.targets import read_if_there
from clew.errors import InvalidArgument, Rejected
from clew.exchange.model import JOURNEY, REQUIREMENT, Criterion, Item, Relation, attribute, without_attributes
from clew.exchange.places.journey_edits import edited_journey
from clew.exchange.places.journeys import fresh_journey_id, journey_item, journey_labels, journey_lines
from clew.exchange.places.place import Placing, free_name, grouped, some, title_of
from clew.exchange.places.spec_text import entry, plain
from clew.formats.elspais.fields import REFERENCE_FIELDS
from clew.formats.elspais.hashes import NOT_APPLICABLE, hash_state, without_changelog
from clew.formats.elspais.ids.grammar import IdGrammar, label_at
from clew.formats.elspais.lines import plain_heading
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Journey, Requirement
from clew.formats.elspais.write.blocks import with_block, with_hash
from clew.formats.openspec.slugs import slug
from clew.graph.model import NodeKind
from clew.text.shortening import shortened
from clew.workspace.find import selects
from clew.workspace.paths import is_glob, raw

ATTRIBUTES = "Attributes"
"""The section of attributes that are one line each."""
_RESERVED = frozenset({"assertions", "changelog", "attributes"})
_LINE = re.compile(r"- ([^:\n]+): (.*)")
_NAME = re.compile(r"[^\s:#*_][^:\n*]{0,79}")
_HEADING = re.compile(r"#{1,6}\s")
_PROSE = frozenset({"rationale", "comment", "comments", "note", "notes", "description"})
"""Attributes that are sections, however short."""
_LONGEST_LISTED = 100
_PER_FILE = 500
"""Requirements that an import writes into one file; more go into further ones."""
_DEFAULT_STATUS = "Draft"


class ElspaisPlace:
    name = "elspais"
    kinds = frozenset({REQUIREMENT, JOURNEY})

    def __init__(self, context: Context, *, level: str | None = None) -> None:
        self._context = context
        self._grammar: IdGrammar = context.grammar
        self._settings = context.grammar.settings
        self._level = self._checked_level(level)
        self._prefixes = context.grammar.header_prefixes
        self._highest: dict[str, int] = {}
        """The last number that was given on each level."""
        self._highest_journey: dict[str, int] = {}
        """The last number that was given to journeys of each name."""

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
        for number in range(1, 10_000):
            id = self._grammar.composed(level, spelled if number == 1 else f"{spelled}{number}")
            if id is not None and id not in taken:
                return id
        raise InvalidArgument(
            f"No id of this project can be made for '{shortened(item.id)}': ids are {self._settings.id_template} with "
            f"components of the style {style}.",
            hint="Give the item such an id in the source.",
        )

    def labels(self, item: Item) -> tuple[str, ...]:
        if item.kind == JOURNEY:
            return journey_labels(item)
        given = tuple(each.label for each in item.criteria)
        if len(set(given)) == len(given) and all(self._grammar.is_label(label) for label in given):
            return given
        made = tuple(label_at(number, self._settings) for number in range(len(given)))
        return tuple(label or "" for label in made)

    # Writing

    def placed(self, placing: Placing) -> Item:
        _, old = self._records.get(placing.item.id, ("", None))
        block = self._block(placing.item, old if isinstance(old, Journey) else None)
        found = [each for each in read(block, self._grammar).blocks if isinstance(each, Requirement | Journey)]
        wanted = placing.item
        read_back = item_of(found[0], "") if len(found) == 1 else None
        if (
            read_back is None
            or (read_back.id, read_back.kind) != (wanted.id, wanted.kind)
            or len(read_back.criteria) != len(wanted.criteria)
        ):
            raise Rejected(
                f"'{shortened(wanted.id)}' cannot be written as a {wanted.kind} of elspais: its text would be read as "
                "something else.",
                hint="Correct its criteria in the source: each needs a text, and none may begin with a heading.",
            )
        return msgspec.structs.replace(read_back, path=wanted.path if self._reads(wanted.path) else "")

    def _block(self, item: Item, old: Requirement | Journey | None = None, former: bytes | None = None) -> bytes:
        """The text of a requirement or journey, in the style of the one that it takes the place of. `former` is the
        text of that one, byte for byte."""
        if item.kind == JOURNEY:
            if isinstance(old, Journey):
                return edited_journey(former or old.raw.encode(), self._grammar, item, self._reference)
            cited = [(kind, list(map(self._reference, each))) for kind, each in grouped(item.relations).items()]
            return "\n".join(journey_lines(item, cited, self._prefixes)).encode()
        old = old if isinstance(old, Requirement) else None
        most = self._settings.label_max_count
        if len(item.criteria) > most or "" in (each.label for each in item.criteria):
            raise Rejected(
                f"'{shortened(item.id)}' has {len(item.criteria)} criteria; a requirement has at most {most}.",
                hint="Split it in the source, or raise max_count in .elspais.toml.",
            )
        data = "\n".join(self._lines(item, _Style.of(old))).encode()
        record = next((each for each in read(data, self._grammar).blocks if isinstance(each, Requirement)), None)
        rule = hash_state(old, self._settings).rule if old is not None else None
        value = hash_state(record, self._settings, rule or "sorted").value if record is not None else NOT_APPLICABLE
        return with_hash(data, self._grammar, value)

    def _lines(self, item: Item, style: "_Style") -> Iterator[str]:
        title = title_of(item)
        fields = [("Level", self._level_of(item, item.id).upper()), ("Status", self._status_of(item))]
        fields += [(kind.capitalize(), ", ".join(map(self._reference, each))) for kind, each in self._cited(item)]
        flags = " | **Template**" if attribute(item, "template") == "true" else ""
        header = f"{'#' * style.depth} {item.id}: {title}".lstrip()
        yield from (header, "", " | ".join(f"**{n}**: {v}" for n, v in fields) + flags, "")
        if text := plain(item.text, self._prefixes):
            yield from (*text.split("\n"), "")
        if item.criteria:
            yield from (f"{style.marks} Assertions", "")
            for each in item.criteria:
                yield from (*f"{each.label}. {entry(each, self._prefixes)}".split("\n"), *([""] * style.spaced))
            yield from [""] * (not style.spaced)
        yield from self._sections(item, style)
        yield from (*style.changelog.split("\n"), "") if style.changelog else ()
        yield from (f"*End* *{title}* | **Hash**: {NOT_APPLICABLE}", "")

    def _sections(self, item: Item, style: "_Style") -> Iterator[str]:
        """The attributes that have no field of their own."""
        lines: list[str] = []
        for name, value in without_attributes(item, "level", "status", "template").items():
            text = plain(value, self._prefixes)
            if not text or not _NAME.fullmatch(name) or plain_heading(name) in _RESERVED:
                continue
            is_prose = "\n" in text or len(text) > _LONGEST_LISTED or name.casefold() in _PROSE
            if is_prose or name in style.sections:
                yield from (f"{style.marks} {name.strip()}", "", *text.split("\n"), "")
            elif text == value:
                lines.append(f"- {name.strip()}: {text}")
        if lines:
            yield from (f"{style.marks} {ATTRIBUTES}", "", *lines, "")

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

    def _level_of(self, item: Item, id: str | None) -> str:
        """What the id says; else what the item says; else what the import says."""
        of_id = self._grammar.level_of(id) if id is not None else None
        of_item = self._settings.level(attribute(item, "level")) if attribute(item, "level") else None
        return of_id or (of_item.name if of_item is not None else self._level)

    def _status_of(self, item: Item) -> str:
        wanted = attribute(item, "status")
        known = [status for _, statuses in self._settings.status_roles for status in statuses]
        return next((each for each in known if each.casefold() == wanted.casefold()), _DEFAULT_STATUS)

    def edits(self, added: Sequence[Placing], changed: Sequence[Placing]) -> list[FileEdit]:
        files = _Files(self._context)
        for placing in changed:
            path, old = self._records[placing.item.id]
            files.replace(path, old, self._block(placing.item, old, files.former(path, old)))
        for path, placings in self._new_files(added).items():
            for placing in placings:
                files.append(path, self._block(placing.item))
        return files.edits()

    def commit(
        self, added: Sequence[Placing], changed: Sequence[Placing], files: Callable[[], None]
    ) -> tuple[str, ...]:
        return ()

    def _reads(self, path: str) -> bool:
        """Whether a file of this path would be read as one of requirements."""
        steps = path.split("/")
        if not path.endswith(".md") or ".." in steps or path.startswith("/"):
            return False
        return selects(self._context.root, self._context.config.requirements, path)

    def _new_files(self, added: Sequence[Placing]) -> dict[str, list[Placing]]:
        """In which file each goes: the one that it comes from where that is one of requirements, else one for the
        import."""
        folders = self._context.config.requirements.folders
        folder = next((each for each in folders if not is_glob(each)), "spec")
        counts: dict[str, int] = {}
        for path, _ in self._records.values():
            counts[path] = counts.get(path, 0) + 1
        chosen: dict[str, list[Placing]] = {}
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
        self._before: dict[str, bytes | None] = {}
        self._replaced: dict[str, list[tuple[int, int, bytes]]] = {}
        self._appended: dict[str, list[bytes]] = {}

    def former(self, path: str, old: Requirement | Journey) -> bytes:
        """What stands there now."""
        self._read(path)
        return (self._before[path] or b"")[old.span.start : old.span.end]

    def replace(self, path: str, old: Requirement | Journey, block: bytes) -> None:
        self._read(path)
        self._replaced.setdefault(path, []).append((old.span.start, old.span.end, block))

    def append(self, path: str, block: bytes) -> None:
        self._read(path)
        self._appended.setdefault(path, []).append(block)

    def _read(self, path: str) -> None:
        if path not in self._before:
            self._before[path] = read_if_there(self._root / raw(path))

    def edits(self) -> list[FileEdit]:
        return [FileEdit(path, before, self._after(path, before or b"")) for path, before in self._before.items()]

    def _after(self, path: str, data: bytes) -> bytes:
        for start, end, block in sorted(self._replaced.get(path, ()), reverse=True):
            former = data[start:end]
            data = data[:start] + block.rstrip(b"\r\n") + former[len(former.rstrip(b"\r\n")) :] + data[end:]
        blocks = self._appended.get(path, [])
        if not blocks:
            return data
        first = with_block(data or b"# Imported requirements\n", blocks[0])
        return b"\n".join((first, *blocks[1:]))


class _Style(msgspec.Struct, frozen=True):
    """How a requirement is written."""

    depth: int = 2
    """Of its header."""
    marks: str = "###"
    """Of the headings in it."""
    spaced: bool = False
    """Whether blank lines part its assertions."""
    sections: tuple[str, ...] = ()
    """What is a section, however short."""
    changelog: str = ""
    """Belongs to it, whatever else changes."""

    @classmethod
    def of(cls, old: Requirement | None) -> "_Style":
        if old is None:
            return cls()
        headings = [line for line in old.body.split("\n") if _HEADING.match(line)]
        pairs = zip(old.assertions, old.assertions[1:], strict=False)
        return cls(
            depth=old.heading_depth,
            marks=headings[0].split()[0] if headings else "#" * min(old.heading_depth + 1, 6),
            spaced=any(after.span.line > before.span.end_line + 1 for before, after in pairs),
            sections=tuple(each.heading for each in old.sections),
            changelog=old.body[len(without_changelog(old.body)) :].strip(),
        )


def item_of(record: Requirement | Journey, path: str) -> Item:
    """A requirement or journey in the neutral form."""
    if isinstance(record, Journey):
        return journey_item(record, path)
    attributes = {"level": record.level, "status": record.status}
    if record.template:
        attributes["template"] = "true"
    for section in record.sections:
        if plain_heading(section.heading) == "attributes" and (listed := _listed(section.text)) is not None:
            attributes.update(listed)
        else:
            attributes[free_name(section.heading, attributes)] = section.text
    return Item(
        id=record.id,
        title=record.title,
        text=record.preamble,
        criteria=tuple(Criterion(each.label, each.text) for each in record.assertions),
        attributes=attributes,
        relations=tuple(dict.fromkeys(Relation(each.kind, each.target, each.labels) for each in record.references)),
        path=path,
        line=record.span.line,
    )


def _listed(text: str) -> dict[str, str] | None:
    """The attributes of a list; None where a line is something else."""
    found = [_LINE.fullmatch(line) for line in text.split("\n")]
    return {each[1]: each[2] for each in found if each} if all(found) else None
