"""Rate limits: by a client's address, and by its session for the tools on documents."""

import ipaddress
import math
from functools import lru_cache

from clew.cache import Cache
from clew.config import KbTable
from clew.errors import OverBudget
from clew.operation.call import OWN_SESSION
from clew.surfaces.mcp.transports.clock import SYSTEM_CLOCK, Clock

_IPV6_NETWORK_BITS = 64


class RateLimit:
    """One token bucket per client address: `burst` requests at once, `rate` per second from then on.

    The table holds `max_clients` addresses and forgets the one unheard for longest, so it cannot be made to grow.
    """

    def __init__(self, rate: float, burst: int, clock: Clock, *, max_clients: int = 4096) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._buckets: Cache[str, tuple[float, float]] = Cache(max_clients)

    def take(self, address: str) -> int:
        """Count one request; returns 0, or the whole seconds that this client has to wait."""
        return self._wait(address, 1.0)

    def look(self, address: str) -> int:
        """The same answer, without counting: for a request that is counted once it is complete."""
        return self._wait(address, 0.0)

    def _wait(self, address: str, cost: float) -> int:
        key = household(address)
        now = self._clock.monotonic()
        level, since = self._buckets.get(key) or (float(self._burst), now)
        level = min(float(self._burst), level + (now - since) * self._rate)
        allowed = level >= 1.0
        self._buckets.put(key, (level - cost if allowed else level, now))
        return 0 if allowed else math.ceil((1.0 - level) / self._rate)


@lru_cache(maxsize=1024)
def household(address: str) -> str:
    # One IPv6 client usually owns a whole /64 and could take a new address for every request.
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return ipaddress.ip_network((parsed, _IPV6_NETWORK_BITS), strict=False).compressed


class SessionLimit:
    """Rate limit of a session for the tools on documents.

    It protects a server that several clients share from one that runs away. The only client of a process is not
    limited; callers without a session are counted by the transport, by their address.
    """

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
