"""The rules of TypeScript and JavaScript: targets of imports, and the order in which members are looked for."""

from clew.formats.code.facts.model import Imported
from clew.formats.code.script.scopes import UNTYPED
from clew.graph.code.languages.rules import Files, LanguageRules, Module

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


class ScriptRules(LanguageRules):
    name = "script"
    builtins = "?es"
    constructor = "constructor"
    related = True
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

    def types_by_default(self, path: str) -> bool:
        return not path.endswith(UNTYPED)


def _at(stem: str, files: Files) -> Module:
    """The file that an import without an ending means."""
    if stem.endswith(_KNOWN) and files.has(stem):
        return (stem,)
    for ending in _ENDINGS:
        if files.has(stem + ending):
            return (stem + ending,)
    folder = f"{stem}/index" if stem else "index"
    return next(((folder + ending,) for ending in _ENDINGS if files.has(folder + ending)), ())
