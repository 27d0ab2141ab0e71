"""`clew hook EVENT --host X`: the command that a host runs at events of a session.

It asks the server of the project. Where none answers, it keeps the event for the next one and answers from what is
remembered about the files, ids and symbols that the event names. Whatever goes wrong, it prints what the host takes for
"nothing to say", exits with 0, and it ends by itself: an agent must never wait for its memory, nor fail because of it.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

SECONDS = 1.7
"""After which the process ends, whatever it is doing; the interpreter itself needs some time before. A machine that is
slower can give `CLEW_HOOK_SECONDS` in the environment."""
EDIT_SECONDS = 0.25
"""And so long an edit waits for the server, with the start of the process not longer than 300 ms."""
ASKING_SHARE = 0.7
"""Of this time the server may take this much; the rest is for an answer without it."""
KEEPING_SHARE = 0.2
"""And so long it may take until the event can be kept."""
_LARGEST_INPUT = 8 * 1024 * 1024
_LARGEST_ANSWER = 64 * 1024
_OFF = ("off", "0", "no", "false")


def run(arguments: list[str]) -> "NoReturn":
    """Carry out a hook and end the process with 0."""
    try:
        _secure_streams()
        _end_in_time()
        _write(_answered(arguments))
    except BaseException:  # noqa: S110 - a hook that fails must not be noticed
        pass
    finally:
        # Nothing that Python does at its end can change the exit code any more.
        os._exit(0)


def _secure_streams() -> None:
    """Print nothing but the answer, and let no opened file take the number of a closed stream."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    while nowhere < 2:
        nowhere = os.dup(nowhere)
    os.dup2(nowhere, 2)


def _end_in_time() -> None:
    import signal

    def end(*_: object) -> None:
        os._exit(0)

    for name in ("SIGALRM", "SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end)
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds())
    else:
        import threading

        timer = threading.Timer(seconds(), end)
        timer.daemon = True
        timer.start()


def seconds() -> float:
    """The seconds that a hook may take."""
    try:
        return min(max(float(os.environ["CLEW_HOOK_SECONDS"]), 0.1), 60.0)
    except (KeyError, ValueError):
        return SECONDS


def _edit_seconds() -> float:
    """The seconds that an edit waits for the server; as long as any hook where the environment gives hooks more."""
    return EDIT_SECONDS if "CLEW_HOOK_SECONDS" not in os.environ else seconds()


def _answered(arguments: list[str]) -> str:
    from clew.memory.hooks import hosts

    name = next((each for each in arguments if not each.startswith("-")), "")
    host = _option(arguments, "--host")
    try:
        context = _context(host, name, _read(), with_answers="--answers" in arguments)
    except Exception:
        context = ""
    return hosts.spoken(host, name, context)


def _context(host: str, name: str, data: bytes, *, with_answers: bool) -> str:
    """The text for the agent; empty where there is none."""
    if os.environ.get("CLEW_MEMORY", "").lower() in _OFF or not data:
        return ""
    import json

    from clew.ipc.address import project_at
    from clew.memory.hooks import hosts
    from clew.memory.hooks.address import folders
    from clew.memory.hooks.payload import read_payload, working_folder

    payload = json.loads(data.decode("utf-8", "replace"))
    event = read_payload(host, name, payload, with_answers=with_answers)
    found = (project_at(folder) for folder in folders(working_folder(payload)))
    root = next((each for each in found if each), None)
    if event is None or root is None:
        return ""
    event["root"] = root
    if "paths" in event and not _own_paths(event, root):
        return ""
    answer = _asked(root, event)
    if answer is not None:
        context = answer.get("context")
        return context if isinstance(context, str) else ""
    if event["kind"] == hosts.EDIT:
        # An edit waits for nobody: without a server there is nothing to say.
        return ""
    _load_msgspec()
    from clew.memory.hooks.offline import answer_alone

    return answer_alone(event)


def _load_msgspec() -> None:
    """msgspec takes from typing_extensions, where that is installed, what `typing` has as well. To load that would take
    as long as the answer."""
    import sys

    name = "typing_extensions"
    if name not in sys.modules:
        sys.modules[name] = None  # type: ignore[assignment]
        try:
            import msgspec  # noqa: F401
        finally:
            del sys.modules[name]


def _own_paths(event: dict[str, object], root: str) -> bool:
    """Name the files of an event from the project's folder; whether there are any inside it."""
    given = event["paths"] if isinstance(event["paths"], list) else []
    named = [os.path.relpath(os.path.realpath(os.path.join(root, path)), root) for path in given]
    own = [path.replace(os.sep, "/") for path in named if not path.startswith("..")]
    event["paths"] = [path for path in own if not path.startswith(".clew/")]
    return bool(event["paths"])


def _asked(root: str, event: dict[str, object]) -> dict[str, object] | None:
    """The answer of the project's server; None if no server took the event."""
    import json
    import time

    from clew.ipc.client import Lines, connections

    patience = min(seconds() * ASKING_SHARE, _edit_seconds()) if event["kind"] == "edit" else seconds() * ASKING_SHARE
    request = json.dumps({**event, "patience": patience}).encode() + b"\n"
    for connection in connections(root):
        deadline = time.monotonic() + patience
        try:
            connection.settimeout(patience)
            connection.sendall(request)
            answer = Lines(connection, _LARGEST_ANSWER).next(deadline - time.monotonic())
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(answer, dict) and answer.get("taken") is True:
            return answer
    return None


def _option(arguments: list[str], name: str) -> str:
    for position, word in enumerate(arguments):
        if word == name and position + 1 < len(arguments):
            return arguments[position + 1]
        if word.startswith(f"{name}="):
            return word[len(name) + 1 :]
    return ""


def _read() -> bytes:
    """Standard input; nothing where there is none, or too much to be an event."""
    parts, size = [], 0
    while part := os.read(0, 1024 * 1024):
        size += len(part)
        if size > _LARGEST_INPUT:
            return b""
        parts.append(part)
    return b"".join(parts)


def _write(text: str) -> None:
    data = text.encode("ascii", "replace") + b"\n" if text else b""
    while data:
        data = data[os.write(1, data) :]
