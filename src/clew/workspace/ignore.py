"""What git ignores, as its .gitignore files say."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from pathspec import GitIgnoreSpec

from clew.workspace.regular import beginning

MAX_BYTES = 65_536
"""No ignore file is read further than this."""


class IgnoreRules(msgspec.Struct, frozen=True):
    """One ignore file: its rules hold for paths below its folder."""

    prefix: str
    """The folder relative to the project, with a slash at its end; empty for the project itself."""
    spec: GitIgnoreSpec


def read_rules(file: Path, prefix: str) -> IgnoreRules | None:
    """The rules of an ignore file; None where there is none."""
    try:
        text = beginning(file, MAX_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    # As git does: a byte order mark is passed over, and nothing but a line feed, with or without its carriage return,
    # ends a line. Bytes that are no text stand for themselves, as they do in names of files.
    lines = text.removeprefix("\ufeff").split("\n")
    return IgnoreRules(prefix, ignore_spec(line.removesuffix("\r") for line in lines))


def ignore_spec(lines: Iterable[str]) -> GitIgnoreSpec:
    """What git would understand of these lines. A line that git cannot read ignores nothing, here as there."""
    return GitIgnoreSpec.from_lines(line for line in lines if _readable(line))


def _readable(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def ignored(path: str, rules: Sequence[IgnoreRules]) -> bool:
    """Whether a path, with a slash at the end of a folder's, is ignored: of the rules, nearest first, the first that
    say anything about it decide."""
    for rule in rules:
        verdict = rule.spec.check_file(path.removeprefix(rule.prefix)).include
        if verdict is not None:
            return verdict
    return False
