"""Review of suggested links by keyboard: each is shown, and a key accepts, rejects or skips it."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from clew.errors import ClewError
from clew.text.terminal import LINE_START, columns, wrapped
from clew.trace.links.requests import LinkRequest
from clew.trace.links.results import Reviewed

if TYPE_CHECKING:
    from clew.edit.edits import FileEdit
    from clew.trace.links.match.meaning import Progress
    from clew.trace.links.requests import SuggestionSearch
    from clew.trace.links.results import Suggestion
    from clew.trace.links.service import LinkService


ACCEPT, REJECT, SKIP, UNDO, QUIT = "a", "r", "s", "u", "q"
_KEYS = "[a]ccept  [r]eject  [s]kip  [u]ndo  [q]uit"
_END = ("", "\x03", "\x04")
"""The end of the input, Ctrl-C and Ctrl-D."""

SPECIAL = "\x1b"
"""Begins what arrows and other special keys send, and stands for each of them."""


class _Done(msgspec.Struct, frozen=True):
    """The effect of one key."""

    key: str
    suggestion: "Suggestion"
    rest: "tuple[Suggestion, ...]"
    """The suggestions that waited behind it."""
    edit: "FileEdit | None" = None
    """Of the file that got the link."""


def review(
    links: "LinkService",
    query: "SuggestionSearch",
    shown: "Callable[[Suggestion], str]",
    progress: "Progress | None" = None,
) -> Reviewed:
    """Show the suggestions one after the other, until there are no more or the user quits. A test or piece of code that
    got a link is not asked about again."""
    with links.reading():
        page = links.suggest(query, progress=progress)
    if sys.stderr.isatty():
        # The bar that showed progress.
        sys.stderr.write(LINE_START)
    for note in page.notes:
        _tell(note)
    with _single_keys():
        done, left = _gone_through(links, page.suggestions, shown)
    counts = Counter(each.key for each in done)
    return Reviewed(counts[ACCEPT], counts[REJECT], counts[SKIP], left)


def _gone_through(
    links: "LinkService", waiting: "tuple[Suggestion, ...]", shown: "Callable[[Suggestion], str]"
) -> tuple[list[_Done], int]:
    """The decisions, and the number of suggestions that nobody looked at."""
    done: list[_Done] = []
    while waiting:
        _tell(f"\n{shown(waiting[0])}")
        key = _key()
        if key == QUIT:
            break
        if key == UNDO:
            waiting = _taken_back(links, done, waiting)
            continue
        each, rest = waiting[0], waiting[1:]
        waiting, edit = rest, None
        try:
            if key == ACCEPT:
                edit, waiting = _accepted(links, each, rest)
            elif key == REJECT:
                _rejected(links, each)
        except ClewError as error:
            _tell(f"{error.message} {error.hint}")
            continue
        done.append(_Done(key, each, rest, edit))
    return done, len(waiting)


def _accepted(
    links: "LinkService", each: "Suggestion", rest: "tuple[Suggestion, ...]"
) -> "tuple[FileEdit, tuple[Suggestion, ...]]":
    """Write a link. The waiting suggestions of the same file get new lines, and those of the same source are
    dropped."""
    target = each.assertion_id or each.requirement_id
    link = LinkRequest(each.file, each.line, target, if_version=each.file_version)
    edit = links.planned(link)
    answer = links.apply(link, actor="cli")
    _tell(answer.message)
    moved = (edit.after or b"").count(b"\n") - (edit.before or b"").count(b"\n")
    return edit, tuple(
        other
        if other.file != each.file
        else msgspec.structs.replace(
            other,
            line=other.line + (moved if other.line >= answer.line else 0),
            file_version=answer.file_version,
        )
        for other in rest
        if other.source_id != each.source_id
    )


def _rejected(links: "LinkService", each: "Suggestion") -> None:
    _tell(links.apply(LinkRequest(each.file, each.line, each.requirement_id, "reject"), actor="cli").message)


def _taken_back(links: "LinkService", done: list[_Done], waiting: "tuple[Suggestion, ...]") -> "tuple[Suggestion, ...]":
    """Undo the last key, and return the suggestions that wait then."""
    if not done:
        _tell("Nothing was decided yet.")
        return waiting
    last = done[-1]
    each = last.suggestion
    try:
        if last.edit is not None:
            _tell(links.take_back(last.edit, each.line, each.requirement_id, actor="cli").message)
        elif last.key == REJECT:
            _tell(
                links.apply(LinkRequest(each.file, each.line, each.requirement_id, "reconsider"), actor="cli").message
            )
    except ClewError as error:
        _tell(f"{error.message} {error.hint}")
        return waiting
    done.pop()
    return (each, *last.rest)


def _key() -> str:
    """The next key that means something."""
    while True:
        sys.stderr.write(wrapped(f"{_KEYS} ", columns(sys.stderr)) + " ")
        sys.stderr.flush()
        typed = _typed()
        sys.stderr.write("\n")
        if typed in _END:
            return QUIT
        if typed.lower() in (ACCEPT, REJECT, SKIP, UNDO, QUIT):
            return typed.lower()


def _tell(text: str) -> None:
    """Print to standard error; standard output has the result."""
    sys.stderr.write(f"{wrapped(text, columns(sys.stderr))}\n")
    sys.stderr.flush()


def _typed() -> str:
    """One key of a terminal; elsewhere the first character of a line."""
    if not _on_a_terminal():
        try:
            line = sys.stdin.readline() if sys.stdin is not None else ""
        except OSError:
            # There is nothing to read from, as where a job is started without an input.
            line = ""
        return line.strip()[:1] or ("\n" if line else "")
    import os

    terminal = sys.stdin.fileno()
    try:
        return key_of(lambda: os.read(terminal, 1).decode("latin-1"))
    except OSError:
        # The terminal was closed.
        return ""


def _on_a_terminal() -> bool:
    """True if standard input is a terminal; it may also be closed."""
    return sys.stdin is not None and sys.stdin.isatty()


@contextmanager
def _single_keys() -> Iterator[None]:
    """Read keys of a terminal when they are pressed, without Enter; Ctrl-C is a key too, so that it does not interrupt
    a decision. Keys that were typed ahead are kept. On Windows each key needs Enter."""
    if sys.platform == "win32" or not _on_a_terminal():
        yield
    else:
        import termios

        before = termios.tcgetattr(sys.stdin)
        single = list(before)
        single[3] &= ~(termios.ECHO | termios.ICANON | termios.ISIG)
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, single)
        try:
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


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
