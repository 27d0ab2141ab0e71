"""Detection of processes that ended before their job.

A process that is killed cannot say that its job has ended. So every job carries the process that last reported on it,
and a reader of the job decides:

- on the same machine since the same start of it: the process has ended when no process has its number, or one that
  started at another time has it;
- on the same machine, which has been restarted since: the process has ended;
- anywhere else (another machine, another container): unknown here; it counts as ended after some time of silence. A job
  is a lease that the worker renews, so for jobs that is a short time, by the clock of the store.

The verdict is never written down: a wrong one is gone as soon as the job reports again.
"""

import os
from datetime import timedelta
from functools import cache
from pathlib import Path

import msgspec

from clew.store.clock import before_now

SILENCE = timedelta(hours=1)
LEASE = timedelta(minutes=2)
"""For so long a job belongs to the process that last reported on it."""
RENEWED_SECONDS = LEASE.total_seconds() / 4
ENDED = "the process that ran it ended"

_PROC = Path("/proc")


class Process(msgspec.Struct, frozen=True):
    host: str
    """The machine, and the container where there is one: the space in which `pid` has a meaning."""
    boot: str
    """The id of the machine's last start; empty if the system does not tell."""
    pid: int
    started: str
    """When the process started, in the system's own unit; empty where the system does not tell."""


def this_process() -> Process:
    pid = os.getpid()
    return Process(_host(), boot_id(), pid, _start_of(pid) or "")


def is_elsewhere(process: Process) -> bool:
    """True if this machine cannot see whether the process is running."""
    return process.host != _host() or not _can_look()


def has_ended(process: Process, *, last_word: str, silent_since: str | None = None) -> bool:
    """`last_word` is the time of the process's last report. One that runs elsewhere has ended where that is before
    `silent_since`; without it, after an hour."""
    if is_elsewhere(process):
        return last_word < (silent_since or before_now(SILENCE))
    if process.boot != boot_id():
        return True
    if process.started:
        return _start_of(process.pid) != process.started
    return not _exists(process.pid)


def _can_look() -> bool:
    # On Windows os.kill(pid, 0) does not ask: it interrupts.
    return os.name == "posix"


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _start_of(pid: int) -> str | None:
    """None for a process that is not there, a zombie included, and where the system does not tell."""
    try:
        # The second field is the command in parentheses, which may itself contain spaces and parentheses.
        fields = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


@cache
def _host() -> str:
    import platform

    try:
        return f"{platform.node()} {(_PROC / 'self' / 'ns' / 'pid').readlink()}"
    except OSError:
        return platform.node()


@cache
def boot_id() -> str:
    """The id of the last start of the machine; empty if the system does not tell."""
    try:
        return (_PROC / "sys" / "kernel" / "random" / "boot_id").read_text().strip()
    except OSError:
        return ""
