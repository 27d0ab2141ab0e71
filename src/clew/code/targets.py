"""The symbol that a text means: one rule for every command and tool that takes a symbol."""

import posixpath
import re
from collections.abc import Sequence

from clew.derived.code_file import STUBS, CodeFile, FiledSymbol
from clew.formats.code.facts.model import CALLABLES, CLASS, SCOPES

_LINE = re.compile(r"(?P<path>.+?)(?::(?P<line>\d{1,9})(?:[-:]\d{1,9})?|#L(?P<hash>\d{1,9}))")
_MOST = 50


def symbols_meant(file: CodeFile, text: str) -> list[FiledSymbol]:
    """The symbols that `NAME`, `Class.name`, `module.name`, `FILE::qualname` or `FILE:LINE` may mean, the likeliest
    first."""
    text = text.strip().removeprefix("symbol:").removesuffix("()")
    path, separator, name = text.partition("::")
    if (separator and "/" in path) or (separator and file.has((path,))):
        return _in_file(file, posixpath.normpath(path), name.replace("::", "."))
    match = _LINE.fullmatch(text)
    if match is not None and file.has((match["path"],)):
        found = symbol_at(file.symbols_of(match["path"]), int(match["line"] or match["hash"]))
        return [found] if found is not None else []
    if not text or " " in text or "/" in text:
        return []
    return _named(file, text.replace("::", "."))


def _in_file(file: CodeFile, path: str, name: str) -> list[FiledSymbol]:
    symbols = file.symbols_of(path)
    same = [each for each in symbols if each.name == name or each.qualname.endswith(f".{name}")]
    return [each for each in symbols if each.qualname == name] or _in_order(file, same)


def symbol_at(symbols: Sequence[FiledSymbol], line: int) -> FiledSymbol | None:
    """The symbol that a line defines, or else the innermost one around it."""
    defined = [each for each in symbols if line in (each.at, each.line)]
    around = [each for each in symbols if each.line <= line <= each.end_line and each.kind in SCOPES]
    named = [each for each in defined if each.kind in SCOPES or not _is_inside_function(each, around)]
    found = named or around
    return found[-1] if found else None


def _is_inside_function(symbol: FiledSymbol, around: Sequence[FiledSymbol]) -> bool:
    return any(each.kind != CLASS for each in around if each is not symbol)


def _named(file: CodeFile, name: str) -> list[FiledSymbol]:
    found = file.named(name, _MOST)
    head = name.rpartition(".")[0]
    if head and not any(each.qualname == name for each in found):
        # The first names may be those of modules: `celery.utils.functional.maybe_list`.
        parts = name.split(".")
        of_module = [
            each
            for cut in range(1, len(parts))
            for each in file.named(".".join(parts[cut:]), _MOST)
            if each.qualname == ".".join(parts[cut:]) and _is_module(each.path, "/".join(parts[:cut]))
        ]
        found = of_module or found
    return _in_order(file, list(dict.fromkeys(found)))


def _is_module(path: str, module: str) -> bool:
    stem = posixpath.splitext(path)[0].removesuffix("/__init__").removesuffix("/index").removesuffix("/mod")
    return f"/{stem}".endswith(f"/{module}")


def _in_order(file: CodeFile, found: list[FiledSymbol]) -> list[FiledSymbol]:
    """Symbols, the likeliest first: tests last, then those inside functions, then stubs; top-level names come before
    members."""

    def place(each: FiledSymbol) -> tuple[bool, bool, bool, int, str, int]:
        is_stub = each.path.endswith(STUBS)
        return each.is_test, is_local(file, each), is_stub, each.qualname.count("."), each.path, each.line

    return sorted(found, key=place)


def is_local(file: CodeFile, symbol: FiledSymbol) -> bool:
    """True if a symbol is inside a function."""
    record = file.record(symbol.path)
    parent = symbol.parent
    while record is not None and 0 <= parent < len(record.symbols):
        above = record.symbols[parent]
        if above.kind in CALLABLES:
            return True
        parent = above.parent
    return False
