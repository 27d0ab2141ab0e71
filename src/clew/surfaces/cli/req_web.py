"""The register in a browser, to read: what `clew req serve` runs."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import msgspec

from clew.errors import ClewError, InvalidArgument, NotFound
from clew.formats.register.records import requirement_object
from clew.register.error_codes import envelope
from clew.register.export_html import overview_page, requirement_page
from clew.register.queries import Filter
from clew.register.service import RegisterService

_PAGE, _DATA = "text/html; charset=utf-8", "application/json"
_LOCAL = ("localhost", "127.0.0.1", "::1")
_HREF = "/r/"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], service: RegisterService) -> None:
        super().__init__(address, _Handler)
        self.service = service
        self.names = {*_LOCAL, address[0]}


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "clew"

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        as_data = path.startswith("/api/")
        try:
            self._check_host()
            kind, body = _answer(self.server.service, path.removeprefix("/api"), as_data=as_data)
            self._send(200, kind, body)
        except ClewError as error:
            status = 404 if isinstance(error, NotFound) else 403 if isinstance(error, InvalidArgument) else 500
            told = msgspec.json.encode(envelope(error)) if as_data else f"{error}\n".encode()
            self._send(status, _DATA if as_data else "text/plain; charset=utf-8", told)

    def _check_host(self) -> None:
        """Another site must not read the register by giving this machine a name of its own."""
        written = self.headers.get("Host", "")
        try:
            host = urlsplit(f"//{written}").hostname or ""
        except ValueError:
            host = written
        if host not in self.server.names:
            raise InvalidArgument(f"'{host[:80]}' is not what this server is called.", hint="Use http://localhost.")

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
            return _DATA, msgspec.json.encode(service.listing(Filter()))
        return _PAGE, overview_page(service.register, _HREF).encode()
    if path.startswith(_HREF):
        requirement = service.show(path.removeprefix(_HREF))
        if as_data:
            return _DATA, msgspec.json.encode(requirement_object(requirement))
        return _PAGE, requirement_page(requirement, service.register, _HREF).encode()
    raise NotFound(f"There is no page '{path[:80]}'.", hint="/ lists all requirements, /r/REQ-0001 shows one.")


def open_server(service: RegisterService, host: str, port: int) -> tuple[str, Callable[[], None], Callable[[], None]]:
    """Where a server listens, how to run it, and how to stop it."""
    try:
        server = _Server((host, port), service)
    except (OSError, OverflowError) as error:
        raise InvalidArgument(
            f"{host}:{port} cannot be listened on: {error}.", hint="Name another with --host or --port; 0 is any port."
        ) from error

    def stop() -> None:
        server.shutdown()
        server.server_close()

    return f"http://{host}:{server.server_address[1]}/", server.serve_forever, stop
