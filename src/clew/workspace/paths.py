"""Paths as text: a spelling that every file name has, whatever its bytes, and globs that know folders."""

import re
from fnmatch import fnmatchcase

import msgspec

ANY_DEPTH = "**"

_STRANGE = re.compile(r"[\ud800-\udfff]|\\(?=x5c|x[89a-f][0-9a-f]|ud[89a-f][0-9a-f]{2})")
_SPELLED = re.compile(r"\\x(5c|[89a-f][0-9a-f])|\\u(d[89a-f][0-9a-f]{2})")


def display(name: str) -> str:
    """A path of the operating system as valid Unicode: a byte that is no text is spelled `\\xff`.

    `raw` leads back from every spelling: a backslash that would be mistaken for the beginning of such a byte is itself
    spelled `\\x5c`.
    """
    if name.isascii() and "\\" not in name:
        return name
    return _STRANGE.sub(_spell, name)


def raw(path: str) -> str:
    """The path of the operating system that `display` spelled."""
    return _SPELLED.sub(_unspell, path) if "\\" in path else path


def _spell(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == ord("\\"):
        return "\\x5c"
    # Python stands for the undecodable bytes 80 to ff by DC80 to DCFF; the other halves of pairs occur on Windows.
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def _unspell(match: re.Match[str]) -> str:
    if match[2]:
        return chr(int(match[2], 16))
    return "\\" if match[1] == "5c" else chr(0xDC00 + int(match[1], 16))


def is_glob(path: str) -> bool:
    return any(sign in path for sign in "*?[")


class Glob(msgspec.Struct, frozen=True):
    """A pattern for paths, segment by segment: `*`, `?` and `[...]` stay inside one, `**` is any number of them.

    It is followed down a tree in states, which are the places in the pattern that may come next; no pattern takes more
    than its own length for each segment of a path.
    """

    segments: tuple[str, ...]

    @classmethod
    def of(cls, pattern: str) -> "Glob":
        return cls(tuple(segment for segment in pattern.split("/") if segment and segment != "."))

    def split(self) -> "tuple[str, Glob]":
        """The folder that the pattern names without wildcards, and the rest of the pattern, at least one segment."""
        plain = 0
        while plain < len(self.segments) - 1 and not is_glob(self.segments[plain]):
            plain += 1
        return "/".join(self.segments[:plain]), Glob(self.segments[plain:])

    def start(self) -> frozenset[int]:
        return self._passing({0})

    def step(self, states: frozenset[int], name: str) -> frozenset[int]:
        """The states after one more segment; none if nothing below can match."""
        after: set[int] = set()
        for state in states:
            if state < len(self.segments):
                segment = self.segments[state]
                if segment == ANY_DEPTH:
                    after.add(state)
                elif fnmatchcase(name, segment):
                    after.add(state + 1)
        return self._passing(after)

    def accepts(self, states: frozenset[int]) -> bool:
        return len(self.segments) in states

    def matches(self, path: str) -> bool:
        names, last = _names(path), self.segments[-1] if self.segments else ANY_DEPTH
        # It is asked of every file, and the last name tells most of them.
        if last != ANY_DEPTH and not (names and fnmatchcase(names[-1], last)):
            return False
        states = self.start()
        for name in names:
            states = self.step(states, name)
        return self.accepts(states)

    def covers(self, path: str) -> bool:
        """True if it matches the path or a folder above it."""
        states = self.start()
        if self.accepts(states):
            return True
        for name in _names(path):
            states = self.step(states, name)
            if self.accepts(states):
                return True
        return False

    def _passing(self, states: set[int]) -> frozenset[int]:
        """The states, with those after a `**` that matches no segment."""
        found = set(states)
        for state in states:
            while state < len(self.segments) and self.segments[state] == ANY_DEPTH:
                state += 1
                found.add(state)
        return frozenset(found)


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name and name != "."]
