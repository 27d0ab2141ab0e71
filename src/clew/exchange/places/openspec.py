"""Folders of OpenSpec: items become requirements of specs, their criteria scenarios, and attributes lines of metadata.

An item whose id is `spec/requirement` goes into that spec; every other one into a spec that is called like the import,
where a line `**ID**: ...` keeps an id that the heading does not give.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from clew.context import Context
from clew.edit.edits import FileEdit
from clew.edit.targets import read_if_there
from clew.errors import InvalidArgument, Rejected
from clew.exchange.model import REQUIREMENT, Criterion, Item, Relation
from clew.exchange.places.place import FreeIds, Placing, free_name, grouped, title_of, writable
from clew.formats.code.prose_citations import cited_in_prose
from clew.formats.openspec.layout import checked_id, openspec_root, root_for, spec_path
from clew.formats.openspec.lines import CODE, FENCE, Lines
from clew.formats.openspec.reader import read_spec
from clew.formats.openspec.records import Requirement, SectionKind, Spec
from clew.formats.openspec.references import requirement_id
from clew.formats.openspec.slugs import Slugs, slug
from clew.graph.model import NodeKind
from clew.graph.readers.locations import spec_roots
from clew.text.shortening import shortened
from clew.workspace.paths import raw

_CITED = ("implements", "refines", "verifies")
_METADATA = re.compile(r"\s*(?:[-*+]\s+)?(?:\*\*|__)([^*_:]{1,60}?)(?::(?:\*\*|__)|(?:\*\*|__)\s*:)\s*(.*)")
_NAME = re.compile(r"[^\s*_:][^*_:\n]{0,58}")
_CITATION = re.compile(r"\s*(?:Implements|Refines|Verifies):\s", re.IGNORECASE)
_STARTS_SOMETHING = re.compile(r"\s*(?:#|```|~~~)")
_ID = "ID"


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
        for name, value in record.metadata:
            if name.casefold() != _ID.casefold() and name.casefold() not in _CITED:
                attributes[free_name(name, attributes)] = value
        for aside in record.asides:
            attributes[free_name(aside.heading, attributes)] = aside.raw.partition("\n")[2].strip()
        lines = [line for line in record.text.split("\n") if not _METADATA.match(line) and not _CITATION.match(line)]
        cited = cited_in_prose(record.text, self._context.grammar, register=True, specs=True)
        return Item(
            id=requirement_id(spec_id, record.slug),
            title=record.name,
            text="\n".join(lines).strip(),
            criteria=tuple(
                Criterion(each.slug, each.raw.partition("\n")[2].strip(), each.name) for each in record.scenarios
            ),
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

    def labels(self, item: Item) -> tuple[str, ...]:
        slugs = Slugs("scenario")
        return tuple(slugs.take(_scenario_name(each)) for each in item.criteria)

    # Writing

    def placed(self, placing: Placing) -> Item:
        item = placing.item
        spec_id, _, wanted = item.id.rpartition("/")
        data = f"# {spec_id}\n\n## Requirements\n\n{self._block(item)}".encode()
        found = read_spec(data, spec_id).requirements
        if len(found) != 1 or found[0].slug != wanted or len(found[0].scenarios) != len(item.criteria):
            raise Rejected(
                f"'{shortened(item.id)}' cannot be written as a requirement of a spec: its text would be read as "
                "something else.",
                hint="Correct its title and criteria in the source.",
            )
        path = self._specs[spec_id][0] if spec_id in self._specs else spec_path(root_for(self._roots, spec_id), spec_id)
        return msgspec.structs.replace(self._item(found[0], spec_id, path), line=0)

    def _block(self, item: Item) -> str:
        return "\n".join(self._lines(item)).rstrip() + "\n"

    def _lines(self, item: Item) -> Iterator[str]:
        name, own = title_of(item), item.id.rpartition("/")[2]
        yield from (f"### Requirement: {name}", "")
        if text := _plain(item.text, _is_field):
            yield from (*text.split("\n"), "")
        fields = [(_ID, own)] if slug(name, "requirement") != own else []
        fields += [
            (key, " ".join(writable(value).split())) for key, value in item.attributes.items() if _NAME.fullmatch(key)
        ]
        if fields:
            yield from (*(f"- **{key}**: {value}" for key, value in fields if value), "")
        for kind, relations in grouped(item.relations).items():
            if kind in _CITED:
                yield from (f"{kind.capitalize()}: {', '.join(map(_reference, relations))}", "")
        for each in item.criteria:
            yield from (f"#### Scenario: {_scenario_name(each)}", "", *_plain(each.text).split("\n"), "")

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
            return FileEdit(path, self._data(path), (head + "\n".join(blocks)).encode())
        path, spec = self._specs[spec_id]
        before = self._data(path) or b""
        data = before
        there = {requirement_id(spec_id, each.slug): each for each in spec.requirements}
        replaced = sorted((there[each.item.id].span.start, each) for each in placings if each.item.id in there)
        end = next((each.span.end for each in spec.document.of_kind(SectionKind.REQUIREMENTS)), len(data))
        new = "\n".join(self._block(each.item) for each in placings if each.item.id not in there)
        if new:
            section = b"" if any(spec.document.of_kind(SectionKind.REQUIREMENTS)) else b"## Requirements\n\n"
            rest = b"\n" + data[end:] if data[end:].strip() else b""
            data = data[:end].rstrip(b"\n") + b"\n\n" + section + new.encode() + rest
        for start, each in reversed(replaced):
            old = there[each.item.id].span
            rest = b"\n" + data[old.end :] if data[old.end :].strip() else b""
            data = data[:start] + self._block(each.item).encode() + rest
        return FileEdit(path, before, data)


_NEW_SPEC = """# {title}

## Purpose

Requirements that were imported from {source}; clew.imports.jsonl says which item became which requirement.

## Requirements

"""


def _scenario_name(criterion: Criterion) -> str:
    return " ".join(writable(criterion.title or criterion.label).split()) or "Criterion"


def _reference(relation: Relation) -> str:
    return f"{relation.target}#{'+'.join(relation.labels)}" if relation.labels else relation.target


def _is_field(line: str) -> bool:
    """Whether a line before the first scenario would be read as metadata or as a citation."""
    return bool(_METADATA.match(line) or _CITATION.match(line))


def _plain(text: str, is_field: Callable[[str], bool] = lambda _: False) -> str:
    """A text that is read as text and nothing else. Code blocks stay as they are, unless one is never closed."""
    lines = [line.rstrip() for line in writable(text).strip().split("\n")]
    found = Lines("\n".join(lines).encode())
    for index, line in enumerate(lines):
        is_code = found.kinds[index] in (FENCE, CODE) if index < len(found) else False
        if found.fence_line and index + 1 >= found.fence_line:
            is_code = False
        if not is_code and (_STARTS_SOMETHING.match(line) or is_field(line)):
            lines[index] = f"\\{line.lstrip()}"
    return "\n".join(lines)
