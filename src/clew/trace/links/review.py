"""Going through suggested links by keyboard: each is shown, and a key says what becomes of it."""

import sys
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from clew.errors import ClewError
from clew.text.terminal import LINE_START

if TYPE_CHECKING:
    from clew.trace.links.match.meaning import Progress
    from clew.trace.links.results import Suggestion
    from clew.trace.links.service import LinkService
    from clew.trace.operations.links import Reviewed

ACCEPT, REJECT, SKIP, QUIT = "a", "r", "s", "q"
_KEYS = "[a]ccept  [r]eject  [s]kip  [q]uit"
_END = ("", "\x03", "\x04")
"""The end of the input, Ctrl-C and Ctrl-D."""


def review(
    links: "LinkService",
    path: str | None,
    limit: int,
    shown: "Callable[[Suggestion], str]",
    progress: "Progress | None" = None,
    *,
    patient: bool = False,
) -> "Reviewed":
    """Show what is suggested, one after the other, until there is no more or somebody ends it. A test or piece of code
    that got a link is not asked about again."""
    from clew.trace.operations.links import Reviewed

    done: Counter[str] = Counter()
    with links.reading():
        page = links.suggest(path, limit=limit, patient=patient, progress=progress)
    waiting = list(page.suggestions)
    if sys.stderr.isatty():
        # The bar that showed progress.
        _tell(LINE_START)
    for note in page.notes:
        _tell(f"{note}\n")
    linked: set[str] = set()
    while waiting:
        each = waiting.pop(0)
        if each.source_id in linked:
            continue
        _tell(f"\n{shown(each)}\n")
        key = _key()
        if key == QUIT:
            waiting.insert(0, each)
            break
        done[key] += 1
        if key in (ACCEPT, REJECT) and _decided(links, each, key) and key == ACCEPT:
            linked.add(each.source_id)
    return Reviewed(done[ACCEPT], done[REJECT], done[SKIP], len(waiting))


def _decided(links: "LinkService", each: "Suggestion", key: str) -> bool:
    target = (each.assertion_id if key == ACCEPT else None) or each.requirement_id
    try:
        answer = links.apply(
            each.file, each.line, target, decision="accept" if key == ACCEPT else "reject", actor="cli"
        )
    except ClewError as error:
        _tell(f"{error.message} {error.hint}\n")
        return False
    _tell(f"{answer.message}\n")
    return True


def _key() -> str:
    """The next key that means something."""
    while True:
        _tell(f"{_KEYS} ")
        typed = _typed()
        _tell("\n")
        if typed in _END:
            return QUIT
        if typed.lower() in (ACCEPT, REJECT, SKIP, QUIT):
            return typed.lower()


def _tell(text: str) -> None:
    """The conversation goes to standard error; standard output has the result."""
    sys.stderr.write(text)
    sys.stderr.flush()


def _typed() -> str:
    """One key of a terminal; elsewhere the first character of a line."""
    if not sys.stdin.isatty():
        try:
            line = sys.stdin.readline()
        except OSError:
            # There is nothing to read from, as where a job is started without an input.
            line = ""
        return line.strip()[:1] or ("\n" if line else "")
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        return sys.stdin.read(1)
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
