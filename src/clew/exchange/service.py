"""Imports and exports of a project."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from clew.context import Context
from clew.edit.edits import FileEdit
from clew.edit.targets import read_if_there
from clew.edit.transaction import EditPurpose, FileTransaction
from clew.errors import InvalidArgument
from clew.exchange import results
from clew.exchange.backends.backend import RequirementBackend, some, title_of
from clew.exchange.backends.choice import backends_of, choose_backends
from clew.exchange.imports_file import NAME, NOW, ImportRecord, read_records, render_records, restored
from clew.exchange.model import Exchange, Item, is_same, version_of
from clew.exchange.plan import ImportChoices, ImportPlan, Records, plan_import
from clew.exchange.renames import find_renamed, under_original_ids, with_current_ids, with_ids
from clew.formats.register.ids import normalise
from clew.graph.model import Node, NodeKind
from clew.text.display import shortened

if TYPE_CHECKING:
    from clew.exchange.columns import ColumnMapping
    from clew.exchange.formats import ExchangeFormat
    from clew.operation.call import Call
    from clew.project import Project


class ImportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The options of an import."""

    format: str
    name: str
    into: str | None = None
    level: str | None = None
    include: tuple[str, ...] = ()
    relations: Mapping[str, str] = {}
    dry_run: bool = False


class ExchangeService:
    def __init__(self, call: "Call") -> None:
        self._call = call
        self._project: Project = call.project
        self._context: Context = call.project.context

    # In

    def take_in(self, exchange: Exchange, request: ImportRequest) -> results.ImportReport:
        """Import requirements and memories, or report the changes that this would make."""
        report = results.ImportReport(
            format=request.format, source=request.name, into="", dry_run=request.dry_run, notes=exchange.notes
        )
        if exchange.items:
            report = self._requirements(exchange, request, report)
        if exchange.memories:
            report = self._memories(exchange, request, report)
        return report

    def _requirements(
        self, exchange: Exchange, request: ImportRequest, report: results.ImportReport
    ) -> results.ImportReport:
        context, before = self._context, read_if_there(self._context.root / NAME)
        self._project.ensure_graph(self._call.progress)
        records = read_records(before)
        came_before = {id for source, id in records if source == request.name}
        may_be_here = any(item.version or item.id in came_before or self._exists(item.id) for item in exchange.items)
        exported, now = self._exported() if may_be_here else ((), records)
        exchange = self._spelled(exchange)
        given, exchange = exchange, self._understood(exchange, request, exported, now)
        in_file = {was.id: was for was, item in zip(given.items, exchange.items, strict=True) if was is not item}
        versions = {item.id: version_of(item) for item in exported}
        as_exported = {item.id for item in exchange.items if versions.get(item.id) == version_of(item)}
        with context.lock.reading():
            backends = choose_backends(self._call, request.into, exchange.items, name=request.name, level=request.level)
            known = ImportChoices(name=request.name, include=request.include, relations=request.relations)
            plans = plan_import(exchange, backends, records, known, self._exists, in_file, as_exported)
        after = render_records(_merged(records, plans, request.name, now))
        busy = [(backend, plan) for backend, plan in plans if plan.added or plan.changed]
        # Also for a dry run: what these refuse, it refuses too.
        edits = [edit for backend, plan in busy for edit in backend.edits(plan.added, plan.changed)]
        files: tuple[str, ...] = ()
        if not request.dry_run:
            files = self._write(busy, edits, FileEdit(NAME, before, after if after or before is not None else None))
        return _reported(report, plans, files, exchange)

    def _exists(self, id: str) -> bool:
        return self._context.graph.get_node(id) is not None

    def _spelled(self, exchange: Exchange) -> Exchange:
        """The items with the ids of the project, where one that was exported comes back in another spelling."""
        ids = {
            item.id: spelled
            for item in exchange.items
            if item.version and not self._exists(item.id)
            for spelled in (self._context.grammar.canonical(item.id), normalise(item.id))
            if spelled is not None and self._exists(spelled)
        }
        items = tuple(with_ids(item, ids) for item in exchange.items) if ids else exchange.items
        return msgspec.structs.replace(exchange, items=items)

    def _understood(
        self, exchange: Exchange, request: ImportRequest, exported: Sequence[Item], records: Records
    ) -> Exchange:
        """The items of a file, completed by the project's values for parts that the format cannot hold or spells
        otherwise."""
        from clew.exchange.formats import WRITTEN
        from clew.exchange.sources import ImportSource
        from clew.exchange.unchanged import keep_unchanged

        form = WRITTEN.get(request.format)
        if form is None or form.has_everything or not exported:
            return exchange
        here = {item.id: item for item in exported}
        if exchange.columns is not None:
            ids = {record.as_: id for (source, id), record in records.items() if source == request.name}
            former = zip(exported, under_original_ids(exported, records.values(), request.name), strict=True)
            present = {ids[item.id]: _without_now(was) for item, was in former if item.id in ids}
            own = (item for item in exchange.items if item.id in here)
            present |= {
                item.id: here[item.id]
                for item in own
                if item.version or (item.id not in present and is_same(item, here[item.id]))
            }
            exchange = _completed(exchange, present, exchange.columns)
        written = {
            record.id: record.written
            for (source, id), record in records.items()
            if source == request.name and record.as_ == id
        }

        def after_the_format(items: Exchange) -> Exchange:
            return form.read(ImportSource(Path(NAME), form.write(items, self._project.config.name)))

        return keep_unchanged(exchange, here, written, after_the_format)

    def _write(
        self, busy: Sequence[tuple[RequirementBackend, ImportPlan]], edits: Sequence[FileEdit], record: FileEdit
    ) -> tuple[str, ...]:
        """Write all files in one transaction, and just after it the items that are not in files."""
        facts = {
            "added": sum(len(plan.added) for _, plan in busy),
            "changed": sum(len(plan.changed) for _, plan in busy),
        }
        purpose = EditPurpose("import", facts=facts, with_diff=False)
        steps: list[FileEdit] = [*edits, record]

        def files() -> None:
            FileTransaction(self._context.root, steps, purpose).commit(self._context.store)
            steps.clear()

        # Where somebody else changed the register meanwhile, nothing is written.
        others = [name for backend, plan in busy for name in backend.commit(plan.added, plan.changed, files)]
        if steps:
            files()
        return (*(edit.path for edit in edits), *others)

    def _memories(
        self, exchange: Exchange, request: ImportRequest, report: results.ImportReport
    ) -> results.ImportReport:
        """Import memories. Those of files of others are not injected before somebody accepts them."""
        done = self._project.memory.import_lines(
            self._call, "\n".join(exchange.memories), as_document=True, dry_run=request.dry_run
        )
        return msgspec.structs.replace(
            report,
            memories_added=done.added,
            memories_unchanged=done.unchanged,
            memories_kept=done.kept,
            reversal_hash=done.reversal_hash,
        )

    # Out

    def written(
        self, form: "ExchangeFormat", columns: "ColumnMapping | None" = None, ids_of: str | None = None
    ) -> results.Exported:
        """The project as a file of a format; with the ids that the import `ids_of` came with."""
        exchange = self.give_out(memories=form.has_everything, ids_of=ids_of)
        rest = list(self.rest()) if form.has_everything else []
        content = form.write(exchange, self._project.config.name, rest=rest, columns=columns)
        report = results.ExportReport(
            format=form.name,
            items=len(exchange.items),
            relations=sum(len(item.relations) for item in exchange.items),
            memories=sum(line.startswith('{"memory"') for line in exchange.memories),
            nodes=sum("node" in each for each in rest),
            notes=self._not_exported(form),
        )
        return results.Exported(report, content)

    def _not_exported(self, form: "ExchangeFormat") -> tuple[str, ...]:
        """Notes on parts of the project that the export does not have. It has the saved files, without drafts."""
        with self._context.lock.reading():
            held = [part for backend in backends_of(self._call) for part in backend.beside()]
            graph = self._context.graph
            if not form.has_everything:
                texts = sum(map(_says_something, graph.nodes_by_kind(NodeKind.REMAINDER)))
                held += some(texts, "text between requirements", "texts between requirements")
                held += some(graph.count(NodeKind.SPEC), "purpose of a spec", "purposes of specs")
        drafts = some(self._project.unsaved().count, "unsaved draft")
        notes = [f"Not part of it: {', '.join(drafts)}."] if drafts else []
        notes += [f"Not in the export, only in the project's files: {', '.join(held)}."] if held else []
        return tuple(notes)

    def give_out(self, *, memories: bool = False, ids_of: str | None = None) -> Exchange:
        """The requirements of the project, each with the parts that its import kept."""
        items, records = self._exported()
        if ids_of is not None:
            _demand_import(records, ids_of)
            items = tuple(under_original_ids(items, records.values(), ids_of))
        lines = self._project.memory.export_lines(self._call) if memories else ()
        return Exchange(items=items, memories=lines)

    def _exported(self) -> tuple[tuple[Item, ...], Records]:
        """The requirements as they are exported, and the records of imports with the ids that these have now."""
        self._project.ensure_graph(self._call.progress)
        records = read_records(read_if_there(self._context.root / NAME))
        with self._context.lock.reading():
            found = {id: item for backend in backends_of(self._call) for id, item in backend.items().items()}
        former: dict[str, str] = {}
        for name in {source for source, _ in records}:
            renamed = find_renamed(found, records, name)
            former |= {now: before for before, now in renamed.items()}
            records = with_current_ids(records, renamed, name)
        return tuple(_exported(found, records.values(), former)), records

    def rest(self) -> Iterator[dict[str, Any]]:
        """The nodes of the graph that are no items, and the edges that begin at them."""
        graph = self._context.graph
        self._project.kb.refresh(self._call.progress, wait=True)
        with self._context.lock.reading():
            for kind in NodeKind:
                if kind in _ITEMS:
                    continue
                for node in graph.nodes_by_kind(kind):
                    yield {"node": _plain(node)}
                    for edge in graph.iter_outgoing_edges(node.id):
                        yield {"edge": msgspec.to_builtins(edge)}


_ITEMS = frozenset({NodeKind.REQUIREMENT, NodeKind.ASSERTION, NodeKind.USER_JOURNEY, NodeKind.MEMORY})
_SHOWN = (str, int, float, bool, type(None))


def _without_now(item: Item) -> Item:
    """An item without the parts of a source that no longer has it."""
    return msgspec.structs.replace(item, kept={name: value for name, value in item.kept.items() if name != NOW})


def _completed(exchange: Exchange, present: Mapping[str, Item], columns: frozenset[str]) -> Exchange:
    """The exchange with the parts that a table has no column for; `present` are the items of the project, by their ids
    in the table."""
    from clew.exchange.flat import completed

    items = (completed(item, present[item.id], columns) if item.id in present else item for item in exchange.items)
    return msgspec.structs.replace(exchange, items=tuple(items))


def _says_something(node: Node) -> bool:
    """True if a text between requirements holds more than headings and rules."""
    lines = str(node.get_field("text") or "").splitlines()
    return any(line.strip(" \t-") and not line.startswith("#") for line in lines)


def _plain(node: Node) -> dict[str, Any]:
    fields = {name: value for name, value in node.fields.items() if isinstance(value, _SHOWN)}
    place = {"path": node.source.path, "line": node.source.line} if node.source is not None else {}
    return {"id": node.id, "kind": node.kind.value, "title": node.title, **place, "fields": fields}


def _merged(
    records: Records, plans: Sequence[tuple[RequirementBackend, ImportPlan]], name: str, now: Records
) -> Iterator[ImportRecord]:
    """The records of other imports, those of this one, and those of items that the source does not name any more. What
    differs from before is the last of its requirement; `now` are the records with the ids of today."""
    fresh = {(name, each.id): each for _, plan in plans for each in plan.records}
    yield from (each for key, each in records.items() if key not in fresh)
    before: dict[str, int] = {}
    for (source, _), each in now.items():
        if each.as_ and source != name:
            before[each.as_] = max(each.order, before.get(each.as_, 0))
    for key, each in fresh.items():
        former = records.get(key)
        if former is not None and msgspec.structs.replace(each, order=former.order) == former:
            yield former
        else:
            yield msgspec.structs.replace(each, order=before[each.as_] + 1 if each.as_ in before else 0)


def _reported(
    report: results.ImportReport,
    plans: Sequence[tuple[RequirementBackend, ImportPlan]],
    files: tuple[str, ...],
    exchange: Exchange,
) -> results.ImportReport:
    every = [plan for _, plan in plans]
    ids = {id: here for plan in every for id, here in plan.ids.items()}
    sources = {here: id for id, here in ids.items()}
    titles = {item.id: title_of(item) for item in exchange.items}

    def imported(found: Iterable[str]) -> tuple[results.ImportedItem, ...]:
        return tuple(results.ImportedItem(id=sources[id], as_=id, title=titles[sources[id]]) for id in found)

    return msgspec.structs.replace(
        report,
        into=" and ".join(backend.name for backend, _ in plans),
        added=imported(each.item.id for plan in every for each in plan.added),
        changed=imported(each.item.id for plan in every for each in plan.changed),
        unchanged=sum(plan.unchanged for plan in every),
        mapped=imported(here for id, here in ids.items() if id != here),
        conflicts=tuple(each for plan in every for each in plan.conflicts),
        rejected=tuple(each for plan in every for each in plan.rejected),
        unplaced=tuple(each for plan in every for each in plan.unplaced),
        files=files,
        record=NAME if any(plan.records for plan in every) else None,
        notes=(*report.notes, *(each for plan in every for each in plan.notes)),
    )


def _demand_import(records: Mapping[tuple[str, str], ImportRecord], name: str) -> None:
    names = sorted({source for source, _ in records})
    if name not in names:
        raise InvalidArgument(
            f"No import is called '{shortened(name)}'.",
            hint=f"There are: {', '.join(names)}." if names else "Nothing was imported into this project.",
        )


def _exported(found: Mapping[str, Item], records: Iterable[ImportRecord], former: Mapping[str, str]) -> Iterator[Item]:
    """Each item with the parts that were kept of it. `former` are the ids of imported items that were renamed here."""
    ids: dict[str, dict[str, str]] = {}
    kept: dict[str, list[ImportRecord]] = {}
    alone: list[ImportRecord] = []
    for record in records:
        ids.setdefault(record.source, {})[record.id] = record.as_ or record.id
        if record.as_ in found:
            kept.setdefault(record.as_, []).append(record)
        elif not record.as_ and record.id not in found:
            alone.append(record)
    for id, item in found.items():
        version = version_of(item)
        if id in kept:
            item = restored(item, kept[id], ids, (version, version_of(with_ids(item, former))))
        yield msgspec.structs.replace(item, version=version)
    for record in alone:
        yield restored(Item(id=record.id), (record,), ids, (record.written,))
