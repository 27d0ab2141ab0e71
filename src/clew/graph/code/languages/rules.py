"""The rules in which languages differ when names are bound over several files: targets of imports, and the order in
which members are looked for. Everything else about a language is in its reader, which writes expressions."""

from collections.abc import Sequence
from typing import Protocol

from clew.formats.code.facts.model import Imported


class Files(Protocol):
    """The files of the project, as the rules of a language may ask for them."""

    def has(self, path: str) -> bool: ...

    def has_folder(self, folder: str) -> bool:
        """True if there are source files somewhere below a folder."""
        ...

    def roots(self) -> tuple[str, ...]:
        """Folders from which the project imports, by its configuration and its files."""
        ...

    def in_package(self, package: str) -> tuple[str, ...]:
        """The files of a package."""
        ...

    def package_of(self, path: str) -> str:
        """The package that a file says it belongs to; empty where it names none."""
        ...

    def in_folder(self, folder: str) -> tuple[str, ...]:
        """The source files directly in a folder."""
        ...

    def leads_to(self, written: str, importer: str) -> tuple[str, ...]:
        """The stems of paths to which a name in the import of a script leads, by the project's configuration."""
        ...


Module = tuple[str, ...]
"""The files whose top level is one namespace: one for Python and scripts, a folder for Go, a package for Java. Empty
for a module that is none of the project's."""


class LanguageRules:
    """The rules of a language of which nothing else is said."""

    name = ""
    """As in `Facts.rules`."""
    builtins = ""
    """The described module of what every file knows."""
    constructor = ""
    """The method that gets the arguments of a constructor."""
    related = False
    """Using a member is using those of its name in the classes above, which it stands for."""
    spread = False
    """A method may stand in another file than its type."""
    typed_literals = True
    """The names in literals are fields of the type that is expected there."""
    flattens = False
    """Waiting for something gives its last result, and for anything else that itself."""

    def module(self, imported: Imported, path: str, files: Files) -> Module:
        """The module that an import in the file `path` names, without the name that is taken out of it. With `How.TOP`
        the module of the first part."""
        return ()

    def part(self, module: Module, name: str, files: Files) -> Module:
        """The module that is a part of a module, such as a file in the folder of a package."""
        return ()

    def dotted(self, name: str, files: Files) -> tuple[Module, str]:
        """The module that a dotted name in a literal begins with, and the rest of the name."""
        return (), name

    def around(self, path: str, files: Files) -> Module:
        """The files whose top-level names a file sees without an import, the file itself included."""
        return (path,)

    def extends(self, path: str, other: str) -> bool:
        """True if a type of one file may have methods in another, where methods may stand apart from their type."""
        return path == other

    def types_by_default(self, path: str) -> bool:
        """True if the default of a parameter without a written type decides its type in a file."""
        return False

    def order(self, class_: object, bases: Sequence[Sequence[object]]) -> tuple[object, ...]:
        """A class and all its bases in the order in which a member is looked for; `bases` has the orders of the direct
        bases. Here the class, then each of those above it with all that is above that."""
        return tuple(dict.fromkeys((class_, *(each for above in bases for each in above))))
