"""Values, texts and numbers as messages and lists show them to people."""

LONGEST_SHOWN = 80
MORE = "…"
"""Sign for the omitted rest of a text."""


def shortened(value: str, longest: int = LONGEST_SHOWN) -> str:
    """Enough of a value to be recognised, never more."""
    return value if len(value) <= longest else value[: longest - 3] + "..."


def one_line(text: str, longest: int) -> str:
    """The beginning of a text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + MORE


def counted(number: int, word: str, words: str | None = None) -> str:
    """A number and what it counts, in the plural unless it is one; `words` is a plural that does not just end in s."""
    return f"{number:,} {word if number == 1 else words or f'{word}s'}"
