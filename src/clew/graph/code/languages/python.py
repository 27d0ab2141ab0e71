"""The rules of Python: targets of imports, and the order in which members are looked for."""

import posixpath
from collections.abc import Iterator, Sequence

from clew.formats.code.facts.model import How, Imported
from clew.graph.code.languages.rules import Files, LanguageRules, Module

_ROOTS = ("src", "lib", "python")
"""Folders that a project imports from, besides its own and those above the file."""
_PACKAGE = "__init__.py"


class PythonRules(LanguageRules):
    name = "python"
    builtins = "builtins"
    constructor = "__init__"
    typed_literals = False

    def module(self, imported: Imported, path: str, files: Files) -> Module:
        name = imported.module
        if name.startswith("/"):
            return _at(name[1:], files)
        if imported.flags & How.TOP:
            name = name.partition(".")[0]
        return next((found for root in _roots(path, files) if (found := self._in_root(root, name, files))), ())

    def part(self, module: Module, name: str, files: Files) -> Module:
        for path in module:
            folder, file = posixpath.split(path)
            if not file or posixpath.splitext(file)[0] == "__init__":
                found = _at(f"{folder}/{name}" if folder else name, files)
                if found:
                    return found
        return ()

    def dotted(self, name: str, files: Files) -> tuple[Module, str]:
        parts = name.split(".")
        for root in ("", *_ROOTS, *files.roots()):
            module = self._in_root(root, parts[0], files)
            if not module:
                continue
            rest = parts[1:]
            while rest and (inner := self.part(module, rest[0], files)):
                module, rest = inner, rest[1:]
            return module, ".".join(rest)
        return (), name

    def order(self, class_: object, bases: Sequence[Sequence[object]]) -> tuple[object, ...]:
        """The C3 order; if there is none, the classes in the order in which they are met."""
        lists = [list(each) for each in bases if each]
        lists.append([each[0] for each in bases if each])
        found = [class_]
        while lists := [each for each in lists if each]:
            head = next((each[0] for each in lists if not any(each[0] in other[1:] for other in lists)), None)
            if head is None:
                return tuple(dict.fromkeys([*found, *(inner for each in lists for inner in each)]))
            found.append(head)
            for each in lists:
                if each[0] == head:
                    del each[0]
        return tuple(found)

    @staticmethod
    def _in_root(root: str, name: str, files: Files) -> Module:
        return _at(posixpath.join(root, name.replace(".", "/")), files)


def _roots(path: str, files: Files) -> Iterator[str]:
    """The folders from which a file may import, nearest first: those above it that are no packages."""
    folder = posixpath.dirname(path)
    while folder:
        if not files.has(f"{folder}/{_PACKAGE}"):
            yield folder
        folder = posixpath.dirname(folder)
    yield ""
    yield from _ROOTS
    yield from files.roots()


def _at(stem: str, files: Files) -> Module:
    """The module whose path has this beginning."""
    for path in (f"{stem}/{_PACKAGE}", f"{stem}.py", f"{stem}/__init__.pyi", f"{stem}.pyi"):
        if files.has(path):
            return (path,)
    # A folder without a file of its own may be a package too.
    return (f"{stem}/",) if stem and files.has_folder(stem) else ()
