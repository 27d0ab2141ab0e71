"""The hosts whose hooks Clew understands: the names of their events, and the form of answers to their agent."""

import json

START, PROMPT, TOOL, FAILURE, COMPACT, STOP, END = "start", "prompt", "tool", "failure", "compact", "stop", "end"

EVENTS = {
    "sessionstart": START,
    "userpromptsubmit": PROMPT,
    "beforesubmitprompt": PROMPT,
    "beforeagent": PROMPT,
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
    "claude-code": (START, PROMPT, TOOL),
    "codex": (START, PROMPT, TOOL),
    "gemini": (START, PROMPT, TOOL),
    "vscode": (START, TOOL),
    "cursor": (START,),
}
"""After which events each host passes text on to the agent, as its documentation says."""

BUDGETS = {START: 400, PROMPT: 300, TOOL: 300}
"""Budget of tokens for a block after an event."""

_ALWAYS_JSON = ("gemini", "cursor")


def event_kind(name: str) -> str | None:
    return EVENTS.get(name.lower().replace("-", "").replace("_", ""))


def spoken(host: str, name: str, context: str) -> str:
    """The output of the hook: the text for the agent in the host's own form, or the host's form of no text."""
    kind = event_kind(name)
    if not context or kind not in INJECTS.get(host, ()):
        return "{}" if host in _ALWAYS_JSON else ""
    if host == "cursor":
        return json.dumps({"additional_context": context})
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}})
