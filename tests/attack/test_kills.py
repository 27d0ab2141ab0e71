"""A bounded part of the attack by kills; `python -m tests.attack kills` runs all of it."""

import sys

import pytest
from tests.attack.kills import run

ROUNDS = 40


# Verifies: REQ-d00048-D, REQ-d00078-B, REQ-d00082-C, REQ-d00246-A+C, REQ-d00268-A
@pytest.mark.skipif(sys.platform == "win32", reason="no process can be killed without warning here")
def test_whatever_moment_a_writer_is_killed_at_its_files_are_whole_and_the_next_open_says_so() -> None:
    outcome = run(ROUNDS)
    assert outcome.faults == ()
    assert outcome.tried == ROUNDS
    # Both ends occur: before the journal is complete nothing happened, from then on everything does.
    assert outcome.counts["taken back"] > 5
    assert outcome.counts["completed"] > 5
