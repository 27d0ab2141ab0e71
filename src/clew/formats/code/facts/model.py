"""The record of one source file: its symbols, its imports and its sites, in terms that belong to no language.

A reader for a language writes `Facts` from the text of one file alone; nothing in them depends on another file. A site
is one place where a name is used. What the name means is written as an expression (`expressions.py`), and the binder
(`graph/code/binding`) evaluates expressions over all files when somebody asks. So a changed file changes one record,
and nothing is bound before there is a question.
"""

from enum import IntEnum, IntFlag

import msgspec

from clew.formats.code.declared_imports import Import

FUNCTION, METHOD, CLASS, PROPERTY = "function", "method", "class", "property"
CONSTANT, VARIABLE, ATTRIBUTE, MEMBER, TYPE = "constant", "variable", "attribute", "member", "type"
CALLABLES = frozenset({FUNCTION, METHOD, PROPERTY})
SCOPES = frozenset({FUNCTION, METHOD, PROPERTY, CLASS})
"""Kinds of symbols that hold lines of code."""
VALUES = frozenset({CONSTANT, VARIABLE, ATTRIBUTE, MEMBER, TYPE})
"""Kinds of symbols that are given a value."""

CALLED = "()"
"""The end of the name of a member that is called, in languages where a field may have the same name."""
WHOLE = "*"
"""The name in an import of all names of a module."""
MODULE = -1
"""In place of the number of a symbol: the file itself."""


class Extent(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The lines of a definition, or of one of several that are one symbol."""

    line: int
    """The first line, decorators included."""
    end_line: int
    at: int
    """The line of its name."""


class Symbol(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A definition: a function, a class, a member of one, a constant, a variable that others can reach."""

    qualname: str
    """Unique in its file: of two that have the same names, the second has its line behind them."""
    name: str
    kind: str
    """function, method, class, property, constant, variable, attribute, member (of an enumeration) or type (an
    alias)."""
    line: int
    """The first line, decorators included."""
    end_line: int
    is_test: bool
    parent: int
    """The number of the symbol around it in the file, from 0; -1 for none."""
    head: str
    """The line that defines it."""
    name_line: int = 0
    """The line of its name; 0 where that is `line`."""
    also: tuple[Extent, ...] = ()
    """Places where it is declared or assigned again: overloads, branches of a condition, other assignments."""
    about: str = ""
    """The first line of its docstring or documentation comment."""

    @property
    def at(self) -> int:
        """The line of its name."""
        return self.name_line or self.line

    @property
    def places(self) -> tuple[Extent, ...]:
        """The place that answers show, then the others."""
        return (Extent(self.line, self.end_line, self.at), *self.also)

    def around(self, first: int, last: int) -> int:
        """The number of lines of the place that holds some lines; 0 if none does."""
        if self.line <= first and last <= self.end_line:
            return self.end_line - self.line + 1
        held = (each.end_line - each.line + 1 for each in self.also if each.line <= first and last <= each.end_line)
        return min(held, default=0)


class Form(IntFlag):
    """Properties of a symbol that change what a use of it gives."""

    STATIC = 1
    """A method that gets neither an instance nor a class."""
    OF_CLASS = 2
    """A method that gets the class."""
    GETTER = 4
    """Reading the attribute calls it."""
    ASYNCHRONOUS = 8
    GENERATOR = 16
    ABSTRACT = 32
    INSTANCE = 64
    """An attribute that a method gives to its instance."""
    RECORD = 128
    """A class whose fields are the parameters of its constructor."""
    ENUMERATION = 256
    INTERFACE = 512
    """A class that others match by having its members."""
    OVERLOADED = 1024
    CONTEXT = 2048
    """A generator that is used as a context manager."""
    FIXTURE = 4096
    """A function that tests get the value of by naming it as a parameter."""
    ALIAS = 16384
    """A value that stands for the symbol or type that it was given, such as a type alias."""
    AUTOMATIC = 32768
    """A fixture that tests get without naming it."""


class Parameter(msgspec.Struct, frozen=True, gc=False, array_like=True):
    name: str
    type: int = 0
    """Its declared type as an expression; 0 for none."""
    default: int = 0
    """Its default value as an expression; 0 for none."""
    gathers: int = 0
    """1 for one that takes all further positions, 2 for one that takes all further names."""


class Shape(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Types, values and bases of a symbol, as expressions of its file. The number of a shape is that of its symbol;
    numbers of expressions are places in `Facts.expressions`, of which the first means unknown."""

    type: int = 0
    """Of a value its declared type, of a callable the declared type of what it returns."""
    value: int = 0
    """Of a value all that it is given, of a callable all that it returns or yields."""
    bases: tuple[int, ...] = ()
    decorators: tuple[int, ...] = ()
    """From the outermost inwards; those that `form` tells all about are left out."""
    parameters: tuple[Parameter, ...] = ()
    """The receiver is left out."""
    form: int = 0
    type_parameters: tuple[str, ...] = ()
    metaclass: int = 0
    type_defaults: tuple[int, ...] = ()
    """Types that the type parameters stand for where none is written, as expressions; 0 for none."""


class Imported(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A name that an import brings into a scope."""

    line: int
    module: str
    """As in `Import.module`: a path with a slash in front, a name with dots, or as the language writes it."""
    name: str = ""
    """One thing out of the module, `*` for all, empty for the module itself."""
    alias: str = ""
    """The name that it has in this file."""
    inside: int = MODULE
    flags: int = 0


class How(IntFlag):
    """Properties of an import."""

    TOP = 1
    """The alias stands for the first part of a dotted module."""
    TYPES = 2
    """Seen by type checkers only."""
    EXPORTED = 4
    """Others are meant to import the name from here."""
    CALLED = 8
    """Imported by a call with a literal name."""
    LATE = 16
    """Brought by the module when somebody asks it for the name, or under another name to those who ask by it."""


class SiteKind(IntEnum):
    """The kind of use at a site. `find_uses` shows the names in lower case."""

    READ = 0
    CALL = 1
    WRITE = 2
    IMPORT = 3
    INHERIT = 4
    DECORATOR = 5
    ANNOTATION = 6
    EXPORT = 7
    """The name in a list of what a module exports."""
    ARGUMENT = 8
    """The name of a field in a call of a constructor."""
    PATCH = 9
    """A test replaces it."""
    FIXTURE = 10
    """A test gets it by the name of a parameter."""
    STRING = 11
    """A literal names it with dots: a registry, a setting, an entry point."""
    DELETE = 12
    OVERRIDE = 13
    """A class defines it again. Found when somebody asks; no reader writes it."""
    REEXPORT = 14
    """A module passes it on."""


NOT_INSTALLED = "is not installed"
"""The end of the flaw of a file whose grammar is in a package that is not there."""
ANY_NAME = "?"
"""In place of the words of a file that were not looked at: it may hold any name."""
SITE_SIZE = 5
"""Numbers of one site in `Facts.sites`: line, column (both as the file has them, the column in characters from 0),
kind, the symbol that contains it (-1 for none) and the expression that means what the name means."""


class Facts(msgspec.Struct, frozen=True, array_like=True):
    """All of one file that questions about its code need."""

    rules: str = ""
    """The language's rules for modules and members, by their name (`graph/code/languages/rules.py`)."""
    package: str = ""
    """The package that the file says it belongs to."""
    names: tuple[str, ...] = ()
    """The names that expressions and sites refer to by their place."""
    expressions: tuple[tuple[int, ...], ...] = ()
    """See `expressions.py`. The first is unknown."""
    shapes: tuple[Shape, ...] = ()
    """One for each symbol of the outline."""
    imports: tuple[Imported, ...] = ()
    variables: tuple[tuple[int, ...], ...] = ()
    """Variables inside of functions: the declared type (0 for none), then every value that the variable is given."""
    sites: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """By the place of the name in `names`: the sites, `SITE_SIZE` numbers each."""
    exports: tuple[str, ...] | None = None
    """The names that an import of all brings, where the file lists them all."""
    is_generated: bool = False
    """A mark in the file says that a program wrote it."""
    flaw: str = ""
    """The reason for which uses in it could not be read. Its definitions come from a scan then, and `names` are the
    words in it, so that an answer may name a file that holds the name."""


class Outline(msgspec.Struct, frozen=True, array_like=True):
    """The part of a record that lists and searches need."""

    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    """Every import once, as `Imported` has them."""
    lines: int = 0
    package: str = ""
    """The package that the file says it belongs to."""


class Reading(msgspec.Struct, frozen=True, array_like=True):
    """The outline and the facts that a reader makes of a file."""

    outline: Outline
    facts: Facts
