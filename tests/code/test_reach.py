"""Code that a test reaches, asked of small projects that change in between."""

from pathlib import Path

import pytest
from tests.code.asking import opened, write

from clew.code.reach import ReachLimit
from clew.errors import NotFound
from clew.project import Project

BODIES = {
    "from subprocess import check_output": "check_output(['true'])",
    "import subprocess as sp": "sp.run(['true'])",
    "import asyncio": "asyncio.create_subprocess_exec('true')",
    "import os": "os.execv('true', [])",
    "import importlib": "importlib.reload(horn)",
    "from concurrent.futures import ProcessPoolExecutor": "ProcessPoolExecutor()",
    "from os import *": "execvp('true', [])",
}
HORN = "def blow():\n    return 1\n"


def reached(project: Project, path: str, name: str, wanted: str) -> bool | None:
    project.code.ensure()
    test = project.code.file.symbol(path, name)
    code = project.uses.meaning(wanted).symbol
    assert test is not None
    assert code is not None
    return project.uses.reaches(test, [code], lambda: None, ReachLimit(1000))


# Verifies: REQ-d00787-B
def test_nothing_is_said_of_a_test_that_starts_a_program(tmp_path: Path) -> None:
    files = {"horn.py": HORN, "test_plain.py": "import os\ndef test_a():\n    os.path.join('a', str(len('b')))\n"}
    for number, (line, body) in enumerate(BODIES.items()):
        files[f"test_{number}.py"] = f"{line}\ndef test_a():\n    {body}\n"
    files["test_it.js"] = "import { execa } from 'execa';\nexport function test_a() { execa('true'); }\n"
    with opened(tmp_path, files) as project:
        assert reached(project, "test_plain.py", "test_a", "horn.py::blow") is False
        for number, line in enumerate(BODIES):
            assert reached(project, f"test_{number}.py", "test_a", "horn.py::blow") is None, line
        assert reached(project, "test_it.js", "test_a", "horn.py::blow") is None


# Verifies: REQ-d00363-C
def test_a_symbol_that_was_found_before_a_file_changed_is_found_again_by_its_name(tmp_path: Path) -> None:
    go = "from horn import blow\ndef test_go():\n    blow()\n"
    with opened(tmp_path, {"horn.py": HORN, "test_go.py": go}) as project:
        project.code.ensure()
        uses = project.uses
        (blow,), (test,) = uses.meaning("horn.py::blow").found, uses.meaning("test_go.py::test_go").found
        write(tmp_path, {"horn.py": f"def mute():\n    pass\n\n\n{HORN}", "test_go.py": f"X = 1\n\n\n{go}"})
        project.code.ensure()
        assert ("test_go.py", 6) in [(use.path, use.line) for use in uses.uses_of(blow).uses]
        assert [each.name for each in uses.tests_of(blow).tests] == ["test_go"]
        assert [call.to.qualname for call in uses.calls_from(test)] == ["blow"]
        assert uses.is_test(test)
        assert uses.reaches(test, [blow], lambda: None, ReachLimit(1000)) is True
        write(tmp_path, {"horn.py": "X = 1\n"})
        project.code.ensure()
        with pytest.raises(NotFound, match=r"'blow' is no longer in horn\.py"):
            uses.uses_of(blow)
