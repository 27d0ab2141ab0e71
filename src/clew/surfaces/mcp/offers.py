"""What a server offers besides tools: specs, changes and requirements as resources, and prompts about them.

A server imports this when a client first asks for it.
"""

from functools import partial

import anyio.to_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError

from clew.errors import ClewError
from clew.kb.error_codes import envelope
from clew.operation.toolsets import Listing
from clew.project import Project
from clew.surfaces.mcp.project_texts import CHANGE, REQUIREMENT, SPEC, ProjectTexts
from clew.surfaces.mcp.prompts import Prompts
from clew.surfaces.mcp.resources import passage_template

PAGE = 100
_TITLES = {
    SPEC: ("Specs", "A spec as its file says it"),
    CHANGE: ("Open changes", "The files of an open change, one below the other"),
    REQUIREMENT: ("Requirements", "A requirement as its file says it"),
}


class Offers:
    def __init__(self, project: Project, listing: Listing) -> None:
        self._scheme = listing.scheme or project.config.kb.scheme
        self._points_to_passages = any(tool.links for tool in listing.callable)
        self._texts = ProjectTexts(project, listing)
        self._prompts = Prompts(self._texts, listing)

    async def list_resources(self, cursor: str | None) -> types.ListResourcesResult:
        """A page of everything that has an address. A cursor is the number of the first one that is left."""
        if cursor is not None and not cursor.isdecimal():
            raise MCPError(code=types.INVALID_PARAMS, message=f"'{cursor[:80]}' is no cursor of this list.")
        known = await _in_thread(self._texts.known)
        start = int(cursor or 0)
        shown = [
            types.Resource(uri=each.uri, name=each.name, title=each.title, mime_type=each.mime_type)
            for each in known[start : start + PAGE]
        ]
        more = str(start + PAGE) if start + PAGE < len(known) else None
        return types.ListResourcesResult(resources=shown, next_cursor=more)

    def list_templates(self) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(
                name=kind,
                title=_TITLES[kind][0],
                uri_template=self._texts.template(kind),
                description=_TITLES[kind][1] + ".",
            )
            for kind in self._texts.kinds()
        ]
        passages = [passage_template(self._scheme)] if self._points_to_passages else []
        return types.ListResourceTemplatesResult(resource_templates=[*passages, *templates])

    async def read(self, uri: str) -> types.ReadResourceResult:
        try:
            found = await _in_thread(partial(self._texts.read, uri))
        except ClewError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=str(error), data=envelope(error)) from error
        contents = types.TextResourceContents(uri=uri, mime_type=found.mime_type, text=found.text)
        return types.ReadResourceResult(contents=[contents])

    def list_prompts(self) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=self._prompts.listed())

    async def get_prompt(self, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
        return await _in_thread(partial(self._prompts.made, name, arguments))


_in_thread = anyio.to_thread.run_sync
