"""Forked processes of the tests: each is as one that was started in the ordinary way."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests import forked

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes are started in the ordinary way here")

SAYS = """
import json, os, sys, clew.project
print(json.dumps([os.getcwd(), sys.argv, os.environ.get("SAID"), sys.stdin.read(), os.getpid(), sorted(os.environ)]))
print("aside", file=sys.stderr)
sys.exit(7)
"""


def program(text: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", text, *arguments]


def test_it_has_its_own_folder_environment_streams_and_end(tmp_path: Path) -> None:
    told = {"SAID": "ünder", **{name: value for name, value in os.environ.items() if name.startswith(("LC_", "LANG"))}}
    told |= {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}
    options = {"cwd": tmp_path, "env": told, "input": "read", "capture_output": True, "text": True}
    here, there = (start(program(SAYS, "a", "b"), **options) for start in (forked.run, subprocess.run))
    said, expected = json.loads(here.stdout), json.loads(there.stdout)
    assert said.pop(4) not in (os.getpid(), expected.pop(4))
    assert said == expected
    assert (here.returncode, here.stderr) == (there.returncode, there.stderr) == (7, "aside\n")


def test_a_command_of_clew_is_the_same(small: Path) -> None:
    for words in (("show", "REQ-p00001"), ("show", "REQ-p09999"), ("no-such-command",)):
        command = [sys.executable, "-m", "clew", *words]
        here, there = (start(command, cwd=small, capture_output=True) for start in (forked.run, subprocess.run))
        assert (here.returncode, here.stdout, here.stderr) == (there.returncode, there.stdout, there.stderr)


def test_a_killed_one_runs_until_then_and_is_said_to_be_killed() -> None:
    with forked.Process(program("import time\nprint('up', flush=True)\ntime.sleep(600)"), stdout=subprocess.PIPE) as it:
        assert it.stdout is not None
        assert it.stdout.readline() == b"up\n"
        assert it.poll() is None
        os.kill(it.pid, signal.SIGKILL)
        assert it.wait(60) == -signal.SIGKILL
        assert it.poll() == -signal.SIGKILL


def test_an_exception_is_told_and_what_is_registered_for_the_end_is_done() -> None:
    done = forked.run(program("import atexit\natexit.register(print, 'last')\n1 / 0"), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "last\n")
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_another_program_and_another_interpreter_are_started_in_the_ordinary_way() -> None:
    assert forked.run(["git", "--version"], capture_output=True).stdout.startswith(b"git version")
    told = {**os.environ, "PYTHONWARNINGS": "error"}
    asked = program("import sys; print(sys.warnoptions)")
    assert forked.run(asked, capture_output=True, env=told).stdout == b"['error']\n"
