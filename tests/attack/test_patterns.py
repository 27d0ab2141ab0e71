"""The short form of the attack by regular expressions."""

import sys

import pytest

if sys.platform == "win32":
    pytest.skip("processes are bounded as POSIX has it", allow_module_level=True)

from tests.attack import patterns


# Verifies: REQ-d00650-A+C
def test_no_pattern_takes_the_memory_or_the_time_of_the_machine() -> None:
    assert patterns.run(300).faults == ()


# Verifies: REQ-d00650-A
def test_the_library_by_itself_takes_both() -> None:
    """What the attack looks for is there to be found."""
    assert len(patterns.compiled(list(patterns.KNOWN[:2]), patterns.UNBOUNDED)) == 2


# Verifies: REQ-d00650-C
def test_the_library_by_itself_takes_both_while_matching() -> None:
    assert len(patterns.compiled(list(patterns.MATCHED[:2]), patterns.MATCHED_UNBOUNDED)) == 2
