"""The HTTP side of Clew: the applications, and the server that runs one of them until it gets a signal to stop."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Protocol
from urllib.parse import urlsplit

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from clew.surfaces.mcp.transports.access.guard import Guard
from clew.surfaces.mcp.transports.access.oauth import METADATA_PATH, OAuthSettings, metadata
from clew.surfaces.mcp.transports.clock import SYSTEM_CLOCK, Clock
from clew.surfaces.mcp.transports.connections import limited
from clew.surfaces.mcp.transports.drain import Draining, DrainingServer
from clew.surfaces.mcp.transports.listen import listen, url_of
from clew.surfaces.mcp.transports.messages import CheckedMessages
from clew.surfaces.mcp.transports.refusal import Refusal
from clew.surfaces.mcp.transports.settings import HEALTH_PATH, HttpSettings, check
from clew.surfaces.mcp.transports.sse.endpoints import MESSAGES_PATH, STREAM_PATH, SseEndpoints

HTTP_PATH = "/mcp"
_STREAMS = (HTTP_PATH, STREAM_PATH, "/live")
_ENDPOINTS = (HTTP_PATH, HEALTH_PATH, STREAM_PATH, MESSAGES_PATH)

_KEEP_ALIVE_SECONDS = 75
_LARGEST_HEADER_BLOCK = 64 * 1024
# These libraries write messages, and with them document text, to their debug logs.
_TALKATIVE_LOGGERS = ("mcp", "sse_starlette", "uvicorn")


class BrowserRoutes(Protocol):
    """The routes for browsers beside the endpoints."""

    def routes(self) -> list[BaseRoute]: ...

    async def nothing(self, request: Request) -> Response:
        """The page for an unknown path."""
        ...


async def serve_http(
    server: Server[Any],
    settings: HttpSettings,
    ready: Callable[[str], None],
    page: "BrowserRoutes | None" = None,
    *,
    clock: Clock = SYSTEM_CLOCK,
) -> None:
    """Serve until SIGINT, SIGTERM or cancellation; `ready` gets the URL as soon as clients can connect. A `page` is
    served beside the endpoints; it asks for no bearer token, and decides itself who may do what."""
    check(settings)
    for name in _TALKATIVE_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    site = _site(server, settings, clock, page)
    guard = Guard(site, settings, clock=clock, endpoints=_ENDPOINTS if page is not None else None, streams=_STREAMS)
    with listen(settings) as listener:
        url = url_of(listener, STREAM_PATH if settings.sse else HTTP_PATH)
        web = web_server(guard, settings, lambda: ready(url))
        async with site.router.lifespan_context(site), anyio.create_task_group() as tasks:
            tasks.start_soon(_stop_when_cancelled, web)
            tasks.start_soon(guard.token_watch.watch)
            # Shielded, so that a cancellation too lets the open requests end in order.
            with anyio.CancelScope(shield=True):
                await web.serve(sockets=[listener])
            tasks.cancel_scope.cancel()


def web_server(app: ASGIApp, settings: HttpSettings, ready: Callable[[], None]) -> DrainingServer:
    """A server that runs a guarded application within its limit of connections, until it gets a signal to stop."""
    draining = Draining(app, settings.drain_seconds)
    return DrainingServer(_uvicorn_config(draining, settings), draining, ready)


def _site(server: Server[Any], settings: HttpSettings, clock: Clock, page: "BrowserRoutes | None" = None) -> Starlette:
    """The unguarded application."""
    streamable = StreamableHTTPSessionManager(
        server,
        session_idle_timeout=settings.idle_seconds,
        max_request_body_size=settings.max_body,
        max_sessions=settings.max_sessions,
    )
    sse = SseEndpoints(server, settings, clock) if settings.sse else None

    async def healthz(_: Request) -> Response:
        return JSONResponse({"ok": True, "name": server.name, "version": server.version})

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(streamable.run())
            if sse is not None:
                await stack.enter_async_context(sse.sessions.running())
            yield

    routes = [
        Route(HTTP_PATH, CheckedMessages(StreamableHTTPASGIApp(streamable))),
        Route(HEALTH_PATH, healthz, methods=["GET"]),
        *(_metadata_routes(settings.oauth) if settings.oauth is not None else ()),
        *(sse.routes() if sse is not None else ()),
        *(page.routes() if page is not None else ()),
    ]

    async def nothing(request: Request, error: Exception) -> Response:
        wants_page = "text/html" in request.headers.get("accept", "") and request.method == "GET"
        return await (page.nothing(request) if page is not None and wants_page else _no_such_endpoint(request, error))

    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: nothing})


def _metadata_routes(oauth: OAuthSettings) -> list[BaseRoute]:
    """The routes at which clients look for OAuth metadata: before the path of the resource, and at the root."""

    async def send_metadata(_: Request) -> Response:
        return JSONResponse(metadata(oauth), headers={"Cache-Control": "max-age=3600"})

    paths = dict.fromkeys((METADATA_PATH + urlsplit(oauth.resource).path.rstrip("/"), METADATA_PATH))
    return [Route(path, send_metadata, methods=["GET"]) for path in paths]


async def _no_such_endpoint(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = error.headers if isinstance(error, HTTPException) else None
    code = "method_not_allowed" if status == 405 else "not_found"
    return Refusal(
        status,
        code,
        f"{request.method} is not served at this path.",
        f"The endpoints are {HTTP_PATH} and GET {HEALTH_PATH}; with the sse transport GET {STREAM_PATH} and "
        f"POST {MESSAGES_PATH} too.",
        tuple((headers or {}).items()),
    ).response()


async def _stop_when_cancelled(web: DrainingServer) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        web.should_exit = True


def _uvicorn_config(app: ASGIApp, settings: HttpSettings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=limited(settings),
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        # An access log would hold query strings, and with them session ids.
        access_log=False,
        # A header must not let a client choose its own address.
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=round(settings.drain_seconds) + 5,
        h11_max_incomplete_event_size=_LARGEST_HEADER_BLOCK,
    )
