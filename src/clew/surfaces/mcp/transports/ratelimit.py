"""How often one client may ask."""

import ipaddress
import math

from clew.cache import Cache
from clew.surfaces.mcp.transports.clock import Clock

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
        """Count one request; the answer is 0, or the whole seconds this client has to wait."""
        key = _household(address)
        now = self._clock.monotonic()
        level, since = self._buckets.get(key) or (float(self._burst), now)
        level = min(float(self._burst), level + (now - since) * self._rate)
        allowed = level >= 1.0
        self._buckets.put(key, (level - 1.0 if allowed else level, now))
        return 0 if allowed else math.ceil((1.0 - level) / self._rate)


def _household(address: str) -> str:
    # One IPv6 client usually owns a whole /64 and could take a new address for every request.
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return ipaddress.ip_network((parsed, _IPV6_NETWORK_BITS), strict=False).compressed
