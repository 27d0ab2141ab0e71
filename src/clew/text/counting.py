"""Numbers in sentences for people."""


def counted(number: int, word: str, words: str | None = None) -> str:
    """A number and what it counts, in the plural unless it is one; `words` is a plural that does not just end in s."""
    return f"{number:,} {word if number == 1 else words or f'{word}s'}"
