"""Prompts of the protocol: what people ask agents to do with specs and requirements, with the text that is meant."""

from typing import NamedTuple

import mcp_types as types
from mcp.shared.exceptions import MCPError

from clew.errors import ClewError
from clew.surfaces.mcp.project_texts import CHANGE, REQUIREMENT, ProjectTexts, Text


class _Prompt(NamedTuple):
    name: str
    title: str
    description: str
    argument: str
    about: str
    kind: str
    """What the argument names; empty where it is said in the user's own words."""
    needs: str
    text: str


_PROMPTS = (
    _Prompt(
        *("propose_change", "Propose a change", "Write a change to the specs: proposal, deltas and tasks"),
        *("what", "What shall change, in your own words", "", CHANGE),
        "Propose a change to the specs of this project: {given}\n\n"
        "1. See which specs it concerns (list_specs, search_specs, get_spec_requirements).\n"
        "2. Choose a short id of lower-case words with hyphens, and write proposal.md: why, and what changes.\n"
        "3. Write a delta for each spec, with ADDED, MODIFIED, REMOVED or RENAMED requirements; a MODIFIED one repeats "
        "its whole text with all scenarios.\n"
        "4. Write tasks.md with numbered boxes.\n"
        "5. Call validate_change and mend what it reports. Build nothing yet.",
    ),
    _Prompt(
        *("apply_change", "Build a change", "Do the open tasks of a change, one after the other"),
        *("change", "The id of an open change", CHANGE, CHANGE),
        "Build the change '{given}', whose files follow.\n\n"
        "1. Read the requirements that it touches, and what the code does now.\n"
        "2. Do the open tasks in their order. Give each scenario a test that cites it, and tick what is done.\n"
        "3. Run the tests. Call validate_change and change_conflicts, and say what is left.",
    ),
    _Prompt(
        *("archive_change", "Archive a change", "See whether a change is done, then make its deltas part of the specs"),
        *("change", "The id of an open change", CHANGE, CHANGE),
        "See whether the change '{given}', whose files follow, can be archived.\n\n"
        "1. Every task is ticked, and every scenario has a test that passes.\n"
        "2. validate_change reports no error, and change_conflicts nothing that is in the way.\n"
        "3. If so, show what `clew change archive {given} --dry-run` would write, and archive it once the user agrees.",
    ),
    _Prompt(
        *("implement_requirement", "Implement a requirement", "Build what a requirement asks for, and cite it"),
        *("id", "The id of a requirement", REQUIREMENT, REQUIREMENT),
        "Implement the requirement {given}, whose text follows.\n\n"
        "1. See what implements and tests it already, and what it depends on.\n"
        "2. Build what is missing, assertion by assertion, and cite it above the code: `Implements: {given}`.\n"
        "3. Write a test for each assertion or criterion that has none, with `Verifies:` above it, and run the tests.\n"
        "4. Where the text is unclear or wrong, say so instead of guessing.",
    ),
    _Prompt(
        *("test_requirement", "Test a requirement", "Write the tests that a requirement lacks"),
        *("id", "The id of a requirement", REQUIREMENT, REQUIREMENT),
        "Write the tests that the requirement {given}, whose text follows, lacks.\n\n"
        "1. See which assertions or criteria have a test that would fail if they did not hold.\n"
        "2. Write one for each of the others, with `Verifies:` and the id above it, and run them.\n"
        "3. Report what could not be tested, and why.",
    ),
)


class Prompts:
    """The prompts that fit what a server shows."""

    def __init__(self, texts: ProjectTexts) -> None:
        self._texts = texts
        self._prompts = {each.name: each for each in _PROMPTS if each.needs in texts.kinds()}

    def listed(self) -> list[types.Prompt]:
        return [
            types.Prompt(
                name=each.name,
                title=each.title,
                description=each.description,
                arguments=[types.PromptArgument(name=each.argument, description=each.about, required=True)],
            )
            for each in self._prompts.values()
        ]

    def made(self, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
        """A prompt with the text of what its argument names."""
        prompt = self._prompts.get(name)
        if prompt is None:
            raise _refused(f"There is no prompt '{name[:120]}'. Prompts are: {', '.join(self._prompts)}.")
        given = arguments.get(prompt.argument, "").strip()
        if not given:
            raise _refused(f"The prompt {name} needs the argument '{prompt.argument}': {prompt.about.lower()}.")
        try:
            meant = self._texts.text(prompt.kind, given) if prompt.kind else None
        except ClewError as error:
            raise _refused(str(error)) from error
        messages = [_said(prompt.text.format(given=given)), *([_quoted(meant)] if meant is not None else [])]
        return types.GetPromptResult(description=prompt.description, messages=messages)


def _said(text: str) -> types.PromptMessage:
    return types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))


def _quoted(text: Text) -> types.PromptMessage:
    contents = types.TextResourceContents(uri=text.uri, mime_type=text.mime_type, text=text.text)
    return types.PromptMessage(role="user", content=types.EmbeddedResource(type="resource", resource=contents))


def _refused(message: str) -> MCPError:
    return MCPError(code=types.INVALID_PARAMS, message=message)
