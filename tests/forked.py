"""Processes of Clew that are forked from one which has imported it, as an ordinary start takes up to a second for that.

`run` and `Process` stand for `subprocess.run` and `subprocess.Popen`: what they start is a process of its own, with its
own folder, environment, streams and end. A command that is no module of Python, an option that a fork cannot follow, or
a system without `pidfd_open` is started in the ordinary way. A test about starting itself uses `subprocess`.
"""

import atexit
import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module, reload
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

import clew

LIBRARIES = ("mcp.server.lowlevel", "numpy", "psycopg", "psycopg_pool", "starlette.applications", "uvicorn")
"""What Clew imports inside functions."""

_ROOT = Path(__file__).parents[1]
_OF_INTERPRETER = ("PYTHON", "LC_", "LANG")
"""Beginnings of variables that only a start of the interpreter heeds."""
_STARTED_WITH = dict(os.environ)
_UNSET = (None, False, -1)
_LONGEST = 100_000
"""Bytes of a request that a socket takes at once."""


class Process(subprocess.Popen[Any]):
    """A process that is forked if it can be."""

    _ended: socket.socket | None = None
    """It tells the status in which a forked process ended."""

    def _execute_child(self, *arguments: Any) -> None:
        # The signature is that of CPython's class; the last eight arguments make it another user or another session.
        args, executable, preexec_fn, _, pass_fds, cwd, env = arguments[:7]
        shell, streams, special = arguments[9], arguments[10:16], arguments[17:]
        words = _words(args)
        folder = Path.cwd() if cwd is None else Path(cwd).absolute()
        variables = dict(os.environ if env is None else env)
        request = json.dumps([words, str(folder), variables]).encode()
        ordinary = not (executable or preexec_fn or pass_fds or shell) and all(each in _UNSET for each in special)
        if not (words and ordinary and folder.is_dir() and len(request) < _LONGEST and _can_fork(variables)):
            super()._execute_child(*arguments)  # type: ignore[misc]
            return
        stdin, _, _, stdout, _, stderr = streams
        self._ended, theirs = _connected()
        with theirs:
            handed = [n if given < 0 else given for n, given in enumerate((stdin, stdout, stderr))]
            socket.send_fds(_nursery(), [request], [*handed, theirs.fileno()])
        self.pid = int(self._told())
        self._child_created = True
        self._close_pipe_fds(*streams)  # type: ignore[attr-defined]

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if self._ended is None:
            waited: tuple[int, int] = super()._try_wait(wait_flags)  # type: ignore[misc]
            return waited
        self._ended.setblocking(wait_flags != os.WNOHANG)
        try:
            status = int(self._told())
        except BlockingIOError:
            return 0, 0
        self._ended.close()
        return self.pid, status

    def _internal_poll(self, *arguments: Any, **options: Any) -> int | None:
        if self._ended is None:
            polled: int | None = super()._internal_poll(*arguments, **options)  # type: ignore[misc]
            return polled
        with self._waitpid_lock:  # type: ignore[attr-defined]
            if self.returncode is None:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
        return self.returncode

    def _told(self) -> str:
        assert self._ended is not None
        return self._ended.recv(32).decode()


def run(
    command: Sequence[str | os.PathLike[str]],
    *,
    input: str | bytes | None = None,  # noqa: A002
    capture_output: bool = False,
    timeout: float | None = None,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with Process(command, **options) as process:
        try:
            output, errors = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(command, process.returncode, output, errors)
    if check:
        done.check_returncode()
    return done


def _words(args: Any) -> list[str]:
    """The command as `-m MODULE ...` or `-c PROGRAM ...`; empty if it is another one."""
    if isinstance(args, str | bytes | os.PathLike):
        return []
    program, *words = map(str, args)
    if program == str(Path(sys.executable).with_name("clew")):
        return ["-m", "clew", *words]
    return words if program == sys.executable and words[:1] and words[0] in ("-m", "-c") else []


def _can_fork(variables: Mapping[str, str]) -> bool:
    return hasattr(os, "pidfd_open") and _interpreter(variables) == _interpreter(_STARTED_WITH)


def _interpreter(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.startswith(_OF_INTERPRETER)}


def _connected() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


@cache
def _nursery() -> socket.socket:
    """The connection to the process that forks, which ends when this one has."""
    ours, theirs = _connected()
    with theirs:
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        handed = {"pass_fds": [theirs.fileno()], "stdin": subprocess.DEVNULL}
        process = subprocess.Popen(command, cwd=_ROOT, env=_STARTED_WITH, **handed)

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _fork_for(control: socket.socket) -> tuple[Any, list[int]]:
    """Fork for each request; returns in the new process, with what it is to become and its streams."""
    heeded = signal.signal(signal.SIGINT, signal.SIG_IGN)
    children: dict[int, tuple[int, socket.socket]] = {}
    waiting = select.poll()
    waiting.register(control, select.POLLIN)
    while True:
        for ready, _ in waiting.poll():
            if ready in children:
                pid, reply = children.pop(ready)
                waiting.unregister(ready)
                os.close(ready)
                with reply, suppress(OSError):
                    reply.send(str(os.waitpid(pid, 0)[1]).encode())
                continue
            request, handed, *_ = socket.recv_fds(control, _LONGEST, 4)
            if not request:
                os._exit(0)
            reply = socket.socket(fileno=handed.pop())
            pid = os.fork()
            if pid == 0:
                # Sockets that are collected later must not close the numbers that this process has given to others.
                for each in (control, reply, *(reply for _, reply in children.values())):
                    each.detach()
                signal.signal(signal.SIGINT, heeded)
                return json.loads(request), handed
            for number in handed:
                os.close(number)
            reply.send(str(pid).encode())
            children[end := os.pidfd_open(pid)] = (pid, reply)
            waiting.register(end, select.POLLIN)


def _become(words: list[str], folder: str, variables: dict[str, str], streams: list[int]) -> None:
    """Be the process that `python WORDS` starts in a folder."""
    for number, handed in enumerate(streams):
        os.dup2(handed, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    # The only module that sets a variable when it is imported.
    reload(clew)
    time.tzset()
    sys.stdin = sys.__stdin__ = _stream(0, sys.stdin)
    sys.stdout = sys.__stdout__ = _stream(1, sys.stdout)
    sys.stderr = sys.__stderr__ = _stream(2, sys.stderr)
    kind, program, *arguments = words
    sys.argv = [kind if kind == "-c" else program, *arguments]
    sys.path[0] = "" if kind == "-c" else folder
    if kind == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    module = sys.modules["__main__"] = ModuleType("__main__")
    exec(compile(program, "<string>", "exec"), vars(module))  # noqa: S102


def _stream(number: int, like: TextIO) -> TextIO:
    """A standard stream as the interpreter opens it."""
    mode = "r" if number == 0 else "w"
    stream = open(number, mode, encoding=like.encoding, errors=like.errors, newline="\n", closefd=False)  # noqa: SIM115
    if number:
        stream.reconfigure(line_buffering=number == 2 or stream.isatty())
    return stream


def _ended_with(program: Callable[[], None]) -> int:
    """The exit code of a program, as the interpreter makes it at its end, but for taking itself to pieces."""
    code: object = None
    try:
        program()
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    if not (code is None or isinstance(code, int)):
        sys.stderr.write(f"{code}\n")
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(ValueError):
            stream.flush()
    return int(code or 0)


def _import_all() -> None:
    for name in LIBRARIES:
        with suppress(ImportError):
            import_module(name)
    for module in pkgutil.walk_packages(clew.__path__, "clew."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):
                import_module(module.name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _import_all()
    request, streams = _fork_for(socket.socket(fileno=int(sys.argv[1])))
    os._exit(_ended_with(lambda: _become(*request, streams)))
