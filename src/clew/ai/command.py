"""A language model that is a program: the question on its standard input, the answer on its standard output."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import IO

from clew.ai.model import Prompt
from clew.errors import ConfigError, Unavailable

LARGEST_ANSWER = 4 * 1024 * 1024
_TICK_SECONDS = 0.02
_SHOWN = 300


class CommandModel:
    """Runs the program without a shell, so that nothing in a question can be more than text.

    Files stand for pipes: a program that does not read, or prints without end, blocks nothing.
    """

    def __init__(self, words: tuple[str, ...], timeout: float) -> None:
        self.name = words[0]
        self._words = words
        self._timeout = timeout

    def answer(self, question: Prompt, check: Callable[[], None]) -> str:
        with (
            tempfile.TemporaryFile() as asked,
            tempfile.TemporaryFile() as said,
            tempfile.TemporaryFile() as complained,
        ):
            asked.write(f"{question.instructions}\n\n{question.text}\n".encode("utf-8", "replace"))
            asked.seek(0)
            code = self._run(asked, said, complained, check)
            if code:
                raise Unavailable(
                    f"The program '{self.name}' ended with code {code}: {_end_of(complained) or 'it gave no reason'}.",
                    hint="Run it by hand with a question on its standard input.",
                )
            said.seek(0)
            return said.read(LARGEST_ANSWER).decode("utf-8", "replace")

    def _run(self, asked: IO[bytes], said: IO[bytes], complained: IO[bytes], check: Callable[[], None]) -> int:
        try:
            process = subprocess.Popen(
                self._words, stdin=asked, stdout=said, stderr=complained, start_new_session=os.name == "posix"
            )
        except OSError as error:
            raise ConfigError(
                f"The program '{self.name}' cannot be run: {error.strerror or error}.",
                hint="CLEW_AI_COMMAND or `ai.command` names it; give its full path, or correct it.",
            ) from error
        try:
            return self._wait(process, said, check)
        finally:
            _end(process)

    def _wait(self, process: "subprocess.Popen[bytes]", said: IO[bytes], check: Callable[[], None]) -> int:
        deadline = time.monotonic() + self._timeout
        code = None
        while code is None:
            try:
                code = process.wait(_TICK_SECONDS)
            except subprocess.TimeoutExpired:
                check()
            if code is None and time.monotonic() > deadline:
                raise Unavailable(
                    f"The program '{self.name}' gave no answer within {self._timeout:g} s and was stopped.",
                    hint="Set CLEW_AI_TIMEOUT, or `ai.timeout_seconds`, to more seconds, or use a faster model.",
                )
            if os.fstat(said.fileno()).st_size > LARGEST_ANSWER:
                raise Unavailable(
                    f"The program '{self.name}' printed more than {LARGEST_ANSWER:,} bytes; none of it was used.",
                    hint="Run it by hand and see what it prints.",
                )
        return code


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Stop a program that still runs, with all processes that it started in its own session."""
    if process.poll() is not None:
        return
    if sys.platform != "win32":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _end_of(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 4 * _SHOWN))
    return " ".join(file.read().decode("utf-8", "replace").split())[-_SHOWN:].rstrip(".")
