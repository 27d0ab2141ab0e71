"""The fast path of `clew req validate` and of the commit hook, which git runs with every commit.

What is usual is answered here without a project, a parser of options or a service: those take longer to load than the
register takes to be judged. Whatever is not usual (a terminal, another option, a register in a folder, a file that
cannot be read, a judge outside, a change that does not pass) is left to the command itself, which says what is wrong.
"""

# ruff: noqa: PTH110, PTH118, PTH119, PTH120 - pathlib takes as long to load as a register to be judged

import os
import sys
from pathlib import Path

from clew.workspace.regular import beginning
from clew.workspace.root import marked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew.formats.register.model import Register
    from clew.register.reports.validation import ValidationReport

_ELSPAIS = ".elspais.toml"
_SINGLE, _INDEX = "project.req", "index.req"
_JUDGE = "REQ_VALIDATE_LLM_CMD"
_MOST_BYTES = 64 * 1024 * 1024
_GATE = {"--staged", "--gate", "--summary"}


def answer(command: str, words: "list[str]") -> int | None:
    """The exit code of a command of `clew req` whose answer was printed; None if the full command has to answer."""
    if os.environ.get(_JUDGE) or sys.stdout.isatty():
        return None
    if command == "validate":
        return _validate(words)
    return _gate(words) if command == "review" and set(words) >= _GATE else None


def _validate(words: "list[str]") -> int | None:
    options = _options(words, {"--json"})
    place = _place(options) if options is not None else None
    if options is None or place is None:
        return None
    from clew.edit.replacing import leftovers

    if leftovers(Path(place)):
        # The command itself clears away what a killed writer left.
        return None
    try:
        register = _read(beginning(place, _MOST_BYTES + 1), place)
    except OSError:
        return None
    if register is None:
        return None
    from clew.register.reports.validation import as_text
    from clew.text.controls import pretty_json

    found = _judged(register)
    if "--json" in options:
        _print(pretty_json(found))
    else:
        _print(as_text(found))
    return 1 if found.errors else 0


def _gate(words: "list[str]") -> int | None:
    """Let a commit pass that certainly passes, and print the next steps for the requirements that it touches."""
    options = _options(words, {*_GATE, "--all"})
    place = _place(options) if options is not None else None
    if options is None or place is None:
        return None
    root = _root(options)
    if os.path.exists(os.path.join(root, _ELSPAIS)) or os.path.dirname(place) != root:
        return None
    from clew.errors import ClewError
    from clew.register.git.staged import certain_citations, staged_change
    from clew.register.reports.changed_files import is_source, review_files

    try:
        change = staged_change(root, os.path.basename(place), is_source)
    except ClewError:
        return None
    after = _read(change.register, place) if change is not None else None
    if change is None or after is None or (after.config or {}).get("gate"):
        return None
    touched: set[str] = set()
    removed: tuple[str, ...] = ()
    if change.register_before is not None:
        from clew.register.reports.difference import diff

        before = _read(change.register_before, place) if change.register_before else None
        if (change.register_before and before is None) or _judged(after).errors:
            return None
        if before is not None:
            found = diff("staged", before, after, evidence=True)
            touched, removed = {*found.added, *(each.id for each in found.changed)}, found.removed
        else:
            touched = set(after.requirements)
    if change.files:
        try:
            reviewed = review_files(tuple(change.files), after, change.files.get, certain_citations)
        except LookupError:
            return None
        if reviewed.ghosts or reviewed.markerless_changed_source or reviewed.optout_missing_reason:
            return None
        touched |= {*reviewed.referenced}
    from clew.register.reports.summary import summary

    _print(summary(touched, removed, after))
    return 0


def _read(data: bytes, place: str) -> "Register | None":
    from clew.errors import ClewError
    from clew.formats.register.single import read_single

    try:
        return read_single(data, os.path.basename(place)) if len(data) <= _MOST_BYTES else None
    except ClewError:
        return None


def _judged(register: "Register") -> "ValidationReport":
    from clew.register.reports.validation import validation_report
    from clew.register.rules.validator import validate_register

    return validation_report(validate_register(register))


def _print(text: str) -> None:
    from clew.text.controls import printable

    sys.stdout.buffer.write(f"{printable(text)}\n".encode(sys.stdout.encoding, "backslashreplace"))
    sys.stdout.flush()


def _options(words: "Iterable[str]", flags: "set[str]") -> "dict[str, str] | None":
    """The options by name; None if one of them is unknown here."""
    found: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word in flags:
            found[word] = ""
        elif word in ("-C", "--file") and word not in found:
            found[word] = next(rest, "")
            if not found[word]:
                return None
        else:
            return None
    return found


def _root(options: "dict[str, str]") -> str:
    folder = os.path.realpath(options.get("-C", "."))
    return marked(folder) or folder


def _place(options: "dict[str, str]") -> str | None:
    """The path of the register, if it is one file."""
    if "--file" in options:
        return os.path.realpath(options["--file"])
    if os.environ.get("REQ_FILE"):
        return None
    root = _root(options)
    there = [name for name in (_SINGLE, _INDEX) if os.path.exists(os.path.join(root, name))]
    return os.path.realpath(os.path.join(root, _SINGLE)) if there == [_SINGLE] else None
