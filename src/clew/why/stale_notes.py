"""References to what is gone, in the files that agents read first: AGENTS.md, CLAUDE.md and the rules of hosts.

An agent believes these files. Only what can be told surely is reported: a path below a folder that exists, and a
command of a manifest that lists its commands. Placeholders, patterns, examples and blocks of code are left out.
"""

# Implements: REQ-d00448

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from clew.errors import ClewError
from clew.trace.reports.finding import Finding
from clew.workspace.files import read_bytes
from clew.workspace.find import names_in
from clew.workspace.git import api as git
from clew.workspace.survey import survey

NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md")
_RULES = ".cursor/rules"
_MOST_RULES = 100
_LARGEST = 500_000
_MOST_MISSING = 200
"""Files that are looked for in the whole project and asked of git; those behind count as there."""
_MOST_NAMES = 100_000

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
_PATH = re.compile(
    r"(?:\./)?((?:[\w.@+-]+/)+[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,5})(?:(?::\d+(?:-\d+)?)|#L?[\w-]+)?"
)
"""At least one folder, and an ending; no placeholder and no pattern."""
_EXAMPLE = re.compile(
    r"\b(?:e\.g\.|for example|for instance|such as|like|examples?|creates?|new|add(?:s|ed)?|generate[sd]?|generating"
    r"|writes?|remove[sd]?|deleted?|no longer|never|don't|do not|not|if|optional(?:ly)?|missing|would|gone|was|were|old"
    r"|former(?:ly)?|imports?|output|path|template|produce[sd]?|will|rename[sd]?)\b",
    re.IGNORECASE,
)
"""Words of a line that may speak of a file that need not be there."""
_RUN = re.compile(r"(npm run|npm run-script|pnpm run|yarn run|bun run|yarn|make) ([A-Za-z][\w:.-]*)")
_TARGET = re.compile(r"^([^\s:#=][^:#=\n]*):(?!=)", re.MULTILINE)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")


class _Reference(msgspec.Struct, frozen=True):
    text: str
    line: int
    is_link: bool


def stale_notes(root: Path) -> Iterator[Finding]:
    """A note for each reference to what is not there, at its line."""
    known = _Known(root)
    seen: set[Path] = set()
    for name in _files(root):
        place = (root / name).resolve()
        if place in seen:
            continue
        seen.add(place)
        try:
            text = read_bytes(root, name, limit=_LARGEST).decode("utf-8", "replace")
        except ClewError:
            continue
        for each in _references(text):
            if message := _gone(known, name, each):
                yield Finding("notes.gone", "info", message, name, each.line, None, _HINT)


_HINT = "Agents read this file first: name what took its place, or take the words out."


def _files(root: Path) -> Iterator[str]:
    yield from (name for name in NAMES if (root / name).is_file())
    folder = root / _RULES
    if folder.is_dir() and not folder.is_symlink():
        rules = sorted(name for name in names_in(folder) if name.endswith((".md", ".mdc")))
        yield from (f"{_RULES}/{name}" for name in rules[:_MOST_RULES])


def _references(text: str) -> Iterator[_Reference]:
    """Inline code and links outside of blocks of code."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
            continue
        if fence or (line.startswith(("    ", "\t")) and not line.lstrip().startswith(("-", "*", "+"))):
            continue
        yield from (_Reference(found[1], number, True) for found in _LINK.finditer(line))
        if not _EXAMPLE.search(_CODE.sub(" ", line)):
            yield from (_Reference(found[1].strip(), number, False) for found in _CODE.finditer(line))


def _gone(known: "_Known", name: str, each: _Reference) -> str:
    """A sentence about a reference to what is gone; empty where it is there, or where nobody can tell."""
    if path := _PATH.fullmatch(each.text):
        if not known.has_file(path[1], PurePosixPath(name).parent, is_link=each.is_link):
            return f"'{path[1]}' is named here, and there is no such file."
    elif (run := _RUN.fullmatch(each.text)) and not each.is_link:
        commands, manifest = known.commands(run[1], run[2])
        if commands and run[2] not in commands:
            return f"'{each.text}' is named here, and {manifest} lists '{run[2]}'."
    return ""


class _Known:
    """Files and commands of the project, looked up once each."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: frozenset[str] | None = None
        self._partial = False
        self._scripts: frozenset[str] | None = None
        self._missing = 0

    def has_file(self, path: str, beside: PurePosixPath, *, is_link: bool) -> bool:
        """True also where it cannot be told: below a folder that is not there, in one that git ignores, or as the end
        of a longer path."""
        places = (path, (beside / path).as_posix())
        # False also for a name that no file system takes.
        if any(os.path.exists(self._root / place) for place in places):  # noqa: PTH110
            return True
        if ".." in PurePosixPath(path).parts or path.split("/")[0].count("."):
            return True
        if not os.path.isdir(self._root / path.split("/")[0]) or (is_link and beside.parts):  # noqa: PTH112
            return True
        self._missing += 1
        if self._missing > _MOST_MISSING:
            return True
        names = self._all_names()
        if self._partial or any(each.endswith(f"/{path}") for each in names):
            return True
        with suppress(ClewError):
            return path in git.ignored(self._root, (path,))
        return True

    def _all_names(self) -> frozenset[str]:
        if self._names is None:
            found = survey(self._root, _MOST_NAMES)
            self._names, self._partial = frozenset(found.files), found.truncated
        return self._names

    def commands(self, runner: str, wanted: str) -> tuple[frozenset[str], str]:
        """Commands that a runner knows here, and words for the manifest that lacks others; none if it is unknown."""
        if runner == "make":
            return self._targets()
        # `yarn NAME` also starts a program of a dependency; one with a colon is a script.
        if runner == "yarn" and ":" not in wanted:
            return frozenset(), ""
        if self._scripts is None:
            manifests = [each for each in self._all_names() if PurePosixPath(each).name == "package.json"]
            self._scripts = frozenset(
                name for each in manifests if not self._partial for name in _scripts(self._root, each)
            )
        return self._scripts, "no package.json"

    def _targets(self) -> tuple[frozenset[str], str]:
        name = next((each for each in _MAKEFILES if (self._root / each).is_file()), "")
        text = _text(self._root, name) if name else ""
        # Included files and patterns make targets that no line names.
        if re.search(r"^-?s?include\b|%.*:|\$\(.*:", text, re.MULTILINE):
            return frozenset(), ""
        return frozenset(word for found in _TARGET.findall(text) for word in found.split()), f"no target of {name}"


def _scripts(root: Path, manifest: str) -> frozenset[str]:
    with suppress(ValueError, RecursionError, AttributeError, TypeError):
        table: Any = json.loads(_text(root, manifest))
        return frozenset(table.get("scripts") or ())
    return frozenset()


def _text(root: Path, name: str) -> str:
    try:
        return read_bytes(root, name, limit=_LARGEST).decode("utf-8", "replace")
    except ClewError:
        return ""
