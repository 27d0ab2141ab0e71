"""Folders of OpenSpec: items become requirements of specs, their criteria scenarios, and attributes lines of metadata.

An item whose id is `spec/requirement` goes into that spec; every other one into a spec that is called like the import,
where a line `**ID**: ...` keeps an id that the heading does not give.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from clew.context import Context
from clew.edit.edits import FileEdit
from clew.edit.targets import read_if_there
from clew.errors import InvalidArgument, Rejected
from clew.exchange.model import REQUIREMENT, Criterion, Item, Relation
from clew.exchange.places.openspec_edits import edited_block
from clew.exchange.places.openspec_text import (
    CITED,
    ID,
    NAME,
    citation_line,
    is_field,
    metadata_line,
    plain,
    scenario_lines,
    scenario_name,
)
from clew.exchange.places.place import FreeIds, Placing, free_name, grouped, one_line, title_of
from clew.formats.code.prose_citations import cited_in_prose
from clew.formats.openspec.layout import checked_id, openspec_root, root_for, spec_path
from clew.formats.openspec.reader import read_spec
from clew.formats.openspec.records import Requirement, SectionKind, Spec
from clew.formats.openspec.references import requirement_id
from clew.formats.openspec.slugs import Slugs, slug
from clew.graph.model import NodeKind
from clew.graph.readers.locations import spec_roots
from clew.text.shortening import shortened
from clew.workspace.paths import raw


class OpenSpecPlace:
    name = "openspec"
    kinds = frozenset({REQUIREMENT})

    def __init__(self, context: Context, *, spec: str = "imported") -> None:
        """`spec` takes the items whose ids name none."""
        self._context = context
        self._spec = slug(spec, "imported")
        self._free_ids = FreeIds()
        self._roots = spec_roots(context.config) or (openspec_root(),)

    @cached_property
    def _specs(self) -> dict[str, tuple[str, Spec]]:
        """The specs of the project, with their paths."""
        found: dict[str, tuple[str, Spec]] = {}
        for node in self._context.graph.nodes_by_kind(NodeKind.SPEC):
            if node.source is not None:
                id = node.id.removeprefix("spec:")
                found[id] = (node.source.path, read_spec(self._data(node.source.path) or b"", id))
        return found

    def _data(self, path: str) -> bytes | None:
        return read_if_there(self._context.root / raw(path))

    def items(self) -> Mapping[str, Item]:
        return {
            item.id: item
            for id, (path, spec) in self._specs.items()
            for requirement in spec.requirements
            for item in (self._item(requirement, id, path),)
        }

    def beside(self) -> list[str]:
        return []

    def _item(self, record: Requirement, spec_id: str, path: str) -> Item:
        attributes: dict[str, str] = {}
        taken: set[str] = set()
        said = [(name, value) for name, value in record.metadata if name.casefold() not in (ID.casefold(), *CITED)]
        for name, value in (*said, *((each.heading, _body(each.raw)) for each in record.asides)):
            own = free_name(name, taken)
            taken.add(own.casefold())
            attributes[own] = value
        lines = [line for line in record.text.split("\n") if not is_field(line)]
        cited = cited_in_prose(record.text, self._context.grammar, register=True, specs=True)
        return Item(
            id=requirement_id(spec_id, record.slug),
            title=record.name,
            text="\n".join(lines).strip(),
            criteria=tuple(Criterion(each.slug, _body(each.raw), each.name) for each in record.scenarios),
            attributes=attributes,
            relations=tuple(dict.fromkeys(Relation(each.kind, each.target, each.labels) for each in cited)),
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

    def placed(self, placing: Placing) -> Item:
        item = placing.item
        spec_id, _, wanted = item.id.rpartition("/")
        old = self._records.get(item.id)
        data = f"# {spec_id}\n\n## Requirements\n\n".encode() + self._block(item, old)
        found = read_spec(data, spec_id).requirements
        # The second of a name has a number only where the first stands before it.
        is_same = bool(found) and (found[0].slug == wanted or (old is not None and found[0].name == old.name))
        if len(found) != 1 or not is_same or len(found[0].scenarios) != len(item.criteria):
            raise Rejected(
                f"'{shortened(item.id)}' cannot be written as a requirement of a spec: its text would be read as "
                "something else.",
                hint="Correct its title and criteria in the source.",
            )
        path = self._specs[spec_id][0] if spec_id in self._specs else spec_path(root_for(self._roots, spec_id), spec_id)
        return msgspec.structs.replace(self._item(found[0], spec_id, path), id=item.id, line=0)

    @cached_property
    def _records(self) -> dict[str, Requirement]:
        return {
            requirement_id(id, each.slug): each for id, (_, spec) in self._specs.items() for each in spec.requirements
        }

    def _block(self, item: Item, old: Requirement | None = None, former: bytes | None = None) -> bytes:
        """The text of a requirement; where there is one already, with what differs. `former` is the text of that one,
        byte for byte."""
        if old is not None:
            here = self._item(old, item.id.rpartition("/")[0], "")
            made = edited_block(former or old.raw.encode(), self._context.grammar, old, (here, item))
            if self._says(made, here, item):
                return made
        return ("\n".join(self._lines(item)).rstrip() + "\n").encode()

    def _says(self, block: bytes, here: Item, item: Item) -> bool:
        """Whether an edited requirement says what an item says, as far as a spec can."""
        found = read_spec(b"## Requirements\n\n" + block).requirements
        if len(found) != 1:
            return False
        made = self._item(found[0], "", "")
        cited = {each for each in item.relations if each.kind in CITED or each in here.relations}
        same = (set(made.relations), made.title) == (cited, title_of(item) if item.title != here.title else here.title)
        kept, slugs = {each.title for each in here.criteria if each.title}, Slugs("scenario")
        names = (each.title if each.title in kept else scenario_name(each) for each in item.criteria)
        return same and [each.label for each in made.criteria] == [slugs.take(name) for name in names]

    def _lines(self, item: Item) -> Iterator[str]:
        """The text of a new requirement."""
        name, own = title_of(item), item.id.rpartition("/")[2]
        yield from (f"### Requirement: {name}", "")
        if text := plain(item.text, is_field):
            yield from (*text.split("\n"), "")
        fields = [(ID, own)] if slug(name, "requirement") != own else []
        fields += [(key, value) for key, value in item.attributes.items() if NAME.fullmatch(key)]
        if fields:
            yield from (*(metadata_line(key, value) for key, value in fields if one_line(value)), "")
        for kind, relations in grouped(item.relations).items():
            if kind in CITED:
                yield from (citation_line(kind, relations, self._context.grammar), "")
        for each in item.criteria:
            yield from scenario_lines(each)

    def edits(self, added: Sequence[Placing], changed: Sequence[Placing]) -> list[FileEdit]:
        by_spec: dict[str, list[Placing]] = {}
        for placing in (*added, *changed):
            by_spec.setdefault(placing.item.id.rpartition("/")[0], []).append(placing)
        return [self._edit(spec_id, placings) for spec_id, placings in by_spec.items()]

    def commit(
        self, added: Sequence[Placing], changed: Sequence[Placing], files: Callable[[], None]
    ) -> tuple[str, ...]:
        return ()

    def _edit(self, spec_id: str, placings: Sequence[Placing]) -> FileEdit:
        if spec_id not in self._specs:
            root = root_for(self._roots, spec_id)
            path = spec_path(root, spec_id)
            blocks = [self._block(placing.item) for placing in placings]
            head = _NEW_SPEC.format(title=spec_id, source=placings[0].source)
            return FileEdit(path, self._data(path), head.encode() + b"\n".join(blocks))
        path, spec = self._specs[spec_id]
        before = self._data(path) or b""
        data = before
        there = {requirement_id(spec_id, each.slug): each for each in spec.requirements}
        replaced = sorted((there[each.item.id].span.start, each) for each in placings if each.item.id in there)
        end = next((each.span.end for each in spec.document.of_kind(SectionKind.REQUIREMENTS)), len(data))
        new = b"\n".join(self._block(each.item) for each in placings if each.item.id not in there)
        if new:
            section = b"" if any(spec.document.of_kind(SectionKind.REQUIREMENTS)) else b"## Requirements\n\n"
            rest = b"\n" + data[end:] if data[end:].strip() else b""
            data = data[:end].rstrip(b"\n") + b"\n\n" + section + new + rest
        for start, each in reversed(replaced):
            old = there[each.item.id]
            block = self._block(each.item, old, data[start : old.span.end])
            apart = b"\n" if data[old.span.end :].strip() and not _ends_blank(block) else b""
            data = data[:start] + block + apart + data[old.span.end :]
        return FileEdit(path, before, data)


_NEW_SPEC = """# {title}

## Purpose

Requirements that were imported from {source}; clew.imports.jsonl says which item became which requirement.

## Requirements

"""


def _body(raw: str) -> str:
    """What stands below a heading."""
    return raw.replace("\r\n", "\n").partition("\n")[2].strip()


def _ends_blank(block: bytes) -> bool:
    lines = block.splitlines()
    return len(lines) > 1 and not lines[-1].strip()
