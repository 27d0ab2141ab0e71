"""Declared names in the imports of scripts: `tsconfig.json` and `jsconfig.json` with `paths`, `baseUrl` and inherited
settings, `package.json` with the name of a package, its `exports` and its `imports`."""

# Implements: REQ-d00363

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from clew.formats.code.comments import BLOCK, LINE, tokens
from clew.formats.code.definitions.scan import masked
from clew.formats.code.languages import FAMILIES

CONFIGS = ("tsconfig.json", "jsconfig.json")
"""Settings files of the compiler, in the order in which it looks for them."""
PACKAGE = "package.json"
PATTERNS = ("tsconfig*.json", "jsconfig*.json", PACKAGE)
_MAIN = ("source", "main", "module", "types")
_MADE = re.compile(r"(\.d)?\.[cm]?[jt]sx?$")
"""Ending to remove from a named file: an import may have another ending than the file it was made from."""
_FOLLOWED_BY_END = re.compile(r",(?=[\s#]*[}\]])")


class ScriptConfig(msgspec.Struct, frozen=True):
    """Paths are from the project's root."""

    base: str | None = None
    """The folder from which names are looked for; None where only `paths` count."""
    paths: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Names, with one `*` at most, and where they lead."""
    extends: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    def leads_to(self, name: str) -> Iterator[str]:
        """The paths that a name may mean, without an ending as a rule; nothing where no pattern has it."""
        fitting = [(_star(pattern, name), pattern, targets) for pattern, targets in self.paths]
        # As the compiler does: a name without a star before others, then the longest beginning.
        best = min(
            (each for each in fitting if each[0] is not None),
            key=lambda each: ("*" in each[1], -len(each[1].partition("*")[0])),
            default=None,
        )
        if best is not None:
            star, _, targets = best
            yield from (posixpath.normpath(target.replace("*", star or "", 1)) for target in targets)
        if self.base is not None:
            yield posixpath.normpath(posixpath.join(self.base, name))

    def names_of(self, path: str) -> Iterator[str]:
        """The names under which a path can be imported."""
        for pattern, targets in self.paths:
            for target in targets:
                star = _star(target, path)
                if star is not None:
                    yield pattern.replace("*", star, 1)
        if self.base is not None and (self.base in ("", ".") or path.startswith(f"{self.base}/")):
            yield path if self.base in ("", ".") else path.removeprefix(f"{self.base}/")

    def knows(self, name: str) -> bool:
        """True if one of its patterns matches a name."""
        return any(_star(pattern, name) is not None for pattern, _ in self.paths)


def read_config(data: bytes, path: str) -> ScriptConfig:
    """A file that is not what it should be says nothing."""
    parsed = _object(data)
    folder = posixpath.dirname(path)
    options = parsed.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    base = options.get("baseUrl")
    at = _joined(folder, base) if isinstance(base, str) else None
    paths = options.get("paths")
    extends = parsed.get("extends")
    named = extends if isinstance(extends, list) else [extends]
    references = parsed.get("references")
    return ScriptConfig(
        base=at,
        paths=tuple(_patterns(paths, folder if at is None else at)) if isinstance(paths, dict) else (),
        # What is named without a dot is in a package, which is not part of the project.
        extends=tuple(_joined(folder, each) for each in named if isinstance(each, str) and each.startswith(".")),
        references=tuple(
            _joined(folder, each["path"])
            for each in (references if isinstance(references, list) else ())
            if isinstance(each, dict) and isinstance(each.get("path"), str)
        ),
    )


def read_package(data: bytes, path: str) -> tuple[ScriptConfig, ScriptConfig]:
    """The names by which all of the project imports a package's files, and those that only its own files know."""
    parsed = _object(data)
    folder = posixpath.dirname(path)
    name, exports, imports = parsed.get("name"), parsed.get("exports"), parsed.get("imports")
    outside: dict[str, list[str]] = {}
    if isinstance(name, str) and name:
        if not (isinstance(exports, dict) and any(key.startswith(".") for key in exports)):
            exports = {".": exports}
        for key, target in exports.items():
            named = posixpath.normpath(posixpath.join(name, key))
            outside[named] = [*_texts(target), key, posixpath.join("src", key)]
        main = [each for key in _MAIN for each in _texts(parsed.get(key))]
        # Without what was made of them, the files that are written lie here by custom.
        outside[name] = [*_texts(exports.get(".")), *main, "src/index", "."]
        outside[f"{name}/*"] = [*outside.get(f"{name}/*", ()), "*", "src/*"]
    inside = {key: list(_texts(target)) for key, target in imports.items()} if isinstance(imports, dict) else {}
    return (
        ScriptConfig(paths=tuple(_without_endings(outside, folder))),
        ScriptConfig(paths=tuple(_without_endings(inside, folder))),
    )


def _texts(target: Any, depth: int = 0) -> Iterator[str]:
    """Targets of a name under any condition."""
    if isinstance(target, str):
        yield target
    elif isinstance(target, dict | list) and depth < 8:
        for each in target.values() if isinstance(target, dict) else target:
            yield from _texts(each, depth + 1)


def _without_endings(paths: Mapping[str, list[str]], folder: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    own = {name: [_MADE.sub("", each) for each in targets] for name, targets in paths.items()}
    return _patterns(own, folder)


def _object(data: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(_plain(data.decode("utf-8-sig", "replace")))
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _patterns(paths: Mapping[str, Any], folder: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for pattern, targets in paths.items():
        if isinstance(targets, list) and pattern.count("*") <= 1:
            yield pattern, tuple(_joined(folder, each) for each in targets if isinstance(each, str))


def _joined(folder: str, name: str) -> str:
    path = posixpath.normpath(posixpath.join(folder, name))
    return "" if path == "." else path


def _star(pattern: str, name: str) -> str | None:
    """Part of a name that the star of a pattern matches; None if the pattern does not match."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if name == pattern else None
    if len(name) < len(before) + len(after) or not (name.startswith(before) and name.endswith(after)):
        return None
    return name[len(before) : len(name) - len(after)]


def _plain(text: str) -> str:
    """JSON without comments and without commas behind the last item."""
    found = list(tokens(text, FAMILIES["groovy"]))
    code = masked(text, found)
    signs = list(text)
    for token in found:
        if token.kind in (LINE, BLOCK):
            signs[token.start : token.end] = " " * (token.end - token.start)
    for comma in _FOLLOWED_BY_END.finditer(code):
        signs[comma.start()] = " "
    return "".join(signs)
