"""The only place where Clew starts git.

What holds for every call is said here once: the environment, the settings and the options before the command. No
answer depends on where a hook runs, on the user's language, or on a pager; nothing waits for somebody to type.
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec

from clew.errors import Unavailable

QUESTION_SECONDS = 20
WORK_SECONDS = 120

# A repository may name a program that git runs to learn what changed.
_SETTINGS = ("-c", "core.quotepath=off", "-c", "core.fsmonitor=false")
_ENVIRONMENT = {
    "LC_ALL": "C",
    # A question must never block the user's own git commands.
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_NOT_INHERITED = frozenset(
    {
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE"),
        *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_LITERAL_PATHSPECS"),
    }
)
"""Variables by which a hook tells git where it is. Clew asks about the project's folder, wherever it was started."""


class Result(msgspec.Struct, frozen=True):
    code: int
    output: bytes
    """Bytes, because text would turn a carriage return in a name or a line into a line feed."""
    message: str
    """What git wrote on standard error, on one line."""


def run(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    seconds: int = WORK_SECONDS,
) -> Result:
    """Run a git command in a folder. Unavailable where git is not installed, or takes longer than `seconds`."""
    inherited = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    try:
        done = subprocess.run(
            ["git", "--no-pager", *_SETTINGS, *arguments],
            cwd=folder,
            capture_output=True,
            timeout=seconds,
            check=False,
            env={**inherited, **_ENVIRONMENT, **(environment or {})},
            input=stdin,
        )
    except OSError as error:
        raise Unavailable(f"git cannot be run: {error.strerror or error}.", hint="Install git.") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(
            f"git {arguments[0]} took longer than {seconds} s.",
            hint="See what it waits for.",
        ) from error
    message = " ".join(done.stderr.decode("utf-8", "replace").split())[:400].rstrip(".")
    return Result(done.returncode, done.stdout, message)


def command(
    folder: Path, *arguments: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None, says_no: int = 0
) -> bytes:
    """Standard output of a git command that has to succeed. Unavailable, in git's own words, where it does not.

    `says_no` is the exit code by which some commands answer that there is nothing.
    """
    result = run(folder, *arguments, stdin=stdin, environment=environment)
    if result.code not in (0, says_no):
        reason = result.message or f"exit code {result.code}"
        raise Unavailable(f"git {arguments[0]} failed: {reason}.", hint="Mend the repository first.")
    return result.output


def answer(
    folder: Path, *arguments: str, environment: Mapping[str, str] | None = None, seconds: int = QUESTION_SECONDS
) -> bytes | None:
    """Standard output of a git command; None where git is absent, takes too long or refuses."""
    try:
        result = run(folder, *arguments, environment=environment, seconds=seconds)
    except Unavailable:
        return None
    return result.output if result.code == 0 else None
