"""The listing of all operations: prepared, packaged, and read without importing any of them.

`make docs` writes `listing.json` from the declarations, and a test fails when the file is out of date. A server starts
with the file alone and imports the module of an operation when it is first called; the command line finds its commands
in the same file.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from clew.operation.declare import HelpHeading, Operation, Toolset

MODULES: tuple[str, ...] = (
    "clew.why.operations.brief",
    "clew.why.operations.thread",
    "clew.code.operations.uses",
    "clew.why.operations.search",
    "clew.why.operations.tools",
    "clew.trace.operations.read",
    "clew.trace.operations.find",
    "clew.compat.elspais.operations",
    "clew.trace.operations.files",
    "clew.trace.operations.links",
    "clew.trace.operations.mutations",
    "clew.compat.elspais.newer_tools",
    "clew.compat.elspais.declaration_operations",
    "clew.trace.operations.terms",
    "clew.register.operations.read",
    "clew.register.operations.safety",
    "clew.register.operations.edit",
    "clew.register.operations.evidence",
    "clew.register.operations.upkeep",
    "clew.register.operations.coverage",
    "clew.register.operations.review",
    "clew.specs.operations.tools",
    "clew.kb.operations.documents",
    "clew.compat.wekadocs.document_operations",
    "clew.kb.operations.graph",
    "clew.compat.wekadocs.graph_operations",
    "clew.memory.operations.core",
    "clew.memory.operations.curate",
    "clew.memory.operations.navigate",
    "clew.memory.operations.history",
    "clew.memory.operations.reflect",
    "clew.memory.operations.diagnose",
    "clew.memory.cognition.operations.gauges",
    "clew.memory.cognition.operations.calibration",
    "clew.memory.cognition.operations.purpose",
    "clew.memory.cognition.operations.upkeep",
    "clew.memory.cognition.operations.dream",
    "clew.trace.operations.check",
    "clew.trace.operations.coverage",
    "clew.why.operations.impact",
    "clew.why.operations.changed",
    "clew.trace.operations.changes",
    "clew.trace.operations.fix",
    "clew.search.operations",
    "clew.search.eval.operations",
    "clew.trace.operations.measure",
    "clew.specs.operations.commands",
    "clew.specs.operations.openspec_commands",
    "clew.kb.operations.commands",
    "clew.memory.operations.commands",
    "clew.memory.operations.keeping",
    "clew.memory.operations.measure",
    "clew.compat.req.operations",
    "clew.surfaces.req.operations",
    "clew.exchange.operations",
)
"""Every module that declares operations, in the order in which tools are listed."""

_FILE = Path(__file__).with_name("listing.json")


class ListedOperation(msgspec.Struct, frozen=True, omit_defaults=True):
    """An operation as the listing has it: all that clients see, and where the declaration is."""

    module: str
    declared: str
    """The name of the class."""
    tool: str | None = None
    original: str = ""
    """The spelling of the name in the tool's source document, where `tool` is spelled otherwise."""
    verb: str | None = None
    aliases: tuple[str, ...] = ()
    toolset: Toolset = Toolset.CORE
    heading: HelpHeading = HelpHeading.UNDERSTAND
    """The heading under which `clew help` lists the command."""
    title: str = ""
    summary: str = ""
    description: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    """The schema of the arguments, decoded when it is asked for: a server lists a few tools of many."""
    result: msgspec.Raw = msgspec.Raw(b"{}")
    """The schema of the result, likewise."""
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    reaches_others: bool = False
    later: bool = False
    links: bool = False
    """True if answers link to resources."""
    schema_version: str | None = None
    command_of: str | None = None
    """The tool by which agents do what a command does."""

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.tool or ""

    @property
    def input_schema(self) -> dict[str, Any]:
        decoded: dict[str, Any] = msgspec.json.decode(self.arguments)
        return decoded

    @property
    def output_schema(self) -> dict[str, Any]:
        decoded: dict[str, Any] = msgspec.json.decode(self.result)
        return decoded

    @property
    def signature(self) -> str:
        """The arguments in one line, optional ones with a question mark."""
        schema = self.input_schema
        required, names = schema.get("required", ()), schema.get("properties", {})
        return ", ".join(name if name in required else f"{name}?" for name in names) or "none"

    @property
    def operation(self) -> type[Operation]:
        """The declaration itself; imports its module."""
        return _declaration(self.module, self.declared)


@cache
def _declaration(module: str, name: str) -> type[Operation]:
    declared: type[Operation] = getattr(import_module(module), name)
    return declared


@cache
def all_operations() -> tuple[ListedOperation, ...]:
    """Every operation, as the packaged file has them."""
    return msgspec.json.decode(_FILE.read_bytes(), type=tuple[ListedOperation, ...])


@cache
def all_tools() -> tuple[ListedOperation, ...]:
    """The operations that are MCP tools."""
    return tuple(each for each in all_operations() if each.tool is not None)


@cache
def all_verbs() -> dict[str, ListedOperation]:
    """The operations that are commands, by their words; an alias is in place of the last word."""
    found: dict[str, ListedOperation] = {}
    for each in all_operations():
        if each.verb is not None:
            group = each.verb.rpartition(" ")[0]
            found[each.verb] = each
            found.update({f"{group} {alias}".strip(): each for alias in each.aliases})
    return found


_BOUNDS = ("maxLength", "minLength", "maxItems", "minItems", "minimum", "maximum")


def terse(tool: ListedOperation) -> ListedOperation:
    """The tool with the names, types and meanings of its arguments, and a result that is an object, without a title.
    Bounds and what follows from an argument being optional are left out; they are still checked, and a call that
    breaks a bound gets an error that names it."""
    from clew.operation.schemas import without_plain_defaults

    schema = without_plain_defaults(tool.input_schema) if tool.input_schema.get("properties") else tool.input_schema
    fields = {name: _without_bounds(field) for name, field in schema.get("properties", {}).items()}
    short = {**schema, "properties": fields}
    arguments, result = (msgspec.Raw(msgspec.json.encode(each)) for each in (short, {"type": "object"}))
    return msgspec.structs.replace(tool, title="", arguments=arguments, result=result)


def brief(tool: ListedOperation) -> ListedOperation:
    """The tool with arguments as in `terse`, and the names of its result's fields."""
    arguments = terse(tool).arguments
    return outlined(msgspec.structs.replace(tool, arguments=arguments))


def _without_bounds(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {keyword: value for keyword, value in schema.items() if keyword not in _BOUNDS}
    if isinstance(kept.get("items"), dict):
        kept["items"] = {"type": kept["items"]["type"]} if "type" in kept["items"] else {}
    return kept


def outlined(tool: ListedOperation) -> ListedOperation:
    """The tool with the names of its result's fields, without their schemas."""
    schema = tool.output_schema
    short = {"type": "object", "properties": {name: {} for name in schema.get("properties", {})}}
    return msgspec.structs.replace(tool, result=msgspec.Raw(msgspec.json.encode(short)))


def plain(tool: ListedOperation) -> ListedOperation:
    """The tool without a title and what follows from an argument being optional. Bounds and other defaults stay."""
    from clew.operation.schemas import without_plain_defaults

    if not tool.input_schema.get("properties"):
        return msgspec.structs.replace(tool, title="")
    short = without_plain_defaults(tool.input_schema)
    return msgspec.structs.replace(tool, title="", arguments=msgspec.Raw(msgspec.json.encode(short)))
