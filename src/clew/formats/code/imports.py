"""Imports of a source file, as far as the file alone shows them: Python by `ast`, scripts and C by paths, others by
`declared_imports`. A relative import is resolved to a path from the project's root, with a slash in front and without
the ending. Anything else keeps its written name, in scripts with a question mark in front; a caller finds out whether
the project has such a file."""

# Implements: REQ-d00363

import ast
import posixpath
import re
from collections.abc import Iterator

from clew.formats.code import declared_imports
from clew.formats.code.declared_imports import PACKAGED, Import, LineNumbers

READ = frozenset({"python", "script", "component", "c", "rust", "ruby", "shell"}) | PACKAGED
"""The families of languages whose imports are read."""

_PYTHON = re.compile(r"^[ \t]*(?:from|import)\b", re.MULTILINE)
_SCRIPT = re.compile(
    r"(?<![\w.$])(?:(?:import|export)\b(?P<names>[^;\"()]{0,4000}+)(?P<from>\"+)"
    r"|(?:(?:const|let|var)\s*(?P<taken>\{[^{}]*\})\s*=\s*(?:await\s+)?)?"
    r"(?:require|import)\s*\(\s*(?P<call>\"+)\s*\)(?:\s*\.\s*(?P<member>[A-Za-z_$][\w$]*))?)"
)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include|import)[ \t]*(?:(?P<file>\"+)|<(?P<system>[\w./+-]+)>)", re.MULTILINE)
_NAME = re.compile(r"(?:type\s+)?([A-Za-z_$][\w$]*)(?:\s+as\s+[A-Za-z_$][\w$]*)?")
_LONGEST = 4_000
"""Characters of one import statement that are looked at."""


def imports_of(text: str, masked: str, family: str, path: str) -> list[Import]:
    """The imports of a file with LF line ends; `masked` is its text with comments and strings covered."""
    match family:
        case "python":
            found = _python(text, masked, path)
        case "script":
            found = _script(text, masked, path)
        case "c":
            found = _included(text, masked, path)
        case "rust":
            found = declared_imports.rust(masked, path)
        case "ruby":
            found = declared_imports.ruby(text, masked, path)
        case "shell":
            found = declared_imports.shell(masked, path)
        case _ if family in PACKAGED:
            found = declared_imports.packaged(masked, family)
        case _:
            return []
    return list(dict.fromkeys(found))


def _python(text: str, masked: str, path: str) -> Iterator[Import]:
    lines = LineNumbers(text)
    end = 0
    for match in _PYTHON.finditer(masked):
        start = match.start()
        if start < end:
            continue
        end = _end(masked, start)
        try:
            (statement,) = ast.parse(text[start:end].strip()).body
        except (SyntaxError, ValueError, RecursionError):
            continue
        line = lines.at(start)
        if isinstance(statement, ast.Import):
            yield from (Import(line, name.name) for name in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            module = statement.module or ""
            if statement.level:
                module = _relative(module, path, statement.level)
            yield from (Import(line, module, name.name) for name in statement.names)


def _end(masked: str, start: int) -> int:
    """End of a statement: at a line's end outside of parentheses, or at a semicolon."""
    opened = masked.find("(", start, _line_end(masked, start))
    end = _line_end(masked, start)
    if opened >= 0:
        closed = masked.find(")", opened, start + _LONGEST)
        return closed + 1 if closed >= 0 else end
    while end < len(masked) and masked[end - 1] == "\\" and end - start < _LONGEST:
        end = _line_end(masked, end + 1)
    semicolon = masked.find(";", start, end)
    return semicolon if semicolon >= 0 else end


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _relative(module: str, path: str, level: int) -> str:
    folder = posixpath.dirname(path)
    for _ in range(level - 1):
        folder = posixpath.dirname(folder)
    return "/" + "/".join(filter(None, (folder, module.replace(".", "/"))))


def _script(text: str, masked: str, path: str) -> Iterator[Import]:
    lines = LineNumbers(text)
    for match in _SCRIPT.finditer(masked):
        group = "from" if match["from"] else "call"
        named = text[match.start(group) + 1 : match.end(group) - 1]
        if named.startswith("."):
            module = "/" + posixpath.normpath(posixpath.join(posixpath.dirname(path), named))
        elif named and ":" not in named and named[0] != "/":
            # A package, a path from some folder, or what a configuration calls so.
            module = f"?{named}"
        else:
            continue
        line = lines.at(match.start())
        inner = (match["names"] or match["taken"] or match["member"] or "").rpartition("{")[2].partition("}")[0]
        if match["names"] and "{" not in match["names"]:
            inner = ""
        names = [each[1] for each in map(_NAME.match, map(str.strip, inner.split(","))) if each]
        if not names:
            yield Import(line, _stem(module))
        yield from (Import(line, _stem(module), name) for name in names)


def _included(text: str, masked: str, path: str) -> Iterator[Import]:
    lines = LineNumbers(text)
    for match in _INCLUDE.finditer(masked):
        line = lines.at(match.start())
        named = match["system"] or text[match.start("file") + 1 : match.end("file") - 1]
        if named and not named.startswith("/"):
            if not match["system"]:
                yield Import(line, f"/{posixpath.normpath(posixpath.join(posixpath.dirname(path), named))}")
            # Folders in which a compiler looks are not known here: the end of a path has to be that of one file alone.
            yield Import(line, f"*{posixpath.normpath(named)}")


def _stem(path: str) -> str:
    stem, ending = posixpath.splitext(path)
    return stem if ending in (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts") else path


def importable_as(path: str, family: str, is_package: bool) -> tuple[str, ...]:
    """Under which modules others may import a file. `is_package` says whether the folder of the file is a Python
    package, so that the bare name of the file means nothing outside of it."""
    if family == "c":
        parts = path.split("/")
        return (f"/{path}", *(f"*{'/'.join(parts[start:])}" for start in range(len(parts))))
    if family == "shell":
        return (f"/{path}",)
    stem = posixpath.splitext(path)[0]
    if family == "ruby":
        return (f"/{stem}",)
    if family == "rust":
        folder, name = posixpath.split(stem)
        return (f"/{folder if name in ('mod', 'lib', 'main') else stem}",)
    if family in ("script", "component"):
        whole = (f"/{path}",) if family == "component" else ()
        return (*whole, f"/{stem}", *((f"/{posixpath.dirname(path)}",) if posixpath.basename(stem) == "index" else ()))
    if family != "python":
        return ()
    stem = stem.removesuffix("/__init__")
    parts = stem.split("/")
    first = 1 if is_package else 0
    dotted = [".".join(parts[start:]) for start in range(len(parts) - first)]
    return (f"/{stem}", *dotted)
