"""Imports: the modules named in a source file, and the files of the project that they mean.

Written as names, whatever the language: `from a.b import c`, `import {x} from "../a/b"`, `#include "a/b.h"`,
`use a::b;` all become paths such as `a/b`. A path means the files whose own paths end in the same parts.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

_STATEMENT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>[\w.]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n]*)"
    r"|#[ \t]*(?:include|import)[ \t]*[<\"](?P<header>[^>\"\n]+)[>\"]"
    r"|(?:import|use|using|package|require|require_relative|source|load|include)\b(?P<rest>[^\n]*)"
    r"|(?P<quoted>(?:export|const|let|var|\}|\")[^\n]*))",
    re.MULTILINE,
)
_QUOTED = re.compile(r"(?:from|require\(|import\(|^)\s*[\"']([^\"'\n]+)[\"']")
_NAME = re.compile(r"[A-Za-z_][\w.:/\\-]*")
_ENDING = re.compile(r"\.(?:h|hpp|hh|js|ts|jsx|tsx|mjs|cjs|py|rb|dart|php|css|scss|lua|sh)$")
_MOST = 400
_TEST_MARKS = re.compile(r"^(?:test_?|it_)|(?:_?(?:tests?|spec))$|[.](?:test|spec)$", re.IGNORECASE)


def imported_names(text: str) -> Iterator[str]:
    """The names that a file imports, each once, at most a few hundred."""
    found: dict[str, None] = {}
    for match in _STATEMENT.finditer(text):
        found.update(dict.fromkeys(_of(match)))
        if len(found) > _MOST:
            break
    return iter(list(found)[:_MOST])


def _of(match: re.Match[str]) -> Iterator[str]:
    if module := match["module"]:
        base = _path(module)
        yield base
        yield from (f"{base}/{name}" for name in re.findall(r"[A-Za-z_]\w*", match["names"] or "") if name != "as")
    elif header := match["header"]:
        yield _path(_ENDING.sub("", header))
    elif match["rest"] is not None:
        rest = match["rest"]
        quoted = _QUOTED.findall(rest)
        names = quoted or [name for name in _NAME.findall(rest) if name not in ("as", "static", "crate", "self")]
        yield from (_path(_ENDING.sub("", name)) for name in names)
    else:
        yield from (_path(_ENDING.sub("", name)) for name in _QUOTED.findall(match["quoted"]))


def _path(name: str) -> str:
    parts = re.split(r"[./\\:]+", name)
    return "/".join(part for part in parts if part)


class FilesByName:
    """Finds the files that an import means."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_last: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for path in paths:
            parts = _parts(path)
            self._by_last.setdefault(parts[-1], []).append((parts, path))

    def meant(self, name: str) -> list[str]:
        """The files whose paths agree with the name in the most parts from the end. One part alone has to be unique,
        because half the files of a project may be called `index`."""
        wanted = tuple(name.casefold().split("/"))
        best, found = 0, list[str]()
        for parts, path in self._by_last.get(wanted[-1], ()):
            agreed = _agreeing(parts, wanted)
            if agreed > best:
                best, found = agreed, [path]
            elif agreed == best:
                found.append(path)
        return found if best >= 2 or len(found) == 1 else []

    def counterparts(self, path: str) -> list[str]:
        """The files that a test file is named after: `test_tides.py` after `tides.py`."""
        stem = PurePosixPath(path).stem
        bare = _TEST_MARKS.sub("", stem)
        if bare == stem or not bare:
            return []
        found = [other for _, other in self._by_last.get(bare.casefold(), ()) if other != path]
        return found if len(found) == 1 else []


def _parts(path: str) -> tuple[str, ...]:
    parts = PurePosixPath(path).with_suffix("").as_posix().casefold().split("/")
    # A package is imported by the name of its folder.
    return tuple(parts[:-1] if parts[-1] in ("__init__", "index", "mod") and len(parts) > 1 else parts)


def _agreeing(parts: tuple[str, ...], wanted: tuple[str, ...]) -> int:
    agreed = 0
    for one, other in zip(reversed(parts), reversed(wanted), strict=False):
        if one != other:
            break
        agreed += 1
    return agreed
