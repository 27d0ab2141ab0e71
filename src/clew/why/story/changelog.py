"""Entries of changelogs, release notes and news fragments that belong to a commit."""

# Implements: REQ-d00361

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from clew.text.display import one_line
from clew.workspace.git import api as git
from clew.workspace.git.difference import FileDifference
from clew.workspace.paths import display

_NAME = r"(?:change(?:s|log|_?history)?|history|news|releases?|release[-_]notes?|whatsnew)"
IS_CHANGELOG = re.compile(
    rf"(?:^|/){_NAME}(?:[-_.][\w.-]*)?$|(?:^|/)(?:{_NAME}|newsfragments?|changelog\.d|\.changes?|changesets?|\.changeset)/[^/]*$",
    re.IGNORECASE,
)
_PATTERNS = ("*change*", "*history*", "*news*", "*release*", "*whatsnew*")
_NO_TEXT = re.compile(r"\.(?:py|js|ts|tsx|jsx|go|java|rs|rb|sh|ya?ml|json|toml|lock|html|css)$", re.IGNORECASE)
_ITEM = re.compile(r"^(\s*)(?:[-*+•]|\d+[.)])\s+")
_VERSION = re.compile(r"^(?:#+\s*|\.\. _?)?(?:\[)?(?:version\s+|release\s+|v)?(\d+\.\d+[\w.]*)", re.IGNORECASE)
_UNRELEASED = re.compile(r"^(?:#+\s*)?\[?(unreleased)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_MOST_WORDS = 9
_FEWEST_WORDS = 3
_MOST_ROWS = 4
_MOST_FILES = 60
_LONGEST = 400
_MOST = 3
_MOST_HITS = 40


class ReleaseNote(msgspec.Struct, frozen=True):
    path: str
    line: int
    text: str
    version: str
    """The release that the entry is in; empty where no heading says it."""


def is_changelog(path: str) -> bool:
    return IS_CHANGELOG.search(path) is not None and _NO_TEXT.search(path) is None


def entries_naming(
    root: Path, numbers: Iterable[str], read: Callable[[str], Sequence[str]], *, seconds: float
) -> list[ReleaseNote]:
    """The entries that name one of the numbers of issues or pull requests, such as `#12`. `read` gives the lines of a
    file. Unavailable where git cannot tell."""
    digits = [each.lstrip("#!") for each in numbers if each.lstrip("#!").isdigit()]
    if not digits:
        return []
    pattern = rf"(^|[^0-9A-Za-z.,:])({'|'.join(digits[:6])})([^0-9A-Za-z.,:]|[.,:]([^0-9]|$)|$)"
    output = git.command(
        root,
        *("grep", "-n", "-I", "-z", "-E", "--untracked", "-e", pattern, "--"),
        *(f":(glob,icase)**/{each}" for each in _PATTERNS),
        *(f":(glob,icase)**/{each}/**" for each in _PATTERNS),
        says_no=1,
        seconds=seconds,
        patterns=True,
    )
    found: dict[tuple[str, int], ReleaseNote] = {}
    files: dict[str, Sequence[str]] = {}
    for row in output.split(b"\n")[:_MOST_HITS]:
        parts = row.split(b"\0", 2)
        path = display(os.fsdecode(parts[0]))
        if len(parts) < 3 or not parts[1].isdigit() or not is_changelog(path):
            continue
        if path not in files:
            files[path] = read(path)
        entry = entry_at(files[path], int(parts[1]), path)
        if entry is not None:
            found.setdefault((path, entry.line), entry)
    return list(found.values())[:_MOST]


def entries_added(changed: Sequence[FileDifference]) -> Iterator[ReleaseNote]:
    """The entries that a commit itself wrote."""
    for each in changed:
        for block in each.blocks if each.path is not None else ():
            starts = [place for place, line in enumerate(block.new) if _ITEM.match(line)]
            is_fragment = each.old_path is None and len(block.new) < 30
            for place in starts[:2] or ([0] if is_fragment and block.new else []):
                text = _item_text(block.new, place)
                if text:
                    yield ReleaseNote(each.path or "", block.new_first + place, text, "")


def placed(entry: ReleaseNote, paths: Sequence[str], read: Callable[[str], Sequence[str]]) -> ReleaseNote:
    """An entry of a commit at its place in the changelogs as they are now, whatever they are called and in which markup
    they are written; unchanged where it is no longer there."""
    wanted = _words(entry.text)[:_MOST_WORDS]
    if len(wanted) < _FEWEST_WORDS:
        return entry
    for path in sorted(paths, key=lambda each: each != entry.path):
        lines = read(path)
        number = _line_with(wanted, lines)
        if number and (found := entry_at(lines, number, path)) is not None:
            return found
    return entry


def changelogs(root: Path, *, seconds: float) -> list[str]:
    """The changelogs of a project. Unavailable where git cannot tell."""
    output = git.command(
        root,
        *("ls-files", "-z", "--"),
        *(f":(glob,icase)**/{each}" for each in _PATTERNS),
        *(f":(glob,icase)**/{each}/**" for each in _PATTERNS),
        seconds=seconds,
        patterns=True,
    )
    found = (display(os.fsdecode(name)) for name in output.split(b"\0") if name)
    return [path for path in found if is_changelog(path)][:_MOST_FILES]


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _line_with(wanted: Sequence[str], lines: Sequence[str]) -> int:
    """The number of the line in which a row of words begins; 0 where they are nowhere."""
    for number, line in enumerate(lines, 1):
        here = _words(line)
        if wanted[0] not in here:
            continue
        following = [*here, *(word for other in lines[number : number + _MOST_ROWS] for word in _words(other))]
        places = (place for place, word in enumerate(here) if word == wanted[0])
        if any(following[place : place + len(wanted)] == wanted for place in places):
            return number
    return 0


def entry_at(lines: Sequence[str], number: int, path: str) -> ReleaseNote | None:
    """The list item or paragraph that holds a line, with the version above it."""
    place = number - 1
    if not 0 <= place < len(lines):
        return None
    while place > 0 and not _ITEM.match(lines[place]) and lines[place - 1].strip():
        place -= 1
    text = _item_text(lines, place)
    return ReleaseNote(path, place + 1, text, _version_above(lines, place)) if text else None


def _item_text(lines: Sequence[str], place: int) -> str:
    rows = [lines[place]]
    for line in lines[place + 1 :]:
        if not line.strip() or _ITEM.match(line):
            break
        rows.append(line)
    return one_line(_ITEM.sub("", " ".join(row.strip() for row in rows).strip()), _LONGEST)


def _version_above(lines: Sequence[str], place: int) -> str:
    for number in range(place, -1, -1):
        line = lines[number].strip()
        if _UNRELEASED.match(line):
            return "unreleased"
        below = lines[number + 1].strip() if number + 1 < len(lines) else ""
        is_heading = line.startswith("#") or bool(re.fullmatch(r"[=\-~^*]{3,}", below))
        if (version := _VERSION.match(line)) is not None and (is_heading or " / " in line):
            return version[1]
    return ""
