"""The short form of the attack by what is no file."""

import sys

import pytest

if sys.platform == "win32":
    pytest.skip("there are neither pipes nor links to devices", allow_module_level=True)

from tests.attack import devices


# Verifies: REQ-d00651-A, REQ-d00651-B
@pytest.mark.parametrize("trap", ["a link to a device", "a link to a pipe", "a link to a sparse file"])
def test_no_file_takes_the_memory_or_the_time_of_the_machine(trap: str) -> None:
    inputs = ("clew.toml", ".elspais.toml", ".elspais.local.toml", "project.req")
    assert devices.attempt([(name, trap, ("status",)) for name in inputs]).faults == ()
