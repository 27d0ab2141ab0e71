"""The fixture's resources, prompts and completions."""

import json
from collections.abc import Callable, Mapping

import mcp_types as types
from mcp.shared.exceptions import MCPError
from tests.conformance.answers import input_required
from tests.conformance.answers.media import red_pixel
from tests.conformance.answers.tool import Context

TEMPLATE_PREFIX, TEMPLATE_SUFFIX = "test://template/", "/data"
RESOURCES = (
    types.Resource(uri="test://static-text", name="static text", description="A text", mime_type="text/plain"),
    types.Resource(uri="test://static-binary", name="static binary", description="A picture", mime_type="image/png"),
    types.Resource(uri="test://watched-resource", name="watched", description="Can be watched", mime_type="text/plain"),
)
TEMPLATES = (
    types.ResourceTemplate(
        uri_template=TEMPLATE_PREFIX + "{id}" + TEMPLATE_SUFFIX,
        name="by id",
        description="One text per id",
        mime_type="application/json",
    ),
)
ARGUMENT_VALUES = ("paris", "park", "party", "test", "testing")


async def list_resources(_: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=list(RESOURCES))


async def list_templates(_: Context, __: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=list(TEMPLATES))


async def read_resource(_: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = params.uri
    contents: types.TextResourceContents | types.BlobResourceContents
    if uri == "test://static-binary":
        contents = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=red_pixel())
    elif uri in {"test://static-text", "test://watched-resource"}:
        contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text="A text that never changes.")
    elif uri.startswith(TEMPLATE_PREFIX) and uri.endswith(TEMPLATE_SUFFIX):
        item = uri.removeprefix(TEMPLATE_PREFIX).removesuffix(TEMPLATE_SUFFIX)
        contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps({"id": item}))
    else:
        raise MCPError(types.INVALID_PARAMS, f"No resource has the address {uri}.", {"uri": uri})
    return types.ReadResourceResult(contents=[contents])


async def accept_subscription(
    _: Context, __: types.SubscribeRequestParams | types.UnsubscribeRequestParams
) -> types.EmptyResult:
    return types.EmptyResult()


async def complete(_: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    values = [value for value in ARGUMENT_VALUES if value.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))


def _message(content: types.ContentBlock) -> types.PromptMessage:
    return types.PromptMessage(role="user", content=content)


def _text(text: str) -> types.PromptMessage:
    return _message(types.TextContent(type="text", text=text))


def _simple(_: Mapping[str, str]) -> list[types.PromptMessage]:
    return [_text("A prompt without arguments.")]


def _with_arguments(arguments: Mapping[str, str]) -> list[types.PromptMessage]:
    return [_text(f"arg1={arguments['arg1']!r}, arg2={arguments['arg2']!r}")]


def _with_resource(arguments: Mapping[str, str]) -> list[types.PromptMessage]:
    contents = types.TextResourceContents(
        uri=arguments["resourceUri"], mime_type="text/plain", text="An embedded text."
    )
    return [_message(types.EmbeddedResource(type="resource", resource=contents)), _text("Read the resource above.")]


def _with_image(_: Mapping[str, str]) -> list[types.PromptMessage]:
    image = types.ImageContent(type="image", data=red_pixel(), mime_type="image/png")
    return [_message(image), _text("Describe the image above.")]


Messages = Callable[[Mapping[str, str]], list[types.PromptMessage]]
PROMPTS: Mapping[str, tuple[str, tuple[str, ...], Messages]] = {
    "test_simple_prompt": ("Takes no arguments.", (), _simple),
    "test_prompt_with_arguments": ("Takes two arguments.", ("arg1", "arg2"), _with_arguments),
    "test_prompt_with_embedded_resource": ("Embeds a resource.", ("resourceUri",), _with_resource),
    "test_prompt_with_image": ("Holds an image.", (), _with_image),
}


async def list_prompts(_: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    prompts = [
        types.Prompt(
            name=name,
            description=description,
            arguments=[types.PromptArgument(name=argument, required=True) for argument in arguments],
        )
        for name, (description, arguments, _messages) in PROMPTS.items()
    ]
    prompts.append(types.Prompt(name=input_required.PROMPT_NAME, description="Needs a context of the user."))
    return types.ListPromptsResult(prompts=prompts)


async def get_prompt(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    if params.name == input_required.PROMPT_NAME:
        return await input_required.prompt(ctx, params)
    if params.name not in PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"No prompt is called {params.name!r}.")
    description, required, messages = PROMPTS[params.name]
    arguments = params.arguments or {}
    missing = [name for name in required if name not in arguments]
    if missing:
        raise MCPError(types.INVALID_PARAMS, f"The prompt {params.name!r} needs the arguments {', '.join(missing)}.")
    return types.GetPromptResult(description=description, messages=messages(arguments))
