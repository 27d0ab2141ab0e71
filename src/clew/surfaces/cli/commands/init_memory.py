"""`clew init --memory`: the hooks of a client, and the lines for its agent."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from clew.edit.targets import read_if_there, real_target
from clew.errors import InvalidArgument, Refused
from clew.setup import agent_notes
from clew.setup.clients.configure import ClientPlan
from clew.setup.hooks import HOOK_FILES, hook_file, with_hooks, without_hooks

_WHAT = "memory hooks"


class PlannedFile(msgspec.Struct, frozen=True):
    """One file of the project before and after the command."""

    path: str
    """Relative to the project."""
    before: bytes | None
    after: bytes | None
    """None where the file goes."""
    state: str
    """create, add, replace, remove, same, or differs: it says something else and was not asked to go."""
    details: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        return self.before != self.after


def memory_hooks(
    args: argparse.Namespace, root: Path, command: Sequence[str], plans: list[ClientPlan]
) -> tuple[list[PlannedFile], list[ClientPlan]]:
    """Changes of the files with hooks. Where a client keeps hooks and servers in one file, its plan covers both."""
    if args.answers and not args.memory:
        raise InvalidArgument("--answers needs --memory.", hint="Pass both, or neither.")
    if not args.memory and not args.no_memory:
        return [], plans
    named = [name for name in dict.fromkeys(args.client) if args.named or name in HOOK_FILES]
    if args.memory and not named:
        raise InvalidArgument("--memory needs a client.", hint=f"Pass --client with one of {', '.join(HOOK_FILES)}.")
    clients = named or list(HOOK_FILES)
    changes: list[PlannedFile] = []
    for client in clients:
        path = root / hook_file(client).path
        same = next((plan for plan in plans if plan.path == path), None)
        before = same.after if same is not None else _text(root, path)
        if args.no_memory:
            after = without_hooks(client, before)
        else:
            after = with_hooks(client, before, command, answers=args.answers)
        if same is not None:
            plans[plans.index(same)] = _both(same, after or "{}\n")
        elif before is not None or after is not None:
            changes.append(_change(path.relative_to(root).as_posix(), before, after))
    notes = _agent_notes(args, root, clients)
    return [*changes, *([notes] if notes is not None else [])], plans


def memory_notes(args: argparse.Namespace) -> Iterator[str]:
    """Notes for the user about the hooks."""
    if args.memory:
        files = (HOOK_FILES.get(client) for client in dict.fromkeys(args.client))
        yield from (file.note for file in files if file is not None and file.note)
        yield "`CLEW_MEMORY=off` switches the hooks off for a session, and `clew init --no-memory` takes them out."


def _agent_notes(args: argparse.Namespace, root: Path, clients: list[str]) -> PlannedFile | None:
    wanted = [client for client in clients if not HOOK_FILES[client].injects_prompts]
    path = root / agent_notes.FILE
    before = _text(root, path)
    if args.memory and wanted:
        return _change(agent_notes.FILE, before, agent_notes.with_notes(before))
    if args.no_memory and wanted and before is not None:
        return _change(agent_notes.FILE, before, agent_notes.without_notes(before))
    return None


def _both(plan: ClientPlan, after: str) -> ClientPlan:
    changed = after != plan.after
    return msgspec.structs.replace(plan, after=after, state="add" if changed and plan.state == "same" else plan.state)


def _change(path: str, before: str | None, after: str | None) -> PlannedFile:
    if before == after:
        state = "same"
    elif before is None:
        state = "create"
    elif after is None or len(after) < len(before):
        state = "remove"
    else:
        state = "add"
    was, becomes = (None if text is None else text.encode() for text in (before, after))
    return PlannedFile(path, was, becomes, state, (_WHAT,))


def _text(root: Path, path: Path) -> str | None:
    raw = read_if_there(real_target(path, within=root))
    try:
        return None if raw is None else raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"'{path}' was not changed: it is not UTF-8 text.", hint="Convert it, then try again.") from error
