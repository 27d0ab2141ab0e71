"""Letting others in: agents with `clew req mcp`, people with `clew req serve`, and what Claude Code is told."""

import argparse
import os
from pathlib import Path
from typing import Any

import msgspec

from clew.edit.targets import read_if_there
from clew.errors import FormatError, OutsideProject, Refused
from clew.graph.readers.register_places import FILE_VARIABLE
from clew.register.git.setup import SetupStep, bounds_of
from clew.register.service import RegisterService
from clew.setup.clients import json_text, own_command, write_file
from clew.surfaces.cli.req_commands import Command
from clew.text.counting import counted

SERVER = "req"
_ASKED_FREELY = ("brief", "list", "show", "next", "validate")
"""Commands that only read: Claude Code need not ask anybody before it runs them."""
_AT_THE_END = "clew req validate"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--init-config", action="store_true", help="write the entry of the server into .mcp.json")
    parser.add_argument("--config-path", default=".mcp.json", metavar="FILE", help="another file (default: .mcp.json)")
    parser.add_argument("--force", action="store_true", help="replace another entry of the same name")


def _mcp(service: RegisterService, args: argparse.Namespace) -> dict[str, Any]:
    if args.init_config:
        return _init_config(service.root, service.root / args.config_path, force=args.force)
    from clew.surfaces.cli import serve

    if args.file:
        os.environ[FILE_VARIABLE] = str(Path(args.file).absolute())
    parser = argparse.ArgumentParser(prog="clew req mcp")
    serve.configure(parser)
    raise SystemExit(serve.run(parser.parse_args([str(service.root), "--profile", SERVER])))


def _init_config(root: Path, path: Path, *, force: bool) -> dict[str, Any]:
    entry = {
        "command": own_command(),
        "args": ["req", "mcp"],
        "description": "Managed requirements in project.req",
    }
    raw = read_if_there(path)
    try:
        before = None if raw is None else raw.decode("utf-8")
        present = json_text.read_object(before).get("mcpServers", {}).get(SERVER) if before else None
        if present is not None and present != entry and not force:
            raise Refused(f"{path} has another entry '{SERVER}'.", hint="Pass --force to replace it.")
        text = json_text.with_member(before, "mcpServers", SERVER, entry) if before else None
    except (FormatError, UnicodeDecodeError, AttributeError) as error:
        raise Refused(
            f"{path} was left as it is: {error}.", hint="Mend the file, or add the entry yourself."
        ) from error
    after = (text or json_text.document("mcpServers", SERVER, entry)).encode()
    if after != raw:
        write_file(path, raw, after, within=bounds_of(root, path))
    return {"path": str(path), "changed": after != raw, "entry": entry}


def tell_claude_code(root: Path) -> SetupStep:
    """Add to Claude Code's settings of the project what it may run unasked, and what it runs before it stops."""
    path = root / ".claude" / "settings.json"
    raw = read_if_there(path)
    try:
        settings = json_text.read_object(raw.decode("utf-8")) if raw else {}
        added = _permitted(settings) + _checked_at_the_end(settings)
    except (FormatError, UnicodeDecodeError, TypeError, AttributeError) as error:
        return SetupStep(".claude/settings.json", False, f"It was left as it is: {error}.")
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


def _serve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("-p", "--port", type=int, default=7878, help="port to listen on (default: 7878; 0: any)")
    parser.add_argument("--allow-host", action="append", default=[], metavar="NAME", help="a further Host to answer to")
    parser.add_argument("--read-only", action="store_true", help="it always is")


def _serve(service: RegisterService, args: argparse.Namespace) -> str:
    from clew.surfaces.cli.req_web import open_server

    address, run, _ = open_server(service, args.host, args.port, tuple(args.allow_host))
    print(f"The register is at {address}  (Ctrl-C ends)", flush=True)
    run()
    return ""


def _text(done: dict[str, Any]) -> str:
    return f"{done['path']} {'now names' if done['changed'] else 'already named'} the server {SERVER}."


MCP = Command("mcp", "the server for agents, over stdio", _mcp, _arguments, _text)
SERVE = Command("serve", "the register in a browser, to read", _serve, _serve_arguments, str)
