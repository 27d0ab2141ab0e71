"""Names in a text: files, symbols and ids, recognised by their spelling alone. No graph is needed to find what cites
them.

Only the exact name counts: `src/tides.py`, `tides.py::height`, `height()` or `REQ-d00001`, never a word like it.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

_PATH = re.compile(r"(?<![\w/.-])(?:\.{0,2}/)?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,7}(?![\w/])")
_ID = re.compile(r"(?<![\w/.-])[A-Za-z][A-Za-z0-9]*(?:[-/#.~][A-Za-z0-9]+)+(?![\w/-])")
_SYMBOL = re.compile(r"(?:::|`)([A-Za-z_][\w.]*)|(?<![\w.])([A-Za-z_][\w.]*)(?=\(\))|\b([A-Za-z]+(?:_[a-z0-9]+)+)\b")
_MOST = 24
FILE, SYMBOL, LINES = "file:", "symbol:", "lines:"


class NamedPlaces(msgspec.Struct, frozen=True):
    paths: tuple[str, ...] = ()
    """From the root of the repository."""
    ids: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()

    @property
    def nodes(self) -> tuple[str, ...]:
        """The ids that citations of these have."""
        return (*self.ids, *(FILE + path for path in self.paths), *(f"code:{path}" for path in self.paths))

    @property
    def prefixes(self) -> tuple[str, ...]:
        """The beginnings of citations of parts of these."""
        kinds = ((SYMBOL, "::"), (LINES, "#"), ("test:", "::"))
        in_files = tuple(f"{kind}{path}{mark}" for path in self.paths for kind, mark in kinds)
        return (*in_files, *(f"{id}-" for id in self.ids))


def named_in(text: str, root: str, inside: str) -> NamedPlaces:
    """The names of a text in the project at `root`, which is the folder `inside` of its repository."""
    paths = repository_paths((match.strip(".,:;") for match in _PATH.findall(text)), root, inside)
    ids = dict.fromkeys(word.rstrip(".") for word in _ID.findall(text))
    symbols = dict.fromkeys(next(filter(None, match)) for match in _SYMBOL.findall(text))
    return NamedPlaces(paths, tuple(ids)[:_MOST], tuple(symbols)[:_MOST])


def repository_paths(given: Iterable[str], root: str, inside: str) -> tuple[str, ...]:
    """The files among these names that are there, as citations name them: from the root of the repository."""
    found: dict[str, None] = {}
    for name in given:
        path = Path(os.path.normpath(Path(root) / name))
        if not path.is_relative_to(root) or not path.is_file():
            continue
        own = path.relative_to(root).as_posix()
        found[f"{inside}/{own}" if inside else own] = None
        if len(found) >= _MOST:
            break
    return tuple(found)
