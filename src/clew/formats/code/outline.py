"""The outline of a source file: its functions and classes, and what it imports."""

# Implements: REQ-d00363

import msgspec

from clew.formats.code.comments import tokens
from clew.formats.code.definitions.scan import CLASS, Definition, definitions_in, masked
from clew.formats.code.imports import Import, imports_of
from clew.formats.code.languages import Family, family_for

OUTLINE_VERSION = 2
_LONGEST_HEAD = 200


class Symbol(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A function, method or class."""

    qualname: str
    """Unique in its file: of two that have the same names, the second has its line behind them."""
    name: str
    kind: str
    """function, method or class."""
    line: int
    end_line: int
    is_test: bool
    parent: int
    """Which symbol of the file it stands in, counted from 0; -1 for none."""
    head: str
    """The line that defines it."""


class Outline(msgspec.Struct, frozen=True, array_like=True):
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    lines: int = 0


def decoded(data: bytes) -> str:
    """The text of a source file with LF line ends."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def outline_of(text: str, path: str) -> Outline:
    """The outline of a file with LF line ends; empty where its language is not known."""
    family = family_for(path)
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    if family is None or not family.blocks:
        return Outline(lines=lines)
    code = masked(text, tokens(text, family))
    found = definitions_in(text, code, family)
    imports = imports_of(text, code, family.name, path)
    return Outline(tuple(_symbols(found, text)), tuple(imports), lines)


def _symbols(found: list[Definition], text: str) -> list[Symbol]:
    rows = text.split("\n") if found else []
    taken: set[str] = set()
    symbols: list[Symbol] = []
    for each in found:
        qualname = each.qualname
        if qualname in taken:
            qualname = f"{qualname}@{each.line}"
        taken.add(qualname)
        inside_class = each.parent >= 0 and found[each.parent].kind == CLASS
        kind = "method" if inside_class and each.kind != CLASS else each.kind
        head = _head(rows, each)
        symbols.append(
            Symbol(qualname, each.names[-1], kind, each.line, each.end_line, each.is_test, each.parent, head)
        )
    return symbols


def _head(rows: list[str], found: Definition) -> str:
    """The line that holds the name, below decorators."""
    for row in rows[found.line - 1 : min(found.end_line, found.line + 20)]:
        if found.names[-1] in row and not row.lstrip().startswith("@"):
            return row.strip()[:_LONGEST_HEAD]
    return rows[found.line - 1].strip()[:_LONGEST_HEAD] if found.line <= len(rows) else ""


def symbols_at(symbols: tuple[Symbol, ...], first: int, last: int) -> list[Symbol]:
    """The symbols around or inside some lines, the outermost first."""
    return [each for each in symbols if each.line <= last and each.end_line >= first]


def enclosing(symbols: tuple[Symbol, ...], first: int, last: int) -> list[Symbol]:
    """The symbols that hold all of these lines, the outermost first."""
    return [each for each in symbols if each.line <= first and each.end_line >= last]


def is_source(path: str) -> bool:
    """Whether functions and classes of such a file can be found."""
    family: Family | None = family_for(path)
    return family is not None and bool(family.blocks)
