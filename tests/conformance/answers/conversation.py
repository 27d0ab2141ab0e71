"""Tools that speak to the client while they run: logs, sampling, elicitation, a closed stream."""

from typing import Any

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError
from tests.conformance.answers.tool import Context, FixtureTool, Params, one_argument, text_result

# The suite wants the notifications spread over the call, not sent in one burst at its end.
PAUSE_SECONDS = 0.05

DEFAULTS_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}


def _titled(prefix: str, noun: str) -> list[dict[str, str]]:
    return [{"const": f"{prefix}{n}", "title": f"{noun} {n}"} for n in (1, 2, 3)]


ENUMS_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": _titled("value", "Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
        },
        "titledMulti": {"type": "array", "items": {"anyOf": _titled("value", "Choice")}},
    },
}
CONTACT_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "The user's name"},
        "email": {"type": "string", "description": "The user's e-mail address"},
    },
    "required": ["username", "email"],
}


def _argument(params: Params, name: str) -> str:
    value = (params.arguments or {}).get(name)
    if not isinstance(value, str):
        raise MCPError(types.INVALID_PARAMS, f"{params.name} needs the string argument {name!r}, got {value!r}.")
    return value


async def with_logging(ctx: Context, _: Params) -> types.CallToolResult:
    for line in ("started", "half way", "done"):
        await ctx.session.send_log_message("info", f"tool {line}", related_request_id=ctx.request_id)
        await anyio.sleep(PAUSE_SECONDS)
    return text_result("Three log messages were sent.")


async def sampling(ctx: Context, params: Params) -> types.CallToolResult:
    prompt = types.TextContent(type="text", text=_argument(params, "prompt"))
    answer = await ctx.session.create_message(
        [types.SamplingMessage(role="user", content=prompt)], max_tokens=100, related_request_id=ctx.request_id
    )
    return text_result(f"The client's model answered: {answer.content}")


async def _elicit(ctx: Context, message: str, form: dict[str, Any]) -> types.CallToolResult:
    reply = await ctx.session.elicit_form(message, form, related_request_id=ctx.request_id)
    return text_result(f"action={reply.action}, content={reply.content}")


async def elicitation(ctx: Context, params: Params) -> types.CallToolResult:
    return await _elicit(ctx, _argument(params, "message"), CONTACT_FORM)


async def elicitation_defaults(ctx: Context, _: Params) -> types.CallToolResult:
    return await _elicit(ctx, "Every field has a default.", DEFAULTS_FORM)


async def elicitation_enums(ctx: Context, _: Params) -> types.CallToolResult:
    return await _elicit(ctx, "Every kind of choice.", ENUMS_FORM)


async def reconnection(ctx: Context, _: Params) -> types.CallToolResult:
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
        await anyio.sleep(PAUSE_SECONDS)
    return text_result("Sent after the stream was closed, if the transport can close it.")


TOOLS = (
    FixtureTool("test_tool_with_logging", "Sends three log messages.", with_logging),
    FixtureTool("test_logging_tool", "Sends three log messages if the client asked for them.", with_logging),
    FixtureTool("test_sampling", "Asks the client's model.", sampling, one_argument("prompt", "What to ask")),
    FixtureTool("test_elicitation", "Asks the user.", elicitation, one_argument("message", "What to show")),
    FixtureTool("test_elicitation_sep1034_defaults", "Asks with default values.", elicitation_defaults),
    FixtureTool("test_elicitation_sep1330_enums", "Asks with every kind of choice.", elicitation_enums),
    FixtureTool("test_reconnection", "Closes its own stream before it answers.", reconnection),
)
