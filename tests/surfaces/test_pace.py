"""How often a session may ask the tools on documents."""

import pytest

from clew.config import KbTable
from clew.errors import OverBudget
from clew.surfaces.mcp.dialects import document_code
from clew.surfaces.mcp.transports.access.ratelimit import SessionLimit


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        raise AssertionError


# Verifies: REQ-d00177-D
def test_a_session_on_a_network_that_calls_too_often_is_told_when_to_come_back() -> None:
    clock = Clock()
    pace = SessionLimit(KbTable(), clock)
    for _ in range(10):
        pace.count("one")
    with pytest.raises(OverBudget) as refused:
        pace.count("one")
    assert refused.value.data == {"reason": "rate_limited", "retry_after_ms": 1_000}
    assert document_code(refused.value) == "BUDGET_EXCEEDED"
    pace.count("other")
    clock.now += 1
    pace.count("one")
    for session in ("", None):
        for _ in range(100):
            pace.count(session)
    unlimited = SessionLimit(KbTable(calls_per_minute=0), clock)
    for _ in range(100):
        unlimited.count("one")
