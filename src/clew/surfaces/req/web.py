"""The register in a browser, to read: what `clew req serve` runs."""

# Implements: REQ-d00660-E

from collections.abc import Callable

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from clew.errors import ClewError, InvalidArgument, NotFound
from clew.formats.register.records import requirement_object
from clew.register.operations.read import ListRequirements
from clew.register.reports.html_page import overview_page, requirement_page
from clew.register.service import RegisterService
from clew.surfaces.mcp.dialects import register_envelope
from clew.surfaces.mcp.transports.access.guard import Guard
from clew.surfaces.mcp.transports.http import web_server
from clew.surfaces.mcp.transports.listen import listen, url_of
from clew.surfaces.mcp.transports.settings import HttpSettings, check_address

_PAGE, _DATA = "text/html; charset=utf-8", "application/json"
_PLAIN = "text/plain; charset=utf-8"
_HREF = "/r/"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
}


def _site(service: RegisterService) -> Starlette:
    # Not a coroutine, so that it runs in a thread: it reads files.
    def answer(request: Request) -> Response:
        path: str = request.scope["path"]
        as_data = path.startswith("/api/")
        try:
            kind, body = _answer(service, path.removeprefix("/api"), as_data=as_data)
            return Response(body, 200, _HEADERS, kind)
        except ClewError as error:
            said = msgspec.json.encode(register_envelope(error)) if as_data else f"{error}\n".encode()
            return Response(said, _status(error), _HEADERS, _DATA if as_data else _PLAIN)

    return Starlette(routes=[Route("/{path:path}", answer, methods=["GET"])])


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
    kinds = ((NotFound, 404), (InvalidArgument, 400))
    return next((status for kind, status in kinds if isinstance(error, kind)), 500)


def open_server(
    service: RegisterService, host: str, port: int, allowed_hosts: tuple[str, ...] = ()
) -> tuple[str, Callable[[], None], Callable[[], None]]:
    """The address of a server, a function that runs it, and one that stops it. The server answers to the names of this
    machine and to the allowed hosts."""
    settings = HttpSettings(host=host, port=port, allowed_hosts=allowed_hosts)
    check_address(settings)
    # No path is an endpoint of agents: no page but the register's own may read it.
    web = web_server(Guard(_site(service), settings, endpoints=()), settings, lambda: None)
    listener = listen(settings)

    def run() -> None:
        with listener:
            web.run(sockets=[listener])

    def stop() -> None:
        web.should_exit = True

    return url_of(listener, "/"), run, stop
