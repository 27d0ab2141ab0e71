"""Asking the project's running server for the answer of a command, before anything large is imported.

A server has read the project already, so it answers many times faster than a process that reads it first. It runs the
same command on the same files and tells what that prints. Where no server is there, or none that would answer exactly
as this process does, the command is carried out here, and nobody notices.
"""

# Implements: REQ-d00756

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.ipc.client import Lines

    Printed = list[tuple[int, list[str]]]
    """Pieces of text, each with the number of the stream that it goes to."""

SERVED = frozenset({"ask", "brief", "context", "impact", "recall", "search", "show", "uses", "why"})
"""The commands whose operations are declared as `served`; others do not look for a server at all."""
SWITCH, VARIABLE = "--no-server", "CLEW_SERVER"
_OFF = ("off", "0", "no", "false")
_TAKEN_SECONDS = 0.5
"""A server that has not taken a command by then is too busy: reading here takes about as long. A machine that is slower
can give `CLEW_SERVER_SECONDS` in the environment."""
_SILENT_SECONDS = 5.0
"""A server at work gives a sign every second."""
_LARGEST_ANSWER = 64 * 1024 * 1024
_COMPARED = frozenset(
    {"APPDATA", "HOME", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER", "USERNAME", "USERPROFILE", "XDG_CACHE_HOME"}
    | {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"}
)
"""The variables that an answer may depend on, with all that begin with these."""
_COMPARED_BEGINNINGS = ("CLEW_", "REQ_", "MCP_", "ENABLE_LEGACY_")
_NOT_COMPARED = frozenset({VARIABLE, "CLEW_SERVER_SECONDS", "CLEW_HOOK_SECONDS", "CLEW_TOKEN"})


def answered(words: "Sequence[str]", *, is_named: bool) -> int | None:
    """Print the answer of the project's server to a command, and return its exit code; None if the command has to be
    carried out here."""
    if words[0] not in SERVED or SWITCH in words or is_switched_off():
        return None
    root = _project(words)
    if root is None:
        return None
    answer = _answer(root, {**request(root), "words": list(words), "named": is_named, "terminal": _terminal()})
    if answer is None:
        return None
    code, printed = answer
    _print(printed)
    return code


def is_switched_off() -> bool:
    return os.environ.get(VARIABLE, "").strip().lower() in _OFF


def _seconds() -> float:
    try:
        return min(max(float(os.environ["CLEW_SERVER_SECONDS"]), 0.01), 60.0)
    except (KeyError, ValueError):
        return _TAKEN_SECONDS


def request(root: str) -> dict[str, object]:
    """The request with which this process asks a server to answer in its place: its folder, program and environment."""
    return {"for": "command", "root": root, "folder": os.getcwd(), "program": program(), "environment": environment()}


def program() -> list[str]:
    """The Clew that runs here, and its Python."""
    from clew import __version__

    # This file is four folders below the one that holds the package.
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return [__version__, package, sys.version, sys.prefix, os.fsdecode(sys.getfilesystemencoding())]


def environment() -> dict[str, str]:
    """The variables that an answer may depend on."""
    return {
        name: value
        for name, value in os.environ.items()
        if (name in _COMPARED or name.startswith(_COMPARED_BEGINNINGS)) and name not in _NOT_COMPARED
    }


def _project(words: "Sequence[str]") -> str | None:
    """The project that a command is about. The server looks again, with all options: a wrong guess is declined."""
    from clew.ipc.address import project_at

    folder = "."
    for position, word in enumerate(words):
        if word in ("-C", "--folder") and position + 1 < len(words):
            folder = words[position + 1]
        elif word.startswith("--folder="):
            folder = word.partition("=")[2]
    try:
        return project_at(os.path.join(os.getcwd(), folder))
    except (OSError, ValueError):
        return None


def _terminal() -> list[object]:
    from clew.text.terminal import traits

    return [list(traits(stream)) for stream in (sys.stdout, sys.stderr)]


def server_of(root: str) -> tuple[int | None, str]:
    """The process that answers commands for this one; or None and the reason, which is empty if no server runs."""
    reason = ""
    for taken, _ in _asked(root, request(root)):
        process = taken.get("process")
        if taken.get("taken") is True and type(process) is int:
            return process, ""
        reason = str(taken.get("reason", "it does not understand the question"))
    return None, reason


def _answer(root: str, asked: dict[str, object]) -> "tuple[int, Printed] | None":
    """The answer of the first server that takes the command. Nothing is printed before all of it has arrived."""
    for taken, lines in _asked(root, asked):
        if taken.get("taken") is not True:
            continue
        try:
            while (line := lines.next(_SILENT_SECONDS)) == {}:
                pass
        except (OSError, ValueError, RecursionError):
            continue
        if (answer := _answer_in(line)) is not None:
            return answer
    return None


def _asked(root: str, asked: dict[str, object]) -> "Iterator[tuple[dict[str, object], Lines]]":
    """The first answers of the project's servers to a request, each with the lines that follow."""
    import json

    from clew.ipc.client import Lines, connections

    data = json.dumps(asked).encode() + b"\n"
    seconds = _seconds()
    for connection in connections(root):
        try:
            connection.settimeout(seconds)
            connection.sendall(data)
            lines = Lines(connection, _LARGEST_ANSWER)
            taken = lines.next(seconds)
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(taken, dict):
            yield taken, lines


def _answer_in(line: object) -> "tuple[int, Printed] | None":
    """The exit code and the texts in a line of a server; None if it is not an answer."""
    code, printed = (line.get("code"), line.get("printed")) if isinstance(line, dict) else (None, None)
    if type(code) is not int or not isinstance(printed, list):
        return None
    found: Printed = []
    for piece in printed:
        match piece:
            case [1 | 2 as number, [*parts]] if all(isinstance(part, str) for part in parts):
                found.append((number, parts))
            case _:
                return None
    return code, found


def _print(printed: "Printed") -> None:
    from clew.text.terminal import control

    for number, parts in printed:
        # Text and what a terminal shall obey take turns.
        text = "".join(control(part) if at % 2 else part for at, part in enumerate(parts))
        (sys.stdout if number == 1 else sys.stderr).write(text)
