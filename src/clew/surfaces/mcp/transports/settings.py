"""Settings of the HTTP server, and their rules."""

import ipaddress
from collections.abc import Container
from urllib.parse import urlsplit

import msgspec

from clew.errors import ConfigError
from clew.setup.token import check_token
from clew.surfaces.mcp.transports.access.oauth import OAuthSettings, check_oauth

HEALTH_PATH = "/healthz"
_LONGEST_ECHO = 80


class HttpSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Every option of the HTTP transports; `check` says whether they go together."""

    host: str = "127.0.0.1"
    port: int = 0
    sse: bool = False
    token: str | None = None
    """The bearer token that every request needs."""
    write_token: str | None = None
    """The bearer token that a call needs if it writes; `token`, where that is set, takes its place."""
    team: bool = False
    """True if every request needs the token of a principal."""
    oauth: OAuthSettings | None = None
    """The issuer whose access tokens are accepted as well."""
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    max_body: int = 4 * 1024 * 1024
    max_headers: int = 32 * 1024
    max_bodies: int = 64 * 1024 * 1024
    """Bytes of all bodies together that are being read or answered."""
    max_connections: int = 512
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    rate: float = 100.0
    burst: int = 400
    max_sessions: int = 256
    idle_seconds: float = 1800.0
    drain_seconds: float = 2.0
    heartbeat_seconds: float = 30.0
    heartbeat_events: bool = False
    """True if all clients of SSE get heartbeats as events, not only those that ask for them."""
    grace_seconds: float = 60.0
    buffer_events: int = 1000
    buffer_bytes: int = 8 * 1024 * 1024

    def __repr__(self) -> str:
        # Settings end up in tracebacks and debug output; the token must not.
        secret = "none" if self.token is None else "set"
        return f"HttpSettings(host={self.host!r}, port={self.port}, token={secret})"


def check(settings: HttpSettings) -> None:
    """Raise ConfigError when these settings cannot be served safely."""
    check_address(settings)
    _check_tokens(settings)
    _check_limits(settings)
    for origin in settings.allowed_origins:
        if origin_host(origin) is None:
            raise ConfigError(
                f"Allowed origin {echo(origin)} is not an origin.",
                hint="Write it as scheme://name or scheme://name:port, no path.",
            )


def check_address(settings: HttpSettings) -> None:
    """Raise ConfigError for an invalid port, or for a text that is not the name of a host."""
    if not 0 <= settings.port <= 65535:
        raise ConfigError(f"Port {settings.port} is not between 0 and 65535.", hint="Pass --port 0 for any free port.")
    for host in settings.allowed_hosts:
        if plain_host(host) is None:
            raise ConfigError(
                f"Allowed host {echo(host)} is not a host name.",
                hint="Write only the name or the address, without scheme and port.",
            )


def _check_tokens(settings: HttpSettings) -> None:
    if settings.oauth is not None:
        check_oauth(settings.oauth)
    if settings.token is None and not settings.team and not is_loopback(settings.host):
        raise ConfigError(
            f"Listening on {echo(settings.host)} lets other machines in, which needs a token.",
            hint="Make one for each principal with `clew token add NAME`, set the environment variable CLEW_TOKEN, or "
            "pass --token-file PATH. Or listen on 127.0.0.1.",
        )
    for token in (settings.token, settings.write_token):
        if token is not None:
            check_token(token)


def _check_limits(settings: HttpSettings) -> None:
    for name in ("max_body", "max_headers", "rate", "burst", "max_sessions", "idle_seconds", "heartbeat_seconds"):
        _check_number(settings, name, above_zero=True)
    for name in ("buffer_events", "buffer_bytes", "max_bodies", "max_connections", "header_seconds", "body_seconds"):
        _check_number(settings, name, above_zero=True)
    for name in ("grace_seconds", "drain_seconds"):
        _check_number(settings, name, above_zero=False)


def _check_number(settings: HttpSettings, name: str, *, above_zero: bool) -> None:
    value = getattr(settings, name)
    if value > 0 or (value == 0 and not above_zero):
        return
    rule = "above zero" if above_zero else "zero or more"
    raise ConfigError(f"{name} is {value}; it has to be {rule}.", hint=f"Leave {name} out to get the default.")


def is_loopback(host: str) -> bool:
    """True if only this machine can reach `host`."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_name(value: str) -> str | None:
    """The name in a Host header, without port and brackets and in lower case; None when it is not one."""
    try:
        parts = urlsplit(f"//{value}")
        name, _ = parts.hostname, parts.port
    except ValueError:
        return None
    if not name or parts.netloc != value or "@" in value or any(c.isspace() for c in value):
        return None
    try:
        return ipaddress.ip_address(name).compressed
    except ValueError:
        return name


def plain_host(value: str) -> str | None:
    """A configured name or address in the form `host_name` gives; None when it is neither or names a port."""
    try:
        return ipaddress.ip_address(value.strip("[]")).compressed
    except ValueError:
        return value.lower() if host_name(value) == value.lower() else None


def is_known_host(value: str, known: Container[str | None]) -> bool:
    """True if a Host header names this machine, or one of the hosts in `known`. Another site must not get answers by
    giving this machine a name of its own (DNS rebinding)."""
    name = host_name(value)
    return name is not None and (is_loopback(name) or name in known)


def origin_host(origin: str) -> str | None:
    """The host of an Origin header; None when the value is not an origin (`null` is none either)."""
    scheme, separator, rest = origin.partition("://")
    return host_name(rest) if scheme and separator else None


def echo(value: str) -> str:
    """A value as an error message may repeat it: quoted, escaped and short."""
    shown = value if len(value) <= _LONGEST_ECHO else value[:_LONGEST_ECHO] + "..."
    return ascii(shown)
