"""The rules of TypeScript and JavaScript: targets of imports, and the order in which members are looked for."""

from collections.abc import Sequence

from clew.formats.code.facts.model import Imported
from clew.graph.code.languages.rules import Files, Module

_ENDINGS = (
    ".ts",
    ".tsx",
    ".d.ts",
    ".js",
    ".jsx",
    ".mts",
    ".cts",
    ".mjs",
    ".cjs",
    ".vue",
    ".svelte",
    ".d.mts",
    ".d.cts",
)
_KNOWN = (*_ENDINGS, ".json")


class ScriptRules:
    name = "script"
    builtins = "?es"
    constructor = "constructor"
    related = True
    spread = False
    typed_literals = True
    flattens = True

    def module(self, imported: Imported, path: str, files: Files) -> Module:
        name = imported.module
        if name.startswith("/"):
            return _at(name[1:], files)
        for stem in files.leads_to(name[1:], path):
            found = _at(stem, files)
            if found:
                return found
        return ()

    def part(self, module: Module, name: str, files: Files) -> Module:
        return ()

    def dotted(self, name: str, files: Files) -> tuple[Module, str]:
        return (), name

    def around(self, path: str, files: Files) -> Module:
        return (path,)

    def extends(self, path: str, other: str) -> bool:
        return path == other

    def order(self, class_: object, bases: Sequence[Sequence[object]]) -> tuple[object, ...]:
        """The class, then each of those above it with all that is above that."""
        return tuple(dict.fromkeys((class_, *(each for above in bases for each in above))))


def _at(stem: str, files: Files) -> Module:
    """The file that an import without an ending means."""
    if stem.endswith(_KNOWN) and files.has(stem):
        return (stem,)
    for ending in _ENDINGS:
        if files.has(stem + ending):
            return (stem + ending,)
    folder = f"{stem}/index" if stem else "index"
    return next(((folder + ending,) for ending in _ENDINGS if files.has(folder + ending)), ())
