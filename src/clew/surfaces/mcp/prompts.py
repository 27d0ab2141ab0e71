"""Prompts of the protocol: tasks that a person picks in a client, with the text that is meant where one is."""

# Implements: REQ-d00528

from difflib import get_close_matches

import mcp_types as types
from mcp.shared.exceptions import MCPError

from clew.errors import ClewError
from clew.operation.listing import all_tools
from clew.operation.names import by_any_spelling
from clew.operation.toolsets import Listing
from clew.setup.tasks import TASKS, Task
from clew.surfaces.mcp.project_texts import ProjectTexts, Text
from clew.text.display import shortened

LONGEST_ARGUMENT = 2_000


class Prompts:
    """The tasks that fit what a server shows, with the names that it gives its tools."""

    def __init__(self, texts: ProjectTexts, listing: Listing) -> None:
        self._texts = texts
        self._names = {name: tool.name for name, tool in by_any_spelling(listing.shown).items()}
        tools, kinds = frozenset(by_any_spelling(all_tools())), (None, *texts.kinds())
        self._tasks = {
            task.name: task for task in TASKS if task.needs in kinds and task.tools & tools <= self._names.keys()
        }

    def listed(self) -> list[types.Prompt]:
        return [_described(task) for task in self._tasks.values()]

    def made(self, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
        """A prompt with what the user wrote in it, and the text of what its argument names."""
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

    def _with_listed_names(self, task: Task) -> Task:
        """The names of tools are respelled before what the user wrote is put in."""
        text = task.text
        for name in task.tools & self._names.keys():
            text = text.replace(f"`{name}`", f"`{self._names[name]}`")
        return Task(task.name, task.title, task.description, task.arguments, text)


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
            return f"The prompt {task.name} needs the argument '{name}': {each.description}."
    return None


def _user_message(text: str) -> types.PromptMessage:
    return types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))


def _quoted(text: Text) -> types.PromptMessage:
    contents = types.TextResourceContents(uri=text.uri, mime_type=text.mime_type, text=text.text)
    return types.PromptMessage(role="user", content=types.EmbeddedResource(type="resource", resource=contents))


def _refused(message: str) -> MCPError:
    return MCPError(code=types.INVALID_PARAMS, message=message)
