"""The register in a browser, to read: what `clew req serve` runs."""

import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import msgspec

from clew.errors import ClewError, InvalidArgument, NotFound, Unavailable
from clew.formats.register.records import requirement_object
from clew.register.operations.read import ListRequirements
from clew.register.reports.html_page import overview_page, requirement_page
from clew.register.service import RegisterService
from clew.surfaces.mcp.dialects import register_envelope
from clew.surfaces.mcp.transports.listen import listen, url_of
from clew.surfaces.mcp.transports.settings import HttpSettings, check_address, echo, is_known_host, plain_host

_PAGE, _DATA = "text/html; charset=utf-8", "application/json"
_PLAIN = "text/plain; charset=utf-8"
_HREF = "/r/"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, settings: HttpSettings, service: RegisterService) -> None:
        listener = listen(settings)
        listener.setblocking(True)
        super().__init__((settings.host, settings.port), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.service = service
        self.hosts = frozenset(plain_host(host) for host in (settings.host, *settings.allowed_hosts))

    def handle_error(self, request: object, client_address: object) -> None:
        # A browser that breaks off is no news.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "clew"

    def do_GET(self) -> None:
        as_data = self.path.startswith("/api/")
        try:
            kind, body = self._answer(as_data=as_data)
            self._send(200, kind, body)
        except ClewError as error:
            body_of_error = msgspec.json.encode(register_envelope(error)) if as_data else f"{error}\n".encode()
            self._send(_status(error), _DATA if as_data else _PLAIN, body_of_error)

    def _answer(self, *, as_data: bool) -> tuple[str, bytes]:
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or not is_known_host(hosts[0], self.server.hosts):
            raise Unavailable(
                f"This server does not answer to Host {echo(', '.join(hosts))}.",
                hint="Use localhost in the address, or start it with --allow-host and this name.",
            )
        # Not split as an address is: a path may look like a broken one.
        path = unquote(self.path.partition("?")[0])
        return _answer(self.server.service, path.removeprefix("/api"), as_data=as_data)

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - so it is called above
        """Nobody asked for a log of what is read."""


def _answer(service: RegisterService, path: str, *, as_data: bool) -> tuple[str, bytes]:
    if path in (("/list",) if as_data else ("/",)):
        if as_data:
            return _DATA, msgspec.json.encode(service.listing(ListRequirements()))
        return _PAGE, overview_page(service.register, _HREF).encode()
    if path.startswith(_HREF):
        requirement = service.show(path.removeprefix(_HREF))
        if as_data:
            return _DATA, msgspec.json.encode(requirement_object(requirement))
        return _PAGE, requirement_page(requirement, service.register, _HREF).encode()
    raise NotFound(f"There is no page '{path[:80]}'.", hint="/ lists all requirements, /r/REQ-0001 shows one.")


def _status(error: ClewError) -> int:
    kinds = ((NotFound, 404), (InvalidArgument, 400), (Unavailable, 421))
    return next((status for kind, status in kinds if isinstance(error, kind)), 500)


def open_server(
    service: RegisterService, host: str, port: int, allowed_hosts: tuple[str, ...] = ()
) -> tuple[str, Callable[[], None], Callable[[], None]]:
    """Where a server listens, how to run it, and how to stop it. It answers to names of this machine and to those that
    are allowed besides."""
    settings = HttpSettings(host=host, port=port, allowed_hosts=allowed_hosts)
    check_address(settings)
    server = _Server(settings, service)

    def stop() -> None:
        server.shutdown()
        server.server_close()

    return url_of(server.socket, "/"), server.serve_forever, stop
