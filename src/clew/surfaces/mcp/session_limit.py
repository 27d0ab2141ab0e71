"""How often a session may ask the tools on documents.

It protects a server that several share from one client that runs away. The only client of a process is not limited;
callers without a session are counted by the transport, by their address.
"""

from clew.config import KbTable
from clew.errors import OverBudget
from clew.operation.call import OWN_SESSION
from clew.surfaces.mcp.transports.clock import SYSTEM_CLOCK, Clock
from clew.surfaces.mcp.transports.ratelimit import RateLimit


class SessionLimit:
    def __init__(self, settings: KbTable, clock: Clock = SYSTEM_CLOCK) -> None:
        self._per_minute = settings.calls_per_minute
        self._limit = RateLimit(settings.calls_per_minute / 60, settings.burst, clock)

    def count(self, session: str | None) -> None:
        """Count one call; raises OverBudget for one too many."""
        if not self._per_minute or session is None or session == OWN_SESSION:
            return
        wait = self._limit.take(session)
        if wait:
            raise OverBudget(
                f"More than {self._per_minute} calls a minute in this session.",
                hint=f"Wait {wait} s, then call again; kb.calls_per_minute in clew.toml sets the limit.",
                data={"reason": "rate_limited", "retry_after_ms": wait * 1000},
            )
