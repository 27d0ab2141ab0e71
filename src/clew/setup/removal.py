"""Taking out what `clew init` put into files: entries of clients, hooks, lines for agents, files that only it wrote.

A file is planned as a chain of removals on its text, since a client may keep servers and hooks in one file. What init
did not write stays, with the reason.
"""

# Implements: REQ-d00862

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from clew.edit.targets import read_if_there, real_target
from clew.errors import FormatError
from clew.setup import agent_notes
from clew.setup.clients import json_text, toml_text
from clew.setup.clients.configure import CLIENTS, SERVER_NAME, Client
from clew.setup.hooks import HOOK_FILES, without_hooks

_IGNORED = ".clew/"
_MARK = "\ufeff"


class PlannedRemoval(msgspec.Struct, frozen=True):
    """A file from which something of Clew's is taken out, or which keeps it."""

    path: Path
    before: bytes
    after: bytes | None
    """None where nothing else was in the file."""
    details: tuple[str, ...] = ()
    """What goes."""
    kept: str = ""
    """The reason why something of the name stays."""

    @property
    def changed(self) -> bool:
        return self.before != self.after


def removals_in(root: Path, proposed: str) -> Iterator[PlannedRemoval]:
    """What is taken out of the project's files. `proposed` is the clew.toml that init would write today."""
    paths: dict[Path, list[str]] = {}
    for name, client in CLIENTS.items():
        if client.in_project:
            paths.setdefault(client.path(root), []).append(name)
    for name, file in HOOK_FILES.items():
        paths.setdefault(root / file.path, []).append(name)
    for path, clients in paths.items():
        yield from _of_file(path, root, dict.fromkeys(clients))
    yield from _notes(root)
    yield from _gitignore(root)
    yield from _settings(root, proposed)


def removals_of_user() -> Iterator[PlannedRemoval]:
    """What is taken out of the configuration that clients keep for the user."""
    for name, client in CLIENTS.items():
        if not client.in_project:
            yield from _of_file(client.path(Path()), None, (name,))


def _of_file(path: Path, root: Path | None, clients: Iterable[str]) -> Iterator[PlannedRemoval]:
    raw = read_if_there(real_target(path, within=root))
    if raw is None:
        return
    text, details, kept = raw.decode("utf-8", "surrogateescape"), [], ""
    mark = _MARK if text.startswith(_MARK) else ""
    left: str | None = text.removeprefix(_MARK)
    try:
        for name in clients:
            client = CLIENTS[name]
            file = HOOK_FILES.get(name)
            if left is not None and root is not None and file is not None and root / file.path == path:
                without = without_hooks(name, left)
                details += ["hooks"] if without != left else []
                left = without
            if left is not None and client.path(root or Path()) == path:
                entry = _entry(client, left)
                if entry is not None and is_own(entry):
                    left = _without_entry(client, left)
                    details.append(f"the server {SERVER_NAME}")
                elif entry is not None:
                    kept = f"its server {SERVER_NAME} does not start Clew"
    except FormatError as error:
        left, details, kept = text.removeprefix(_MARK), [], f"it cannot be read: {error.message}"
    if details or kept:
        after = None if left is None else (mark + left).encode("utf-8", "surrogateescape")
        yield PlannedRemoval(path, raw, after, tuple(dict.fromkeys(details)), kept)


def is_own(entry: Mapping[str, Any]) -> bool:
    """True for an entry that starts Clew or asks a server of it, as init writes it."""
    command = entry.get("command")
    words = [*(command if isinstance(command, list) else [command]), *_list(entry.get("args"))]
    names = [Path(str(word)).name for word in words if isinstance(word, str)]
    starts = any(name in (SERVER_NAME, f"{SERVER_NAME}.exe", "clew-mcp") for name in names[:2]) and "serve" in names
    return starts or any(key in entry for key in ("url", "httpUrl"))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _entry(client: Client, text: str) -> dict[str, Any] | None:
    if not text.strip():
        return None
    document = toml_text.read_toml(text) if client.format == "toml" else json_text.read_object(text)
    servers = document.get(client.parent)
    entry = servers.get(SERVER_NAME) if isinstance(servers, dict) else None
    return entry if isinstance(entry, dict) else None


def _without_entry(client: Client, text: str) -> str | None:
    if client.format == "toml":
        return toml_text.without_table(text, client.parent, SERVER_NAME)
    text = json_text.without(text, (client.parent, SERVER_NAME))
    if not json_text.read_object(text)[client.parent]:
        text = json_text.without(text, (client.parent,))
    return text if json_text.read_object(text) or json_text.has_comments(text) else None


def _notes(root: Path) -> Iterator[PlannedRemoval]:
    path = root / agent_notes.FILE
    raw = read_if_there(real_target(path, within=root))
    if raw is None:
        return
    text = raw.decode("utf-8", "surrogateescape")
    after = agent_notes.without_notes(text)
    if after != text:
        encoded = None if after is None else after.encode("utf-8", "surrogateescape")
        yield PlannedRemoval(path, raw, encoded, ("the lines for agents",))


def _gitignore(root: Path) -> Iterator[PlannedRemoval]:
    path = root / ".gitignore"
    raw = read_if_there(real_target(path, within=root))
    if raw is None:
        return
    lines = raw.splitlines(keepends=True)
    left = [line for line in lines if line.strip() != _IGNORED.encode()]
    if left != lines:
        yield PlannedRemoval(path, raw, b"".join(left) or None, (_IGNORED,))


def _settings(root: Path, proposed: str) -> Iterator[PlannedRemoval]:
    path = root / "clew.toml"
    raw = read_if_there(real_target(path, within=root))
    if raw is None:
        return
    if raw.decode("utf-8", "replace") == proposed:
        yield PlannedRemoval(path, raw, None, ("as init wrote it",))
    else:
        yield PlannedRemoval(path, raw, raw, (), "it is not what init would write here: it holds settings of yours")
