"""The only place where Clew starts git.

What holds for every call is said once: here, in `find` and in `protect`. No program that a repository names is run, no
answer depends on where a hook runs, on the user's language, or on a pager, and nothing waits for input.
"""

import os
import re
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

from clew.cache import Cache
from clew.errors import Refused, Unavailable
from clew.workspace.git import protect
from clew.workspace.git.find import WorkTree, elsewhere_note, find_work_tree, refuse_endless
from clew.workspace.git.place import located
from clew.workspace.git.protect import Configuration

QUESTION_SECONDS = 20
WORK_SECONDS = 120

_OUTSIDE = "not a git repository, and no folder above is one"
_VERSION = re.compile(rb"git version (\d+)\.(\d+)")


class Result(msgspec.Struct, frozen=True):
    code: int
    output: bytes
    """Bytes, because text would turn a carriage return in a name or a line into a line feed."""
    message: str
    """The text that git wrote on standard error, on one line."""


def run(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    seconds: float = WORK_SECONDS,
    patterns: bool = False,
) -> Result:
    """Run a git command in a folder. Paths are literal unless `patterns` says that they are pathspecs with magic.

    Unavailable where git is not installed, too old, or takes longer than `seconds`; Refused where a folder only looks
    like a repository, or git would read a pipe.
    """
    name, *rest = arguments
    options = protect.options(name)
    tree = find_work_tree(folder)
    if tree is None:
        return Result(128, b"", _OUTSIDE)
    refuse_endless(tree)
    settings = configuration(tree, seconds)
    if isinstance(settings, Result):
        return settings
    variables = protect.environment(tree, settings.overrides) | dict(environment or {})
    if not patterns:
        variables["GIT_LITERAL_PATHSPECS"] = "1"
    return _start(folder, (name, *options, *rest), variables, seconds, stdin)


def command(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    says_no: int = 0,
    seconds: float = WORK_SECONDS,
    patterns: bool = False,
) -> bytes:
    """Standard output of a git command that has to succeed. Unavailable, in git's own words, if it fails.

    `says_no` is the exit code by which some commands answer that there is nothing.
    """
    result = run(folder, *arguments, stdin=stdin, environment=environment, seconds=seconds, patterns=patterns)
    if result.code not in (0, says_no):
        reason = result.message or f"exit code {result.code}"
        raise Unavailable(f"git {arguments[0]} failed: {reason}.", hint="Repair the repository first.")
    return result.output


def answer(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    seconds: float = QUESTION_SECONDS,
    patterns: bool = False,
) -> bytes | None:
    """Standard output of a git command; None where git is absent or unusable, takes too long or refuses."""
    try:
        result = run(folder, *arguments, stdin=stdin, environment=environment, seconds=seconds, patterns=patterns)
    except (Unavailable, Refused):
        return None
    return result.output if result.code == 0 else None


def problem(folder: Path) -> str | None:
    """The reason why git is not used for a folder that seems to lie in a repository; None if it is used, or if there is
    no repository."""
    try:
        result = run(folder, "rev-parse", "--git-dir", seconds=QUESTION_SECONDS)
    except (Unavailable, Refused) as error:
        return str(error)
    return f"git refuses: {result.message}." if result.code and result.message != _OUTSIDE else None


def unused(folder: Path) -> str | None:
    """The reason why the repository around a folder is not used: its `.git` leads elsewhere, or the folder belongs to
    another user and git refuses it. None for the user's own."""
    if (note := elsewhere_note(folder)) is not None:
        return note
    if not hasattr(os, "geteuid"):
        return None
    tree = located(str(folder))
    if tree is None or tree.looks_bare:
        return None
    with suppress(OSError):
        owners = {Path(place).stat().st_uid for place in (tree.top, tree.own)}
        if owners != {os.geteuid()} and (refused := problem(folder)) is not None:
            return (
                f"{refused} Until then commits are not known here, and what is remembered lies in .clew instead of "
                "beside the repository."
            )
    return None


_known: Cache[WorkTree, Configuration] = Cache(64)
_reading: Cache[WorkTree, threading.Lock] = Cache(64)


def configuration(tree: WorkTree, seconds: float = WORK_SECONDS) -> Configuration | Result:
    """The configuration of a work tree as far as it names programs; the failure where git cannot read it."""
    # Threads that ask about one work tree at once wait for the first, instead of starting git for the same answer. A
    # repository in which git hangs blocks no other call.
    with _reading.get_or_make(tree, threading.Lock):
        found = _known.get(tree)
        if found is not None and found.is_current():
            return found
        listed = _start(tree.top, protect.LISTING, protect.environment(tree), seconds)
        if listed.code:
            return listed
        read = protect.read_configuration(tree, listed.output)
        _known.put(tree, read)
        return read


def _start(
    folder: Path, arguments: tuple[str, ...], environment: Mapping[str, str], seconds: float, stdin: bytes = b""
) -> Result:
    program = _program(os.environ.get("PATH", os.defpath))
    return _finished(folder, (program, "--no-pager", *arguments), environment, seconds, stdin)


def _finished(
    folder: Path, words: tuple[str, ...], environment: Mapping[str, str], seconds: float, stdin: bytes = b""
) -> Result:
    try:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, timeout=seconds, check=False, env=environment, input=stdin
        )
    except OSError as error:
        raise Unavailable(
            f"git cannot be run: {error.strerror or error}.", hint="Check git and the repository's settings."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(
            f"git {' '.join(words[2:3])} took longer than {seconds:g} s.", hint="See what it waits for."
        ) from error
    message = " ".join(done.stderr.decode("utf-8", "replace").split())[:400].rstrip(".")
    return Result(done.returncode, done.stdout, message)


def program_in(path: str) -> str | None:
    """The file of git in the folders of a PATH that are absolute."""
    from shutil import which  # a project without git never needs it

    return which("git", path=protect.absolute_folders(path))


@cache
def _program(path: str) -> str:
    """The git that the user installed."""
    found = program_in(path)
    if found is None or not Path(found).is_absolute():
        raise Unavailable("git cannot be run: it is not in the PATH.", hint="Install git.")
    printed = _finished(Path(found).parent, (found, "--version"), protect.inherited(), QUESTION_SECONDS)
    version = _VERSION.match(printed.output)
    if version is None or (int(version[1]), int(version[2])) < protect.OLDEST:
        shown = printed.output.decode("utf-8", "replace").strip()[:80] or "of an unknown version"
        oldest = ".".join(map(str, protect.OLDEST))
        raise Unavailable(
            f"{found} is {shown}. Clew needs git {oldest} or later: older ones run programs that a repository names.",
            hint=f"Install git {oldest} or later.",
        )
    return found
