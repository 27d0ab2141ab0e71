"""Scopes of a Python file, and the names that a function binds."""

import ast
from collections.abc import Callable, Iterable
from typing import Any

from clew.formats.code.facts.drafts import MOST_VALUES

MODULE_SCOPE, CLASS_SCOPE, FUNCTION_SCOPE = 0, 1, 2
WIDEST_FLOW = 300
"""Names of one function for which branches are told apart. A function with more is read as if it had no branches, so
that reading takes time linear in its length."""

Flow = dict[str | int, int]
"""Known values of names, and of expressions such as members, at a point: expressions by name or by expression."""


class Scope:
    __slots__ = (
        "closed",
        "declared",
        "flow",
        "globals",
        "kind",
        "members",
        "names",
        "owner",
        "parent",
        "receives_class",
        "returns",
        "symbol",
        "values",
        "yields",
    )

    def __init__(self, kind: int, parent: "Scope | None", symbol: int) -> None:
        self.kind = kind
        self.parent = parent
        self.symbol = symbol
        self.names: dict[str, int] = {}
        """Of a module or class: the expression of each name. Of a function: how often it binds each name."""
        self.members: dict[str, int] = {}
        """Of a module or class: the symbols of the names that it defines. Of a class also those of its instances."""
        self.flow: Flow = {}
        self.values: dict[str, dict[int, None]] = {}
        """Of a function: all values of each of its names."""
        self.closed: dict[str, int] = {}
        """Of a function that was read: its names as functions in it see them."""
        self.declared: dict[str, int] = {}
        self.globals: set[str] = set()
        """Of a function: the names that mean those of the module or of an outer function."""
        self.owner = -1
        """The class whose method it is, or is in."""
        self.receives_class = False
        self.returns: list[int] = []
        self.yields: list[int] = []

    def give(self, name: str, value: int) -> None:
        values = self.values.get(name)
        if values is None:
            self.values[name] = {value: None}
        elif len(values) < MOST_VALUES:
            values[value] = None


class BoundNames:
    """The names that statements bind in their own scope, without those that expressions bind."""

    def __init__(self, body: Iterable[ast.stmt]) -> None:
        self.counts: dict[str, int] = {}
        """The number of times that each name is bound."""
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self._stack = list(body)
        while self._stack:
            node = self._stack.pop()
            collect = _COLLECTED.get(type(node))
            if collect is not None:
                collect(self, node)

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def _target(self, target: ast.expr) -> None:
        stack = [target]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Name):
                self._count(node.id)
            elif isinstance(node, ast.Tuple | ast.List):
                stack += node.elts
            elif isinstance(node, ast.Starred):
                stack.append(node.value)

    def _assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._target(target)

    def _single(self, node: ast.AugAssign | ast.AnnAssign) -> None:
        self._target(node.target)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        self._target(node.target)
        self._branches(node)

    def _branches(self, node: ast.For | ast.AsyncFor | ast.If | ast.While) -> None:
        self._stack += node.body
        self._stack += node.orelse

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self._count(node.name)

    def _try(self, node: ast.Try) -> None:
        self._stack += node.body
        self._stack += node.orelse
        self._stack += node.finalbody
        for handler in node.handlers:
            if handler.name:
                self._count(handler.name)
            self._stack += handler.body

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            if item.optional_vars is not None:
                self._target(item.optional_vars)
        self._stack += node.body

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self._count(alias.asname or alias.name.partition(".")[0])

    def _global(self, node: ast.Global) -> None:
        self.globals.update(node.names)

    def _nonlocal(self, node: ast.Nonlocal) -> None:
        self.nonlocals.update(node.names)

    def _match(self, node: ast.Match) -> None:
        for case in node.cases:
            for inner in ast.walk(case.pattern):
                captured = getattr(inner, "name", None) or getattr(inner, "rest", None)
                if isinstance(captured, str):
                    self._count(captured)
            self._stack += case.body


_COLLECTED: dict[type, Callable[[BoundNames, Any], None]] = {
    ast.Assign: BoundNames._assign,
    ast.AugAssign: BoundNames._single,
    ast.AnnAssign: BoundNames._single,
    ast.For: BoundNames._for,
    ast.AsyncFor: BoundNames._for,
    ast.If: BoundNames._branches,
    ast.While: BoundNames._branches,
    ast.FunctionDef: BoundNames._definition,
    ast.AsyncFunctionDef: BoundNames._definition,
    ast.ClassDef: BoundNames._definition,
    ast.Try: BoundNames._try,
    ast.With: BoundNames._with,
    ast.AsyncWith: BoundNames._with,
    ast.Import: BoundNames._import,
    ast.ImportFrom: BoundNames._import,
    ast.Global: BoundNames._global,
    ast.Nonlocal: BoundNames._nonlocal,
    ast.Match: BoundNames._match,
}
if hasattr(ast, "TryStar"):
    _COLLECTED[ast.TryStar] = BoundNames._try
