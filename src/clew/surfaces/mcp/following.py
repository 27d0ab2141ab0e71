"""A listing that follows the folder: when a format of requirements comes or goes, clients are told that it changed.

Only a listing that nobody chose follows. What is looked at are a few names; nothing is opened.
"""

# Implements: REQ-d00850-C

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from clew.config import formats_of
from clew.operation.listing import all_tools
from clew.operation.toolsets import Choice, ToolListing, choose

if TYPE_CHECKING:
    from mcp.server.connection import Connection

    from clew.project import Project

LOOK_SECONDS = 2.0

Context = ServerRequestContext[Any, Any]


class FollowedListing:
    """The tools that are shown, as the folder is now, and everybody who is told when they change."""

    def __init__(self, project: "Project", choice: Choice, changed: Callable[[ToolListing], None]) -> None:
        self._config = project.config
        self._choice = choice
        self._changed = changed
        self._bus = InMemorySubscriptionBus()
        self._handler = ListenHandler(self._bus)
        self._connections: WeakSet[Connection] = WeakSet()
        self._task: asyncio.Task[None] | None = None

    def join(self, ctx: Context) -> None:
        """Tell this client of the earlier revisions from now on; those of the current one subscribe."""
        # The SDK makes a session for each request, and names the connection behind it nowhere else.
        self._connections.add(ctx.session._connection)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._follow())

    async def subscribe(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """A subscription of the current revision. Of all that can be asked for, the list of tools is what changes."""
        asked = types.SubscriptionFilter(tools_list_changed=params.notifications.tools_list_changed)
        return await self._handler(ctx, params.model_copy(update={"notifications": asked}))

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Look at the folder, and tell everybody if the listing is another one."""
        formats = await asyncio.to_thread(formats_of, self._config)
        if formats == self._choice.formats:
            return
        self._choice = msgspec.structs.replace(self._choice, formats=formats)
        self._changed(choose(all_tools(), self._choice))
        await self._bus.publish(ToolsListChanged())
        for connection in list(self._connections):
            await connection.send_tool_list_changed()
