"""Where imports of Java lead: to the files that say they belong to a package."""

import posixpath
from collections.abc import Sequence

from clew.formats.code.facts.model import Imported
from clew.graph.code.languages.rules import Files, LanguageRules, Module

_ENDING = ".java"


class JavaRules(LanguageRules):
    name = "java"
    builtins = "?java"

    def module(self, imported: Imported, path: str, files: Files) -> Module:
        found = _of_java(files.in_package(imported.module))
        # A class stands in a file of its name; only one that others cannot see may stand elsewhere.
        own = tuple(each for each in found if posixpath.basename(each) == f"{imported.name}{_ENDING}")
        return own or found

    def around(self, path: str, files: Files) -> Module:
        package = files.package_of(path)
        return _of_java(files.in_package(package)) if package else (path,)


def _of_java(paths: Sequence[str]) -> Module:
    return tuple(path for path in paths if path.endswith(_ENDING))
