"""`clew req tui`: the commands of the register one after another, on a terminal."""

import shlex

from clew.surfaces.cli.main import main
from clew.surfaces.cli.verbs import verbs_of
from clew.text.terminal import coloured, table

_SHOWN = (
    *("brief", "list", "show", "next", "status", "validate", "add", "update", "delete", "link", "split", "verify"),
    *("test run", "coverage", "stale", "diff", "review", "lint", "doctor", "export", "help"),
)
"""What the menu offers; every other command can be typed as well."""


def show_menu(place: list[str]) -> None:
    """Ask for commands and carry them out until there are no more; `place` are the options that name the register."""
    print(_menu())
    while (line := _asked()) is not None:
        _carry_out(line, place)


def _menu() -> str:
    summaries = {listed.verb: listed.summary for listed in verbs_of("req")}
    rows = table((str(number), name, summaries[f"req {name}"]) for number, name in enumerate(_SHOWN, start=1))
    return f"{rows}\nA number or a command with its arguments; `menu` shows this again, `quit` ends."


def _asked() -> str | None:
    try:
        line = input(coloured("req> ", "bold")).strip()
    except (EOFError, KeyboardInterrupt):
        return None
    return None if line in ("q", "quit", "exit") else line


def _carry_out(line: str, place: list[str]) -> None:
    try:
        words = shlex.split(line)
    except ValueError as error:
        print(f"This is no command: {error}.")
        return
    if not words:
        return
    if words[0] == "menu":
        print(_menu())
        return
    if words[0].isdecimal() and 1 <= int(words[0]) <= len(_SHOWN):
        words[:1] = _SHOWN[int(words[0]) - 1].split()
    try:
        main(["req", *words, *place])
    except SystemExit:
        # The parser said what it did not understand.
        return
