"""Access checks of every HTTP endpoint: host, origin, token, rate and size.

The checks run from cheap to dear, and nothing of a request's body is read before all of them have passed. What a page
of another site makes a browser send is counted apart, so that it uses up nothing of what honest clients may ask.
"""

# Implements: REQ-d00660

import hashlib
import hmac
import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clew.setup.tokens import PREFIX, AccessTokens, Principal
from clew.surfaces.mcp.transports.access.bodies import BUSY, BodyBudget, RequestBody
from clew.surfaces.mcp.transports.access.oauth import METADATA_PATH, READ_SCOPE, WRITE_SCOPE, Issuer, metadata_address
from clew.surfaces.mcp.transports.access.ratelimit import RateLimit
from clew.surfaces.mcp.transports.access.token_watch import TokenWatch
from clew.surfaces.mcp.transports.clock import SYSTEM_CLOCK, Clock
from clew.surfaces.mcp.transports.refusal import Refusal
from clew.surfaces.mcp.transports.settings import (
    HEALTH_PATH,
    HttpSettings,
    echo,
    is_known_host,
    origin_host,
    plain_host,
)

logger = logging.getLogger(__name__)

_MAX_HEADER_COUNT = 100
_ALWAYS_OPEN = (METADATA_PATH, HEALTH_PATH)
"""For a team's server: what a client reads before it has a token, and what a container's health check asks."""
_BEARER = "bearer "
_CHECKED_AT_ONCE = 4
"""Access tokens of an issuer."""
_OTHER_SITE_HINT = "Start the server with its origin as an allowed origin, if it is yours, and let it say its origin."
_TOO_MANY_STREAMS = Refusal(
    503,
    "too_many_streams",
    "Half of the connections of this server are streams.",
    "Close one, or try again in a moment.",
    (("Retry-After", "1"),),
)
_CRASHED = Refusal(500, "internal", "The server failed on this request.", "See the server's log on standard error.")


class Guard:
    """Wraps an ASGI application and admits requests. The state of an admitted request has `credential`, a digest of the
    bearer token; `principal`, its owner's name; `may_write`; `owner`, who alone may use the sessions that it opens; and
    `body`, the whole body."""

    def __init__(
        self,
        app: ASGIApp,
        settings: HttpSettings,
        *,
        clock: Clock = SYSTEM_CLOCK,
        endpoints: tuple[str, ...] | None = None,
        streams: tuple[str, ...] = (),
    ) -> None:
        """The bearer token is asked for at paths that begin like one of the `endpoints`, or everywhere where they
        are not given. Other paths belong to the page, which a browser enters in its own way. A GET of one of the
        `streams` stays open: these get at most half of the connections."""
        self._app = app
        self._endpoints = endpoints
        self._settings = settings
        self._bodies = BodyBudget(settings.max_bodies)
        self._limit = RateLimit(settings.rate, settings.burst, clock)
        self._limit_of_foreign = RateLimit(settings.rate, settings.burst, clock)
        self._streams = streams
        self._open_streams = 0
        self._hosts = frozenset(plain_host(host) for host in (settings.host, *settings.allowed_hosts))
        self._origins = frozenset(origin.lower() for origin in settings.allowed_origins)
        self._token = None if settings.token is None else _digest(settings.token)
        writing = settings.write_token if settings.token is None else settings.token
        self._writing = None if writing is None else _digest(writing)
        self._tokens = AccessTokens()
        self._issuer = None if settings.oauth is None else Issuer(settings.oauth)
        self._asking = anyio.CapacityLimiter(_CHECKED_AT_ONCE)
        self._clock = clock
        self.token_watch = TokenWatch(self._is_good, self._unauthorized("invalid_token"), clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin is not None and self._trusts(origin, scope, headers):
            send = readable_by(origin, send)
        refusal, principal, token = self._refusal(scope, headers), None, _bearer(headers)
        if refusal is None and not is_preflight(scope, headers):
            principal = await self._principal(token)
            refusal = self._wrong_token(scope, headers, principal) or self._declared_too_large(headers)
            if refusal is not None and _has_body(headers):
                # Guesses are counted, although their body is not read.
                refusal = self._too_often(self._limit_of(headers).take, scope) or refusal
        if refusal is not None:
            await refusal.response()(scope, receive, send)
            return
        if is_preflight(scope, headers):
            await preflight_answer(headers)(scope, receive, send)
            return
        with ExitStack() as while_open:
            if principal is not None:
                while_open.enter_context(self.token_watch.watched(token, scope["state"]["open_request"]))
            await self._answer(scope, headers, principal, receive, send)

    async def _answer(
        self, scope: Scope, headers: Headers, principal: Principal | None, receive: Receive, send: Send
    ) -> None:
        client = scope.get("client")
        with RequestBody(self._bodies, client[0] if client else "") as held:
            body: bytes | Refusal | None = await self._body(receive, held)
            if isinstance(body, bytes) and _has_body(headers):
                body = self._too_often(self._limit_of(headers).take, scope) or body
            if isinstance(body, Refusal):
                await body.response()(scope, receive, send)
            elif body is not None:
                scope.setdefault("state", {}).update(self._who(headers, principal), body=body)
                scope["user"] = _session_user(scope["state"]["owner"])
                with self._stream(scope) as refusal:
                    if refusal is not None:
                        await refusal.response()(scope, receive, send)
                    else:
                        await self._run(scope, _replay(body, receive), send)

    def _who(self, headers: Headers, principal: Principal | None) -> dict[str, Any]:
        credential = _credential(headers)
        if principal is None:
            may_write = self._writing is not None and hmac.compare_digest(credential, self._writing)
            return {"credential": credential, "principal": None, "may_write": may_write, "owner": credential.hex()}
        # An issuer makes a new token every few minutes, and its subjects may be called like somebody of this server.
        source = "" if _bearer(headers).startswith(PREFIX) else self._settings.oauth and self._settings.oauth.issuer
        owner = f"{principal.name} {source}"
        return {"credential": credential, "principal": principal.name, "may_write": principal.may_write, "owner": owner}

    @contextmanager
    def _stream(self, scope: Scope) -> Iterator[Refusal | None]:
        """Counts a stream while it is open; yields why there can be no further one."""
        if scope["method"] != "GET" or not scope["path"].startswith(self._streams):
            yield None
            return
        self._open_streams += 1
        try:
            yield _TOO_MANY_STREAMS if self._open_streams > max(self._settings.max_connections // 2, 1) else None
        finally:
            self._open_streams -= 1

    def _refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        refusal = self._wrong_host(headers) or self._wrong_origin(scope, headers)
        if refusal is not None:
            return self._too_often(self._limit_of_foreign.take, scope) or refusal
        limit = self._limit_of(headers)
        # Counted when its body is there: what sends none must not use up what others may ask.
        count = limit.look if _has_body(headers) else limit.take
        return self._too_often(count, scope) or self._headers_too_large(scope)

    def _limit_of(self, headers: Headers) -> RateLimit:
        return self._limit_of_foreign if _comes_from_another_site(headers) else self._limit

    async def _is_good(self, token: str) -> bool:
        principal = await self._principal(token)
        return principal is not None and principal.may_read

    async def _principal(self, token: str) -> Principal | None:
        """The principal of a token; None if the token is unknown here."""
        if not token:
            return None
        known = self._tokens.principal(token, datetime.fromtimestamp(self._clock.time(), UTC))
        if known is None and self._issuer is not None:
            # The issuer's keys may have to be fetched. Calls need the other threads: they must not wait for that.
            known = await anyio.to_thread.run_sync(self._issuer.principal, token, limiter=self._asking)
        return known

    def _is_open(self, scope: Scope) -> bool:
        # Not compared as a whole: a router is more lenient about what ends a path.
        return self._endpoints is not None and not scope["path"].startswith(self._endpoints)

    def _too_often(self, count: Callable[[str], int], scope: Scope) -> Refusal | None:
        client = scope.get("client")
        wait = count(client[0] if client else "")
        if not wait:
            return None
        return Refusal(
            429,
            "rate_limited",
            f"More than {self._settings.rate:g} requests per second from this address.",
            f"Wait {wait} s, then send the request again.",
            (("Retry-After", str(wait)),),
        )

    def _headers_too_large(self, scope: Scope) -> Refusal | None:
        fields: list[tuple[bytes, bytes]] = scope["headers"]
        size = sum(len(name) + len(value) for name, value in fields)
        if len(fields) <= _MAX_HEADER_COUNT and size <= self._settings.max_headers:
            return None
        return Refusal(
            431,
            "headers_too_large",
            f"The request has {len(fields)} header fields of {size} bytes in all.",
            f"Send at most {_MAX_HEADER_COUNT} fields and {self._settings.max_headers} bytes.",
        )

    def _wrong_host(self, headers: Headers) -> Refusal | None:
        values = headers.getlist("host")
        if len(values) == 1 and self._knows(values[0]):
            return None
        return Refusal(
            421,
            "wrong_host",
            f"This server does not answer to Host {echo(', '.join(values))}.",
            "Use 127.0.0.1 or localhost in the URL, or start the server with --allow-host and this name.",
        )

    def _wrong_origin(self, scope: Scope, headers: Headers) -> Refusal | None:
        values = headers.getlist("origin")
        if not values and _comes_from_another_site(headers) and headers.get("sec-fetch-mode") != "navigate":
            # A browser leaves the origin out where a page only shows an image, but says that it comes from elsewhere.
            return Refusal(403, "wrong_origin", "Pages from other sites may not use this server.", _OTHER_SITE_HINT)
        if not values or (len(values) == 1 and self._trusts(values[0], scope, headers)):
            return None
        return Refusal(
            403,
            "wrong_origin",
            f"Pages from {echo(', '.join(values))} may not use this server.",
            "Start the server with this origin as an allowed origin, if it is yours.",
        )

    def _knows(self, host: str) -> bool:
        return _is_known(host, self._hosts)

    def _trusts(self, origin: str, scope: Scope, headers: Headers) -> bool:
        """True if the origin of a request is trusted. Clients in a browser on any port of this machine may use the
        endpoints; the page serves its own origin only."""
        if origin.lower() in self._origins:
            return True
        scheme, _, host = origin.partition("://")
        if self._is_open(scope) and host.lower() != headers.get("host", "").lower():
            return False
        return scheme.lower() in ("http", "https") and origin_host(origin) is not None and self._knows(host)

    def _wrong_token(self, scope: Scope, headers: Headers, principal: Principal | None) -> Refusal | None:
        if principal is not None and not principal.may_read:
            return _no_scope(self._settings)
        if principal is not None or self._is_open(scope):
            return None
        if self._settings.team and scope["path"].startswith(_ALWAYS_OPEN):
            return None
        if self._token is None and not self._settings.team:
            return None
        if self._token is not None and hmac.compare_digest(_credential(headers), self._token):
            return None
        return self._unauthorized("invalid_token" if _bearer(headers) else "")

    def _unauthorized(self, error: str) -> Refusal:
        error = error if self._settings.oauth is not None else ""
        challenge = _challenge(self._settings, f"{READ_SCOPE} {WRITE_SCOPE}", error)
        what = "of a principal (`clew token add NAME`)" if self._settings.team else "the server was started with"
        return Refusal(
            401,
            "unauthorized",
            "This server needs a bearer token, and the request carries none or another, or one that has expired.",
            f"Send the header Authorization: Bearer <the token {what}>.",
            (("WWW-Authenticate", challenge),),
        )

    def _declared_too_large(self, headers: Headers) -> Refusal | None:
        declared = headers.get("content-length", "")
        return self._body_too_large() if declared.isdecimal() and int(declared) > self._settings.max_body else None

    def _body_too_large(self) -> Refusal:
        limit = self._settings.max_body
        return Refusal(
            413, "body_too_large", f"The request body is larger than {limit} bytes.", "Send smaller arguments."
        )

    async def _body(self, receive: Receive, held: "RequestBody") -> bytes | Refusal | None:
        """The whole body, or the reason of its refusal, or None if the client left before it was complete."""
        body = b""
        with anyio.move_on_after(self._settings.body_seconds), held.reading:
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                part: bytes = message.get("body", b"")
                body = body + part if body else part
                if len(body) > self._settings.max_body:
                    return self._body_too_large()
                if not held.add(len(part)):
                    return BUSY
                if not message.get("more_body", False):
                    held.is_whole()
                    return body
        if held.reading.cancel_called:
            return BUSY
        return Refusal(
            408,
            "body_too_slow",
            f"The body did not arrive within {self._settings.body_seconds:g} s.",
            "Send the request again.",
            (("Connection", "close"),),
        )

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            # The text of an exception may quote a document or an argument, so only its place is logged.
            frames = "".join(traceback.format_tb(error.__traceback__))
            logger.error("%s in %s %s\n%s", type(error).__name__, scope["method"], scope["path"], frames)
            if not started:
                await _CRASHED.response()(scope, receive, send)


def _challenge(settings: HttpSettings, scope: str, error: str) -> str:
    challenge = 'Bearer realm="clew"'
    if settings.oauth is not None:
        challenge += f', resource_metadata="{metadata_address(settings.oauth)}", scope="{scope}"'
    return challenge + (f', error="{error}"' if error else "")


def _no_scope(settings: HttpSettings) -> Refusal:
    return Refusal(
        403,
        "insufficient_scope",
        f"The access token has neither the scope {READ_SCOPE} nor {WRITE_SCOPE}.",
        f"Ask the issuer for a token with the scope {READ_SCOPE}, or {WRITE_SCOPE} to change anything as well.",
        (("WWW-Authenticate", _challenge(settings, READ_SCOPE, "insufficient_scope")),),
    )


@lru_cache(maxsize=256)
def _is_known(host: str, known: frozenset[str | None]) -> bool:
    """True for a known host. Cached, because clients send the same name with every request."""
    return is_known_host(host, known)


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _comes_from_another_site(headers: Headers) -> bool:
    """True if the browser reports that a page of another site made this request."""
    return headers.get("sec-fetch-site") == "cross-site" and "origin" not in headers


def _session_user(owner: str) -> AuthenticatedUser:
    """The user to whom the SDK binds a session that this request opens: nobody else finds it."""
    return AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _bearer(headers: Headers) -> str:
    """The bearer token that a request carries; empty when it carries none."""
    value = headers.get("authorization", "")
    return value[len(_BEARER) :].strip(" \t") if value.lower().startswith(_BEARER) else ""


def _credential(headers: Headers) -> bytes:
    """A digest of the bearer token a request carries; empty when it carries none, or an empty one."""
    token = _bearer(headers)
    return _digest(token) if token else b""


def _replay(body: bytes, receive: Receive) -> Receive:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return pending.pop() if pending else await receive()

    return replayed


def is_preflight(scope: Scope, headers: Headers) -> bool:
    """True for a browser's CORS preflight, which never carries the page's credentials."""
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
