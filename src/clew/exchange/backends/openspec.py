"""Folders of OpenSpec: items become requirements of specs, their criteria scenarios, and attributes lines of metadata.

An item whose id is `spec/requirement` goes into that spec; every other one into a spec that is called like the import,
where a line `**ID**: ...` keeps an id that the heading does not give.
"""

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from clew.context import Context
from clew.edit.edits import FileEdit
from clew.edit.targets import read_if_there
from clew.errors import InvalidArgument, Rejected
from clew.exchange.backends.backend import FreeIds, PlacedItem, grouped, one_line
from clew.exchange.backends.openspec_edits import edited_block
from clew.exchange.backends.openspec_text import (
    CITED,
    ID,
    attribute_names,
    can_be_metadata,
    citation_line,
    cited_relations,
    closed,
    field_lines,
    is_own,
    metadata_line,
    misread,
    name_of,
    plain,
    scenario_lines,
    scenario_name,
    trimmed,
)
from clew.exchange.backends.spec_text import open_fence
from clew.exchange.model import REQUIREMENT, Criterion, Item, version_of
from clew.formats.openspec.apply.plan import Edit, edited
from clew.formats.openspec.layout import checked_id, openspec_root, root_for, spec_path
from clew.formats.openspec.lines import SpecLines
from clew.formats.openspec.names import Slugs, slug
from clew.formats.openspec.reader import read_spec
from clew.formats.openspec.records import Requirement, SectionKind, Spec, settled
from clew.formats.openspec.references import requirement_id
from clew.graph.model import NodeKind
from clew.graph.readers.locations import spec_roots
from clew.text.display import shortened
from clew.text.lines import newline_of, with_newlines
from clew.text.markdown import BOM
from clew.workspace.paths import raw


class SpecDraft(msgspec.Struct, frozen=True):
    path: str
    data: bytes | None
    """None where there is no such file."""
    spec: Spec

    @property
    def fence_line(self) -> int:
        """The line of a code block that is never closed; 0 without one."""
        return SpecLines(self.data or b"").fence_line

    def refuse_open(self, slugs: Container[str]) -> None:
        """Rejected if an open code block begins in one of these requirements: the text after it may be others."""
        line = self.fence_line
        spans = (each.span for each in self.spec.requirements if each.slug in slugs)
        if any(each.line <= line <= each.end_line for each in spans):
            raise open_fence(self.path, line)

    def bytes_of(self, requirement: Requirement) -> bytes:
        """The present text of a requirement, without the byte order mark of the file."""
        return (self.data or b"")[self._start(requirement) : requirement.span.end]

    def _start(self, requirement: Requirement) -> int:
        is_marked = requirement.span.start == 0 and (self.data or b"").startswith(BOM)
        return len(BOM) if is_marked else requirement.span.start

    def with_blocks(self, changed: Mapping[str, bytes], new: Sequence[bytes]) -> bytes:
        """The file with other texts of its requirements, by their slugs, and with new ones behind those of its section
        of requirements."""
        data = self.data or b""
        section = next(self.spec.document.of_kind(SectionKind.REQUIREMENTS), None)
        edits = [
            Edit(self._start(each), self.bytes_of(each), changed[each.slug])
            for each in self.spec.requirements
            if each.slug in changed
        ]
        if not new:
            return edited(data, edits)
        end = section.span.end if section is not None else len(data)
        newline = newline_of(data)
        heading = [] if section is not None else [b"## Requirements\n"]
        text = with_newlines(b"\n".join((*heading, *new)).decode(), newline)
        before = edited(data[:end], [each for each in edits if each.start < end])
        behind = edited(data, [Edit(0, data[:end], b""), *(each for each in edits if each.start >= end)])
        return before + _apart(before, newline) + text + (newline + behind if behind.strip() else behind)

    def not_read(self, id: str) -> Rejected:
        """The error for a file that cannot take an import; `id` is a requirement that would be lost or altered."""
        if self.fence_line:
            return open_fence(self.path, self.fence_line)
        return Rejected(
            f"{self.path} would not be read as the requirements that it holds: '{shortened(id)}' would be lost, or "
            "would say something else. Nothing is imported.",
            hint="Run `clew specs validate` and correct the headings of that file, or the item in the source.",
        )


def _apart(before: bytes, newline: bytes) -> bytes:
    """The empty lines between a new requirement and the text before it."""
    lines = before.splitlines(keepends=True)
    if not lines or not lines[-1].strip():
        return b""
    return newline if lines[-1].endswith((b"\n", b"\r")) else newline * 2


class OpenSpecBackend:
    name = "openspec"
    kinds = frozenset({REQUIREMENT})

    def __init__(self, context: Context, *, spec: str = "imported") -> None:
        """`spec` is the spec for items whose ids do not name one."""
        self._context = context
        self._spec = slug(spec, "imported")
        self._free_ids = FreeIds()
        self._roots = spec_roots(context.config) or (openspec_root(),)

    @cached_property
    def _specs(self) -> dict[str, SpecDraft]:
        """The specs of the project."""
        sources = ((node.id, node.source) for node in self._context.graph.nodes_by_kind(NodeKind.SPEC))
        found = ((id.removeprefix("spec:"), source.path) for id, source in sources if source is not None)
        return {id: self._read(id, path) for id, path in found}

    def _read(self, id: str, path: str) -> SpecDraft:
        data = read_if_there(self._context.root / raw(path))
        return SpecDraft(path, data, read_spec(data or b"", id))

    def _file(self, id: str) -> SpecDraft:
        """A spec of the project, or the file that would be one."""
        return self._specs.get(id) or self._read(id, spec_path(root_for(self._roots, id), id))

    def items(self) -> Mapping[str, Item]:
        return {
            item.id: item
            for id, file in self._specs.items()
            for requirement in file.spec.requirements
            for item in (self._item(requirement, id, file.path),)
        }

    def beside(self) -> list[str]:
        return []

    def _item(self, record: Requirement, spec_id: str, path: str) -> Item:
        values = [value for name, value in record.metadata if not is_own(name)]
        values += [_body(each.raw) for each in record.asides]
        lines = SpecLines(record.text.encode())
        fields = frozenset(field_lines(lines, 0, len(lines), self._context.grammar))
        return Item(
            id=requirement_id(spec_id, record.slug),
            title=record.name,
            text=trimmed("\n".join(line for index, line in enumerate(lines.text) if index not in fields)),
            criteria=tuple(Criterion(each.slug, _body(each.raw), each.name) for each in record.scenarios),
            attributes=dict(zip(attribute_names(record), values, strict=True)),
            relations=cited_relations(record.text, self._context.grammar),
            path=path,
            line=record.span.line,
        )

    # Ids and labels

    def fits(self, item: Item) -> bool:
        spec_id, _, name = item.id.rpartition("/")
        if not spec_id or slug(name, "") != name:
            return False
        try:
            return checked_id(spec_id) == spec_id and not any(
                part.startswith((".", "_")) for part in spec_id.split("/")
            )
        except InvalidArgument:
            return False

    def fresh(self, item: Item, taken: set[str]) -> str:
        own = slug(item.id, "") or slug(item.title, "requirement")
        return self._free_ids.take(own, lambda name: requirement_id(self._spec, name), taken, "-")

    def labels(self, item: Item, before: Mapping[str, str], taken: Collection[str]) -> tuple[str, ...]:
        slugs = Slugs("scenario")
        return tuple(slugs.take(scenario_name(each)) for each in item.criteria)

    # Writing

    def placed(self, placing: PlacedItem) -> Item:
        item = placing.item
        spec_id, _, wanted = item.id.rpartition("/")
        old = self._records.get(item.id)
        data = f"# {spec_id}\n\n## Requirements\n\n".encode() + self._block(item, old)
        found = read_spec(data, spec_id).requirements
        # The second of a name has a number only where the first is before it.
        is_same = bool(found) and (found[0].slug == wanted or (old is not None and found[0].name == old.name))
        if len(found) != 1 or not is_same or len(found[0].scenarios) != len(item.criteria):
            raise Rejected(
                f"'{shortened(item.id)}' cannot be written as a requirement of a spec: its text would be read as "
                "something else.",
                hint="Correct its title and criteria in the source.",
            )
        return msgspec.structs.replace(self._item(found[0], spec_id, self._file(spec_id).path), id=item.id, line=0)

    @cached_property
    def _records(self) -> dict[str, Requirement]:
        return {
            requirement_id(id, each.slug): each for id, file in self._specs.items() for each in file.spec.requirements
        }

    def _block(self, item: Item, old: Requirement | None = None) -> bytes:
        """The text of a requirement; an existing one with the changes."""
        if old is None:
            return self._whole(item)
        spec_id = item.id.rpartition("/")[0]
        file, here = self._specs[spec_id], self._item(old, spec_id, "")
        former = file.bytes_of(old)
        made = edited_block(former, self._context.grammar, old, (here, item))
        best = self._agreement(made, here, item)
        if not all(best):
            whole = with_newlines(self._whole(item, here).decode(), newline_of(former))
            made = whole if self._agreement(whole, here, item) > best else made
        # What parts it from the next stays.
        return made.rstrip(b"\r\n") + former[len(former.rstrip(b"\r\n")) :]

    def _agreement(self, block: bytes, here: Item, item: Item) -> tuple[bool, ...]:
        """Compare an edited requirement with an item, as far as a spec can hold it, the most important first: that it
        is one requirement, its name and its scenarios, their texts, its citations, its text, its attributes. The
        greater is nearer."""
        found = read_spec(b"## Requirements\n\n" + block).requirements
        if len(found) != 1:
            return (False,) * 6
        made = self._item(found[0], "", "")
        kept, slugs = {each.title for each in here.criteria if each.title}, Slugs("scenario")
        names = (each.title if each.title in kept else scenario_name(each) for each in item.criteria)
        title = name_of(item) if item.title != here.title else here.title
        is_misread = misread(item, self._context.grammar)
        known = {
            name: value
            for name, value in item.attributes.items()
            if name in here.attributes or (value.strip() and can_be_metadata(name))
        }
        return (
            True,
            made.title == title and [each.label for each in made.criteria] == [slugs.take(name) for name in names],
            [plain(each.text) for each in made.criteria] == [plain(each.text) for each in item.criteria],
            {*made.relations} == {each for each in item.relations if each.kind in CITED or each in here.relations},
            plain(made.text, is_misread) == plain(item.text, is_misread),
            _on_one_line(made.attributes) == _on_one_line(known),
        )

    def _whole(self, item: Item, here: Item | None = None) -> bytes:
        return ("\n".join(self._lines(item, here)).rstrip() + "\n").encode()

    def _lines(self, item: Item, here: Item | None) -> Iterator[str]:
        """The text of a requirement that is new, or that cannot be had by changing the old one."""
        name = item.title if here is not None and item.title == here.title else name_of(item)
        own = item.id.rpartition("/")[2]
        yield from (closed(f"### Requirement: {name}"), "")
        grammar = self._context.grammar
        if text := plain(item.text, misread(item, grammar)):
            yield from (*text.split("\n"), "")
        fields = [(ID, own)] if slug(name, "requirement") != own else []
        fields += [(key, value) for key, value in item.attributes.items() if can_be_metadata(key)]
        if fields:
            yield from (*(metadata_line(key, value) for key, value in fields if one_line(value)), "")
        cited = cited_relations(text, grammar)
        for kind, relations in grouped(each for each in item.relations if each not in cited).items():
            if kind in CITED:
                yield from (citation_line(kind, relations, grammar), "")
        for each in item.criteria:
            yield from scenario_lines(each)

    def edits(self, added: Sequence[PlacedItem], changed: Sequence[PlacedItem]) -> list[FileEdit]:
        by_spec: dict[str, list[PlacedItem]] = {}
        for placing in (*added, *changed):
            by_spec.setdefault(placing.item.id.rpartition("/")[0], []).append(placing)
        return [self._edit(spec_id, placings) for spec_id, placings in by_spec.items()]

    def commit(
        self, added: Sequence[PlacedItem], changed: Sequence[PlacedItem], files: Callable[[], None]
    ) -> tuple[str, ...]:
        return ()

    def _edit(self, spec_id: str, placings: Sequence[PlacedItem]) -> FileEdit:
        file = self._file(spec_id)
        if spec_id not in self._specs and file.data is not None:
            raise Rejected(
                f"{file.path} is there, but is not read as a spec of this project, so nothing is imported into it.",
                hint="Make sure that git does not ignore it, or move it away.",
            )
        there = {requirement_id(spec_id, each.slug): each for each in file.spec.requirements}
        file.refuse_open({there[each.item.id].slug for each in placings if each.item.id in there})
        blocks = {each.item.id: self._block(each.item, self._records.get(each.item.id)) for each in placings}
        changed = {there[id].slug: block for id, block in blocks.items() if id in there}
        new = [block for id, block in blocks.items() if id not in there]
        head = _NEW_SPEC.format(title=spec_id, source=placings[0].source).encode()
        after = file.with_blocks(changed, new) if file.data is not None else head + b"\n".join(new)
        self._demand_read_back(file, after, placings)
        return FileEdit(file.path, file.data, after)

    def _demand_read_back(self, file: SpecDraft, after: bytes, placings: Sequence[PlacedItem]) -> None:
        """Rejected where a file would not be read as the requirements that it holds."""
        wanted = {each.item.id: version_of(self.placed(each)) for each in placings}
        former = {requirement_id(file.spec.id, each.slug): settled(each) for each in file.spec.requirements}
        records = {requirement_id(file.spec.id, each.slug): each for each in read_spec(after).requirements}
        lost = [id for id in (*former, *wanted) if id not in records]
        for id, each in records.items():
            is_same = settled(each) == former.get(id)
            if id in wanted:
                is_same = version_of(self._item(each, file.spec.id, "")) == wanted[id]
            lost += [] if is_same else [id]
        if lost:
            raise file.not_read(lost[0])


_NEW_SPEC = """# {title}

## Purpose

Requirements that were imported from {source}; clew.imports.jsonl says which item became which requirement.

## Requirements

"""


def _body(raw: str) -> str:
    """The text below a heading."""
    return trimmed(raw.replace("\r\n", "\n").replace("\r", "\n").partition("\n")[2])


def _on_one_line(attributes: Mapping[str, str]) -> dict[str, str]:
    return {name: one_line(plain(value)) for name, value in attributes.items() if value.strip()}
