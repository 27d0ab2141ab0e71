"""`openspec/config.yaml`: what a project tells the authors of its changes.

Of YAML this reads what OpenSpec documents for the file: plain values, blocks of text (`|` and `>`) and lists of texts.
What is written in another way is a problem, and nothing is guessed.
"""

import re

import msgspec

from clew.text.display import shortened

SETTINGS = ("config.yaml", "config.yml")
LONGEST_CONTEXT = 50 * 1024
"""Bytes; OpenSpec passes over a longer one too."""
_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?")
_ITEM = re.compile(r"-[ \t]+(.*)")
_BLOCK = re.compile(r"([|>])[-+]?")


class ProjectSettings(msgspec.Struct, frozen=True):
    schema: str = ""
    context: str = ""
    """Context for everybody who writes an artefact."""
    rules: dict[str, tuple[str, ...]] = {}
    """Rules for single artefacts, by the id of the artefact."""
    problems: tuple[str, ...] = ()
    """Settings that were not understood, each with its line."""


def read_settings(data: bytes) -> ProjectSettings:
    """The settings of a project. Never fails: what cannot be read is among the problems."""
    lines = SettingsLines(data.decode("utf-8", "replace").removeprefix("\ufeff").splitlines())
    values: dict[str, str] = {}
    rules: dict[str, tuple[str, ...]] = {}
    while (key := lines.next_key(0)) is not None:
        name, written = key
        if name == "rules" and not written:
            rules = _rules(lines)
        else:
            values[name] = lines.value(written, 0)
    context = values.get("context", "")
    if len(context.encode()) > LONGEST_CONTEXT:
        lines.complain(f"context has over {LONGEST_CONTEXT:,} bytes and is passed over, as OpenSpec does.")
        context = ""
    return ProjectSettings(values.get("schema", ""), context.strip(), rules, tuple(lines.problems))


def _rules(lines: "SettingsLines") -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    indent = lines.indent()
    while indent > 0 and (key := lines.next_key(indent)) is not None:
        name, written = key
        if written:
            lines.complain(f"The rules of {name!r} are no list of texts: write each on a line that begins with a dash.")
        found[name] = tuple(each for each in lines.items(indent) if each)
    return {name: items for name, items in found.items() if items}


class SettingsLines:
    """Goes through the lines of a file by their indentation."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        self.problems: list[str] = []

    def complain(self, message: str) -> None:
        self.problems.append(f"line {max(self._at, 1)}: {message}")

    def indent(self) -> int:
        """Of the next line that says something; -1 where there is none."""
        while self._at < len(self._lines):
            text = self._lines[self._at].strip()
            if text and not text.startswith("#") and text not in ("---", "..."):
                return _indent(self._lines[self._at])
            self._at += 1
        return -1

    def next_key(self, indent: int) -> tuple[str, str] | None:
        """The next key at an indentation, and what is beside it; None where the block ends."""
        while (found := self.indent()) >= indent:
            written = self._lines[self._at].strip()
            self._at += 1
            key = _KEY.fullmatch(written) if found == indent else None
            if key is not None:
                return key[1], uncommented(key[2] or "")
            self.complain(f"{shortened(written)!r} is not `key: value`.")
        return None

    def value(self, written: str, indent: int) -> str:
        """A value that begins beside its key, with the lines below that belong to it."""
        block = _BLOCK.fullmatch(written)
        if block is None:
            below = [self._taken() for _ in iter(lambda: self.indent() > indent, False)] if written else []
            return scalar(" ".join((written, *below)))
        kept: list[str] = []
        while self._at < len(self._lines) and (
            not self._lines[self._at].strip() or _indent(self._lines[self._at]) > indent
        ):
            kept.append(self._lines[self._at])
            self._at += 1
        depth = min((_indent(line) for line in kept if line.strip()), default=0)
        text = "\n".join(line[depth:].rstrip() for line in kept).strip("\n")
        return text if block[1] == "|" else re.sub(r"(?<!\n)\n(?!\n)", " ", text)

    def items(self, indent: int) -> list[str]:
        """The texts of a list below a key, which may stand as far to the left as the key itself."""
        found: list[str] = []
        while self.indent() >= indent and (item := _ITEM.fullmatch(self._lines[self._at].strip())) is not None:
            depth = self.indent()
            self._at += 1
            found.append(self.value(uncommented(item[1]), depth))
        return found

    def open_item(self, indent: int) -> int:
        """Step into the next item of a list of tables, which begins with a dash at an indentation; returns that of its
        keys, or 0 where the list ends."""
        if self.indent() != indent:
            return 0
        line = self._lines[self._at]
        item = _ITEM.fullmatch(line.strip())
        if item is None:
            return 0
        depth = len(line.rstrip()) - len(item[1].rstrip())
        self._lines[self._at] = " " * depth + item[1]
        return depth

    def texts(self, written: str, indent: int) -> tuple[str, ...]:
        """A list of texts: `[a, b]` beside its key, or an item a line below."""
        if written.startswith("[") and written.endswith("]"):
            return tuple(scalar(each) for each in written[1:-1].split(",") if each.strip())
        if written:
            self.complain(f"{shortened(written)!r} is not a list.")
        return tuple(each for each in self.items(indent) if each)

    def _taken(self) -> str:
        self._at += 1
        return uncommented(self._lines[self._at - 1].strip())


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def uncommented(written: str) -> str:
    """Without a comment at its end; in quotes a hash says nothing."""
    return written if written[:1] in "'\"" else written.split(" #")[0].rstrip()


def scalar(written: str) -> str:
    text = written.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        inner = text[1:-1]
        return inner.replace("''", "'") if text[0] == "'" else inner.replace('\\"', '"').replace("\\\\", "\\")
    return text
