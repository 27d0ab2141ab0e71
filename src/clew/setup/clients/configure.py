"""Telling an MCP client how to start Clew."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from clew.edit.edits import FileEdit
from clew.edit.recovery import recover
from clew.edit.replacing import make_folder
from clew.edit.targets import read_if_there, real_target
from clew.edit.transaction import FileTransaction
from clew.errors import ConfigError, FormatError, InvalidArgument, Refused
from clew.setup.clients import json_text, toml_text
from clew.setup.token import TOKEN_VARIABLE
from clew.workspace.own_program import DISTRIBUTION, is_run_by_uvx, own_program
from clew.workspace.paths import display

SERVER_NAME = "clew"

__all__ = [
    "BY_NAME",
    "BY_UVX",
    "CLIENTS",
    "Client",
    "ClientPlan",
    "client_config",
    "clients_found",
    "command_for",
    "complete_interrupted",
    "config_path",
    "own_command",
    "write_file",
    "write_plan",
]


class ClientPlan(msgspec.Struct, frozen=True):
    """The change of one client's configuration."""

    client: str
    path: Path
    format: str
    """json or toml."""
    before: str | None
    """None where there is no file yet."""
    after: str
    state: str
    """create, add, replace, same, or differs: there is another entry named clew, and it was not asked to go."""
    snippet: str
    """Clew's part alone, ready to paste."""
    within: Path | None
    """The project's folder for a configuration that belongs to the project."""

    @property
    def changed(self) -> bool:
        return self.before != self.after


class Client(msgspec.Struct, frozen=True):
    """The configuration format of one MCP client."""

    title: str
    path: Callable[[Path], Path]
    parent: str
    """The key that holds the servers."""
    in_project: bool
    typed: bool = False
    """True if an entry names its transport."""
    in_workspace: bool = False
    """True if the client starts servers in any folder by default, and fills in the folder that it has open."""
    format: str = "json"
    url_key: str = "url"
    """The key of the address in the entry of a running server."""
    variable: str = ""
    """The notation of an environment variable in a header; empty if the client takes no headers."""
    local: str = "stdio"
    """The transport that an entry names for a program which the client starts."""
    remote: str = "http"
    """And a server that runs already."""
    in_one_list: bool = False
    """True if the command and its arguments are one list."""
    more: Mapping[str, Any] = {}
    """Further keys in the entry of a program."""
    marks: tuple[str, ...] = ()
    """Files and folders of a project that say that somebody uses the client there."""
    next_step: str = ""
    """The next step of a person in the client, once its configuration is written."""


def _desktop_file(_: Path) -> Path:
    if sys.platform == "darwin":
        folder = _home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA") or _home() / "AppData" / "Roaming")
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or _home() / ".config")
    return folder / "Claude" / "claude_desktop_config.json"


def _codex_file(_: Path) -> Path:
    return Path(os.environ.get("CODEX_HOME") or _home() / ".codex") / "config.toml"


def _opencode_file(root: Path) -> Path:
    """The file that is there: opencode reads either."""
    commented = root / "opencode.jsonc"
    return commented if commented.exists() else root / "opencode.json"


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        "Claude Code",
        lambda root: root / ".mcp.json",
        "mcpServers",
        True,
        typed=True,
        variable="${{{}}}",
        marks=(".mcp.json", ".claude", "CLAUDE.md"),
        next_step="Start `claude` in this folder and approve the server when it asks. `/mcp` shows its state.",
    ),
    "claude-desktop": Client(
        "Claude Desktop",
        _desktop_file,
        "mcpServers",
        False,
        next_step="Quit Claude Desktop completely and start it again. Settings, Developer shows the server.",
    ),
    "cursor": Client(
        "Cursor",
        lambda root: root / ".cursor" / "mcp.json",
        "mcpServers",
        True,
        typed=True,
        in_workspace=True,
        variable="${{env:{}}}",
        marks=(".cursor", ".cursorrules"),
        next_step="Open this folder in Cursor. In its settings, MCP, switch the server `clew` on.",
    ),
    "vscode": Client(
        "VS Code",
        lambda root: root / ".vscode" / "mcp.json",
        "servers",
        True,
        typed=True,
        in_workspace=True,
        variable="${{env:{}}}",
        marks=(".vscode/mcp.json",),
        next_step="Open .vscode/mcp.json in VS Code and press Start above the server; confirm that you trust it.",
    ),
    "codex": Client(
        "Codex",
        _codex_file,
        "mcp_servers",
        False,
        format="toml",
        next_step="Start `codex` again. `/mcp` lists the server.",
    ),
    "gemini": Client(
        "Gemini CLI",
        lambda root: root / ".gemini" / "settings.json",
        "mcpServers",
        True,
        url_key="httpUrl",
        variable="${{{}}}",
        marks=(".gemini", "GEMINI.md"),
        next_step="Start `gemini` in this folder and trust the folder when it asks. `/mcp` lists the server.",
    ),
    "copilot": Client(
        "Copilot CLI",
        lambda root: root / ".github" / "mcp.json",
        "mcpServers",
        True,
        typed=True,
        local="local",
        more={"tools": ["*"]},
        variable="${{{}}}",
        marks=(".github/mcp.json", ".github/copilot-instructions.md"),
        next_step="Start `copilot` in this folder and trust the folder when it asks. `/mcp show` lists the server.",
    ),
    "zed": Client(
        "Zed",
        lambda root: root / ".zed" / "settings.json",
        "context_servers",
        True,
        marks=(".zed",),
        next_step="Open this folder in Zed and trust it when it asks. The settings of the agent panel show the server.",
    ),
    "opencode": Client(
        "opencode",
        _opencode_file,
        "mcp",
        True,
        typed=True,
        local="local",
        remote="remote",
        in_one_list=True,
        variable="{{env:{}}}",
        marks=("opencode.json", "opencode.jsonc", ".opencode"),
        next_step="Start `opencode` in this folder. `opencode mcp list` shows the server.",
    ),
}


def clients_found(root: Path) -> tuple[str, ...]:
    """The clients that somebody uses in a project, by names in its folder; only those with a configuration there."""
    return tuple(name for name, client in CLIENTS.items() if any((root / mark).exists() for mark in client.marks))


def config_path(client: str, root: Path) -> Path:
    """The path of a client's configuration. The home folder is looked up again each time."""
    return _known(client).path(root)


BY_NAME = (SERVER_NAME,)
BY_UVX = ("uvx", DISTRIBUTION)
"""Commands that mean the same on every computer."""


def own_command() -> tuple[str, ...]:
    """The command by which a client starts this installation of Clew: by uvx if uvx runs it, by name if the name leads
    here, otherwise by its full path."""
    if is_run_by_uvx():
        return BY_UVX
    running, found = own_program(), shutil.which(SERVER_NAME)
    if running is None or (found and Path(found).resolve() == running.resolve()):
        return BY_NAME
    return (str(running),)


def command_for(client: str, own: Sequence[str]) -> tuple[str, ...]:
    """The command for a client's configuration: one in the project is for the whole team, whose computers have `clew`
    on the PATH and not this installation."""
    known = _known(client)
    return tuple(own) if not known.in_project or tuple(own) == BY_UVX else BY_NAME


def client_config(client: str, root: Path, command: Sequence[str], *, url: str = "", force: bool = False) -> ClientPlan:
    """Plan a client's configuration with Clew in it: started by the client, or as a server at `url`. Nothing is
    written."""
    known = _known(client)
    path, within = known.path(root), root if known.in_project else None
    entry = _remote_entry(known, url) if url else _entry(known, root, command)
    snippet = _snippet(known, entry)
    raw = read_if_there(real_target(path, within=within))
    try:
        before = None if raw is None else raw.decode("utf-8")
        state, after = _merged(known, before, entry, force)
    except (FormatError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(
            f"'{path}' was not changed: {_reason(error)}.", hint=f"Paste this yourself:\n{snippet}"
        ) from error
    return ClientPlan(client, path, known.format, before, after, state, snippet, within)


def complete_interrupted(path: Path, *, within: Path | None) -> None:
    """Complete or undo the interrupted write of a killed process to a client's configuration. Called before the file is
    read for a change."""
    recover(real_target(path, within=within).parent if within is None else within, None)


def write_file(path: Path, before: bytes | None, after: bytes | None, *, within: Path | None) -> None:
    """Write a client's configuration, unless it changed since it was read. A copy of the former one is kept: in the
    state folder of the project `within`, or beside a file that belongs to no project."""
    target = real_target(path, within=within)
    root = target.parent if within is None else within
    if within is None:
        make_folder(root)
    edit = FileEdit(display(target.relative_to(root.resolve()).as_posix()), before, after)
    FileTransaction(root, [edit], in_project=within is not None).commit()


def write_plan(plan: ClientPlan) -> None:
    """Write a planned change, unless the file changed since the plan was made."""
    before = None if plan.before is None else plan.before.encode()
    write_file(plan.path, before, plan.after.encode(), within=plan.within)


def _known(client: str) -> Client:
    if client not in CLIENTS:
        raise InvalidArgument(f"'{client}' is not a client Clew knows.", hint=f"Choose one of {', '.join(CLIENTS)}.")
    return CLIENTS[client]


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise ConfigError("There is no home folder to look in.", hint="Set HOME.") from error


def _reason(error: Exception) -> str:
    if isinstance(error, FormatError):
        return error.message
    return "it is nested too deeply" if isinstance(error, RecursionError) else "it is not UTF-8 text"


def _entry(client: Client, root: Path, command: Sequence[str]) -> dict[str, Any]:
    """The entry of the server. A configuration inside the project names the project relative to itself, so that a team
    can share it."""
    folder = "." if client.in_project else str(root.resolve())
    entry: dict[str, Any] = {"type": client.local} if client.typed else {}
    program, *arguments = (*command, "serve", folder)
    entry |= {"command": [program, *arguments]} if client.in_one_list else {"command": program, "args": arguments}
    entry |= client.more
    if client.in_workspace:
        entry["cwd"] = "${workspaceFolder}"
    try:
        f"{program}{folder}".encode()
    except UnicodeEncodeError:
        raise ConfigError(
            f"The path {folder!r} is not text, and no client's configuration can name it.", hint="Rename the folder."
        ) from None
    return entry


def _remote_entry(client: Client, url: str) -> dict[str, Any]:
    """The entry of a running server. It names the variable with the token, never the token itself, because git may
    track the file."""
    if client.format == "toml":
        return {"url": url, "bearer_token_env_var": TOKEN_VARIABLE}
    if not client.variable:
        raise InvalidArgument(
            f"{client.title} takes no header from an environment variable.",
            hint="Leave --url out: it then starts Clew itself and needs no token.",
        )
    header = f"Bearer {client.variable.format(TOKEN_VARIABLE)}"
    kind = {"type": client.remote} if client.typed else {}
    return {**kind, client.url_key: url, "headers": {"Authorization": header}}


def _snippet(client: Client, entry: Mapping[str, Any]) -> str:
    if client.format == "toml":
        return toml_text.table_text(f"{client.parent}.{SERVER_NAME}", entry)
    return json_text.document(client.parent, SERVER_NAME, entry)


def _merged(client: Client, text: str | None, entry: Mapping[str, Any], force: bool) -> tuple[str, str]:
    """The state and the new text."""
    if text is None or not text.strip("\ufeff \t\r\n"):
        return "create", _snippet(client, entry)
    mark, body = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    is_toml = client.format == "toml"
    document = toml_text.read_toml(body) if is_toml else json_text.read_object(body)
    servers = document.get(client.parent)
    present = isinstance(servers, dict) and SERVER_NAME in servers
    existing = servers[SERVER_NAME] if isinstance(servers, dict) and present else None
    fields = existing if isinstance(existing, dict) else {}
    if present:
        if all(fields.get(key) == value for key, value in entry.items()) and _is_remote(fields) == _is_remote(entry):
            return "same", text
        if not force:
            return "differs", text
    after = _with_toml(body, client, entry, fields) if is_toml else _with_json(body, client, entry, fields)
    return ("replace" if present else "add"), mark + after


def _is_remote(entry: Mapping[str, Any]) -> bool:
    return "url" in entry or "httpUrl" in entry


def _with_json(body: str, client: Client, entry: Mapping[str, Any], fields: Mapping[str, Any]) -> str:
    # Settings a user added to Clew's own entry, such as env, outlive --force; those of the other kind cannot.
    kept = dict(fields) if _is_remote(fields) == _is_remote(entry) else {}
    if client.in_one_list:
        kept.pop("args", None)
    return json_text.with_member(body, client.parent, SERVER_NAME, {**kept, **entry})


def _with_toml(body: str, client: Client, entry: Mapping[str, Any], fields: Mapping[str, Any]) -> str:
    if fields and _is_remote(fields) != _is_remote(entry):
        kind = "a remote server" if _is_remote(fields) else "started by the client"
        raise FormatError(f"its '{SERVER_NAME}' is {kind}, whose keys do not go together with those of the other kind")
    return toml_text.with_table(body, client.parent, SERVER_NAME, entry)
