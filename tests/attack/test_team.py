"""A bounded part of the attack on a team's store; `python -m tests.attack team` runs all of it."""

import pytest
from tests.attack.team import run
from tests.postgres import demand_postgres

ACKNOWLEDGED = 450


# Verifies: REQ-d00483-D
def test_killed_writers_and_a_killed_database_lose_nothing_acknowledged() -> None:
    demand_postgres()
    pytest.importorskip("psycopg")
    outcome = run(ACKNOWLEDGED)
    assert outcome.faults == ()
    assert outcome.tried >= ACKNOWLEDGED
    assert outcome.counts["killed writers"] > 10
    assert outcome.counts["killed databases"] > 1
