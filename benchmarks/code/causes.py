"""Cause classes of missed and wrong lines: on what kind of receiver the name stands there."""

import ast
import re
from functools import lru_cache
from pathlib import Path

_BEFORE = re.compile(r"(?:(\bthis|\bsuper|\bself|\bcls)|(\w+)|(\))|(\])|([\"'`]))\s*(?:\?|!)?\.\s*$")


def cause(file: Path, line: int, name: str) -> str:
    if file.suffix != ".py":
        return _by_text(file, line, name)
    tree = _tree(file)
    if tree is None:
        return "file with a syntax error"
    found = sorted({_kind(node, tree) for node in _named(tree, line, name)})
    return " / ".join(found) or "not in the syntax tree (string, comment or another name)"


class _Tree:
    def __init__(self, module: ast.Module) -> None:
        self.by_line: dict[int, list[ast.AST]] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(module):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            for line in {getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)}:
                self.by_line.setdefault(line, []).append(node)

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
        while (node := self.parents.get(node)) is not None:  # type: ignore[assignment]
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return node
        return None


@lru_cache(200)
def _tree(file: Path) -> _Tree | None:
    try:
        return _Tree(ast.parse(file.read_bytes()))
    except (SyntaxError, OSError):
        return None


def _named(tree: _Tree, line: int, name: str) -> list[ast.AST]:
    found = []
    for node in tree.by_line.get(line, ()):
        match node:
            case ast.Name(id=here) | ast.keyword(arg=here) | ast.FunctionDef(name=here) | ast.ClassDef(name=here):
                is_it = here == name
            case ast.Attribute(attr=here):
                is_it = here == name and node.end_lineno == line
            case ast.Constant(value=str(here)):
                is_it = name in here
            case _:
                is_it = False
        if is_it:
            found.append(node)
    return found


def _kind(node: ast.AST, tree: _Tree) -> str:
    match node:
        case ast.Name():
            return "bare name, in a function" if tree.function(node) is not None else "bare name, outside of functions"
        case ast.keyword():
            return "keyword argument"
        case ast.FunctionDef() | ast.ClassDef():
            return "definition"
        case ast.Constant():
            return "string"
        case ast.Attribute(value=value):
            return f"member of {_receiver(value, tree)}"
        case _:
            return type(node).__name__


def _receiver(value: ast.expr, tree: _Tree) -> str:
    match value:
        case ast.Name(id="self" | "cls"):
            return "self or cls"
        case ast.Call(func=ast.Name(id="super")):
            return "super()"
        case ast.Call():
            return "what a call returns"
        case ast.Attribute(value=ast.Name(id="self" | "cls")):
            return "an attribute of self"
        case ast.Attribute():
            return "a longer chain"
        case ast.Subscript():
            return "an item"
        case ast.Name():
            return _variable(value, tree)
        case _:
            return f"another expression ({type(value).__name__})"


def _variable(name: ast.Name, tree: _Tree) -> str:
    around = tree.function(name)
    while around is not None:
        arguments = around.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
            if each is not None and each.arg == name.id:
                return "an annotated parameter" if each.annotation is not None else "a parameter without annotation"
        for node in ast.walk(around):
            if isinstance(node, ast.Name) and node.id == name.id and isinstance(node.ctx, ast.Store):
                return f"a local ({_given(node, tree)})"
        around = tree.function(around)
    return "a global or an import"


def _given(node: ast.Name, tree: _Tree) -> str:
    parent = tree.parents.get(node)
    if isinstance(parent, ast.Tuple | ast.List):
        return "unpacked"
    value = getattr(parent, "value", None)
    match parent:
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            return "of a loop"
        case ast.withitem():
            return "of with"
        case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
            return f"given {type(value).__name__.lower()}"
        case _:
            return type(parent).__name__.lower()


def _by_text(file: Path, line: int, name: str) -> str:
    """For languages without a parser at hand."""
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    text = lines[line - 1] if line <= len(lines) else ""
    at = re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text)
    if at is None:
        return "under another name"
    before, after = text[: at.start()], text[at.end() :]
    if found := _BEFORE.search(before):
        kinds = ("this or super", "a variable or property", "what a call returns", "an item", "a string")
        return f"member of {next(kind for kind, group in zip(kinds, found.groups(), strict=True) if group)}"
    if re.search(r"\.\s*$", before):
        return "member of an expression before this line"
    if re.search(r"</?\s*$", before):
        return "element of JSX"
    if re.match(r"\??\s*:", after) or re.search(r"[{,]\s*$", before):
        return "property of an object, or destructured"
    return "bare name"
