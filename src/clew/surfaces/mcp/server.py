"""The MCP server: the registry, spoken over the protocol.

Both eras are served by the SDK: the current stateless revision and clients that still initialise. Nothing here knows a
tool by name, and nothing here touches the graph: `tools/list` answers before any file was read, and what calls need is
imported by the first one.
"""

import asyncio
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions

from clew import __version__
from clew.once import lazy
from clew.operation.declare import Toolset
from clew.operation.defaults import KEPT_IN_VIEW
from clew.operation.listing import ListedOperation
from clew.operation.switches import DOCUMENT_TOOLSETS
from clew.operation.toolsets import SERVER_NAME, Choice, ToolListing
from clew.project import Project
from clew.surfaces.mcp.resources import ScratchResources

if TYPE_CHECKING:
    from clew.surfaces.mcp.audit import AuditLog
    from clew.surfaces.mcp.calling import Calls
    from clew.surfaces.mcp.following import FollowedListing
    from clew.surfaces.mcp.offers import Offers

LIST_TTL_MS = 60_000
_ANSWERED_AFTER_SECONDS = 0.1
_IN_VIEW = {"anthropic/alwaysLoad": True}

Context = ServerRequestContext[Any, Any]


class Surface:
    """One server's view of a project, through a listing of tools."""

    following: "FollowedListing | None" = None
    """None for a listing that somebody chose."""

    def __init__(
        self,
        project: Project,
        listing: ToolListing,
        audit: "AuditLog | None" = None,
        choice: Choice | None = None,
    ) -> None:
        self.project = project
        self._audit = audit
        self.listing = listing
        self._listed = listed(listing)
        if choice is not None and choice.follows_folder:
            from clew.surfaces.mcp.following import FollowedListing

            self.following = FollowedListing(project, choice, self._show)
        self.resources = ScratchResources(project, listing.scheme or project.config.kb.scheme)

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> Any:
        # A host that lists tools is about to call one. Reading begins once the answer is on its way: both at the same
        # time would make the host wait for modules that only reading needs.
        asyncio.get_running_loop().call_later(_ANSWERED_AFTER_SECONDS, self.project.build_in_background)
        if self.following is not None:
            self.following.join(ctx)
        return self._listed

    def _show(self, listing: ToolListing) -> None:
        """Show other tools from now on; those that can be called stay as they are."""
        self._listed = listed(listing)

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        return await self._calls.call_tool(ctx, params)

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        if offers_texts(self.listing) and not self.resources.is_passage(params.uri):
            return await self._offers.read(params.uri)
        return await self._calls.read_resource(ctx, params)

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return await self._offers.list_resources(params.cursor if params is not None else None)

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return self._offers.list_templates()

    async def list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return self._offers.list_prompts()

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await self._offers.get_prompt(params.name, params.arguments or {})

    @lazy
    def _offers(self) -> "Offers":
        from clew.surfaces.mcp.offers import Offers

        return Offers(self.project, self.listing)

    @lazy
    def _calls(self) -> "Calls":
        from clew.surfaces.mcp.calling import Calls

        return Calls(self.project, self.listing, self.resources, self._audit)


class ToolServer(Server[Any]):
    """An SDK server that says whether its list of tools may change."""

    lists_follow: bool = False

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=self.lists_follow)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


def listed(listing: ToolListing) -> dict[str, Any]:
    """The list in the form in which it is sent, which the SDK checks: making its objects first would only cost time."""
    shown = [describe(tool, structured=is_structured(listing, tool), whole=listing.whole) for tool in listing.shown]
    if listing.server_name == SERVER_NAME:
        for each in shown:
            if each["name"] in KEPT_IN_VIEW:
                each["_meta"] = {**each.get("_meta", {}), **_IN_VIEW}
    return {"resultType": "complete", "tools": shown, "ttlMs": LIST_TTL_MS, "cacheScope": "private"}


def build_server(surface: Surface, instructions: str) -> Server[Any]:
    """An SDK server that can be run over any transport."""
    is_about_texts = offers_texts(surface.listing)
    has_resources = is_about_texts or any(tool.links for tool in surface.listing.callable)
    following = surface.following
    built = ToolServer(
        surface.listing.server_name,
        version=__version__,
        title="Clew",
        instructions=instructions,
        on_list_tools=surface.list_tools,
        on_call_tool=surface.call_tool,
        # Arguments that have to be repeated in headers: no tool has any. Without this, the SDK would make the whole
        # list of tools for every call, to look for them.
        get_tool_input_schema=lambda name: None,
        on_list_resources=surface.list_resources if has_resources else None,
        on_list_resource_templates=surface.list_templates if has_resources else None,
        on_read_resource=surface.read_resource if has_resources else None,
        on_list_prompts=surface.list_prompts if is_about_texts else None,
        on_get_prompt=surface.get_prompt if is_about_texts else None,
        on_subscriptions_listen=following.subscribe if following is not None else None,
    )
    built.lists_follow = following is not None
    return built


def offers_texts(listing: ToolListing) -> bool:
    """True if a server has specs or requirements as resources, and prompts about them."""
    return any(tool.toolset in (Toolset.SPECS, Toolset.TRACE, Toolset.REGISTER) for tool in listing.callable)


_OF_PAGES = ("cursor", "max_tokens")


def describe(tool: ListedOperation, *, structured: bool = True, whole: bool = False) -> dict[str, Any]:
    """The tool as it is listed. Where answers are `whole`, as those of req, arguments of pages and schemas of answers
    would only fill the client's context."""
    description: dict[str, Any] = {
        "name": tool.name,
        **({"title": tool.title} if tool.title else {}),
        "description": tool.description,
        "inputSchema": _without_pages(tool.input_schema) if whole else tool.input_schema,
        "annotations": {
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": False,
        },
    }
    if structured and not whole:
        description["outputSchema"] = tool.output_schema
    if (meta := meta_of(tool)) is not None:
        description["_meta"] = meta
    return description


def _without_pages(schema: dict[str, Any]) -> dict[str, Any]:
    properties = {name: each for name, each in schema["properties"].items() if name not in _OF_PAGES}
    return {**schema, "properties": properties}


def is_structured(listing: ToolListing, tool: ListedOperation) -> bool:
    return listing.structured or tool.toolset not in DOCUMENT_TOOLSETS


def meta_of(tool: ListedOperation) -> dict[str, Any] | None:
    return {"schema_version": tool.schema_version} if tool.schema_version is not None else None
