"""The hosts whose hooks Clew understands: the names of their events, and the form of answers to their agent."""

import json

START, PROMPT, TOOL, FAILURE, COMPACT, STOP, END = "start", "prompt", "tool", "failure", "compact", "stop", "end"
EDIT = "edit"
"""Files are about to be edited."""

EVENTS = {
    "sessionstart": START,
    "userpromptsubmit": PROMPT,
    "beforesubmitprompt": PROMPT,
    "beforeagent": PROMPT,
    "pretooluse": EDIT,
    "posttooluse": TOOL,
    "aftertool": TOOL,
    "posttoolusefailure": FAILURE,
    "precompact": COMPACT,
    "postcompact": COMPACT,
    "precompress": COMPACT,
    "stop": STOP,
    "afteragent": STOP,
    "sessionend": END,
}
"""The names of events, in small letters, with what they mean."""

INJECTS = {
    "claude-code": (START, PROMPT, EDIT, TOOL),
    "codex": (START, PROMPT, EDIT, TOOL),
    "gemini": (START, PROMPT, TOOL),
    "vscode": (START, EDIT, TOOL),
    "copilot": (EDIT,),
    "cursor": (START,),
}
"""After which events each host passes text on to the agent, as its documentation says."""

BUDGETS = {START: 400, PROMPT: 300, TOOL: 300, EDIT: 120}
"""Budget of tokens for a block after an event, or before an edit."""

TELLS_USER = ("claude-code", "codex")
"""Hosts that show their user a message of a hook when a turn ends."""

_ALWAYS_JSON = ("gemini", "cursor")


def event_kind(name: str) -> str | None:
    return EVENTS.get(name.lower().replace("-", "").replace("_", ""))


def spoken(host: str, name: str, context: str) -> str:
    """The output of the hook: the text for the agent in the host's own form, or the host's form of no text."""
    kind = event_kind(name)
    if context and kind == STOP and host in TELLS_USER:
        return json.dumps({"systemMessage": context})
    if not context or kind not in INJECTS.get(host, ()):
        return "{}" if host in _ALWAYS_JSON else ""
    if host == "cursor":
        return json.dumps({"additional_context": context})
    if host == "copilot":
        return json.dumps({"additionalContext": context})
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}})
