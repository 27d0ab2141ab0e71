"""Connecting an agent's hooks to the memory: the lines for the file of each host, and their removal.

What a file holds besides is never touched. Clew's own lines are known by their command, `clew hook EVENT --host NAME`,
so they can be replaced and removed without a mark of their own, which these formats have no room for.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from clew.errors import FormatError, InvalidArgument, Refused
from clew.setup.clients import json_text

_OWN = re.compile(r"clew(?:-mcp)?(?:\.exe)?[\"']? hook [A-Za-z]+ --host [a-z-]+")
_HOOKS = "hooks"
START_SECONDS, USUAL_SECONDS = 5, 2


class HookFile(msgspec.Struct, frozen=True):
    """The settings file in which a host declares hooks."""

    path: str
    """From the project's folder."""
    events: tuple[str, ...]
    """The first one is the start of a session."""
    nested: bool = True
    """True if hooks are listed in groups, each with a matcher."""
    typed: bool = True
    milliseconds: bool = False
    matchers: Mapping[str, str] = {}
    begins_with: Mapping[str, Any] = {}
    """Further keys of a new file."""
    injects_prompts: bool = True
    """True if text that a hook prints at a prompt reaches the agent; otherwise the agent is asked to look for
    itself."""
    note: str = ""
    """A note for the user."""


HOOK_FILES: Mapping[str, HookFile] = {
    "claude-code": HookFile(
        ".claude/settings.json",
        (
            *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact"),
            *("Stop", "SessionEnd"),
        ),
        matchers={
            "PreToolUse": "Edit|MultiEdit|Write|NotebookEdit",
            "PostToolUse": "Bash|Read|Edit|MultiEdit|Write|NotebookEdit",
            "PostToolUseFailure": "Bash",
        },
    ),
    "codex": HookFile(
        ".codex/hooks.json",
        ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop"),
        matchers={"PreToolUse": "apply_patch|Edit|Write"},
        note="Codex asks once whether it may run these hooks.",
    ),
    "cursor": HookFile(
        ".cursor/hooks.json",
        ("sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure", "preCompact", "stop", "sessionEnd"),
        nested=False,
        typed=False,
        begins_with={"version": 1},
        injects_prompts=False,
    ),
    "gemini": HookFile(
        ".gemini/settings.json",
        ("SessionStart", "BeforeAgent", "AfterTool", "PreCompress", "AfterAgent", "SessionEnd"),
        milliseconds=True,
    ),
    "vscode": HookFile(
        ".github/hooks/clew.json",
        ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop"),
        nested=False,
        injects_prompts=False,
        note="Hooks of VS Code are a preview; its settings may switch them off.",
    ),
}


def hook_file(client: str) -> HookFile:
    if client not in HOOK_FILES:
        raise InvalidArgument(
            f"'{client}' has no hooks that Clew knows.", hint=f"--memory works with {', '.join(HOOK_FILES)}."
        )
    return HOOK_FILES[client]


def with_hooks(client: str, text: str | None, command: Sequence[str], *, answers: bool = False) -> str:
    """The text of a host's file with Clew's hooks, replacing earlier ones."""
    file = hook_file(client)
    lines = dict(_lines(client, file, command, answers))
    bare = without_hooks(client, text)
    try:
        if bare is None:
            return json_text.text_of({**file.begins_with, _HOOKS: {event: [line] for event, line in lines.items()}})
        if text is not None and _present(text) == list(lines.items()):
            return text
        for event, line in lines.items():
            bare = json_text.with_item(bare, _HOOKS, event, line)
    except FormatError as error:
        snippet = json_text.text_of({_HOOKS: {event: [line] for event, line in lines.items()}})
        raise Refused(
            f"'{file.path}' was not changed: {error.message}.", hint=f"Paste this yourself:\n{snippet}"
        ) from error
    return bare


def without_hooks(client: str, text: str | None) -> str | None:
    """The text without Clew's hooks, and without the keys that are empty then; None if nothing is left."""
    file = hook_file(client)
    if text is None or not text.strip("\ufeff \t\r\n"):
        return None
    try:
        if not _present(text):
            return text
        while (path := _first_own(json_text.read_object(text))) is not None:
            text = _pruned(text, path)
        rest = json_text.read_object(text)
    except (FormatError, RecursionError) as error:
        reason = error.message if isinstance(error, FormatError) else "it is nested too deeply"
        raise Refused(
            f"'{file.path}' was not changed: {reason}.", hint="Add or remove the lines with `clew hook` yourself."
        ) from error
    return None if rest == dict(file.begins_with) or not rest else text


def _lines(client: str, file: HookFile, command: Sequence[str], answers: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    for event in file.events:
        seconds = START_SECONDS if event == file.events[0] else USUAL_SECONDS
        words = f"{shlex.join(command)} hook {event} --host {client}"
        hook: dict[str, Any] = {"type": "command"} if file.typed else {}
        hook["command"] = f"{words} --answers" if answers and event in ("Stop", "stop", "AfterAgent") else words
        hook["timeout"] = seconds * 1_000 if file.milliseconds else seconds
        if not file.nested:
            yield event, hook
            continue
        matcher = {"matcher": file.matchers[event]} if event in file.matchers else {}
        yield event, {**matcher, _HOOKS: [hook]}


def _present(text: str) -> list[tuple[str, Any]]:
    """Clew's own lines, each with its event."""
    hooks = json_text.read_object(text).get(_HOOKS)
    found = []
    for event, items in hooks.items() if isinstance(hooks, dict) else ():
        for item in items if isinstance(items, list) else ():
            inner = item.get(_HOOKS) if isinstance(item, dict) else None
            if _is_own(item) or (isinstance(inner, list) and any(map(_is_own, inner))):
                found.append((event, item))
    return found


def _first_own(document: dict[str, Any]) -> tuple[str | int, ...] | None:
    """The path of the first hook of Clew in a document."""
    hooks = document.get(_HOOKS)
    for event, items in hooks.items() if isinstance(hooks, dict) else ():
        for place, item in enumerate(items if isinstance(items, list) else ()):
            if _is_own(item):
                return (_HOOKS, event, place)
            inner = item.get(_HOOKS) if isinstance(item, dict) else None
            for position, hook in enumerate(inner if isinstance(inner, list) else ()):
                if _is_own(hook):
                    return (_HOOKS, event, place, _HOOKS, position)
    return None


def _pruned(text: str, path: tuple[str | int, ...]) -> str:
    """The text without the line at a path, and without the groups and lists that it alone had filled."""
    text = json_text.without(text, path)
    for end in range(len(path) - 1, 0, -1):
        value: Any = json_text.read_object(text)
        for step in path[:end]:
            value = value[step]
        is_empty_group = isinstance(value, dict) and set(value) <= {"matcher"} and end == 3
        if value and not is_empty_group:
            break
        text = json_text.without(text, path[:end])
    return text


def _is_own(hook: object) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and _OWN.search(command) is not None
