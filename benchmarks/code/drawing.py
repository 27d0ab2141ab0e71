"""Symbols of a Python project, drawn at random: so many of each kind, each where its file defines it."""

import ast
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

Kind = Literal["function", "class", "method", "property", "variable", "attribute"]

WANTED: dict[Kind, int] = {
    "function": 20,
    "class": 12,
    "method": 22,
    "property": 6,
    "variable": 10,
    "attribute": 10,
}
"""80 in all. Where a project has too few of a kind, the others give more."""

SEED = "uses"

_PROPERTIES = ("property", "cached_property", "abstractproperty")


class Drawn(msgspec.Struct, frozen=True, array_like=True):
    """A symbol by the first place that defines it."""

    path: str
    qualname: str
    kind: Kind
    line: int
    column: int
    """In UTF-16 units, as editors count."""

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]

    @property
    def target(self) -> str:
        return f"{self.path}::{self.qualname}"


def draw(project: str, symbols: Iterable[Drawn], wanted: dict[Kind, int] = WANTED) -> list[Drawn]:
    """The same symbols in every run, whatever order the files were read in."""
    chance = random.Random(f"{SEED} {project}")
    by_kind: dict[Kind, list[Drawn]] = {kind: [] for kind in wanted}
    for symbol in sorted(symbols, key=lambda each: (each.path, each.qualname)):
        by_kind[symbol.kind].append(symbol)
    for group in by_kind.values():
        chance.shuffle(group)
    chosen = [symbol for kind, group in by_kind.items() for symbol in group[: wanted[kind]]]
    rest = [symbol for kind, group in by_kind.items() for symbol in group[wanted[kind] :]]
    chance.shuffle(rest)
    chosen += rest[: sum(wanted.values()) - len(chosen)]
    return sorted(chosen, key=lambda each: (each.path, each.line, each.column))


def symbols_of(root: Path, folder: str, *, tests: bool = False) -> Iterator[Drawn]:
    """Top-level and class-level definitions of the Python files below a folder, by default but those of tests."""
    for file in sorted((root / folder).rglob("*.py")):
        path = file.relative_to(root).as_posix()
        if not tests and any(part in ("tests", "test", "testing", "node_modules") for part in Path(path).parts[:-1]):
            continue
        try:
            text = file.read_text(encoding="utf-8")
            tree = ast.parse(text)
        except (SyntaxError, UnicodeDecodeError):
            continue
        yield from _File(path, text).symbols(tree)


class _File:
    def __init__(self, path: str, text: str) -> None:
        self.path = path
        # As the parser counts lines: a form feed or a Unicode line separator ends none.
        self.lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self.found: dict[str, Drawn] = {}

    def symbols(self, tree: ast.Module) -> Iterator[Drawn]:
        self._body(tree.body, "", in_class=False)
        yield from self.found.values()

    def _body(self, body: list[ast.stmt], around: str, *, in_class: bool) -> None:
        for statement in body:
            match statement:
                case ast.ClassDef():
                    self._named(statement, around, "class")
                    self._body(statement.body, f"{around}{statement.name}.", in_class=True)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    kind: Kind = "function"
                    if in_class:
                        kind = "property" if any(map(_is_property, statement.decorator_list)) else "method"
                    self._named(statement, around, kind)
                    if in_class and statement.args.args:
                        self._instance(statement, around, statement.args.args[0].arg)
                case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
                    for name in ("body", "orelse", "finalbody"):
                        self._body(getattr(statement, name, []), around, in_class=in_class)
                    for handler in getattr(statement, "handlers", []):
                        self._body(handler.body, around, in_class=in_class)
                case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                    for target in _targets(statement):
                        if isinstance(target, ast.Name) and target.id != "_":
                            kind = "attribute" if in_class else "variable"
                            self._add(around + target.id, kind, target.lineno, target.col_offset)
                case _:
                    pass

    def _instance(self, method: ast.FunctionDef | ast.AsyncFunctionDef, around: str, first: str) -> None:
        """Attributes that a method gives its object."""
        if any(
            isinstance(each, ast.Name) and each.id in ("staticmethod", "classmethod") for each in method.decorator_list
        ):
            return
        for node in ast.walk(method):
            if isinstance(node, ast.Assign | ast.AnnAssign):
                for target in _targets(node):
                    if (
                        isinstance(target, ast.Attribute)
                        and isinstance(target.value, ast.Name)
                        and target.value.id == first
                    ):
                        end = target.end_col_offset or 0
                        self._add(
                            around + target.attr, "attribute", target.end_lineno or 0, end - len(target.attr.encode())
                        )

    def _named(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, around: str, kind: Kind) -> None:
        line = self.lines[node.lineno - 1].encode()
        column = line.find(b" " + node.name.encode(), node.col_offset) + 1
        if column:
            self._add(around + node.name, kind, node.lineno, column)

    def _add(self, qualname: str, kind: Kind, line: int, column: int) -> None:
        before = self.lines[line - 1].encode()[:column].decode()
        self.found.setdefault(qualname, Drawn(self.path, qualname, kind, line, len(before.encode("utf-16-le")) // 2))


def _targets(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterator[ast.expr]:
    waiting: list[ast.expr] = list(statement.targets) if isinstance(statement, ast.Assign) else [statement.target]
    while waiting:
        target = waiting.pop(0)
        if isinstance(target, ast.Tuple | ast.List):
            waiting[:0] = target.elts
        elif isinstance(target, ast.Starred):
            waiting.insert(0, target.value)
        else:
            yield target


def _is_property(decorator: ast.expr) -> bool:
    name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
    return name in _PROPERTIES or name in ("setter", "getter", "deleter")
