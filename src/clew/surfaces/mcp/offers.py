"""Resources and prompts of a server: specs, changes and requirements as resources, and prompts about them.

A server imports this when a client first asks for it.
"""

# Implements: REQ-d00528

from difflib import get_close_matches
from functools import partial

import anyio.to_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError

from clew.errors import ClewError
from clew.operation.listing import all_tools
from clew.operation.names import by_any_spelling
from clew.operation.toolsets import ToolListing
from clew.project import Project
from clew.setup.tasks import TASKS, AgentTask
from clew.surfaces.mcp.dialects import document_envelope
from clew.surfaces.mcp.project_texts import CHANGE, REQUIREMENT, SPEC, ProjectTexts, ResourceText
from clew.surfaces.mcp.resources import passage_template
from clew.text.display import shortened

PAGE = 100
_TITLES = {
    SPEC: ("Specs", "A spec as its file says it"),
    CHANGE: ("Open changes", "The files of an open change, one below the other"),
    REQUIREMENT: ("Requirements", "A requirement as its file says it"),
}

LONGEST_ARGUMENT = 2_000
_UNLISTED = "\nA tool that your list does not show is called with tools_call, by its name and arguments.\n"


class Offers:
    def __init__(self, project: Project, listing: ToolListing) -> None:
        self._scheme = listing.scheme or project.config.kb.scheme
        self._points_to_passages = any(tool.links for tool in listing.callable)
        self._texts = ProjectTexts(project, listing)
        self._prompts = Prompts(self._texts, listing)

    async def list_resources(self, cursor: str | None) -> types.ListResourcesResult:
        """A page of everything that has an address. A cursor is the number of the first one that is left."""
        if cursor is not None and not cursor.isdecimal():
            raise MCPError(code=types.INVALID_PARAMS, message=f"'{cursor[:80]}' is not a cursor of this list.")
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
            raise MCPError(code=types.INVALID_PARAMS, message=str(error), data=document_envelope(error)) from error
        contents = types.TextResourceContents(uri=uri, mime_type=found.mime_type, text=found.text)
        return types.ReadResourceResult(contents=[contents])

    def list_prompts(self) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=self._prompts.listed())

    async def get_prompt(self, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
        return await _in_thread(partial(self._prompts.made, name, arguments))


_in_thread = anyio.to_thread.run_sync


class Prompts:
    """The tasks that fit the tools that can be called, with their listed names."""

    def __init__(self, texts: ProjectTexts, listing: ToolListing) -> None:
        self._texts = texts
        self._names = {name: tool.name for name, tool in by_any_spelling(listing.callable).items()}
        self._shown = frozenset(by_any_spelling(listing.shown))
        tools, kinds = frozenset(by_any_spelling(all_tools())), (None, *texts.kinds())
        self._tasks = {
            task.name: task for task in TASKS if task.needs in kinds and task.tools & tools <= self._names.keys()
        }

    def listed(self) -> list[types.Prompt]:
        return [_described(task) for task in self._tasks.values()]

    def made(self, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
        """A prompt with the user's words, and the text that its argument names."""
        task = self._tasks.get(name)
        if task is None:
            close = get_close_matches(name[:80], self._tasks, n=1)
            meant = f" Did you mean '{close[0]}'?" if close else ""
            raise _refused(f"There is no prompt '{shortened(name)}'.{meant} Prompts are: {', '.join(self._tasks)}.")
        if problem := _problem(task, arguments):
            raise _refused(problem)
        given = {name: value.strip() for name, value in arguments.items()}
        try:
            quoted = self._texts.text(task.quotes, given[task.arguments[0].name]) if task.quotes else None
        except ClewError as error:
            raise _refused(str(error)) from error
        messages = [
            _user_message(self._with_listed_names(task).filled(given)),
            *([_quoted(quoted)] if quoted is not None else []),
        ]
        return types.GetPromptResult(description=task.description, messages=messages)

    def _with_listed_names(self, task: AgentTask) -> AgentTask:
        """The prompt with the listed names of tools, before the user's words are inserted."""
        text = task.text
        for name in task.tools & self._names.keys():
            text = text.replace(f"`{name}`", f"`{self._names[name]}`")
        if not task.tools & self._names.keys() <= self._shown:
            text += _UNLISTED
        return AgentTask(task.name, task.title, task.description, task.arguments, text)


def _described(task: AgentTask) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=each.name, description=each.description, required=each.required)
        for each in task.arguments
    ]
    return types.Prompt(name=task.name, title=task.title, description=task.description, arguments=arguments)


def _problem(task: AgentTask, given: dict[str, str]) -> str | None:
    """The first problem of the arguments: the name, the rule and the next step."""
    known = {each.name: each for each in task.arguments}
    for name, value in given.items():
        if name not in known:
            return f"The prompt {task.name} has no argument '{shortened(name)}'; it has {', '.join(known)}."
        if len(value) > LONGEST_ARGUMENT:
            return f"'{name}' has {len(value):,} characters; {LONGEST_ARGUMENT:,} are the most. Say it in fewer."
    for name, each in known.items():
        if each.required and not given.get(name, "").strip():
            return f"The prompt {task.name} needs the argument '{name}': {each.description}."
    return None


def _user_message(text: str) -> types.PromptMessage:
    return types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))


def _quoted(text: ResourceText) -> types.PromptMessage:
    contents = types.TextResourceContents(uri=text.uri, mime_type=text.mime_type, text=text.text)
    return types.PromptMessage(role="user", content=types.EmbeddedResource(type="resource", resource=contents))


def _refused(message: str) -> MCPError:
    return MCPError(code=types.INVALID_PARAMS, message=message)
