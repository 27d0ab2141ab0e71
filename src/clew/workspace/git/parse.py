"""Parsers of git's output: hunks of a diff, lists of names, files of a tree, contents of blobs."""

import os
import re
from collections.abc import Iterator, Sequence

import msgspec

from clew.workspace.paths import display

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


class Hunk(msgspec.Struct, frozen=True):
    """One place of a zero-context diff, on the new side."""

    path: str
    first: int
    """The first of the lines; of a pure deletion, the line before it."""
    count: int
    """0 for a pure deletion."""


class TreeEntry(msgspec.Struct, frozen=True):
    """A file of a tree or of the index."""

    mode: str
    blob: str


def hunks(diff: bytes) -> Iterator[Hunk]:
    """The hunks of a diff that was made with the prefixes `a/` and `b/` and without context."""
    path = ""
    in_header = True
    for line in diff.decode("utf-8", "surrogateescape").split("\n"):
        if line.startswith("diff --git "):
            in_header = True
        elif in_header and line.startswith("+++ "):
            path = _new_name(line[4:])
        elif (hunk := _HUNK.match(line)) is not None:
            in_header = False
            if path != "/dev/null":
                yield Hunk(path, int(hunk[1]), int(hunk[2] or 1))


def _new_name(written: str) -> str:
    """The name in a `+++` line."""
    name = _unescaped(written.removesuffix("\t"))
    return display(name.removeprefix("b/"))


def unquoted(written: str) -> str:
    """A path without git's quoting, which it uses for quotes, backslashes and control characters."""
    return display(_unescaped(written))


def _unescaped(name: str) -> str:
    if name.startswith('"') and name.endswith('"') and len(name) > 1:
        quoted = name[1:-1].encode("utf-8", "surrogateescape")
        return _ESCAPE.sub(_unescape, quoted).decode("utf-8", "surrogateescape")
    return name


def _unescape(match: re.Match[bytes]) -> bytes:
    sign: bytes = match[1]
    return bytes([int(sign, 8) & 0xFF]) if len(sign) == 3 else _ESCAPED.get(sign, sign)


def names(output: bytes | None) -> list[str]:
    """The names in the output of a command with `-z`, spelled as the operating system does; empty if there is no
    answer."""
    return [name for name in fields(output or b"") if name]


def fields(output: bytes) -> list[str]:
    """The values of an answer with `-z`, each of which ends with a NUL; one may be empty."""
    return os.fsdecode(output).split("\0")[:-1]


def as_input(paths: list[str]) -> bytes:
    """Paths for a command that reads them with `-z --stdin`."""
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def tree_entries(output: bytes | None) -> dict[str, TreeEntry]:
    """The entries that `ls-tree -r -z` or `ls-files --stage -z` list, by path as the operating system spells it.

    A line of a tree is mode, type and blob; one of the index is mode, blob and stage.
    """
    found: dict[str, TreeEntry] = {}
    for row in names(output):
        about, _, path = row.partition("\t")
        mode, second, third = about.split(" ")
        found[path] = TreeEntry(mode, third if second in ("blob", "commit") else second)
    return found


def objects(output: bytes, kinds: Sequence[bytes]) -> Iterator[bytes | None]:
    """The objects of some kinds in the output of `cat-file --batch`: of each a line that ends in its size, its content,
    and a line feed. None for one that is not there, or of another kind."""
    place = 0
    while place < len(output):
        start = output.index(b"\n", place) + 1
        about = output[place:start].split()
        # The line of one that is not there repeats its name, which may hold anything.
        if about[-1] in (b"missing", b"ambiguous", b"submodule") or len(about) != 3:
            yield None
            place = start
            continue
        size = int(about[2])
        yield output[start : start + size] if about[1] in kinds else None
        place = start + size + 1
