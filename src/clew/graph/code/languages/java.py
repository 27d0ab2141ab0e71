"""Where imports of Java lead: to the files that say they belong to a package."""

import posixpath
from collections.abc import Sequence

from clew.formats.code.facts.model import Imported
from clew.graph.code.languages.rules import Files, Module

_ENDING = ".java"


class JavaRules:
    name = "java"
    builtins = "?java"
    constructor = ""
    related = False
    spread = False
    typed_literals = True
    flattens = False

    def module(self, imported: Imported, path: str, files: Files) -> Module:
        found = _of_java(files.in_package(imported.module, self.name))
        # A class stands in a file of its name; only one that others cannot see may stand elsewhere.
        own = tuple(each for each in found if posixpath.basename(each) == f"{imported.name}{_ENDING}")
        return own or found

    def part(self, module: Module, name: str, files: Files) -> Module:
        return ()

    def dotted(self, name: str, files: Files) -> tuple[Module, str]:
        return (), name

    def around(self, path: str, files: Files) -> Module:
        package = files.package_of(path)
        return _of_java(files.in_package(package, self.name)) if package else (path,)

    def extends(self, path: str, other: str) -> bool:
        return path == other

    def order(self, class_: object, bases: Sequence[Sequence[object]]) -> tuple[object, ...]:
        """The class, then each of those above it with all that is above that."""
        return tuple(dict.fromkeys((class_, *(each for above in bases for each in above))))


def _of_java(paths: Sequence[str]) -> Module:
    return tuple(path for path in paths if path.endswith(_ENDING))
