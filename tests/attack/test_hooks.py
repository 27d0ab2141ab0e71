"""A bounded part of the attack on hooks; `python -m tests.attack hooks` runs all of it."""

import sys

import pytest

ROUNDS = 200


# Verifies: REQ-d00310-B
@pytest.mark.skipif(sys.platform == "win32", reason="limits and signals are those of POSIX")
def test_a_hook_exits_with_0_whatever_is_wrong_with_its_world() -> None:
    from tests.attack.hooks import run

    outcome = run(ROUNDS)
    assert outcome.faults == ()
    assert outcome.tried == ROUNDS
    assert outcome.counts["kinds of faults"] == 16
