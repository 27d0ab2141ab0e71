"""The formats of other tools, by the name that a command calls them."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from clew.exchange.model import Exchange
from clew.exchange.sources import ImportSource

if TYPE_CHECKING:
    from clew.exchange.columns import ColumnMapping

InFormat = Literal[
    "jsonl",
    "csv",
    "excel",
    "needs",
    "reqif",
    "lobster",
    "doorstop",
    "openfasttrace",
    "strictdoc",
    "github",
    "server-memory",
    "mem0",
    "basic-memory",
    "claude-mem",
]
OutFormat = Literal["jsonl", "csv", "excel", "needs", "reqif", "lobster"]


class ExchangeFormat(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    module: str
    """Has `read`, and `write` where the format goes both ways."""
    both_ways: bool = False
    is_binary: bool = False
    has_everything: bool = False
    """True if it takes memories, and the nodes that are made from files."""

    is_table: bool = False
    """True if it has columns that can be mapped."""

    def read(self, source: ImportSource, columns: "ColumnMapping | None" = None) -> Exchange:
        reader: Callable[..., Exchange] = import_module(self.module).read
        return reader(source, columns) if self.is_table else reader(source)

    def write(
        self,
        exchange: Exchange,
        project: str,
        *,
        rest: Sequence[dict[str, Any]] = (),
        columns: "ColumnMapping | None" = None,
    ) -> bytes:
        writer: Callable[..., bytes] = import_module(self.module).write
        if self.has_everything:
            return writer(exchange, project=project, rest=rest)
        return writer(exchange, project, columns) if self.is_table else writer(exchange, project)


_ALL = (
    ExchangeFormat(name="jsonl", module="clew.exchange.both.jsonl", both_ways=True, has_everything=True),
    ExchangeFormat(name="csv", module="clew.exchange.both.csv", both_ways=True, is_table=True),
    ExchangeFormat(name="excel", module="clew.exchange.both.excel", both_ways=True, is_table=True, is_binary=True),
    ExchangeFormat(name="needs", module="clew.exchange.both.needs", both_ways=True),
    ExchangeFormat(name="reqif", module="clew.exchange.both.reqif", both_ways=True),
    ExchangeFormat(name="lobster", module="clew.exchange.both.lobster", both_ways=True),
    ExchangeFormat(name="doorstop", module="clew.exchange.incoming.doorstop"),
    ExchangeFormat(name="openfasttrace", module="clew.exchange.incoming.openfasttrace"),
    ExchangeFormat(name="strictdoc", module="clew.exchange.incoming.strictdoc"),
    ExchangeFormat(name="github", module="clew.exchange.incoming.github"),
    ExchangeFormat(name="server-memory", module="clew.exchange.incoming.server_memory"),
    ExchangeFormat(name="mem0", module="clew.exchange.incoming.mem0"),
    ExchangeFormat(name="basic-memory", module="clew.exchange.incoming.basic_memory"),
    ExchangeFormat(name="claude-mem", module="clew.exchange.incoming.claude_mem"),
)
FORMATS: Mapping[str, ExchangeFormat] = {each.name: each for each in _ALL}
WRITTEN: Mapping[str, ExchangeFormat] = {each.name: each for each in _ALL if each.both_ways}
