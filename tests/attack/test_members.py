"""A bounded part of the attack of members of a team on each other; `python -m tests.attack members` runs all of it."""

import pytest
from tests.attack.members import LOCKS, ROLES, STATEMENTS, run
from tests.postgres import demand_postgres


# Verifies: REQ-d00670-A, REQ-d00670-B, REQ-d00670-C
def test_no_member_changes_what_another_one_wrote_or_stops_a_writer() -> None:
    demand_postgres()
    pytest.importorskip("psycopg")
    outcome = run(1)
    assert outcome.faults == ()
    assert outcome.tried == len(ROLES) * len(STATEMENTS) + 2 * len(LOCKS)
