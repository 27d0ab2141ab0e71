"""Rules of .gitignore files."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from pathspec import GitIgnoreSpec, RegexPattern

from clew.workspace.regular import beginning

MAX_BYTES = 65_536
"""No ignore file is read further than this."""

_SIGN = r"\\.|\[(?:\\.|[^\]\\])+\]|[^\[\]\\()|?+*^$]"
_STAR = r"\[\^/\]\*"
_STAR_THEN = re.compile(rf"{_STAR}((?:(?!{_STAR})(?:{_SIGN}))+)(?={_STAR})")
"""In the expression of a rule, a star and the signs between it and the next star."""
_STARS = re.compile(rf"(?:{_STAR})+")
_CLASS = re.compile(r"\\.|\[(?!\^/)(?:\\.|[^\]\\])+\]")


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
    """The rules in these lines as git reads them. A line that git cannot read ignores nothing, here as there."""
    spec = GitIgnoreSpec.from_lines(line for line in lines if _readable(line))
    for pattern in spec.patterns:
        if isinstance(pattern, RegexPattern) and pattern.regex is not None:
            pattern.regex = _without_ways_back(pattern.regex)
    return spec


def _without_ways_back(rule: re.Pattern[str]) -> re.Pattern[str]:
    """The rule as a pattern that never goes back to a star: `*a*b` takes the first `a` and tries no other one."""
    # To git no sign in brackets is a slash, and stars beside each other are one.
    source = _CLASS.sub(lambda sign: f"[^/{sign[0][2:]}" if sign[0].startswith("[^") else sign[0], rule.pattern)
    source = _STARS.sub("[^/]*", source)
    written = _STAR_THEN.sub(r"(?>[^/]*?\1)", source)
    return rule if written == rule.pattern else re.compile(written, rule.flags)


def _readable(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def ignored(path: str, rules: Sequence[IgnoreRules]) -> bool:
    """True if a path is ignored; the path of a folder ends with a slash. The nearest rules that match it decide."""
    for rule in rules:
        verdict = rule.spec.check_file(path.removeprefix(rule.prefix)).include
        if verdict is not None:
            return verdict
    return False
