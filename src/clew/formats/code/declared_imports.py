"""Imports of languages in which files name packages, modules or files: Java, Kotlin, Scala, PHP, Rust, Ruby, shell.

Java, Kotlin, Scala and PHP import names out of packages; a file says itself to which package it belongs, so an import
is resolved by what files declare and never by how they are called. The others lead to paths.
"""

# Implements: REQ-d00363

import posixpath
import re
from collections.abc import Iterator

import msgspec

PACKAGED = frozenset({"java", "kotlin", "php", "groovy"})
"""Families whose files belong to a package, which they name themselves."""

_PACKAGE = re.compile(r"^[ \t]*(?:package|namespace)\s+([\w.\\]+)", re.MULTILINE)
_IMPORTED = re.compile(
    r"^[ \t]*import\s+(?:static\s+)?(\w+(?:\.\w+)*)(?:\.\{([^{}]*)\}|\.[*_])?(?:\s+as\s+\w+)?", re.MULTILINE
)
_USED = re.compile(
    r"^[ \t]*use\s+(?:function\s+|const\s+)?\\?([\w\\]+)(?:\\\{([^{}]*)\})?(?:\s+as\s+\w+)?\s*;", re.MULTILINE
)
_MODULE = re.compile(r"^[ \t]*(?:pub(?:\([^()]*\))?\s+)?mod\s+(\w+)\s*;", re.MULTILINE)
_USE = re.compile(r"^[ \t]*(?:pub(?:\([^()]*\))?\s+)?use\s++([^;]{1,4000}+);", re.MULTILINE)
_REQUIRED = re.compile(r"^[ \t]*(require_relative|require)\s*+(?:\(\s*+)?+(\"++)", re.MULTILINE)
_SOURCED = re.compile(r"^[ \t]*(?:source|\.)[ \t]+([\w./-]+)", re.MULTILINE)
_WORD = re.compile(r"\w+")
_MOST_NAMES = 200


class Import(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A module is a path from the project's root with a slash in front, a name with dots, the end of a path with a star
    in front, or a name in a script with a question mark in front, which a configuration may explain."""

    line: int
    module: str
    name: str = ""
    """One thing out of the module; empty where the module itself is imported."""


class LineNumbers:
    """The lines of offsets that are asked for in ascending order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset, self._line = 0, 1

    def at(self, offset: int) -> int:
        self._line += self._text.count("\n", self._offset, offset)
        self._offset = offset
        return self._line


def package_of(masked: str, family: str) -> str:
    """The package that a file says it belongs to."""
    found = _PACKAGE.search(masked) if family in PACKAGED else None
    return found[1].replace("\\", ".").strip(".") if found else ""


def packaged(masked: str, family: str) -> Iterator[Import]:
    """Names out of packages."""
    lines = LineNumbers(masked)
    for match in (_USED if family == "php" else _IMPORTED).finditer(masked):
        line = lines.at(match.start())
        module = match[1].replace("\\", ".").strip(".")
        if match[2] is not None:
            names = [each.strip().split(" ")[0] for each in match[2].split(",")[:_MOST_NAMES]]
            yield from (Import(line, module, name) for name in names if _WORD.fullmatch(name))
        elif masked[match.end(1) : match.end(1) + 1] not in (".", "\\") and not module.endswith("._"):
            above, _, name = module.rpartition(".")
            if above:
                yield Import(line, above, name)


def rust(masked: str, path: str) -> Iterator[Import]:
    """Modules of the same crate, by where their files have to be."""
    folder, name = posixpath.split(posixpath.splitext(path)[0])
    here = folder if name in ("lib", "main", "mod") else posixpath.join(folder, name)
    lines = LineNumbers(masked)
    for match in _MODULE.finditer(masked):
        yield Import(lines.at(match.start()), f"/{posixpath.join(here, match[1])}")
    lines = LineNumbers(masked)
    for match in _USE.finditer(masked):
        line = lines.at(match.start())
        for parts in _flattened(match[1])[:_MOST_NAMES]:
            if (found := _in_crate(parts, here, path)) is not None:
                yield Import(line, *found)


def _flattened(tree: str) -> list[list[str]]:
    """The paths that `a::{b, c::{d, e}}` stands for."""
    found: list[list[str]] = []
    stack: list[list[str]] = [[]]
    current: list[str] = []
    for sign in re.findall(r"\w+|[{},*]", re.sub(r"\bas\s+\w+", "", tree)):
        if sign == "{":
            stack.append([*stack[-1], *current])
            current = []
        elif sign in (",", "}"):
            if current:
                found.append([*stack[-1], *current])
            current = []
            if sign == "}" and len(stack) > 1:
                stack.pop()
        else:
            current.append(sign)
    if current:
        found.append([*stack[-1], *current])
    return found


def _in_crate(parts: list[str], here: str, path: str) -> tuple[str, str] | None:
    """The module and the name that a path means, from a file whose own module has its parts in the folder `here`."""
    if parts[0] == "crate":
        before, source, _ = path.rpartition("src/")
        at, rest = (f"{before}src" if source else posixpath.dirname(path)), parts[1:]
    else:
        at, rest = here, [part for part in parts if part != "self"]
        while rest and rest[0] == "super":
            at, rest = posixpath.dirname(at), rest[1:]
    names = [part for part in rest if part != "*"]
    if not names:
        return None
    module = posixpath.join(at, *names[:-1])
    return f"/{module}", names[-1]


def ruby(text: str, masked: str, path: str) -> Iterator[Import]:
    lines = LineNumbers(masked)
    for match in _REQUIRED.finditer(masked):
        named = text[match.start(2) + 1 : match.end(2) - 1].removesuffix(".rb")
        folder = posixpath.dirname(path) if match[1] == "require_relative" or named.startswith(".") else "lib"
        module = posixpath.normpath(posixpath.join(folder, named))
        if named and not module.startswith(".."):
            yield Import(lines.at(match.start()), f"/{module}")


def shell(masked: str, path: str) -> Iterator[Import]:
    lines = LineNumbers(masked)
    for match in _SOURCED.finditer(masked):
        module = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))
        if not match[1].startswith("/") and not module.startswith(".."):
            yield Import(lines.at(match.start()), f"/{module}")
