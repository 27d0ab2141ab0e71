"""Functions and classes as a region of the graph: they stay in their file and answer by query.

| edge | from | to |
|---|---|---|
| structures | symbol | the class, function or file that it is in |
| structures | place that cites a requirement, test | the innermost symbol around it |
| imports | file | symbol or file that it imports |
| mentions | section of a document | symbol that it calls by its name |

A file of source code is a symbol too, without a name: `symbol:src/bell.py`. Edges lead out of this region only to those
who ask from one of its own nodes, so no figure about requirements depends on it.
"""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence

from clew.derived.code_file import CodeFile, FiledImport, FiledSymbol
from clew.formats.code.components import ENDINGS
from clew.formats.code.declared_imports import PACKAGED
from clew.formats.code.imports import importable_as
from clew.formats.code.languages import family_for
from clew.graph.code.aliases import Aliases
from clew.graph.model import Edge, EdgeKind, Node, NodeKind, Source
from clew.graph.region import MemoryRegion, Region

PREFIX = "symbol:"
WHOLE = "*"
_ENDINGS = (
    *("", ".py", "/__init__.py", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", "/index.ts", "/index.tsx", "/index.js"),
    *(".rs", "/mod.rs", "/lib.rs", "/main.rs", ".rb", *ENDINGS),
)
"""Possible endings of a path without one."""
_SCRIPTS = frozenset({"script", "component"})
_NO_PACKAGE = ("?@/", "?~", "?#", "?$")
"""Prefixes of names that are no packages: they mean something in the project."""
_ROOTS = frozenset({"", "src", "lib", "python"})
"""Folders that every file of a project may import from."""


class CodeRegion(Region):
    def __init__(
        self,
        file: Callable[[], CodeFile],
        memory: Callable[[], MemoryRegion],
        aliases: Callable[[], Aliases],
        mentioning: Callable[[str], Iterable[str]] = lambda name: (),
    ) -> None:
        self._file = file
        self._memory = memory
        """The places that cite requirements, which are in symbols."""
        self._aliases = aliases
        """Targets of names in the imports of scripts."""
        self._mentioning = mentioning
        """The sections of documents that mention a name."""

    def get_node(self, id: str) -> Node | None:
        path, qualname = parts_of(id)
        if not qualname:
            return _file_node(path) if self._file().has((path,)) else None
        symbol = self._file().symbol(path, qualname)
        return _node(symbol) if symbol is not None else None

    def nodes_by_kind(self, kind: NodeKind) -> Iterator[Node]:
        if kind is NodeKind.SYMBOL:
            yield from map(_node, self._file().all_symbols())

    def count(self, kind: NodeKind) -> int:
        return self._file().count()[0] if kind is NodeKind.SYMBOL else 0

    def nodes_in_file(self, path: str) -> Iterator[Node]:
        return map(_node, self._file().symbols_of(path))

    def iter_outgoing_edges(self, id: str) -> Iterator[Edge]:
        path, qualname = parts_of(id)
        if qualname:
            symbols = self._file().symbols_of(path)
            own = next((each for each in symbols if each.qualname == qualname), None)
            if own is not None:
                above = symbol_id(symbols[own.parent]) if own.parent >= 0 else PREFIX + path
                yield Edge(EdgeKind.STRUCTURES, id, above)
            return
        for found in self._file().imports_of(path):
            target = self.imported(found)
            if target is not None:
                yield Edge(EdgeKind.IMPORTS, id, target)

    def iter_incoming_edges(self, id: str) -> Iterator[Edge]:
        path, qualname = parts_of(id)
        symbols = self._file().symbols_of(path)
        own = next((place for place, each in enumerate(symbols) if each.qualname == qualname), -1)
        if qualname and own < 0:
            return
        yield from (Edge(EdgeKind.STRUCTURES, symbol_id(each), id) for each in symbols if each.parent == own)
        for node in self._memory().nodes_in_file(path):
            if node.kind in (NodeKind.CODE, NodeKind.TEST) and node.source is not None:
                line = node.get_field("line") or node.source.line
                around = [(-lines, place) for place, each in enumerate(symbols) if (lines := each.around(line, line))]
                if max(around, default=(0, -1))[1] == own:
                    yield Edge(EdgeKind.STRUCTURES, node.id, id)
        for found in self.importing(path, qualname):
            yield Edge(EdgeKind.IMPORTS, PREFIX + found.path, id)
        names = dict.fromkeys((qualname, qualname.rpartition(".")[2])) if qualname else ()
        for section in dict.fromkeys(section for name in names for section in self._mentioning(name)):
            yield Edge(EdgeKind.MENTIONS, section, id)

    # Imports

    def importing(self, path: str, qualname: str = "") -> list[FiledImport]:
        """The imports of a file, or of one name out of it. A name inside a class is imported with the class. With the
        name `*`, the imports of the file as a whole, through which any of its names may be used."""
        family = family_for(path)
        if family is None:
            return []
        modules = self._importable(path, family.name)
        found = self._file().importing(modules) if modules else []
        seen = [each for each in found if each.path != path and self._means(each, path, modules)]
        if not qualname:
            return seen
        if family.name in PACKAGED:
            name = qualname.partition(".")[0]
            return [each for each in seen if name in (each.name, each.module.rpartition(".")[2])]
        if qualname == WHOLE:
            return [each for each in seen if each.module not in modules or each.name in ("", WHOLE)]
        name = qualname.partition(".")[0]
        return [each for each in seen if each.module in modules and each.name == name]

    def imported(self, found: FiledImport) -> str | None:
        """The symbol or file of the project that an import means, if any."""
        file = self._file()
        if found.module.startswith("*"):
            paths = file.ending_with(found.module[1:])
            return PREFIX + paths[0] if len(paths) == 1 else None
        family = family_for(found.path)
        if family is not None and family.name in PACKAGED:
            names = [symbol_id(each) for each in file.declared(found.module, found.name)]
            return names[0] if len(names) == 1 else None
        for path in self._candidates(found):
            if file.has((path,)):
                symbol = file.symbol(path, found.name) if found.name else None
                return symbol_id(symbol) if symbol is not None else PREFIX + path
        return None

    def unresolved(self, path: str) -> list[FiledImport]:
        """Imports of scripts whose name ends like a file of the project, but which no configuration resolves to a
        file."""
        family = family_for(path)
        if family is None or family.name not in _SCRIPTS:
            return []
        stem = posixpath.splitext(path)[0]
        ends = {posixpath.basename(stem.removesuffix("/index")), posixpath.basename(path)}
        found = {each for end in sorted(ends) for each in self._file().named_so(end)}
        return sorted(
            (each for each in found if each.path != path and self._is_own(each) and self.imported(each) is None),
            key=lambda each: (each.path, each.line),
        )

    def _is_own(self, found: FiledImport) -> bool:
        if found.module.startswith(_NO_PACKAGE):
            return True
        return self._aliases().knows(found.module[1:], found.path)

    def _candidates(self, found: FiledImport) -> Iterator[str]:
        """The files that an import may mean, most specific first."""
        if not found.module.startswith("?"):
            yield from _candidates(found)
            return
        for stem in self._aliases().leads_to(found.module[1:], found.path):
            yield from (stem + ending for ending in _ENDINGS)

    def _importable(self, path: str, family: str) -> tuple[str, ...]:
        if family in PACKAGED:
            package = self._file().package_of(path)
            outer = (each.name for each in self._file().symbols_of(path) if each.parent < 0)
            return tuple(dict.fromkeys(f"{package}.{name}" for name in outer)) if package else ()
        folder = posixpath.dirname(path)
        # The file of a package is imported by the name of its folder.
        above = posixpath.dirname(folder) if posixpath.basename(path).startswith("__init__.") else folder
        modules = importable_as(path, family, bool(self._file().has((f"{above}/__init__.py",))))
        if family in _SCRIPTS:
            stems = (path, *(each[1:] for each in modules))
            named = (name for stem in stems for name in (*self._aliases().names_of(stem), stem))
            return tuple(dict.fromkeys((*modules, *(f"?{name}" for name in named))))
        if family != "python":
            return tuple(each for each in modules if each[0] != "*" or len(self._file().ending_with(each[1:])) == 1)
        # A module is named from a folder that is no package itself.
        roots = {module: _root_of(path, module) for module in modules if not module.startswith("/")}
        inner = self._file().has(f"{root}/__init__.py" for root in roots.values() if root)
        return tuple(
            module for module in modules if module.startswith("/") or f"{roots[module]}/__init__.py" not in inner
        )

    def _means(self, found: FiledImport, path: str, modules: Sequence[str]) -> bool:
        """True if an import, as it is written and from its place, means this file."""
        if found.module.startswith("?"):
            target = self.imported(found)
            return target is not None and parts_of(target)[0] == path
        module = found.module if found.module in modules else f"{found.module}.{found.name}"
        if module.startswith(("/", "*")) or found.module.startswith("/") or not path.endswith((".py", ".pyi")):
            return True
        root = _root_of(path, module)
        return root in _ROOTS or posixpath.basename(root) in _ROOTS or found.path.startswith(f"{root}/")


def parts_of(id: str) -> tuple[str, str]:
    """The path and the qualified name in the id of a symbol."""
    path, _, qualname = id.removeprefix(PREFIX).partition("::")
    return path, qualname


def symbol_id(symbol: FiledSymbol) -> str:
    return f"{PREFIX}{symbol.path}::{symbol.qualname}"


def _root_of(path: str, module: str) -> str:
    """The folder from which a dotted module leads to a path."""
    stem = posixpath.splitext(path)[0].removesuffix("/__init__")
    return stem.removesuffix(module.replace(".", "/")).rstrip("/")


def _candidates(found: FiledImport) -> Iterator[str]:
    """The files that an import may mean, most specific first."""
    if found.module.startswith("/"):
        stem = found.module[1:]
        if found.name:
            yield f"{stem}/{found.name}.py"
            yield f"{stem}/{found.name}.rs"
        for ending in _ENDINGS:
            yield stem + ending
        return
    dotted = found.module.replace(".", "/")
    above = posixpath.dirname(found.path).split("/")
    roots = ["", "src/", "lib/", *("/".join(above[:depth]) + "/" for depth in range(len(above), 0, -1))]
    for root in dict.fromkeys(roots):
        if found.name:
            yield f"{root}{dotted}/{found.name}.py"
        yield f"{root}{dotted}.py"
        yield f"{root}{dotted}/__init__.py"


def _node(symbol: FiledSymbol) -> Node:
    fields = {"kind": symbol.kind, "name": symbol.name, "head": symbol.head, "is_test": symbol.is_test}
    source = Source(symbol.path, symbol.line, symbol.end_line)
    return Node(symbol_id(symbol), NodeKind.SYMBOL, symbol.qualname, fields, source)


def _file_node(path: str) -> Node:
    return Node(PREFIX + path, NodeKind.SYMBOL, path, {"kind": "file"}, Source(path, 1, 1))
