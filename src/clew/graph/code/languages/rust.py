"""Where paths of Rust lead: modules are files below the root of a crate, which `Cargo.toml` names."""

import posixpath

from clew.formats.code.facts.model import Imported
from clew.graph.code.languages.rules import Files, LanguageRules, Module

_ENDING = ".rs"
_ROOTS = ("lib.rs", "main.rs")
_OWN_FOLDER = frozenset({"lib", "main", "mod"})
_PACKAGE_FILE = "Cargo.toml"


class RustRules(LanguageRules):
    name = "rust"
    builtins = "?rust"
    constructor = "new"
    spread = True
    flattens = True

    def module(self, imported: Imported, path: str, files: Files) -> Module:
        words = imported.module.split("::")
        first = words[0]
        if first == "crate":
            found = _root_of(path, files)
        elif first == "self":
            found = (path,)
        elif first == "super":
            found = self._above(path, files)
        else:
            found = self.part((path,), first, files) or self._crate_named(first, files)
        for word in words[1:]:
            if not found:
                return ()
            found = self._above(found[0], files) if word == "super" else self.part(found, word, files)
        return found

    def _above(self, path: str, files: Files) -> Module:
        folder, file = posixpath.split(path)
        if posixpath.splitext(file)[0] in _OWN_FOLDER:
            folder = posixpath.dirname(folder)
        return _of_folder(folder, files)

    def _crate_named(self, name: str, files: Files) -> Module:
        for each in files.in_package(f"{name}::"):
            if posixpath.basename(each) == _PACKAGE_FILE:
                return _root(posixpath.join(posixpath.dirname(each), "src"), files)
        return ()

    def part(self, module: Module, name: str, files: Files) -> Module:
        for path in module:
            folder, file = posixpath.split(path)
            stem = posixpath.splitext(file)[0]
            inner = folder if stem in _OWN_FOLDER else posixpath.join(folder, stem)
            for found in (posixpath.join(inner, name + _ENDING), posixpath.join(inner, name, "mod.rs")):
                if files.has(found):
                    return (found,)
        return ()

    def extends(self, path: str, other: str) -> bool:
        one, another = _crate(path), _crate(other)
        return one == another or not (one and another)


def _crate(path: str) -> str:
    """The folder of the sources of a crate; empty where its path does not tell it."""
    before, source, _ = f"/{path}".rpartition("/src/")
    return f"{before}/src".lstrip("/") if source else ""


def _root_of(path: str, files: Files) -> Module:
    """The root of the crate that a file belongs to: below `src`, or the nearest above the file."""
    found = _root(_crate(path), files) if _crate(path) else ()
    folder = posixpath.dirname(path)
    while not found and folder:
        found = _root(folder, files)
        folder = posixpath.dirname(folder)
    return found or (path,)


def _root(folder: str, files: Files) -> Module:
    paths = (posixpath.join(folder, name) for name in _ROOTS)
    return next(((path,) for path in paths if files.has(path)), ())


def _of_folder(folder: str, files: Files) -> Module:
    """The file of the module whose parts are in a folder."""
    for path in (f"{folder}/mod.rs", f"{folder}.rs", *(posixpath.join(folder, name) for name in _ROOTS)):
        if files.has(path):
            return (path,)
    return ()
