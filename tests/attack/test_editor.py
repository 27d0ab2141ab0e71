"""The attack on the language server with few damaged messages; `python -m tests.attack editor` sends more."""

import sys

import pytest

pytest.importorskip("pygls")
if sys.platform == "win32":
    pytest.skip("there are no pipes among the files here", allow_module_level=True)

from tests.attack.editor import run

ROUNDS = 100


# Verifies: REQ-d00663-A+B+C
def test_the_language_server_outlives_what_is_sent_and_reads_nothing_outside_of_the_project() -> None:
    outcome = run(ROUNDS)
    assert outcome.faults == ()
    assert outcome.tried > ROUNDS + 100
