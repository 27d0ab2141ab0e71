"""Events as hosts report them, reduced to what Clew uses: plain values of bounded size, without private text.

Hosts spell the same things differently and change them, so nothing here relies on a field being there or being of the
expected type. What a command or the assistant printed is not kept: a host's payload holds whole files and outputs.
"""

import os
import time

from clew.memory.hooks import hosts

LONGEST_TEXT = 8_000
LONGEST_COMMAND = 1_000
LONGEST_NAME = 128
MOST_PATHS = 20
MOST_PARTS = 8
_OLD, _NEW = ("old_string", "old_str"), ("new_string", "new_str")
_SESSION = ("session_id", "sessionId", "conversation_id", "thread_id")
_TURN = ("turn_id", "prompt_id", "generation_id")
_CALL = ("tool_use_id", "tool_call_id", "call_id", "toolUseId")
_PATHS = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file", "file")
_WRITES = ("old_string", "new_string", "content", "edits", "new_str", "old_str", "new_source", "file_text", "code_edit")
_READS = ("read", "read_file", "readfile", "view", "open_file", "read_many_files")
_EXITS = ("exit_code", "exitCode", "returncode", "return_code")
_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
_OPEN, _CLOSE = "<private>", "</private>"
Fields = dict[str, object]


def read_payload(host: str, name: str, payload: object, *, with_answers: bool) -> Fields | None:
    """The event that a host reports; None for one that Clew does not use. The last answer of the assistant is part of
    it only with `with_answers`."""
    kind = hosts.event_kind(name)
    if kind is None or not isinstance(payload, dict):
        return None
    event: Fields = {
        "host": host,
        "kind": kind,
        "session": _session(host, payload),
        "turn": _first(payload, _TURN)[:LONGEST_NAME],
        "at": time.time(),
    }
    if kind == hosts.PROMPT:
        event["text"] = without_private(_text(payload.get("prompt")))[:LONGEST_TEXT].strip()
        return event if event["text"] else None
    if kind in (hosts.TOOL, hosts.FAILURE, hosts.EDIT):
        return _tool(event, host, kind, payload)
    if kind == hosts.STOP and with_answers:
        said = _text(payload.get("last_assistant_message")) or _text(payload.get("prompt_response"))
        event["text"] = without_private(said)[:LONGEST_TEXT].strip()
        event["transcript"] = _text(payload.get("transcript_path"))[:4_096]
    event["source"] = _first(payload, ("source", "trigger", "reason"))[:LONGEST_NAME]
    return event


def working_folder(payload: object) -> object:
    """The working folder that the host reports."""
    if not isinstance(payload, dict):
        return None
    roots = payload.get("workspace_roots")
    return payload.get("cwd") or (roots[0] if isinstance(roots, list) and roots else None)


def without_private(text: str) -> str:
    """The text without what is between <private> and </private>, or after a <private> that nothing closes."""
    kept: list[str] = []
    rest = text
    while True:
        start = rest.lower().find(_OPEN)
        if start < 0:
            return "".join((*kept, rest))
        kept.append(rest[:start])
        end = rest.lower().find(_CLOSE, start)
        if end < 0:
            return "".join(kept)
        rest = rest[end + len(_CLOSE) :]


def _tool(event: Fields, host: str, kind: str, payload: Fields) -> Fields | None:
    """The use of a tool by the agent: a command with its exit code, or files that were read or written. Tools of
    servers are left out, and with them Clew's own."""
    name = _text(payload.get("tool_name")) or _text(payload.get("toolName"))
    given = payload.get("tool_input", payload.get("toolInput", payload.get("toolArgs")))
    if isinstance(given, str) and given.startswith("{"):
        import json

        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = {}
    given = given if isinstance(given, dict) else {}
    if name.lower().startswith(("mcp__", "mcp_", "mcp:")):
        return None
    event["call"] = _first(payload, _CALL)[:LONGEST_NAME]
    event["tool"] = name[:LONGEST_NAME]
    command = given.get("command")
    if isinstance(command, list):
        command = " ".join(each for each in command if isinstance(each, str))
    command = without_private(_text(command))
    paths = _patched(command) or _patched(_text(given.get("patch")) or _text(given.get("input")))
    if command and not paths:
        if runs_clew(command) or kind == hosts.EDIT:
            return None
        event["command"] = command[:LONGEST_COMMAND]
        event["exit"] = _exit(host, kind, payload)
        return event
    paths = paths or _named(given)
    if kind == hosts.FAILURE or not paths:
        return None
    event["paths"] = paths[:MOST_PATHS]
    wrote = any(key in given for key in (*_WRITES, "patch", "input", "command"))
    event["wrote"] = wrote and name.lower() not in _READS
    if kind == hosts.EDIT and not event["wrote"]:
        return None
    if event["wrote"]:
        event["parts"] = _parts(given, _OLD if kind == hosts.EDIT else _NEW) or _hunks(command, given, kind)
    return event


def _parts(given: Fields, keys: tuple[str, ...]) -> list[str]:
    """The texts that are replaced, or that replace them, by which the place in a file is known."""
    edits = given.get("edits")
    all_given = [given, *(edits if isinstance(edits, list) else [])]
    found = [each.get(key) for each in all_given if isinstance(each, dict) for key in keys]
    return [text for each in found if (text := _text(each)) and len(text) <= LONGEST_TEXT][:MOST_PARTS]


def _hunks(command: str, given: Fields, kind: str) -> list[str]:
    """The same of a patch in the form of Codex: the lines of each hunk before it, or after it."""
    text = command or _text(given.get("patch")) or _text(given.get("input"))
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith(("*** ", "@@")):
            found.append([])
        elif line.startswith((" ", "-" if kind == hosts.EDIT else "+")):
            found[-1].append(line[1:])
    return [part for hunk in found if (part := "\n".join(hunk)).strip() and len(part) <= LONGEST_TEXT][:MOST_PARTS]


def runs_clew(command: str) -> bool:
    """True if a command asks Clew itself."""
    for mark in ("&&", "||", ";", "|", "\n"):
        command = command.replace(mark, "\0")
    words = [part.split() for part in command.split("\0")]
    return any(os.path.basename(part[0]) == "clew" for part in words if part)


def _patched(text: str) -> list[str]:
    """The files that a patch in the form of Codex names."""
    if "*** " not in text:
        return []
    lines = (line.strip() for line in text.splitlines())
    return [line[len(mark) :].strip() for line in lines for mark in _PATCHED if line.startswith(mark)]


def _named(given: Fields) -> list[str]:
    found = [given.get(key) for key in _PATHS]
    files = given.get("files") or given.get("paths")
    found += files if isinstance(files, list) else []
    return [each for each in found if isinstance(each, str) and 0 < len(each) <= 1_024 and "\0" not in each]


def _exit(host: str, kind: str, payload: Fields) -> int | None:
    """The exit code of a command, where the host gives it. What the command printed is never searched for it."""
    response = payload.get("tool_response", payload.get("tool_output"))
    if isinstance(response, str) and response.startswith("{") and len(response) < 1_000_000:
        import json

        try:
            response = json.loads(response)
        except (ValueError, RecursionError):
            response = None
    for place in (response, payload):
        for key in _EXITS:
            value = place.get(key) if isinstance(place, dict) else None
            if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31:
                return value
    if payload.get("is_interrupt") is True or (isinstance(response, dict) and response.get("interrupted") is True):
        return None
    if kind == hosts.FAILURE:
        return _number_after(_text(payload.get("error"))[:200], ("Exit code ", "status code ", "exit code ")) or 1
    if host == "claude-code" and not {"conversation_id", "sessionId"} & payload.keys():
        # This host reports a command that failed as another event; others that run its hooks do not. One that goes on
        # in the background has not ended.
        given = payload.get("tool_input")
        goes_on = isinstance(given, dict) and given.get("run_in_background")
        return None if goes_on else 0
    if host == "codex" and isinstance(response, str):
        head = response[:400].split("Output:")[0].split("output:")[0]
        return _number_after(head, ("Process exited with code ",))
    if host == "gemini" and isinstance(response, dict):
        last = _text(response.get("llmContent"))[-400:].rpartition("\nExit Code: ")
        return _number_after(f"\n{last[2]}", ("\n",)) if last[1] else None
    return None


def _number_after(text: str, marks: tuple[str, ...]) -> int | None:
    for mark in marks:
        digits = text.partition(mark)[2][:10].split()
        if digits and digits[0].rstrip(".,:;").isdecimal():
            return int(digits[0].rstrip(".,:;"))
    return None


def _session(host: str, payload: Fields) -> str:
    named = _first(payload, _SESSION)
    plain = all(character.isprintable() for character in named) and len(named) <= LONGEST_NAME
    if named and plain:
        return named
    if not named:
        return f"{host}-without-session"
    import hashlib

    return hashlib.sha256(named.encode("utf-8", "replace")).hexdigest()


def _first(payload: Fields, keys: tuple[str, ...]) -> str:
    return next((value for key in keys if isinstance(value := payload.get(key), str) and value), "")


def _text(value: object) -> str:
    """A string that can be stored: no NUL, no half of a pair of surrogates."""
    if not isinstance(value, str):
        return ""
    return value.replace("\0", "").encode("utf-8", "replace").decode()
