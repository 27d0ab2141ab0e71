"""Keys of a terminal, out of the characters that it sends."""

from collections.abc import Callable

SPECIAL = "\x1b"
"""Begins what arrows and other special keys send, and stands for each of them."""


def key_of(read: Callable[[], str]) -> str:
    """The next key: a character, or `SPECIAL` for a key that sends several. Those belong together however late they
    come, so the letter at the end of an arrow is never a key; "" is the end of the input.

    `read` gives one character and waits for it.
    """
    typed = read()
    return _special(read) if typed == SPECIAL else typed


def _special(read: Callable[[], str]) -> str:
    """Reads to the end of a special key. A control character in it, such as Ctrl-C, is a key that interrupts it."""
    sign = read()
    if sign in ("[", "O"):
        sign = read()
        if sign == "[":
            # The console of Linux sends ESC [ [ A for F1.
            sign = read()
        while " " <= sign < "@":
            sign = read()
    if sign == SPECIAL:
        return _special(read)
    return sign if sign < " " else SPECIAL
