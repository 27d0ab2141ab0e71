"""A server that was started outside of a project: it answers the first requests of a client, and every call says why
there are no tools. If it did not answer, a host would only show that the server failed."""

from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from clew.errors import ClewError
from clew.operation.toolsets import ToolListing
from clew.surfaces.mcp.server import Context, Surface, listed

# Implements: REQ-d00637-C


class SurfaceWithoutProject(Surface):
    def __init__(self, listing: ToolListing, problem: ClewError) -> None:
        self.listing = listing
        self._listed = listed(listing)
        self._problem = str(problem)

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> Any:
        return self._listed

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text=self._problem)], is_error=True)

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        raise MCPError(code=types.INVALID_PARAMS, message=self._problem)

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[])

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[])

    async def list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[])

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        raise MCPError(code=types.INVALID_PARAMS, message=self._problem)
