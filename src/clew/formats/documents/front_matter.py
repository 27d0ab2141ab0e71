"""Front matter of a document: YAML between `---`, TOML between `+++`.

Of YAML this reads what front matter is made of: keys at the left margin with a text, a number or a truth value, lists
in both spellings, and folded or literal text below a key. A deeper structure is kept as the text it was written in.
"""

import re
from typing import Any, NamedTuple

from clew.errors import ConfigError
from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais.toml_values import parse_toml
from clew.text.display import shortened
from clew.text.lines import TextLines

_KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t](.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_NUMBER = re.compile(r"[-+]?\d{1,100}(?:\.\d{1,100})?")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_WORDS = {"true": True, "yes": True, "false": False, "no": False, "null": None, "~": None, "": None}
_FOLDED = (">", ">-", ">+")
_LITERAL = ("|", "|-", "|+")
_LONGEST_LINES = 500


class FrontMatter(NamedTuple):
    values: dict[str, Any]
    after: int
    """The line at which the document begins, counted from 0."""
    diagnostics: tuple[Diagnostic, ...]


NONE = FrontMatter({}, 0, ())


def read_front_matter(lines: TextLines) -> FrontMatter:
    """The front matter of a text; none where it does not begin with it or never ends."""
    fence = lines.bare[0].rstrip() if len(lines) else ""
    if fence not in ("---", "+++"):
        return NONE
    ends = ("---", "...") if fence == "---" else ("+++",)
    for index in range(1, min(len(lines), _LONGEST_LINES)):
        if lines.bare[index].rstrip() in ends:
            break
    else:
        return NONE
    body = lines.bare[1:index]
    if fence == "+++":
        return _toml(body, index + 1)
    # A line between two rulers is no front matter.
    if not any(_KEY.match(line) for line in body) and any(line.strip() for line in body):
        return NONE
    return _yaml(body, index + 1)


def _toml(body: list[str], after: int) -> FrontMatter:
    try:
        return FrontMatter(parse_toml("\n".join(body).encode("utf-8", "replace"), "The front matter"), after, ())
    except ConfigError as error:
        problem = f"{error.message} Correct it, or leave out the +++ around it."
        return FrontMatter({}, after, (Diagnostic("documents.front_matter", "warning", problem, 1),))


def _yaml(body: list[str], after: int) -> FrontMatter:
    values: dict[str, Any] = {}
    problems: list[Diagnostic] = []
    key = ""
    below: dict[str, list[str]] = {}
    for number, line in enumerate(body, start=2):
        found = _KEY.match(_COMMENT.sub("", line)) if line[:1] not in (" ", "\t", "-", "#") else None
        if found is not None:
            key = found[1]
            values[key] = (found[2] or "").strip()
        elif key and (line[:1] in (" ", "\t", "-") or not line.strip()):
            below.setdefault(key, []).append(line)
        elif line.strip() and not line.startswith("#"):
            problem = f"{shortened(line)!r} is not `key: value`. Correct the front matter."
            problems.append(Diagnostic("documents.front_matter", "warning", problem, number))
    return FrontMatter({key: _value(text, below.get(key, [])) for key, text in values.items()}, after, tuple(problems))


def _value(text: str, below: list[str]) -> Any:
    kept = [line for line in below if line.strip()]
    if text in _LITERAL:
        return "\n".join(line.strip() for line in below).strip()
    if text in _FOLDED:
        return " ".join(line.strip() for line in kept)
    if not text and kept:
        items = [_ITEM.match(line) for line in kept]
        if all(items):
            return [_scalar(item[1]) for item in items if item is not None]
        return "\n".join(kept)
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(item) for item in text[1:-1].split(",") if item.strip()]
    # A plain text goes on in indented lines.
    return _scalar(" ".join((text, *(line.strip() for line in kept))))


def _scalar(text: str) -> Any:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text
