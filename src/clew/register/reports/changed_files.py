"""The relation of changed source files to requirements: a marker, an unknown id, or the note that they serve none."""

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

import msgspec

from clew.formats.code.comments import comments, family_for
from clew.formats.register.ids import CitedId, in_order
from clew.formats.register.model import Register

_NONE = re.compile(r"REQ-NONE(?::[ \t]*([^\n]*))?")
_IGNORED_FOLDERS = frozenset({"tests", "test", "__tests__", "spec", "specs", "generated", "__generated__"})
_IGNORED_NAMES = ("*_test.*", "*.test.*", "*.spec.*", "test_*.py", "build.rs", "*.md", "conftest.py")
_NOT_SOURCE = frozenset({"md", "toml", "json", "yml", "yaml", "lock", "txt", "cfg", "ini", "html", "css"})


class OptOut(msgspec.Struct, frozen=True):
    file: str
    reason: str


class ReviewCoverage(msgspec.Struct, frozen=True):
    ghosts: tuple[str, ...]
    """Each `ID (in FILE)`."""
    referenced: tuple[str, ...]
    changed_files: tuple[str, ...]
    markerless_changed_source: tuple[str, ...]
    opt_outs: tuple[OptOut, ...]
    optout_missing_reason: tuple[str, ...]
    hunks_without_marker: tuple[str, ...] = ()
    """Changed lines without a marker near them, each `FILE:LINE`; only on request."""


def is_source(path: str, ignore: tuple[str, ...] = ()) -> bool:
    """True if a changed file is code that should name the requirement it serves."""
    parts = PurePosixPath(path)
    # Settings such as .gitignore have comments, but do nothing that somebody required.
    if family_for(path) is None or parts.name.startswith(".") or parts.suffix.lstrip(".").lower() in _NOT_SOURCE:
        return False
    if any(folder in _IGNORED_FOLDERS for folder in parts.parts[:-1]):
        return False
    return not any(
        fnmatchcase(parts.name, pattern) or fnmatchcase(path, pattern) for pattern in (*_IGNORED_NAMES, *ignore)
    )


def review_files(
    files: tuple[str, ...],
    register: Register,
    read: Callable[[str], bytes | None],
    cited: Callable[[bytes, str], tuple[CitedId, ...]],
    ignore: tuple[str, ...] = (),
    near: "NearHunks | None" = None,
) -> ReviewCoverage:
    """The citations in the changed files; `cited` finds the markers in the content of a file."""
    far: list[str] = []
    referenced: set[str] = set()
    ghosts: list[str] = []
    markerless: list[str] = []
    opt_outs: list[OptOut] = []
    without_reason: list[str] = []
    for path in files:
        if not is_source(path, ignore):
            continue
        data = read(path)
        if data is None:  # removed
            continue
        mentions = cited(data, path)
        mentioned = {mention.id for mention in mentions}
        ghosts += [f"{id} (in {path})" for id in in_order(mentioned - register.requirements.keys())]
        marked = mentioned & register.requirements.keys()
        referenced |= marked
        if marked:
            lines = [mention.line for mention in mentions if mention.id in marked]
            far += [f"{path}:{line}" for line in near.far_from(path, lines)] if near is not None else []
            continue
        excused = _NONE.search(_comments(data.decode("utf-8", "replace"), path))
        if excused is None:
            markerless.append(path)
        elif reason := (excused[1] or "").strip():
            opt_outs.append(OptOut(path, reason))
        else:
            without_reason.append(path)
    return ReviewCoverage(
        ghosts=tuple(ghosts),
        referenced=tuple(in_order(referenced)),
        changed_files=files,
        markerless_changed_source=tuple(markerless),
        opt_outs=tuple(opt_outs),
        optout_missing_reason=tuple(without_reason),
        hunks_without_marker=tuple(far),
    )


class NearHunks(msgspec.Struct, frozen=True):
    """A stricter rule for changed lines: a marker has to be near each of them, not just anywhere in the file."""

    lines: int
    hunks: Mapping[str, list[tuple[int, int]]]

    def far_from(self, path: str, marked: list[int]) -> list[int]:
        """The first line of each hunk that has no marker near it."""
        return [
            first
            for first, last in self.hunks.get(path, ())
            if not any(first - self.lines <= line <= last + self.lines for line in marked)
        ]


def _comments(text: str, path: str) -> str:
    family = family_for(path)
    return "\n".join(comment.text for comment in comments(text, family)) if family and "REQ-NONE" in text else ""
