"""The socket an HTTP server listens on, and the URL under which a client finds it."""

import errno
import os
import socket

from clew.errors import ConfigError
from clew.surfaces.mcp.transports.settings import HttpSettings, echo

_BACKLOG = 256
_PORT_HINT = "Pass another --port, or --port 0 for any free one."


def listen(settings: HttpSettings) -> socket.socket:
    """Bind and listen, or raise an error with the obstacle and the next step."""
    family, address = _resolve(settings.host, settings.port)
    # Only with the protocol named does asyncio switch off Nagle's delay, which costs 40 ms on every answer.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # On Windows this option would let two servers share one port.
        if os.name != "nt":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise _explained(error, settings) from error
    listener.setblocking(False)
    return listener


def url_of(listener: socket.socket, path: str) -> str:
    """The address for the configuration of a client on this machine."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"  # noqa: S104
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{path}"


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    # Not left to the resolver: a hosts file could point the name at a public address, and no token guards this one.
    name = "127.0.0.1" if host.lower() == "localhost" else host.strip("[]")
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"Host {echo(host)} cannot be resolved.", hint="Listen on 127.0.0.1, ::1 or an address of this machine."
        ) from error
    family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    return family, (str(address[0]), int(address[1]))


def _explained(error: OSError, settings: HttpSettings) -> ConfigError:
    if error.errno == errno.EADDRINUSE:
        return ConfigError(f"Port {settings.port} on {settings.host} is already in use.", hint=_PORT_HINT)
    if error.errno == errno.EACCES:
        return ConfigError(f"Port {settings.port} may not be opened by this user.", hint="Pass a --port above 1023.")
    if error.errno == errno.EADDRNOTAVAIL:
        return ConfigError(
            f"Host {echo(settings.host)} is not an address of this machine.", hint="Listen on 127.0.0.1 or ::1."
        )
    return ConfigError(
        f"Cannot listen on {echo(settings.host)} port {settings.port}: {error.strerror}.", hint=_PORT_HINT
    )
