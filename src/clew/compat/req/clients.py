"""Settings for clients of the register: the entry of the server in .mcp.json, and those of Claude Code."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from clew.edit.targets import read_if_there
from clew.errors import FormatError, OutsideProject, Refused
from clew.register.git.setup import SetupStep, bounds_of
from clew.setup.clients import json_text
from clew.setup.clients.configure import BY_NAME, complete_interrupted, write_file
from clew.text.display import counted

SERVER = "req"
_ASKED_FREELY = ("brief", "list", "show", "next", "validate")
"""Commands that only read: Claude Code need not ask anybody before it runs them."""
_AT_THE_END = "clew req validate"
_ABOUT = "Managed requirements of this project (project.req). Call req_help with section=agents first."
_README = (
    "How MCP clients start the server of this project's register. Agents change project.req through its tools only; "
    "`clew req help agents` says when to use which."
)


def write_entry(root: Path, path: Path, *, force: bool) -> dict[str, Any]:
    """Write the entry of the server into a file of the client."""
    # The file is for everybody who works on the project: the place of this installation is in no other's.
    program, *arguments = (*BY_NAME, "req", "mcp")
    entry = {"command": program, "args": arguments, "description": _ABOUT}
    raw = _read(root, path)
    # That a link leads out of the project is the greater problem: the write says so.
    leads_out = path.is_symlink() and bounds_of(root, path) is not None and not _is_inside(root, path)
    if raw is not None and not force and not leads_out:
        raise Refused(
            f"{path} exists already.", hint="Pass --force to write the entry into it; what it says of others stays."
        )
    try:
        before = None if raw is None else raw.decode("utf-8")
        text = json_text.with_member(before, "mcpServers", SERVER, entry) if before else None
    except (FormatError, UnicodeDecodeError, AttributeError) as error:
        raise Refused(
            f"{path} was not changed: {error}.", hint="Repair the file, or add the entry yourself."
        ) from error
    whole = {"_readme": _README, "mcpServers": {SERVER: entry}}
    after = (text or msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n").encode()
    if after != raw:
        write_file(path, raw, after, within=bounds_of(root, path))
    return {"path": str(path), "changed": after != raw, "entry": entry}


def _is_inside(root: Path, path: Path) -> bool:
    return path.resolve().is_relative_to(root.resolve())


def _read(root: Path, path: Path) -> bytes | None:
    with suppress(OutsideProject):
        # The write of the file reports what is wrong with it.
        complete_interrupted(path, within=bounds_of(root, path))
    return read_if_there(path)


def tell_claude_code(root: Path) -> SetupStep:
    """Add to Claude Code's settings of the project the commands that it may run unasked, and those that it runs before
    it stops."""
    path = root / ".claude" / "settings.json"
    raw = _read(root, path)
    try:
        settings = json_text.read_object(raw.decode("utf-8")) if raw else {}
        added = _permitted(settings) + _checked_at_the_end(settings)
    except (FormatError, UnicodeDecodeError, TypeError, AttributeError) as error:
        return SetupStep(".claude/settings.json", False, f"It was not changed: {error}.")
    if not added:
        return SetupStep(".claude/settings.json", True, "as it should be")
    after = msgspec.json.format(msgspec.json.encode(settings), indent=2) + b"\n"
    try:
        write_file(path, raw, after, within=bounds_of(root, path))
    except OutsideProject as error:
        return SetupStep(".claude/settings.json", False, str(error))
    return SetupStep(".claude/settings.json", True, f"added {counted(added, 'entry', 'entries')}")


def _permitted(settings: dict[str, Any]) -> int:
    allowed: list[Any] = settings.setdefault("permissions", {}).setdefault("allow", [])
    missing = [rule for name in _ASKED_FREELY if (rule := f"Bash(clew req {name}:*)") not in allowed]
    allowed.extend(missing)
    return len(missing)


def _checked_at_the_end(settings: dict[str, Any]) -> int:
    groups: list[Any] = settings.setdefault("hooks", {}).setdefault("Stop", [])
    commands = (hook.get("command") for group in groups for hook in group.get("hooks", ()))
    if _AT_THE_END in commands:
        return 0
    groups.append({"hooks": [{"type": "command", "command": _AT_THE_END}]})
    return 1
