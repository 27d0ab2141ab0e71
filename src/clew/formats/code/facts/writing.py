"""Collects the facts of one file: pools of names and expressions, symbols with their shapes, imports, variables,
sites."""

from collections.abc import Iterable

from clew.formats.code.facts.expressions import MOST_OPERANDS, UNKNOWN, Expression, Op
from clew.formats.code.facts.model import MODULE, Facts, Imported, Shape, SiteKind, Symbol


class FactsWriter:
    """What a reader fills while it goes through a file once. Equal expressions get one number."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.expressions: dict[Expression, int] = {(int(Op.UNKNOWN),): UNKNOWN}
        self.symbols: list[Symbol] = []
        self.shapes: list[Shape] = []
        self.imports: list[Imported] = []
        self.variables: list[tuple[int, ...]] = []
        self.sites: dict[int, list[int]] = {}

    def name(self, text: str) -> int:
        """The number of a name."""
        return self.names.setdefault(text, len(self.names))

    def expression(self, *parts: int) -> int:
        """The number of an expression; `parts` are the operation and its operands."""
        number: int = self.expressions.setdefault(parts, len(self.expressions))
        return number

    def member(self, of: int, name: str) -> int:
        return self.expression(Op.MEMBER, of, self.name(name)) if of else UNKNOWN

    def union(self, parts: Iterable[int]) -> int:
        """One of several: unknown parts are kept, since a value may then be anything."""
        distinct: list[int] = list(dict.fromkeys(parts))
        if len(distinct) == 1:
            return distinct[0]
        if not distinct:
            return UNKNOWN
        return self.expression(Op.UNION, *distinct[:MOST_OPERANDS])

    def instance(self, of: int) -> int:
        """A value of a type that is written as this expression."""
        return self.expression(Op.INSTANCE, of) if of else UNKNOWN

    def variable(self, type: int = UNKNOWN, values: Iterable[int] = ()) -> int:
        """The number of a variable. One of which a value comes later, as in a loop, is filled with `fill`."""
        self.variables.append((type, *values))
        return len(self.variables) - 1

    def fill(self, variable: int, type: int, values: Iterable[int]) -> None:
        self.variables[variable] = (type, *dict.fromkeys(values))

    def symbol(self, symbol: Symbol, shape: Shape | None = None) -> int:
        self.symbols.append(symbol)
        self.shapes.append(shape or Shape())
        return len(self.symbols) - 1

    def site(self, name: str, line: int, column: int, kind: SiteKind, expression: int, inside: int = MODULE) -> None:
        """A place where a name is used. `expression` means what the name means; unknown ones count as not bound."""
        self.sites.setdefault(self.name(name), []).extend((line, column, kind, inside, expression))

    def facts(
        self,
        rules: str,
        *,
        package: str = "",
        exports: tuple[str, ...] | None = None,
        exports_of: tuple[int, ...] = (),
        is_generated: bool = False,
    ) -> Facts:
        return Facts(
            rules=rules,
            package=package,
            names=tuple(self.names),
            expressions=tuple(self.expressions),
            shapes=tuple(self.shapes),
            imports=tuple(self.imports),
            variables=tuple(self.variables),
            sites=tuple((name, tuple(numbers)) for name, numbers in self.sites.items()),
            exports=exports,
            exports_of=exports_of,
            is_generated=is_generated,
        )
