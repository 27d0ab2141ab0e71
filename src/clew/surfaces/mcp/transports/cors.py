"""What a browser has to be told before a page may use this server."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import Message, Scope, Send


def is_preflight(scope: Scope, headers: Headers) -> bool:
    """Whether a browser asks for permission; such a request never carries the page's credentials."""
    return scope["method"] == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


def preflight_answer(headers: Headers) -> Response:
    allowed = {
        "Access-Control-Allow-Methods": "GET, POST, DELETE",
        "Access-Control-Allow-Headers": headers.get("access-control-request-headers", ""),
        "Access-Control-Max-Age": "600",
    }
    return Response(status_code=204, headers=allowed)


def readable_by(origin: str, send: Send) -> Send:
    """Let a page of this origin read the answer; its browser hides it otherwise."""

    async def permitted(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Expose-Headers"] = "Mcp-Session-Id"
            headers.add_vary_header("Origin")
        await send(message)

    return permitted
