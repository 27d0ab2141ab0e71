"""Tools and a prompt that answer with the inputs they still need; the client calls again with the responses."""

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from tests.conformance.answers.tool import Context, FixtureTool, Params, Result, text_result

PROMPT_NAME = "test_input_required_result_prompt"


def ask_user(message: str, field: str, kind: str = "string") -> types.ElicitRequest:
    form = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=form))


def ask_model(question: str) -> types.CreateMessageRequest:
    content = types.TextContent(type="text", text=question)
    messages = [types.SamplingMessage(role="user", content=content)]
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=messages, max_tokens=100))


def _needs(requests: Mapping[str, types.InputRequest], state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=dict(requests), request_state=state)


def _answered(params: types.InputResponseRequestParams, *keys: str) -> bool:
    return all(key in (params.input_responses or {}) for key in keys)


def _form_value(params: types.InputResponseRequestParams, key: str, field: str) -> Any:
    """What the user typed, or None when the response is of another kind or the user declined."""
    response = (params.input_responses or {}).get(key)
    if isinstance(response, types.ElicitResult) and response.content is not None:
        return response.content.get(field)
    return None


async def elicitation(_: Context, params: Params) -> Result:
    name = _form_value(params, "user_name", "name")
    if name is None:
        return _needs({"user_name": ask_user("What is your name?", "name")})
    return text_result(f"Hello, {name}!")


async def sampling(_: Context, params: Params) -> Result:
    if not _answered(params, "capital_question"):
        return _needs({"capital_question": ask_model("What is the capital of France?")})
    return text_result("The client's model has answered.")


async def list_roots(_: Context, params: Params) -> Result:
    response = (params.input_responses or {}).get("client_roots")
    if not isinstance(response, types.ListRootsResult):
        return _needs({"client_roots": types.ListRootsRequest()})
    return text_result("roots: " + ", ".join(str(root.uri) for root in response.roots))


async def request_state(_: Context, params: Params) -> Result:
    if params.request_state is None:
        return _needs({"confirm": ask_user("Go on?", "ok", "boolean")}, state="waiting for confirmation")
    return text_result("state-ok")


async def multiple_inputs(_: Context, params: Params) -> Result:
    if not _answered(params, "user_name", "greeting", "client_roots"):
        requests: dict[str, types.InputRequest] = {
            "user_name": ask_user("What is your name?", "name"),
            "greeting": ask_model("Write a greeting."),
            "client_roots": types.ListRootsRequest(),
        }
        return _needs(requests, state="waiting for three inputs")
    return text_result("All three inputs arrived.")


async def multi_round(_: Context, params: Params) -> Result:
    if params.request_state is None:
        return _needs({"step1": ask_user("What is your name?", "name")}, state="step 1")
    if params.request_state == "step 1":
        name = _form_value(params, "step1", "name")
        return _needs({"step2": ask_user("What is your favourite colour?", "color")}, state=f"step 2 for {name}")
    return text_result(f"{params.request_state} is done: {_form_value(params, 'step2', 'color')}")


async def capabilities(ctx: Context, params: Params) -> Result:
    """Asks only for what the client declared that it can answer."""
    declared = ctx.session.client_capabilities or types.ClientCapabilities()
    requests: dict[str, types.InputRequest] = {}
    if declared.sampling is not None:
        requests["question"] = ask_model("Which capability is this?")
    if declared.elicitation is not None:
        requests["user_name"] = ask_user("What is your name?", "name")
    if not requests or _answered(params, *requests):
        return text_result("Nothing left to ask this client.")
    return _needs(requests)


async def missing_capability(ctx: Context, _: Params) -> Result:
    declared = ctx.session.client_capabilities
    if declared is None or declared.sampling is None:
        required = types.ClientCapabilities(sampling=types.SamplingCapability())
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=required)
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "This tool needs a client that declares the sampling capability.",
            data.model_dump(by_alias=True, mode="json", exclude_none=True),
        )
    return text_result("The client can sample.")


async def prompt(_: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult:
    context = _form_value(params, "user_context", "context")
    if context is None:
        return _needs({"user_context": ask_user("Which context?", "context")})
    content = types.TextContent(type="text", text=f"Use this context: {context}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


TOOLS = (
    FixtureTool("test_input_required_result_elicitation", "Needs the user's name.", elicitation),
    FixtureTool("test_input_required_result_sampling", "Needs an answer of the client's model.", sampling),
    FixtureTool("test_input_required_result_list_roots", "Needs the client's roots.", list_roots),
    FixtureTool("test_input_required_result_request_state", "Keeps state between two calls.", request_state),
    FixtureTool("test_input_required_result_multiple_inputs", "Needs three inputs at once.", multiple_inputs),
    FixtureTool("test_input_required_result_multi_round", "Needs two inputs, one after another.", multi_round),
    FixtureTool("test_input_required_result_tampered_state", "Keeps state nobody may change.", request_state),
    FixtureTool("test_input_required_result_capabilities", "Asks for what the client can answer.", capabilities),
    FixtureTool("test_streaming_elicitation", "Needs the user's name in the middle of a stream.", elicitation),
    FixtureTool("test_missing_capability", "Needs a client that can sample.", missing_capability),
)
