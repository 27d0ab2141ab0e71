"""One JSON-RPC message out of the bytes that a client sent, or the error that it deserves.

Every transport reads messages here before the SDK sees them: the SDK drops what it cannot read, takes a request with an
odd id for a notification, and leaves the client waiting for an answer that never comes.
"""

import json
import re
from typing import Any

import msgspec
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

_LONGEST_ID = 1_000
_LARGEST_ID = 2**63 - 1
_ID_HINT = f"Use a string of at most {_LONGEST_ID} characters or a whole number of 64 bits."
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

Id = str | int | None


class Malformed(msgspec.Struct, frozen=True):
    """The reason why a message cannot be handled, with the id of the request that it answers."""

    code: int
    message: str
    hint: str
    id: Id = None
    """The id of the request; None where there is no usable one."""
    is_response: bool = False
    """True if the client sent a response: over a pipe it gets no answer, since the two might go on for ever."""

    def error(self) -> JSONRPCError:
        data = {"recovery": self.hint}
        error = ErrorData(code=self.code, message=self.message, data=data)
        return JSONRPCError(jsonrpc="2.0", id=self.id, error=error)


def read_message(data: bytes) -> JSONRPCMessage | Malformed:
    """The message in `data`."""
    decoded = _decoded(data)
    problem = decoded if isinstance(decoded, Malformed) else _problem(decoded)
    if problem is not None:
        return problem
    try:
        return jsonrpc_message_adapter.validate_python(decoded, by_name=False)
    except ValidationError:
        return _invalid("This is not a JSON-RPC 2.0 message.", is_response="method" not in decoded)


def check_message(data: bytes) -> Malformed | None:
    """The reason why `data` cannot be handled; None for a valid message, which the SDK then reads itself."""
    decoded = _decoded(data)
    return decoded if isinstance(decoded, Malformed) else _problem(decoded)


class CheckedMessages:
    """Wraps an ASGI application that takes JSON-RPC messages; an invalid one is answered before it gets there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST" and is_json(scope):
            # The guard has read the whole body.
            problem = check_message(scope["state"]["body"])
            if problem is not None:
                await refused(problem)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def is_json(scope: Scope) -> bool:
    """True if a request declares its body as JSON."""
    kind = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    return bool(kind.partition(b";")[0].strip().lower() == b"application/json")


def refused(problem: Malformed) -> Response:
    """The answer over HTTP."""
    body = problem.error().model_dump_json(by_alias=True, exclude_unset=True)
    return Response(body, status_code=400, media_type="application/json")


def _decoded(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except UnicodeDecodeError:
        return Malformed(PARSE_ERROR, "The message is not UTF-8 text.", "Send one JSON-RPC object in UTF-8.")
    except RecursionError:
        return Malformed(PARSE_ERROR, "The message is nested too deeply.", "Send flatter arguments.")
    except (msgspec.DecodeError, ValueError):
        return _half_pair(data) or Malformed(
            PARSE_ERROR, "The message is not valid JSON.", "Send one JSON-RPC object in UTF-8, without line breaks."
        )


def _half_pair(data: bytes) -> Malformed | None:
    """The error for a message that holds half of a surrogate pair, which is no text. The grammar of JSON allows it, so
    the id of the message is known."""
    try:
        decoded = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not _LONE_SURROGATE.search(json.dumps(decoded, ensure_ascii=False)):
        return None
    hint = "Escape a character beyond U+FFFF as a whole pair, or send it as it is."
    problem = _problem(decoded) or Malformed(INVALID_PARAMS, "", hint, decoded.get("id"))
    id = None if isinstance(problem.id, str) and _LONE_SURROGATE.search(problem.id) else problem.id
    return msgspec.structs.replace(problem, message="The message holds half of a surrogate pair.", hint=hint, id=id)


def _problem(decoded: Any) -> Malformed | None:
    """The error for a decoded message; None if it is valid."""
    if isinstance(decoded, list):
        return _invalid("Batches are not supported.", "Send every message by itself.")
    if not isinstance(decoded, dict):
        return _invalid(f"A message is an object, not {_kind(decoded)}.")
    is_response = "method" not in decoded and ("result" in decoded or "error" in decoded)
    id = decoded.get("id")
    if "id" in decoded and not is_usable(id) and not (id is None and "error" in decoded):
        return _invalid(f"The id is {_kind(id)}.", _ID_HINT, is_response=is_response)
    if decoded.get("jsonrpc") != "2.0":
        return _invalid('The member jsonrpc is not "2.0".', id=id, is_response=is_response)
    if is_response:
        return None
    if not isinstance(decoded.get("method"), str):
        return _invalid("The member method is not a string.", id=id)
    params = decoded.get("params")
    if isinstance(params, list):
        hint = "Send params as an object with named members."
        return Malformed(INVALID_PARAMS, "The member params is an array.", hint, id)
    if params is not None and not isinstance(params, dict):
        return _invalid(f"The member params is {_kind(params)}.", "Send params as an object.", id=id)
    return None


def is_usable(id: Any) -> bool:
    """True if an id can be returned as it is."""
    if isinstance(id, str):
        return len(id) <= _LONGEST_ID
    return isinstance(id, int) and not isinstance(id, bool) and -_LARGEST_ID <= id <= _LARGEST_ID


def _invalid(
    message: str,
    hint: str = "Send one object with jsonrpc, method and, for a request, an id.",
    *,
    id: Id = None,
    is_response: bool = False,
) -> Malformed:
    return Malformed(INVALID_REQUEST, message, hint, id, is_response)


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case float():
            return "a number with a fraction"
        case int():
            return "a number" if is_usable(value) else "a number of more than 64 bits"
        case str():
            return "a string" if len(value) <= _LONGEST_ID else "too long a string"
        case list():
            return "an array"
    return "an object"
