"""The rules of Go: an import leads to a folder, named by the module that a `go.mod` above it declares."""

import posixpath
from collections.abc import Sequence

from clew.formats.code.facts.model import Imported
from clew.graph.code.languages.rules import Files, LanguageRules, Module

_ENDING = ".go"
_TESTS = "_test.go"
_MODULE_FILE = "go.mod"


class GoRules(LanguageRules):
    name = "go"
    builtins = "?go"
    spread = True

    def module(self, imported: Imported, path: str, files: Files) -> Module:
        parts = imported.module.split("/")
        for cut in range(len(parts), 0, -1):
            for named in files.in_package("/".join(parts[:cut])):
                folder, file = posixpath.split(named)
                if file == _MODULE_FILE:
                    return self._in(posixpath.join(folder, *parts[cut:]), files)
        return ()

    def _in(self, folder: str, files: Files) -> Module:
        found = files.in_folder(folder)
        return tuple(path for path in found if path.endswith(_ENDING) and not path.endswith(_TESTS))

    def around(self, path: str, files: Files) -> Module:
        found = files.in_folder(posixpath.dirname(path))
        is_test = path.endswith(_TESTS)
        return tuple(each for each in found if each.endswith(_ENDING) and (is_test or not each.endswith(_TESTS)))

    def extends(self, path: str, other: str) -> bool:
        return posixpath.dirname(path) == posixpath.dirname(other)

    def order(self, class_: object, bases: Sequence[Sequence[object]]) -> tuple[object, ...]:
        """The type, then what it embeds, the nearest first."""
        found: dict[object, None] = {class_: None}
        longest = max(map(len, bases), default=0)
        for depth in range(longest):
            found.update((above[depth], None) for above in bases if depth < len(above))
        return tuple(found)
