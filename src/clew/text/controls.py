"""Control characters that a terminal, a spreadsheet or a reader obeys instead of showing them, made visible and
harmless."""

import re

_ALWAYS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
"""Control characters, line separators, signs that turn the direction of text, and halves of characters."""
_MARKS = "\u061c\u200e\u200f"
"""Signs that give a place a direction. Who writes from right to left has them in titles: shown, not refused."""
_OBEYED = re.compile(rf"[{_ALWAYS}{_MARKS}]|\r(?!\n)")
_NOT_ON_ONE_LINE = re.compile(rf"[{_ALWAYS}\t\n\r]")
_OUTSIDE_ASCII = re.compile(rf"[\x7f-\x9f\u2028-\u202e\u2066-\u2069{_MARKS}]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_PICTURES = 0x2400
_SPACE, _DELETE = 0x20, 0x7F


def printable(text: str) -> str:
    """A text from files, with a visible sign for each control character that a terminal would obey: ESC as ␛, a change
    of direction as ⟨U+202E⟩. Tabs and line ends stay."""
    return _OBEYED.sub(_visible, text)


def _visible(match: re.Match[str]) -> str:
    number = ord(match[0])
    if number < _SPACE:
        return chr(_PICTURES + number)
    return "␡" if number == _DELETE else f"⟨U+{number:04X}⟩"


def control_in(text: str) -> str | None:
    """The number of the first character that a text of one line must not contain; None if there is none."""
    found = _NOT_ON_ONE_LINE.search(text)
    return f"U+{ord(found[0]):04X}" if found is not None else None


def pretty_json(value: object) -> str:
    """A value as JSON for a terminal or a file. Control characters are escaped, so the data stays the same."""
    # Everything that is printed passes this module, `clew --help` too, and most of it is no JSON.
    import msgspec

    return escaped_json(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def escaped_json(text: str) -> str:
    """JSON with every control character escaped; such characters are only inside strings."""
    return _OUTSIDE_ASCII.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def csv_cell(text: str) -> str:
    """A text that a spreadsheet shows and does not calculate."""
    return f"'{printable(text)}" if text.startswith(_FORMULA) else printable(text)
