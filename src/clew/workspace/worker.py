"""Work that a hostile file could make endless, done in another process with bounded processor time.

    answer = answer_apart("clew.graph.readers.parse_worker:read_large", message)

A file of a project may be made to keep a reader busy. A small one cannot do harm, since every reader takes time linear
in its size; a large one is read here. The process that takes too long is ended, and no other file waits for it.
"""

import sys
from importlib import import_module
from typing import Final

LARGE_BYTES = 1_000_000
"""A larger file is read in a process of its own."""
PROCESSOR_SECONDS = 60
WALL_SECONDS = 300.0
"""Ends what waits instead of working, and bounds the work where the system does not count processor time."""

SET_ASIDE: Final = (
    f"Reading it was ended, so it is set aside: it took more than {PROCESSOR_SECONDS} seconds of processor time or "
    f"{WALL_SECONDS:.0f} seconds in all, or more than the system allows. It is tried again when it changes. Split the "
    "file, or leave it out with `skip` in clew.toml."
)


def answer_apart(function: str, message: bytes) -> bytes | None:
    """The answer of `module:function` to a message, from a process of its own; None if the process was ended by its
    limits or by a crash. OSError if no process can be started, or if it does not know the function."""
    import subprocess

    command = (sys.executable, "-P", "-m", "clew.workspace.worker", function, str(PROCESSOR_SECONDS))
    try:
        done = subprocess.run(
            command, input=message, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=WALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode > 0:
        raise OSError(f"{function} failed")
    return done.stdout if done.returncode == 0 else None


def main() -> None:
    module, _, function = sys.argv[1].partition(":")
    if sys.platform != "win32":  # Windows counts no processor time
        import resource

        # The parent process may have a lower limit already.
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        allowed = int(sys.argv[2]) if hard == resource.RLIM_INFINITY else min(int(sys.argv[2]), hard)
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed))
    answer = getattr(import_module(module), function)(sys.stdin.buffer.read())
    sys.stdout.buffer.write(answer)


if __name__ == "__main__":
    main()
