"""Tools that return each kind of content, and the tool whose schema must survive the listing unchanged."""

from typing import Any

import mcp_types as types
from tests.conformance.answers.media import red_pixel, silence
from tests.conformance.answers.tool import Context, FixtureTool, Params, text_result

SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
HEADER_ARGUMENT: dict[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
    "additionalProperties": False,
}


def _image() -> types.ImageContent:
    return types.ImageContent(type="image", data=red_pixel(), mime_type="image/png")


def _embedded(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.EmbeddedResource(type="resource", resource=contents)


async def image_content(_: Context, __: Params) -> types.CallToolResult:
    return types.CallToolResult(content=[_image()])


async def audio_content(_: Context, __: Params) -> types.CallToolResult:
    return types.CallToolResult(content=[types.AudioContent(type="audio", data=silence(), mime_type="audio/wav")])


async def embedded_resource(_: Context, __: Params) -> types.CallToolResult:
    return types.CallToolResult(content=[_embedded("test://embedded-resource", "text/plain", "An embedded text.")])


async def multiple_content_types(_: Context, __: Params) -> types.CallToolResult:
    return types.CallToolResult(
        content=[
            types.TextContent(type="text", text="A text, an image and a resource:"),
            _image(),
            _embedded("test://mixed-content-resource", "application/json", '{"kind": "mixed"}'),
        ]
    )


async def echo_arguments(_: Context, params: Params) -> types.CallToolResult:
    return text_result(f"arguments: {params.arguments or {}}")


TOOLS = (
    FixtureTool("test_image_content", "Returns one image.", image_content),
    FixtureTool("test_audio_content", "Returns one sound.", audio_content),
    FixtureTool("test_embedded_resource", "Returns one embedded resource.", embedded_resource),
    FixtureTool("test_multiple_content_types", "Returns three kinds of content.", multiple_content_types),
    FixtureTool("json_schema_2020_12_tool", "Has a schema of every keyword.", echo_arguments, SCHEMA_2020_12),
    FixtureTool("test_header_argument", "Takes an argument mirrored in a header.", echo_arguments, HEADER_ARGUMENT),
)
