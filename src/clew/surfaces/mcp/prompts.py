"""Everyday tasks as prompts of the protocol: a person picks one in a client, and the agent gets the steps."""

# Implements: REQ-d00528

from difflib import get_close_matches
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from clew.operation.names import by_any_spelling
from clew.operation.toolsets import Listing
from clew.setup.tasks import TASKS, Task
from clew.text.shortening import shortened

LONGEST_ARGUMENT = 2_000

Context = ServerRequestContext[Any, Any]


class TaskPrompts:
    """The tasks whose tools a listing has, told under the names that it gives them."""

    def __init__(self, listing: Listing) -> None:
        self._names = {name: tool.name for name, tool in by_any_spelling(listing.shown).items()}
        known = _all_names()
        self._tasks = {task.name: task for task in TASKS if task.tools & known <= self._names.keys()}

    @property
    def any(self) -> bool:
        return bool(self._tasks)

    async def list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_described(task) for task in self._tasks.values()])

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        task = self._tasks.get(params.name)
        if task is None:
            close = get_close_matches(params.name[:80], self._tasks, n=1)
            meant = f" Did you mean '{close[0]}'?" if close else ""
            known = ", ".join(self._tasks)
            message = f"There is no prompt '{shortened(params.name)}'.{meant} The prompts are {known}."
            raise MCPError(code=types.INVALID_PARAMS, message=message)
        given = dict(params.arguments or {})
        if problem := _problem(task, given):
            raise MCPError(code=types.INVALID_PARAMS, message=problem)
        text = types.TextContent(type="text", text=self._told(task, given))
        return types.GetPromptResult(
            description=task.description, messages=[types.PromptMessage(role="user", content=text)]
        )

    def _told(self, task: Task, given: dict[str, str]) -> str:
        """The names of tools are respelled before what the user wrote is put in."""
        text = task.text
        for name in task.tools & self._names.keys():
            text = text.replace(f"`{name}`", f"`{self._names[name]}`")
        return Task(task.name, task.title, task.description, task.arguments, text).filled(given)


def _all_names() -> frozenset[str]:
    from clew.operation.listing import all_tools

    return frozenset(by_any_spelling(all_tools()))


def _described(task: Task) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=each.name, description=each.description, required=each.required)
        for each in task.arguments
    ]
    return types.Prompt(name=task.name, title=task.title, description=task.description, arguments=arguments)


def _problem(task: Task, given: dict[str, str]) -> str | None:
    """What is wrong with the arguments: the name, the rule and the next step."""
    known = {each.name: each for each in task.arguments}
    for name, value in given.items():
        if name not in known:
            return f"The prompt {task.name} has no argument '{shortened(name)}'; it has {', '.join(known)}."
        if len(value) > LONGEST_ARGUMENT:
            return f"'{name}' has {len(value):,} characters; {LONGEST_ARGUMENT:,} are the most. Say it in fewer."
    for name, each in known.items():
        if each.required and not given.get(name, "").strip():
            return f"The prompt {task.name} needs '{name}': {each.description}."
    return None
