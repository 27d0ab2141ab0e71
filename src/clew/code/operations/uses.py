"""The tool find_uses and the command `clew uses`."""

from collections.abc import Iterator

import msgspec

from clew.code.requests import UsesQuery
from clew.code.results import ShownSymbol, UsesFound
from clew.code.targets import placed
from clew.operation.call import Call
from clew.operation.declare import Freshness, Operation, PageCursor, Toolset
from clew.text.display import counted
from clew.text.terminal import coloured, note


class FindUses(
    UsesQuery,
    Operation,
    tool="find_uses",
    verb="uses",
    served=True,
    toolset=Toolset.CORE,
    title="Who uses it",
    summary="every use of a function, class, method, constant or attribute, with how sure it is",
    epilog="clew uses Settings\nclew uses src/fairwater/report.py::Plan --no-tests\nclew uses as_text --kind call",
    needs=Freshness.SOURCES,
    trim=("uses", "definitions"),
    pages="uses",
    outlined=True,
    example={"target": "Settings"},
):
    """For what would break if a function, class, method, constant or attribute changed. Returns calls, reads, writes,
    imports, subclasses, overrides, patches and names in strings, each with line, symbol around it and how sure it is;
    unbound counts places that could not be resolved."""

    cursor: PageCursor = None

    def run(self, call: Call) -> UsesFound:
        query = self
        if call.surface == "cli":
            target = placed(self.target, call.project.config.root, call.folder)
            query = msgspec.structs.replace(self, target=target)
        return call.project.uses.find_uses(query, offset=call.offset, check=call.check)

    def state(self, call: Call) -> str:
        return call.project.uses.state()

    def render(self, found: UsesFound) -> str:
        return "\n".join(_lines(found))

    def messages(self, found: UsesFound) -> tuple[str, ...]:
        return tuple(map(note, found.notes))


def _lines(found: UsesFound) -> Iterator[str]:
    if found.symbol is not None:
        yield coloured(f"{found.symbol.name}", "bold") + coloured(f"  {found.symbol.head}", "dim")
        if found.symbol.about:
            yield coloured(found.symbol.about, "dim")
    for use in found.uses:
        where = f" in {use.inside}" if use.inside else ""
        how = "" if use.basis == "exact" else f" ({use.basis})"
        yield f"{use.path}:{use.line}  {coloured(use.kind + how + where, 'dim')}  {use.text}"
    if found.symbol is not None:
        yield coloured(_counts(found), "dim")
    if found.definitions:
        yield coloured("definitions of this name:", "dim")
        yield from map(_definition, found.definitions)


def _counts(found: UsesFound) -> str:
    parts = [counted(found.total, "use")]
    if found.unbound:
        parts.append(f"{counted(found.unbound, 'place')} of this name could not be resolved")
    if found.one_of:
        parts.append(f"{counted(found.one_of, 'place')} may use this or another definition of the name")
    if found.generated:
        parts.append(f"{found.generated} in generated or copied files")
    return "; ".join(parts)


def _definition(symbol: ShownSymbol) -> str:
    uses = f"  {counted(symbol.uses, 'use')}" if symbol.uses is not None else ""
    return f"  {symbol.name}  {symbol.kind}, line {symbol.line}{uses}"
