"""The documentation inside a Python module: its docstrings, each under the name of what it documents."""

import ast
import inspect
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from clew.formats.diagnostics import Diagnostic
from clew.formats.documents.decoding import sound
from clew.formats.documents.model import Block, BlockKind
from clew.formats.documents.page import Page
from clew.formats.documents.rst import scan_rst
from clew.text.lines import TextLines

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_DEEPEST = 6


class Module(NamedTuple):
    page: Page
    diagnostics: tuple[Diagnostic, ...]


class _Documented(NamedTuple):
    title: str
    level: int
    doc: str
    line: int
    end_line: int


def read_docstrings(text: str, module: str) -> Module:
    """The docstrings of a module as one page, the module's own first; nothing where it has none."""
    page = Page()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        problem = f"The module cannot be read: {error}. Its docstrings are not part of the documents."
        line = getattr(error, "lineno", None) or 1
        return Module(page, (Diagnostic("documents.syntax", "error", problem, line),))
    for each in _documented(tree, module):
        page.add(BlockKind.HEADING, each.title, each.line, each.line, level=each.level, title=each.title)
        page.add_text(each.doc, _blocks(each.doc), each.line, each.end_line)
    return Module(page, ())


def _documented(tree: ast.Module, module: str) -> Iterator[_Documented]:
    own = _docstring(tree)
    inner = list(_inside(tree, (), 2))
    if own is not None or inner:
        yield own._replace(title=module, level=1) if own else _Documented(module, 1, "", 1, 1)
    yield from inner


def _inside(holder: ast.Module | ast.ClassDef, names: tuple[str, ...], level: int) -> Iterator[_Documented]:
    for node in holder.body:
        if isinstance(node, _Definition):
            path = (*names, node.name)
            if (found := _docstring(node)) is not None:
                yield found._replace(title=".".join(path), level=min(level, _DEEPEST))
            if isinstance(node, ast.ClassDef):
                yield from _inside(node, path, level + 1)


def _docstring(node: ast.Module | _Definition) -> _Documented | None:
    first = node.body[0] if node.body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return None
    if not isinstance(first.value.value, str) or not first.value.value.strip():
        return None
    doc = sound(inspect.cleandoc(first.value.value))
    return _Documented("", 0, doc, first.lineno, first.end_lineno or first.lineno)


def _blocks(doc: str) -> list[Block]:
    # Underlines inside a docstring mark its parts, such as Parameters; the name above is the only heading.
    return [
        Block(BlockKind.PROSE, block.start, block.end, block.line, block.end_line)
        if block.kind is BlockKind.HEADING
        else block
        for block in scan_rst(TextLines(doc))
    ]
