"""Records of files, the names at their top level, and where imports lead."""

import posixpath
from collections.abc import Iterable

from clew.derived.code_file import CodeFile, Record
from clew.formats.code.facts.expressions import Expression
from clew.formats.code.facts.model import CALLED, METHOD, MODULE, SITE_SIZE, WHOLE, Form, How, Imported, Shape, Symbol
from clew.graph.code.aliases import Aliases
from clew.graph.code.binding.library import PREFIX, described, library_module, other_name
from clew.graph.code.binding.types import ModuleValue, Outside, Ref
from clew.graph.code.languages.rules import LanguageRules, Module
from clew.graph.code.languages.rules_of import rules_of

STATIC = "static "
"""The beginning of the name of a member of the class itself, where its instances have one of the same name."""
_DEEPEST_IMPORT = 24
"""Modules through which one name is followed."""

Named = Ref | ModuleValue | Outside
"""The meaning of a name of a module."""


class Source:
    """The record of a file, with indexes for repeated look-ups."""

    __slots__ = (
        "_fixtures",
        "_has_tests",
        "_members",
        "_numbers",
        "_sites",
        "_top",
        "facts",
        "imported",
        "path",
        "rules",
        "symbols",
    )

    def __init__(self, record: Record) -> None:
        self.path = record.path
        self.symbols = record.symbols
        self.facts = record.facts
        self.rules: LanguageRules | None = rules_of(record.facts.rules)
        self._top: dict[str, list[int]] | None = None
        self._members: dict[int, dict[str, int]] | None = None
        self._numbers: dict[str, int] | None = None
        self._sites: dict[int, tuple[int, ...]] | None = None
        self.imported: dict[str, list[int]] | None = None
        self._fixtures: dict[str, list[int]] | None = None
        self._has_tests: bool | None = None

    def symbol(self, number: int) -> Symbol:
        return self.symbols[number]

    def shape(self, number: int) -> Shape:
        shapes = self.facts.shapes
        return shapes[number] if number < len(shapes) else Shape()

    def expression(self, number: int) -> Expression:
        return self.facts.expressions[number]

    def name(self, number: int) -> str:
        return self.facts.names[number]

    def top(self, name: str) -> list[int]:
        """The top-level symbols of a name."""
        if self._top is None:
            self._top = {}
            for number, symbol in enumerate(self.symbols):
                if symbol.parent == MODULE and symbol.kind != METHOD:
                    self._top.setdefault(symbol.name, []).append(number)
        return self._top.get(name, [])

    def members(self, of: int) -> dict[str, int]:
        """The members of a class by their names."""
        if self._members is None:
            self._members = {}
            for number, symbol in enumerate(self.symbols):
                if symbol.parent >= 0:
                    members = self._members.setdefault(symbol.parent, {})
                    before = members.setdefault(symbol.name, number)
                    if before != number and (symbol.kind == METHOD) != (self.symbols[before].kind == METHOD):
                        field, method = (before, number) if symbol.kind == METHOD else (number, before)
                        members[symbol.name] = field
                        members.setdefault(symbol.name + CALLED, method)
                    elif before != number and self._is_static(before) != self._is_static(number):
                        instance, static = (number, before) if self._is_static(before) else (before, number)
                        members[symbol.name] = instance
                        members[STATIC + symbol.name] = static
        return self._members.get(of, {})

    def _is_static(self, number: int) -> bool:
        return bool(self.shape(number).form & Form.STATIC)

    @property
    def fixtures(self) -> dict[str, list[int]]:
        """The fixtures of tests, by the names under which tests get them."""
        if self._fixtures is None:
            self._fixtures = {}
            for number, symbol in enumerate(self.symbols):
                if self.shape(number).form & Form.FIXTURE:
                    self._fixtures.setdefault(symbol.name, []).append(number)
            for each in self.facts.imports:
                if each.flags & How.LATE and each.name in self._fixtures:
                    self._fixtures.setdefault(each.alias, []).extend(self._fixtures[each.name])
        return self._fixtures

    @property
    def has_tests(self) -> bool:
        """True if a framework calls functions of this file."""
        if self._has_tests is None:
            self._has_tests = any(each.is_test for each in self.symbols) or bool(self.fixtures)
        return self._has_tests

    def imports(self, alias: str) -> list[int]:
        """The imports of a name that hold for the whole file."""
        if self.imported is None:
            self.imported = {}
            for number, each in enumerate(self.facts.imports):
                if each.inside == MODULE and each.alias and not each.flags & How.LATE:
                    self.imported.setdefault(each.alias, []).append(number)
        return self.imported.get(alias, [])

    def late_imports(self, alias: str) -> list[int]:
        """The imports by which a module brings a name when somebody asks for it: those of a table, and those in its
        function for names."""
        inside = {MODULE, *self.top("__getattr__")}
        return [
            number
            for number, each in enumerate(self.facts.imports)
            if each.alias == alias and each.inside in inside and (each.flags & How.LATE or each.inside != MODULE)
        ]

    def sites(self, name: str) -> Iterable[tuple[int, ...]]:
        """The sites of a name: line, column, kind, containing symbol, expression."""
        if self._sites is None:
            self._sites = dict(self.facts.sites)
        if self._numbers is None:
            self._numbers = {each: number for number, each in enumerate(self.facts.names)}
        found = self._sites.get(self._numbers.get(name, -1), ())
        return (found[at : at + SITE_SIZE] for at in range(0, len(found), SITE_SIZE))


class Namespaces:
    """Definitions at the top level of files, and their imports, in one state of the project."""

    def __init__(self, file: CodeFile, aliases: Aliases | None = None) -> None:
        self.file = file
        self._aliases = aliases
        self._sources: dict[str, Source | None] = {}
        self._has: dict[str, bool] = {}
        self._folders: dict[str, bool] = {}
        self._roots: tuple[str, ...] | None = None
        self._named: dict[tuple[str, str], tuple[Named, ...]] = {}
        self._modules: dict[tuple[str, str, int], Module] = {}

    def share(self, other: "Namespaces") -> None:
        """Have what another reads of the same state of the project."""
        self._sources, self._has, self._folders = other._sources, other._has, other._folders
        self._named, self._modules = other._named, other._modules

    # Files

    def source(self, path: str) -> Source | None:
        if path not in self._sources:
            if path.startswith(PREFIX):
                reading = described(path)
                record: Record | None = Record(path, reading.outline.symbols, reading.facts)
            else:
                record = self.file.record(path)
            self._sources[path] = Source(record) if record is not None else None
        return self._sources[path]

    def take(self, records: Iterable[Record]) -> list[Source]:
        """Sources of records that are at hand."""
        found = []
        for record in records:
            source = self._sources.get(record.path)
            if source is None:
                source = self._sources[record.path] = Source(record)
            found.append(source)
        return found

    def has(self, path: str) -> bool:
        if path not in self._has:
            self._has[path] = bool(self.file.has((path,)))
        return self._has[path]

    def has_folder(self, folder: str) -> bool:
        if folder not in self._folders:
            self._folders[folder] = self.file.has_folder(folder)
        return self._folders[folder]

    def roots(self) -> tuple[str, ...]:
        """Folders that hold a top-level package, such as `packages/a/src`."""
        if self._roots is None:
            inits = self.file.called("__init__.py")
            packages = {posixpath.dirname(path) for path in inits}
            above = {posixpath.dirname(folder) for folder in packages}
            self._roots = tuple(sorted(above - packages - {""}, key=lambda root: (root.count("/"), root)))[:50]
        return self._roots

    def in_package(self, package: str) -> tuple[str, ...]:
        return tuple(self.file.in_package(package))

    def package_of(self, path: str) -> str:
        return self.file.package_of(path)

    def in_folder(self, folder: str) -> tuple[str, ...]:
        return tuple(self.file.in_folder(folder))

    def leads_to(self, written: str, importer: str) -> tuple[str, ...]:
        return tuple(self._aliases.leads_to(written, importer)) if self._aliases is not None else ()

    # Names

    def module_of(self, imported: Imported, source: Source) -> Module:
        """The files of the module that an import names; empty for a module outside of the project."""
        folder = posixpath.dirname(source.path)
        key = (folder, imported.module, imported.flags & How.TOP)
        if key not in self._modules:
            found: Module = ()
            if source.path.startswith(PREFIX):
                path = library_module(imported.module)
                found = (path,) if path is not None else ()
            elif source.rules is not None:
                found = source.rules.module(imported, source.path, self)
            self._modules[key] = found
        return self._modules[key]

    def imported(self, source: Source, number: int, depth: int = 0) -> tuple[Named, ...]:
        """The names that an import binds."""
        imported = source.facts.imports[number]
        module = self.module_of(imported, source)
        if not module:
            return self._outside(imported)
        if not imported.name or imported.name == WHOLE:
            return (ModuleValue(module),)
        return self.named(module, imported.name, source, depth + 1)

    def _outside(self, imported: Imported) -> tuple[Named, ...]:
        module = imported.module
        if imported.flags & How.TOP:
            module = module.partition(".")[0]
        if not imported.name:
            path = library_module(module)
            return (ModuleValue((path,)),) if path is not None else (Outside(module),)
        return self.of_library(f"{module}.{imported.name}")

    def of_library(self, name: str) -> tuple[Named, ...]:
        """A symbol that the project does not define: its stub if there is one."""
        module, _, own = other_name(name).rpartition(".")
        path = library_module(module)
        source = self.source(path) if path is not None else None
        numbers = source.top(own) if source is not None else []
        if path is None or not numbers:
            return (Outside(name),)
        symbol = source.symbol(numbers[-1]) if source is not None else None
        if symbol is None or symbol.kind not in ("class", "function", "type"):
            return (Outside(name),)
        return (Ref(path, numbers[-1]),)

    def named(self, module: Module, name: str, source: Source, depth: int = 0) -> tuple[Named, ...]:
        """The meanings of a name of a module: definitions and imports of its files, or a module in it."""
        if depth > _DEEPEST_IMPORT:
            return ()
        found: list[Named] = []
        for path in module:
            found += self.in_file(path, name, depth)
        if not found and source.rules is not None and not (module and module[0].startswith(PREFIX)):
            part = source.rules.part(module, name, self)
            if part:
                found.append(ModuleValue(part))
        if not found and module and module[0].startswith(PREFIX):
            found += self.of_library(f"{module[0][len(PREFIX) :]}.{name}")
        return tuple(dict.fromkeys(found))

    def in_file(self, path: str, name: str, depth: int = 0) -> tuple[Named, ...]:
        """The meanings of a name at the top level of a file."""
        key = (path, name)
        known = self._named.get(key)
        if known is not None:
            return known
        source = self.source(path)
        if source is None:
            return ()
        # A module that is asked for while it is being looked through leads in a circle.
        self._named[key] = ()
        found: list[Named] = [Ref(path, number) for number in source.top(name)]
        for number in source.imports(name):
            found += self.imported(source, number, depth)
        if not found:
            for number in source.imports(WHOLE):
                found += self._through_star(source, number, name, depth)
        if not found:
            for number in source.late_imports(name):
                found += (each for each in self.imported(source, number, depth) if not isinstance(each, Outside))
        self._named[key] = tuple(dict.fromkeys(found))
        return self._named[key]

    def _through_star(self, source: Source, number: int, name: str, depth: int) -> tuple[Named, ...]:
        module = self.module_of(source.facts.imports[number], source)
        if not module or depth > _DEEPEST_IMPORT:
            return ()
        for path in module:
            other = self.source(path)
            if other is not None and other.facts.exports is not None:
                if name in other.facts.exports:
                    return self.named(module, name, source, depth + 1)
            elif other is not None and not name.startswith("_"):
                found = self.in_file(path, name, depth + 1)
                if found:
                    return found
        return ()
