"""Collects the facts of one file: pools of names and expressions, symbols with their shapes, imports, variables,
sites."""

from collections.abc import Iterable

import msgspec

from clew.formats.code.facts.expressions import MOST_OPERANDS, UNKNOWN, Expression, Op
from clew.formats.code.facts.model import MODULE, SITE_SIZE, Facts, Imported, Shape, SiteKind, Symbol

_INSIDE = 3
"""The place of the containing symbol among the numbers of a site."""
_OF_SYMBOLS = frozenset({Op.DEFINITION, Op.PARAMETER, Op.SELF, Op.SELF_CLASS, Op.SUPER})
"""Operations whose first operand is a symbol."""


class FactsWriter:
    """Facts of a file while a reader goes through it once. Equal expressions get one number."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self._numbers: dict[Expression, int] = {(int(Op.UNKNOWN),): UNKNOWN}
        self._expressions: list[Expression] = [(int(Op.UNKNOWN),)]
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
        number = self._numbers.get(parts)
        if number is None:
            number = self._numbers[parts] = len(self._expressions)
            self._expressions.append(parts)
        return number

    def parts(self, expression: int) -> Expression:
        """An operation with its operands."""
        return self._expressions[expression]

    def operation(self, expression: int) -> int:
        return self._expressions[expression][0]

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

    def anything(self) -> int:
        """A type that is written, and says that a value may be anything."""
        return self.expression(Op.UNION, UNKNOWN)

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

    def in_order(self) -> tuple[Symbol, ...]:
        """Number the symbols in the order in which they begin, the outer before the inner, wherever they are named."""
        symbols = self.symbols
        order = sorted(
            range(len(symbols)), key=lambda number: (symbols[number].line, -symbols[number].end_line, number)
        )
        if order != list(range(len(symbols))):
            place = [0] * len(order)
            for new, old in enumerate(order):
                place[old] = new
            self.shapes = [self.shapes[old] for old in order]
            self.symbols = [_moved(symbols[old], place) for old in order]
            self._expressions = [_renumbered(each, place) for each in self._expressions]
            self._numbers = {}
            self.imports = [
                msgspec.structs.replace(each, inside=place[each.inside]) if each.inside >= 0 else each
                for each in self.imports
            ]
            for numbers in self.sites.values():
                for at in range(_INSIDE, len(numbers), SITE_SIZE):
                    if numbers[at] >= 0:
                        numbers[at] = place[numbers[at]]
        return tuple(self.symbols)

    def site(self, name: str, line: int, column: int, kind: SiteKind, expression: int, inside: int = MODULE) -> None:
        """A place where a name is used. `expression` means what the name means; unknown ones count as not bound."""
        self.sites.setdefault(self.name(name), []).extend((line, column, kind, inside, expression))

    def facts(
        self,
        rules: str,
        *,
        package: str = "",
        exports: tuple[str, ...] | None = None,
        is_generated: bool = False,
    ) -> Facts:
        return Facts(
            rules=rules,
            package=package,
            names=tuple(self.names),
            expressions=tuple(self._expressions),
            shapes=tuple(self.shapes),
            imports=tuple(self.imports),
            variables=tuple(self.variables),
            sites=tuple((name, tuple(numbers)) for name, numbers in self.sites.items()),
            exports=exports,
            is_generated=is_generated,
        )


def _moved(symbol: Symbol, place: list[int]) -> Symbol:
    return msgspec.structs.replace(symbol, parent=place[symbol.parent]) if symbol.parent >= 0 else symbol


def _renumbered(expression: Expression, place: list[int]) -> Expression:
    op = expression[0]
    if op in _OF_SYMBOLS:
        return (op, place[expression[1]], *expression[2:])
    if op == Op.FIXTURE and expression[2] >= 0:
        return (op, expression[1], place[expression[2]])
    return expression
