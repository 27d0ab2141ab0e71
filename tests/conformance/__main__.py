"""`make conformance`: the official protocol suite against a server built from Clew's own server code."""

import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conformance import suite
from tests.conformance.verdict import EXPECTED_FAILURES, Mark, Verdict, expected_failures, judge
from tests.node import PROJECT, WORK

from clew.errors import ClewError, Refused

REVISIONS = ("2025-11-25", "2026-07-28")
START_SECONDS = 60
STOP_SECONDS = 60


def main() -> int:
    results = WORK / "results"
    shutil.rmtree(results, ignore_errors=True)
    try:
        verdicts = _verdicts(results)
    except ClewError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n")
        return 2
    marks = Counter(verdict.mark for verdict in verdicts)
    if marks[Mark.FAILED]:
        _say(f"What the suite and the server said is in {results.relative_to(PROJECT)}.")
    if marks[Mark.EXPECTED]:
        _say(f"{marks[Mark.EXPECTED]} failed as {EXPECTED_FAILURES.name} expects.")
    _say(f"{marks[Mark.PASSED]} passed, {marks[Mark.FAILED]} failed")
    return 1 if marks[Mark.FAILED] else 0


def _verdicts(results: Path) -> list[Verdict]:
    expected = expected_failures(EXPECTED_FAILURES, REVISIONS)
    if not suite.PROGRAM.home.exists():
        _say(f"Installing Node and the suite into {WORK.name}, once per version of the locks.")
    installed = suite.installed()
    verdicts: list[Verdict] = []
    results.mkdir()
    with _fixture(results / "fixture.log") as url:
        for revision in REVISIONS:
            requirements = installed.requirements(revision)
            checks = installed.run(url, revision, results / revision)
            for verdict in judge(revision, requirements, checks, expected):
                _show(verdict)
                verdicts.append(verdict)
    return verdicts


@contextmanager
def _fixture(log: Path) -> Iterator[str]:
    """The fixture server in a process of its own; it ends when its standard input is closed, however this one ends."""
    command = [sys.executable, "-m", "tests.conformance.fixture"]
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True
        )
    try:
        url = _first_line(process)
        if not url:
            said = log.read_text(errors="replace").strip()
            raise Refused(f"The fixture server did not start:\n{said}", hint="Correct it and run again.")
        yield url
    finally:
        # communicate() closes the pipe to the server's standard input.
        try:
            process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _first_line(process: subprocess.Popen[str]) -> str:
    """The line that says the server is there; empty when it ended without one or took too long."""
    overdue = threading.Timer(START_SECONDS, process.kill)
    overdue.start()
    try:
        return process.stdout.readline().strip() if process.stdout else ""
    finally:
        overdue.cancel()


def _show(verdict: Verdict) -> None:
    lines = [f"{verdict.mark:<16}  {verdict.revision}  {verdict.scenario}"]
    if len(verdict.remarks) == 1:
        lines[0] += f"  ({verdict.remarks[0]})"
    else:
        lines.extend(f"{'':18}{remark}" for remark in verdict.remarks)
    _say("\n".join(lines))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
