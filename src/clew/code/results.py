"""Answers to questions about source code."""

import msgspec


class ShownSymbol(msgspec.Struct, frozen=True):
    """A definition."""

    name: str
    """FILE::qualname, which every command takes."""
    kind: str
    path: str
    line: int
    head: str
    about: str = ""
    """The first line of its docstring."""
    also: tuple[int, ...] = ()
    """Other lines on which it is declared or assigned."""
    uses: int | None = None
    """The number of uses found, in a list of several definitions."""


class ShownUse(msgspec.Struct, frozen=True):
    """A place where a symbol is used."""

    path: str
    line: int
    kind: str
    basis: str
    """exact: bound by the rules of the language. index: an index file says it. inferred: the receiver may also be
    something else. name: the receiver is not known, and no other definition fits."""
    inside: str
    """The symbol that contains it; empty at the top of a file."""
    text: str


class UsesFound(msgspec.Struct, frozen=True):
    symbol: ShownSymbol | None
    """The symbol that is used; null where several definitions fit as well."""
    uses: tuple[ShownUse, ...] = ()
    total: int = 0
    unbound: int = 0
    """Places with this name of which it is not known what they mean. They may use it."""
    one_of: int = 0
    """Places that use one of several definitions of this name. They are not among the uses."""
    generated: int = 0
    """Uses in files that programs wrote or that come from elsewhere; they are not among the uses."""
    definitions: tuple[ShownSymbol, ...] = ()
    """All definitions of the name, where there are several."""
    looked_at: int = 0
    """Files with this name that were looked through."""
    notes: tuple[str, ...] = ()
    truncated: bool = False
    next_cursor: str | None = None


class ReachingTest(msgspec.Struct, frozen=True):
    """A test that reaches a symbol."""

    path: str
    line: int
    """The line of its name; of a file whose tests are no definitions that of the use."""
    name: str
    """The test in its file, as Class.name; empty in a file whose tests are no definitions."""
    how: str
    """use, or patch for a test that replaces the symbol."""
    basis: str
    """As of uses, of the least sure step."""
    distance: int = 0
    """Helpers between test and symbol."""
    use_line: int = 0
    """The line of the test on which it uses the symbol or the helper; 0 where it is run around the test."""
    through: tuple[str, ...] = ()
    """The helpers, that nearest to the test first."""


class SymbolTests(msgspec.Struct, frozen=True):
    """The tests of a symbol, the surest and nearest first."""

    tests: tuple[ReachingTest, ...] = ()
    run_by_all: tuple[str, ...] = ()
    """Fixtures that use the symbol and that every test below their folder gets; those tests are not listed."""
    looked_at: int = 0
    """Files with the name that were looked through."""
    truncated: bool = False
