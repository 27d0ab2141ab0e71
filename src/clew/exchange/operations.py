"""`clew import` and `clew export`."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.edit.transaction import replace_alone
from clew.errors import InvalidArgument
from clew.exchange import results
from clew.exchange.columns import ColumnMapping, read_mapping, rendered
from clew.exchange.formats import FORMATS, WRITTEN, InFormat, OutFormat
from clew.exchange.service import ExchangeService, ImportRequest
from clew.exchange.sources import ImportSource, source_at
from clew.operation.call import Call
from clew.operation.declare import Freshness, HelpHeading, Operation, Option, Toolset
from clew.text.display import counted

_MOST_SHOWN = 20
_NO_FORMAT = ("`{command}` needs a format.", f"Formats are {', '.join(sorted(FORMATS))}.")
_NO_SOURCE = ("`{command}` needs a file or folder.", "Name it after the format, or - for standard input.")


Columns = Annotated[
    str | None,
    Meta(description="A mapping of columns, as --save-columns wrote it"),
    Option(metavar="FILE"),
]


class ImportItems(
    Operation,
    verb="import",
    heading=HelpHeading.EXCHANGE,
    toolset=Toolset.CORE,
    title="Import requirements and memories",
    summary="read requirements or memories from a file of another tool",
    epilog="clew import needs docs/_build/needs/needs.json --dry-run\nclew import csv requirements.csv --into register",
    needs=Freshness.NONE,
    writes=True,
):
    """Imports requirements and memories from a file of another tool."""

    format: Annotated[
        InFormat, Option(positional=True, metavar="FORMAT", needed=_NO_FORMAT, about=f"one of {', '.join(FORMATS)}")
    ]
    source: Annotated[
        str,
        Meta(min_length=1),
        Option(positional=True, metavar="SOURCE", needed=_NO_SOURCE, about="a file or folder, or - for standard input"),
    ]
    into: Annotated[
        Literal["elspais", "register", "openspec"] | None,
        Meta(description="The requirement format of the project that takes it; needed where it uses several"),
    ] = None
    name: Annotated[
        str | None,
        Meta(description="The name of the import, by which the next one finds its items; default: the file's name"),
    ] = None
    level: Annotated[
        str | None, Meta(description="Level of items without one (elspais); default: the most general one")
    ] = None
    include: Annotated[
        tuple[str, ...], Meta(description="Another kind of item that becomes a requirement"), Option(metavar="KIND")
    ] = ()
    relation: Annotated[
        tuple[str, ...],
        Meta(description="The meaning of a kind of relation, such as links=refines"),
        Option(metavar="NAME=KIND"),
    ] = ()
    map: Annotated[
        tuple[str, ...],
        Meta(description="The field of a column of a table, such as 'Object Text=text'; COLUMN=- is not read"),
        Option(metavar="COLUMN=MEANING"),
    ] = ()
    cites: Annotated[
        tuple[str, ...], Meta(description="A column of a table that names other items"), Option(metavar="COLUMN")
    ] = ()
    columns: Columns = None
    save_columns: Annotated[
        str | None, Meta(description="Save the mapping of columns in a file"), Option(metavar="FILE")
    ] = None
    dry_run: Annotated[bool, Meta(description="Say what would be changed, and change nothing")] = False

    def run(self, call: Call) -> results.ImportReport:
        source = (
            ImportSource(Path("-"), sys.stdin.buffer.read()) if self.source == "-" else source_at(Path(self.source))
        )
        request = ImportRequest(
            format=self.format,
            name=self.name or (self.format if self.source == "-" else source.place.resolve().name),
            into=self.into,
            level=self.level,
            include=self.include,
            relations=_pairs(self.relation, "links=refines"),
            dry_run=self.dry_run,
        )
        columns = self._columns()
        report = ExchangeService(call).take_in(FORMATS[self.format].read(source, columns), request)
        if self.save_columns is not None and columns is not None and not self.dry_run:
            replace_alone(Path(self.save_columns), rendered(columns))
        return report

    def _columns(self) -> ColumnMapping | None:
        given = (self.map, self.cites, self.columns, self.save_columns)
        if not any(given):
            return None
        if not FORMATS[self.format].is_table:
            raise InvalidArgument(f"A file of the format {self.format} has no columns.", hint="Leave them out.")
        kept = read_mapping(Path(self.columns)) if self.columns is not None else ColumnMapping()
        relations = tuple(dict.fromkeys((*kept.relations, *self.cites)))
        return ColumnMapping(columns={**kept.columns, **_pairs(self.map, "'Object Text=text'")}, relations=relations)

    def render(self, result: results.ImportReport) -> str:
        return "\n".join(_report_lines(result))

    def exit_code(self, result: results.ImportReport) -> int:
        return 1 if result.conflicts or result.rejected or result.memories_kept else 0


class ExportItems(
    Operation,
    verb="export",
    heading=HelpHeading.EXCHANGE,
    toolset=Toolset.CORE,
    title="Export the graph",
    summary="write requirements, or the whole graph, in a format of another tool",
    epilog="clew export reqif --output requirements.reqif\nclew export jsonl --output graph.jsonl",
    needs=Freshness.NONE,
):
    """Exports requirements, or the whole graph, in a format of another tool."""

    format: Annotated[
        OutFormat, Option(positional=True, metavar="FORMAT", needed=_NO_FORMAT, about=f"one of {', '.join(WRITTEN)}")
    ]
    output: Annotated[
        str, Meta(min_length=1, description="Where to write; - is standard output"), Option("-o", metavar="FILE")
    ] = "-"
    columns: Columns = None
    ids_of: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        Meta(description="Write the ids that the items of this import came with"),
        Option(metavar="IMPORT"),
    ] = None

    def run(self, call: Call) -> results.Exported:
        if self.output == "-" and WRITTEN[self.format].is_binary:
            raise InvalidArgument(
                f"A file of the format {self.format} is not text.", hint="Name a file with --output FILE."
            )
        columns = read_mapping(Path(self.columns)) if self.columns is not None else None
        return ExchangeService(call).written(WRITTEN[self.format], columns, self.ids_of)

    def document(self, result: results.Exported) -> bytes:
        return result.content

    def output_file(self) -> str | None:
        return None if self.output == "-" else self.output

    def data(self, result: results.Exported) -> Any:
        return {**msgspec.to_builtins(result.report), "output": self.output}

    def render(self, result: results.Exported) -> str:
        if self.output == "-":
            return result.content.decode()
        export = result.report
        figures = [counted(export.items, "item"), counted(export.relations, "relation")]
        figures += [counted(export.memories, "memory", "memories")] if export.memories else []
        figures += [f"{export.nodes:,} other nodes"] if export.nodes else []
        return f"Wrote {self.output}: {', '.join(figures)}."

    def messages(self, result: results.Exported) -> tuple[str, ...]:
        return result.report.notes


def _pairs(given: tuple[str, ...], such_as: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in given:
        name, sign, kind = each.partition("=")
        if not (name.strip() and sign and kind.strip()):
            raise InvalidArgument(f"'{each}' is not of the form {such_as}.", hint="Write NAME=MEANING.")
        found[name.strip()] = kind.strip()
    return found


def _report_lines(result: results.ImportReport) -> list[str]:
    lines = [*_summary(result)]
    for mark, items in (("+", result.added), ("~", result.changed)):
        for each in items[:_MOST_SHOWN]:
            was = f"  (was {each.id})" if each.id != each.as_ else ""
            lines.append(f"{mark} {each.as_}  {each.title}{was}")
        if len(items) > _MOST_SHOWN:
            lines.append(f"{mark} and {len(items) - _MOST_SHOWN:,} more; --json lists all")
    for word, problems in (("conflict", result.conflicts), ("rejected", result.rejected)):
        lines += [f"{word}  {each.id}: {each.reason}" for each in problems[:_MOST_SHOWN]]
        if len(problems) > _MOST_SHOWN:
            lines.append(f"{word}  and {len(problems) - _MOST_SHOWN:,} more; --json lists all")
    own = result.memories_kept
    says = "It is different here than in the source, and is not changed here. `clew memory edit` changes it."
    lines += [f"kept  {id[:8]}: {says}" for id in own[:_MOST_SHOWN]]
    if len(own) > _MOST_SHOWN:
        lines.append(f"kept  and {len(own) - _MOST_SHOWN:,} more; --json lists all")
    if result.unplaced:
        lines.append(f"Without a place in {result.into}; kept in {result.record}:")
        for kept in result.unplaced[:_MOST_SHOWN]:
            lines.append(f"  {kept.what}: {kept.count:,} ({', '.join(kept.examples)})")
        if len(result.unplaced) > _MOST_SHOWN:
            lines.append(f"  and {len(result.unplaced) - _MOST_SHOWN:,} more; --json lists all")
    return [*lines, *result.notes]


def _summary(result: results.ImportReport) -> list[str]:
    would = "would be " if result.dry_run else ""
    lines = []
    if result.into:
        new, changed = len(result.added), len(result.changed)
        figures = f"{new:,} {would}added, {changed:,} {would}changed, {result.unchanged:,} unchanged"
        mapped = f", {len(result.mapped):,} under another id" if result.mapped else ""
        lines.append(f"{result.source} into {result.into}: {figures}{mapped}.")
    if result.memories_added or result.memories_unchanged or result.memories_kept:
        number = counted(result.memories_added, "memory", "memories")
        waits = " They are not injected before `clew memory accept`." if result.memories_added else ""
        lines.append(f"{result.source}: {number} {would}added, {result.memories_unchanged:,} unchanged.{waits}")
    return lines or [f"{result.source} holds nothing to import."]
