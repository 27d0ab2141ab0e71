"""Names that a module brings when somebody asks it for them, by a table of literals."""

import ast
import re
from collections.abc import Iterable, Iterator

from clew.formats.code.facts.expressions import Op
from clew.formats.code.facts.model import MODULE, How, Imported, SiteKind
from clew.formats.code.python.definitions import Definitions
from clew.formats.code.python.expressions import relative

_PATH = re.compile(r"\.{0,9}[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?::[A-Za-z_]\w*)?")
_LONGEST = 200
_MOST = 2_000
_PACKAGES = ("__init__.py", "__init__.pyi")


def add_late_names(reader: Definitions, body: list[ast.stmt]) -> None:
    """Note what the tables of a module say that its names are: `{"Bell": ".bells"}`, `{"pack.bells": ["Bell"]}`,
    `{"Bell": (".bells", "Bell")}`. Only a package, or a module that gives names by a function, has such tables."""
    if not (reader.path.endswith(_PACKAGES) or "__getattr__" in reader.module.members):
        return
    left = _MOST
    for table in _tables(body):
        for key, value in zip(table.keys, table.values, strict=True):
            for node, module, name, alias in _entries(key, value):
                for place in _modules(module, reader.path):
                    _add(reader, node, place, name, alias)
                left -= 1
                if left <= 0:
                    return


def _tables(body: Iterable[ast.stmt]) -> Iterator[ast.Dict]:
    """The dictionaries at the top of a module, alone or as arguments of a call."""
    for node in body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) else None
        if isinstance(value, ast.Call):
            found = [*value.args, *(each.value for each in value.keywords)]
        else:
            found = [value] if value is not None else []
        yield from (each for each in found if isinstance(each, ast.Dict))


def _entries(key: ast.expr | None, value: ast.expr) -> Iterator[tuple[ast.Constant, str, str, str]]:
    """The text that names a thing, its module, its name there and the name that it gets."""
    first = _text(key)
    if first is None or not isinstance(key, ast.Constant):
        return
    second = _text(value)
    if second is not None and isinstance(value, ast.Constant) and first.isidentifier() and "." in second:
        module, _, last = second.replace(":", ".").rpartition(".")
        is_thing = bool(module.strip(".")) and last == first
        yield value, module if is_thing else second, first, first
    elif isinstance(value, ast.List | ast.Tuple | ast.Set):
        names = [(each, _text(each)) for each in value.elts]
        texts = [text for _, text in names if text is not None]
        if len(texts) == 2 and first.isidentifier() and "." in texts[0] and texts[1].isidentifier():
            node = value.elts[1]
            if isinstance(node, ast.Constant):
                yield node, texts[0], texts[1], first
            return
        for node, text in names:
            if text is not None and text.isidentifier() and isinstance(node, ast.Constant):
                yield node, first, text, text


def _text(node: ast.expr | None) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= _LONGEST:
        return node.value if _PATH.fullmatch(node.value) else None
    return None


def _modules(written: str, path: str) -> list[str]:
    """A module as it is written; one without dots may be part of this package."""
    name = written.lstrip(".")
    level = len(written) - len(name)
    if level:
        return [relative(name, path, level)]
    return [name] if "." in name else [name, relative(name, path, 1)]


def _add(reader: Definitions, node: ast.Constant, module: str, name: str, alias: str) -> None:
    imports = reader.writer.imports
    imports.append(Imported(node.lineno, module, name, alias, MODULE, int(How.LATE)))
    expression = reader.writer.expression(Op.IMPORT, len(imports) - 1)
    reader.site(name, node, SiteKind.STRING, expression)
