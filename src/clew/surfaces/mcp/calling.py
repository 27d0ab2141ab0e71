"""Calls of tools over the protocol. A server imports this with the first call: listing tools needs none of it.

A call is carried out in a worker thread, so that a slow one never holds up another.
"""

import logging
import time
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from clew.errors import Cancelled, ClewError, Refused
from clew.operation.call import OWN_SESSION, Answer, Call, carry_out
from clew.operation.listing import ListedOperation
from clew.operation.names import by_any_spelling, portable
from clew.operation.switches import DOCUMENT_TOOLSETS
from clew.operation.toolsets import SERVER_NAME, ToolListing
from clew.project import Project
from clew.store.person import on_behalf_of
from clew.surfaces.mcp import memory
from clew.surfaces.mcp.audit import AuditEntry, AuditLog, now
from clew.surfaces.mcp.dialects import dialect_of, said, unexpected
from clew.surfaces.mcp.resources import ScratchResources, link_blocks
from clew.surfaces.mcp.sampling import AskClient, model_of
from clew.surfaces.mcp.server import is_structured, meta_of
from clew.surfaces.mcp.transports.access.ratelimit import SessionLimit
from clew.text.display import shortened

log = logging.getLogger(__name__)

MAX_CONCURRENT_CALLS = 32

_SSE_MESSAGES = "/messages"
"""Path of the requests of the SSE transport, each with its session."""

Context = ServerRequestContext[Any, Any]


class Calls:
    """The tools of a listing, called by clients."""

    def __init__(
        self, project: Project, listing: ToolListing, resources: ScratchResources, audit: AuditLog | None = None
    ) -> None:
        self._audit = audit
        self.project = project
        self.listing = listing
        self.resources = resources
        self._tools = by_any_spelling(listing.callable)
        self._threads = anyio.CapacityLimiter(MAX_CONCURRENT_CALLS)
        self._pace = SessionLimit(project.config.kb)

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """A call, with a line in the audit log if there is one."""
        began, outcome = time.monotonic(), "cancelled"
        try:
            result = await self._call_tool(ctx, params)
            outcome = "ok" if not getattr(result, "is_error", False) else _code_of(result)
        except MCPError as error:
            outcome = str(error.code)
            raise
        except Exception:
            outcome = "failed"
            raise
        finally:
            if self._audit is not None:
                self._audit.note(self._entry(ctx, params, outcome, time.monotonic() - began))
        return result

    def _entry(self, ctx: Context, params: types.CallToolRequestParams, outcome: str, seconds: float) -> AuditEntry:
        tool = self._tools.get(params.name)
        meant = self._meant(tool, params) if tool is not None else None
        client = ctx.request.client if ctx.request is not None else None
        return AuditEntry(
            at=now(),
            principal=_principal(ctx),
            address=client.host if client is not None else None,
            tool=meant.name if meant is not None else shortened(params.name),
            writes=meant is not None and not meant.read_only,
            outcome=outcome,
            milliseconds=round(seconds * 1000),
        )

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message=self._unknown(params.name))
        call = Call(
            self.project,
            self.listing.callable,
            progress=_progress_to(ctx),
            session=_session(ctx),
            credential=_credential(ctx),
            client_model=model_of(ctx, params),
            scheme=self.listing.scheme,
            whole=self.listing.whole,
            protocol_version=ctx.protocol_version,
            says_once=self.listing.server_name == SERVER_NAME,
        )
        try:
            meant = self._meant(tool, params)
            if not (meant.read_only or meant.reaches_others or _may_write(ctx)):
                raise _needs_token(meant.name, _principal(ctx))
            if meant.toolset in DOCUMENT_TOOLSETS:
                self._pace.count(call.session)
            with on_behalf_of(_principal(ctx)):
                answer = await self._in_thread(call, partial(carry_out, tool, params.arguments or {}, call))
        except AskClient as asked:
            return asked.result
        except Cancelled as error:
            raise MCPError(code=types.INTERNAL_ERROR, message=error.message) from error
        except ClewError as error:
            meant = call.tool or self._meant(tool, params)
            if meant.toolset in memory.TOOLSETS:
                raise memory.protocol_error(error, call) from error
            return _plain_failure(meant, error) if call.is_lenient else self._failure(meant, error)
        except Exception:
            # The trace goes to the log; the client gets no internals, which may hold text of the project's files.
            log.exception("%s failed", tool.name)
            shown = unexpected((call.tool or tool).toolset, tool.name)
            if shown is not None:
                return self._failure(call.tool or tool, shown)
            raise MCPError(
                code=types.INTERNAL_ERROR, message=f"{tool.name} failed unexpectedly; the server's log has the details."
            ) from None
        result = self._success(call.tool or tool, answer, ctx)
        is_memory = (call.tool or tool).toolset in memory.TOOLSETS
        return memory.with_pulse(result, call, self.listing.server_name) if is_memory else result

    def _meant(self, tool: ListedOperation, params: types.CallToolRequestParams) -> ListedOperation:
        """The tool that a call is about: the one that another one is to call."""
        name = (params.arguments or {}).get("name") if tool.reaches_others else None
        return self._tools.get(name, tool) if isinstance(name, str) else tool

    def _success(self, tool: ListedOperation, answer: Answer, ctx: Context) -> types.CallToolResult:
        structured = is_structured(self.listing, tool)
        text = types.TextContent(type="text", text=answer.text if structured else _minified(answer.data))
        return types.CallToolResult(
            content=[text, *link_blocks(answer.links, ctx)],
            structured_content=answer.data if structured else None,
            _meta=meta_of(tool),
        )

    def _failure(self, tool: ListedOperation, error: ClewError) -> types.CallToolResult:
        body = dialect_of(tool.toolset)(error)
        structured = is_structured(self.listing, tool)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=said(error, tool.toolset) if structured else _minified(body))],
            structured_content=dict(body) if structured else None,
            is_error=True,
            _meta=meta_of(tool),
        )

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await self.resources.read(_session(ctx), _credential(ctx), params.uri)

    async def _in_thread(self, call: Call, work: Callable[[], Answer]) -> Answer:
        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)
        finally:
            # After cancellation the thread is on its own: the handler stops at its next check.
            call.cancel()

    def _unknown(self, name: str) -> str:
        close = get_close_matches(portable(name[:80]), self._tools, n=1)
        suggestion = f" Did you mean '{close[0]}'?" if close else ""
        search = " tools_search finds tools by what they do." if "tools_search" in self._tools else ""
        return f"There is no tool '{shortened(name)}'.{suggestion}{search}"


def _plain_failure(tool: ListedOperation, error: ClewError) -> types.CallToolResult:
    """The message of an error and nothing else, as req prints it."""
    message = types.TextContent(type="text", text=error.message)
    return types.CallToolResult(content=[message], is_error=True, _meta=meta_of(tool))


def _minified(data: Mapping[str, Any]) -> str:
    return msgspec.json.encode(data).decode()


def _session(ctx: Context) -> str | None:
    """Session of a request: that of the only client of this process, or that of the transport. A name that no transport
    has checked counts for nothing, since any client could claim it."""
    if ctx.request is None:
        return OWN_SESSION
    named: str | None = None
    if ctx.request.url.path.endswith(_SSE_MESSAGES):
        named = ctx.request.query_params.get("session_id")
    elif ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        named = ctx.request.headers.get("mcp-session-id")
    return named or None


def _credential(ctx: Context) -> str:
    """An identifier of the token in a request over HTTP; empty without a token."""
    shown: bytes = ctx.request.scope.get("state", {}).get("credential", b"") if ctx.request is not None else b""
    return shown.hex()


def _principal(ctx: Context) -> str | None:
    """The authenticated principal; None over stdio, and if anybody may read."""
    name: str | None = ctx.request.scope.get("state", {}).get("principal") if ctx.request is not None else None
    return name


def _code_of(result: types.CallToolResult | types.InputRequiredResult) -> str:
    said = getattr(result, "structured_content", None) or {}
    return str(said.get("code") or said.get("error") or "error")[:80]


def _may_write(ctx: Context) -> bool:
    """True if a request may change something: over stdio always, over HTTP with the token only. Any page in a browser
    of this machine can reach the server and forge its origin, but does not have the token."""
    return ctx.request is None or bool(ctx.request.scope.get("state", {}).get("may_write", False))


def _needs_token(tool: str, principal: str | None) -> Refused:
    if principal is not None:
        return Refused(
            f"{tool} changes data, and the token of {principal} is read-only.",
            hint="Ask for one that may write: `clew token add NAME` without --read-only, or the scope clew:write.",
            data={"reason": "token_needed"},
        )
    return Refused(
        f"{tool} changes data, which needs a token over HTTP.",
        hint="Send the header Authorization: Bearer <token>. Set CLEW_TOKEN or --token-file for the server, or let "
        "`clew init --client NAME --url URL` make a token.",
        data={"reason": "token_needed"},
    )


def _progress_to(ctx: Context) -> Callable[[int, int, str], None]:
    """A function that reports progress from the worker thread, at most once per percent."""
    last = -1

    def report(done: int, total: int, message: str) -> None:
        nonlocal last
        percent = done * 100 // total if total else 0
        if percent != last:
            last = percent
            anyio.from_thread.run(ctx.session.report_progress, float(done), float(total), message)

    return report
