"""The outline of a source file: its functions and classes, and what it imports."""

# Implements: REQ-d00363

import re
from collections.abc import Sequence
from importlib import import_module

from clew.formats.code.comments import tokens
from clew.formats.code.components import script_of
from clew.formats.code.declared_imports import package_of
from clew.formats.code.definitions.bodiless import bodiless
from clew.formats.code.definitions.scan import CLASS, Definition, definitions_in, masked
from clew.formats.code.facts.model import ANY_NAME, CALLABLES, NOT_INSTALLED, SCOPES, Facts, Outline, Reading, Symbol
from clew.formats.code.imports import imports_of
from clew.formats.code.languages import FAMILIES, Family, family_for
from clew.formats.code.trees.grammars import ParsingEnded

__all__ = ["OUTLINE_VERSION", "Outline", "Symbol", "decoded", "enclosing", "holds_code", "outline_of", "reading_of"]

OUTLINE_VERSION = 20
_PYTHON = (".py", ".pyi")
TREES = frozenset({"go", "java", "rust"})
"""Families of languages that are read by a grammar of the same name."""
MODULE_FILE, CRATE_FILE = "go.mod", "Cargo.toml"
SETTINGS = ("pyproject.toml", "setup.cfg")
"""Files that name entry points of a Python project."""
SCRIPTS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte")
_LONGEST_HEAD = 200
_LONGEST_ROW = 2_000
_MOST_WORDS = 50_000
_WORD = re.compile(r"[^\W\d]\w{0,99}")
_OWNED = re.compile(r"(\w+)(?:<[^<>()]*>)?::(~?\w+|operator\s*[^\s\w()]{1,3})\s*\(")
_RECEIVER = re.compile(r"func\s*\(\s*(?:\w+\s+)?\*?\s*(\w+)(?:\[[^\]]*\])?\s*\)\s*\w+\s*[(\[]")


def decoded(data: bytes) -> str:
    """The text of a source file with LF line ends."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def outline_of(text: str, path: str) -> Outline:
    """The outline of a file with LF line ends; empty where its language is not known."""
    return reading_of(text, path).outline


def reading_of(text: str, path: str) -> Reading:
    """All that is read of a file with LF line ends. A file that the reader for its language cannot read, as one with
    errors, is scanned; `flaw` of its facts says so."""
    family = family_for(path)
    if family is not None and family.name == "python" and path.endswith(_PYTHON):
        from clew.formats.code.python import reader

        try:
            return reader.read(text, path)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return unread(_flaw(error), text, _scanned(text, path, family))
    if path.rpartition("/")[2] in SETTINGS:
        from clew.formats.code.python.entry_points import read_settings

        return read_settings(text)
    if path == MODULE_FILE or path.endswith(f"/{MODULE_FILE}"):
        from clew.formats.code.go.reader import read_module

        return read_module(text)
    if path == CRATE_FILE or path.endswith(f"/{CRATE_FILE}"):
        from clew.formats.code.rust.reader import read_package

        return read_package(text)
    name = _grammar_of(path, family)
    return _of_words(text, path, family) if not name else _of_tree(text, path, name, family)


def _of_words(text: str, path: str, family: Family | None) -> Reading:
    """The record of a file whose language has no reader: its definitions, and the words in its code."""
    outline = _scanned(text, path, family)
    if family is None or not family.blocks:
        return Reading(outline, Facts())
    from clew.formats.code.words import names_in

    return Reading(outline, names_in(masked(text, tokens(text, family)), outline.symbols, family.name))


def _grammar_of(path: str, family: Family | None) -> str:
    """The grammar by which a file is read; empty where there is none."""
    if family is not None and family.name in ("script", "component") and path.endswith(SCRIPTS):
        from clew.formats.code.script.reader import grammar_of

        return grammar_of(path)
    return family.name if family is not None and family.name in TREES else ""


def _of_tree(text: str, path: str, name: str, family: Family | None) -> Reading:
    """The record that the grammar of a language gives; a scan where the grammar is not installed."""
    from clew.formats.code.trees.grammars import grammar, package_of_grammar

    if grammar(name) is None:
        return Reading(_scanned(text, path, family), Facts(flaw=f"{package_of_grammar(name)} {NOT_INSTALLED}"))
    reader = import_module(f"clew.formats.code.{name if name in TREES else 'script'}.reader")
    try:
        read: Reading = reader.read(text, path)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return unread(_flaw(error), text, _scanned(text, path, family))
    return read


def unread(flaw: str, text: str | None = None, outline: Outline | None = None) -> Reading:
    """The record of a file whose uses cannot be read, with the words in it; without a text it may hold any name."""
    words = set[str]()
    for match in _WORD.finditer(text or ""):
        words.add(match[0])
        if len(words) > _MOST_WORDS:
            break
    is_partial = text is None or len(words) > _MOST_WORDS
    return Reading(outline or Outline(), Facts(names=(ANY_NAME,) if is_partial else tuple(sorted(words)), flaw=flaw))


def _flaw(error: Exception) -> str:
    if isinstance(error, ParsingEnded):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"line {error.lineno or 1}: {error.msg}"
    return "it is nested too deeply" if isinstance(error, RecursionError | MemoryError) else "it is no text"


def _scanned(text: str, path: str, family: Family | None) -> Outline:
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    if family is not None and family.name == "component":
        text, family = script_of(text, path), FAMILIES["script"]
    if family is None or not family.blocks:
        return Outline(lines=lines)
    code = masked(text, tokens(text, family))
    found = bodiless(code, family.name, definitions_in(text, code, family))
    imports = imports_of(text, code, family.name, path)
    return Outline(tuple(_symbols(found, text)), tuple(imports), lines, package_of(code, family.name))


def _symbols(found: list[Definition], text: str) -> list[Symbol]:
    # A file of one line may define thousands of functions in it.
    rows = [row[:_LONGEST_ROW].strip() for row in text.split("\n")] if found else []
    taken: set[str] = set()
    symbols: list[Symbol] = []
    for each in found:
        head = _head(rows, each)
        owner = _owner(head, each)
        qualname = ".".join((*each.names[:-1], owner, each.names[-1])) if owner else each.qualname
        if qualname in taken:
            qualname = f"{qualname}@{each.line}"
        taken.add(qualname)
        inside_class = each.parent >= 0 and found[each.parent].kind == CLASS
        kind = "method" if (inside_class or owner) and each.kind != CLASS else each.kind
        symbols.append(
            Symbol(qualname, each.names[-1], kind, each.line, each.end_line, each.is_test, each.parent, head)
        )
    return symbols


def _owner(head: str, found: Definition) -> str:
    """The type whose method it is, where its head says so: `func (b *Bell) Ring()`, `void Bell::ring()`."""
    if found.kind == CLASS:
        return ""
    received = _RECEIVER.match(head)
    if received is not None:
        return received[1]
    owned = _OWNED.search(head) if "::" in head else None
    return owned[1] if owned is not None and owned[2] == found.names[-1] else ""


def _head(rows: list[str], found: Definition) -> str:
    """The line that holds the name, below decorators."""
    for row in rows[found.line - 1 : min(found.end_line, found.line + 20)]:
        if found.names[-1] in row and not row.startswith("@"):
            return row[:_LONGEST_HEAD]
    return rows[found.line - 1][:_LONGEST_HEAD] if found.line <= len(rows) else ""


def enclosing(symbols: Sequence[Symbol], first: int, last: int) -> list[Symbol]:
    """The symbols that hold all of these lines, the outermost first."""
    found = [each for each in symbols if each.around(first, last)]
    found.sort(key=lambda each: -each.around(first, last))
    # Inside of a function, a line belongs to the function and not to the attribute that it assigns.
    return [each for each in found if each.kind in SCOPES or not _is_in_function(each, symbols)]


def _is_in_function(symbol: Symbol, symbols: Sequence[Symbol]) -> bool:
    return any(
        each.kind in CALLABLES and each.around(symbol.line, symbol.end_line) for each in symbols if each is not symbol
    )


def holds_code(path: str) -> bool:
    """True if definitions in such a file can be found."""
    family: Family | None = family_for(path)
    return family is not None and (bool(family.blocks) or family.name == "component")
