"""The command line, called inside the test's own process: as a shell would, only without waiting for an interpreter."""

import io
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from tests.stderr import without_progress

from clew.surfaces.cli.main import main


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(folder: Path, *arguments: str) -> Done:
    """Run a command in a folder."""
    out, err = io.StringIO(newline=""), io.StringIO(newline="")
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(list(arguments))
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Done(code, out.getvalue(), without_progress(err.getvalue()))
