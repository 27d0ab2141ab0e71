"""`clew init`: find out what a folder holds, write clew.toml, keep .clew/ out of git, connect a client.

Everything is planned before anything is written, so a client's configuration that cannot be edited stops the command
while nothing has changed yet. Running it again changes nothing and says so.
"""

import argparse
import json
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from clew.edit.edits import FileEdit
from clew.edit.recovery import recover
from clew.edit.targets import read_if_there, real_target
from clew.edit.transaction import FileTransaction
from clew.errors import ConfigError
from clew.setup.clients.configure import (
    BY_NAME,
    BY_UVX,
    CLIENTS,
    ClientPlan,
    client_config,
    clients_found,
    command_for,
    complete_interrupted,
    config_path,
    own_command,
    write_plan,
)
from clew.setup.detect.classify import detect
from clew.setup.detect.findings import FolderContents
from clew.setup.detect.proposal import proposed_config
from clew.setup.hooks import HOOK_FILES
from clew.setup.token import TOKEN_VARIABLE, make_token, token_path
from clew.surfaces.cli.commands.init_memory import PlannedFile, memory_hooks, memory_notes
from clew.surfaces.cli.opening import HERE
from clew.workspace.ignore import ignore_spec
from clew.workspace.root import confirm

ADMITS = True
"""It makes a project where none is."""
EXAMPLE = """clew init --client claude-code
clew init --client claude-code --memory    # and connect its hooks to the memory
clew init --no-memory                      # take the hooks of all clients out again
clew init --remove                         # take out all that init wrote here"""

_DONE = {
    "create": "created",
    "add": "added",
    "replace": "replaced",
    "same": "unchanged",
    "differs": "kept",
    "remove": "removed",
}
_WOULD = {**_DONE, **{state: f"would {state}" for state in ("create", "add", "replace", "remove")}}
_NOTHING = "nothing"
_NARROWS = ("docs.folders", "code.folders", "tests.folders")
"""Keys without which the whole project is read."""
READING_RULE = (
    "Clew reads all documents, code and tests here that git does not ignore, with or without clew.toml. To read "
    "less, name folders in clew.toml."
)
_SAID_WHAT = ("add", "remove")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=HERE, metavar="FOLDER", help="the project (default: here)")
    parser.add_argument(
        "--client",
        action="append",
        default=[],
        choices=list(CLIENTS),
        metavar="NAME",
        help=f"write this client's configuration, and not those of the clients that are used here; may be repeated: "
        f"{', '.join(CLIENTS)}",
    )
    parser.add_argument(
        "--url", default="", metavar="URL", help="let the client use a running HTTP server, with a token of your own"
    )
    memory = parser.add_mutually_exclusive_group()
    memory.add_argument(
        "--memory",
        action="store_true",
        help="let the client's hooks tell the memory what happens, and the agent what is remembered",
    )
    memory.add_argument(
        "--no-memory", action="store_true", help="take these hooks out again; of all clients by default"
    )
    parser.add_argument(
        "--answers", action="store_true", help="with --memory: also keep the assistant's last words of each turn"
    )
    parser.add_argument(
        "--remove", action="store_true", help="take out what `clew init` wrote into this project, and say what stays"
    )
    parser.add_argument("--force", action="store_true", help="replace a clew.toml or a client's entry that differs")
    parser.add_argument("--dry-run", action="store_true", help="show what would be written, write nothing")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace) -> int:
    """0 when all is in place, 1 when a client's configuration has another entry of that name and was kept."""
    root = Path(args.folder).resolve()
    confirm(root)
    if not args.dry_run:
        _complete_interrupted(root, args.client)
    if args.remove:
        from clew.surfaces.cli.commands.uninstall import remove_from

        return remove_from(root, proposed_config(detect(Path(args.folder))), dry_run=args.dry_run, as_json=args.json)
    args.named = bool(args.client)
    if not args.client and not args.no_memory:
        args.client = list(clients_found(root))
    findings = detect(Path(args.folder))
    files = [_config_change(root, findings, args.force), _gitignore_change(root)]
    command = own_command() if args.client else ()
    names = dict.fromkeys(args.client)
    plans = [client_config(name, root, command_for(name, command), url=args.url, force=args.force) for name in names]
    hooks, plans = memory_hooks(args, root, BY_UVX if command == BY_UVX else BY_NAME, plans)
    files += hooks
    if not args.dry_run:
        _write(root, files, plans)
        if args.url:
            make_token()
    if args.json:
        from clew.surfaces.cli.output import print_json

        print_json(_as_data(args, root, findings, files, plans))
    else:
        from clew.text.terminal import columns, wrapped

        print(wrapped("\n".join(_as_text(args, root, findings, files, plans)), None if args.dry_run else columns()))
    return 1 if any(plan.state == "differs" for plan in plans) else 0


def _complete_interrupted(root: Path, clients: list[str]) -> None:
    """Complete or take back what was being written when an earlier `clew init` was killed."""
    recover(root, None)
    for name in dict.fromkeys(clients):
        complete_interrupted(config_path(name, root), within=root if CLIENTS[name].in_project else None)


def _write(root: Path, files: list[PlannedFile], plans: list[ClientPlan]) -> None:
    """The files of the project change together, and each client's file by itself."""
    edits = [FileEdit(change.path, change.before, change.after, prune=_parent(change.path)) for change in files]
    FileTransaction(root, edits).commit()
    for plan in plans:
        write_plan(plan)


def _parent(path: str) -> str:
    """The folder that stays when a file is removed and its own folder becomes empty."""
    return path.partition("/")[0] if path.startswith(".github/") else "."


# --- clew.toml and .gitignore -----------------------------------------------------------------------------------------


def _config_change(root: Path, findings: FolderContents, force: bool) -> PlannedFile:
    name = "clew.toml"
    before = read_if_there(real_target(root / name, within=root))
    if before is None:
        return PlannedFile(name, None, proposed_config(findings).encode(), "create")
    try:
        settings = tomllib.loads(before.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        if force:
            return PlannedFile(name, before, proposed_config(findings).encode(), "replace")
        raise ConfigError(
            f"'{root / name}' is not valid TOML: {error}.", hint="Correct it, or pass --force to write a new one."
        ) from error
    after = proposed_config(findings, _name(settings))
    differences = tuple(_differences(settings, tomllib.loads(after)))
    if not differences:
        return PlannedFile(name, before, before, "same")
    if not force:
        return PlannedFile(name, before, before, "differs", differences)
    return PlannedFile(name, before, after.encode(), "replace", differences)


def _name(settings: dict[str, Any]) -> str | None:
    project = settings.get("project")
    name = project.get("name") if isinstance(project, dict) else None
    return name if isinstance(name, str) else None


def _differences(present: dict[str, Any], proposed: dict[str, Any]) -> Iterator[str]:
    """One line for each key that the two disagree on."""
    yours, found = dict(_flat(present)), dict(_flat(proposed))
    for key in [*yours, *(key for key in found if key not in yours)]:
        if yours.get(key) != found.get(key):
            otherwise = f"found {found.get(key, _NOTHING)}" if key not in _NARROWS else "without it everything is read"
            yield f"{key}: clew.toml says {yours.get(key, _NOTHING)}, {otherwise}"


def _flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", json.dumps(value, ensure_ascii=False, default=str)


def _gitignore_change(root: Path) -> PlannedFile:
    """Change of .gitignore. Existing bytes are kept, even a missing last line end."""
    name, line = ".gitignore", ".clew/"
    before = read_if_there(real_target(root / name, within=root))
    if before is None:
        return PlannedFile(name, None, f"{line}\n".encode(), "create", (line,))
    if ignore_spec(before.decode("utf-8-sig", "replace").splitlines()).match_file(f"{line}store"):
        return PlannedFile(name, before, before, "same")
    end = b"\r\n" if b"\r\n" in before else b"\n"
    gap = b"" if not before or before.endswith((b"\n", b"\r")) else end
    return PlannedFile(name, before, before + gap + line.encode() + end, "add", (line,))


# --- what is printed --------------------------------------------------------------------------------------------------


def _as_text(
    args: argparse.Namespace, root: Path, findings: FolderContents, files: list[PlannedFile], plans: list[ClientPlan]
) -> Iterator[str]:
    verbs = _WOULD if args.dry_run else _DONE
    yield from _found_lines(findings)
    yield ""
    for change in files:
        shown = f"{change.path} ({', '.join(change.details)})" if change.state in _SAID_WHAT else change.path
        yield f"  {verbs[change.state]:<14}{shown}"
        if change.state in ("differs", "replace"):
            yield from (f"  {'':<14}  {line}" for line in change.details)
    for plan in plans:
        yield f"  {verbs[plan.state]:<14}{_shown(plan.path, root)} ({CLIENTS[plan.client].title})"
        if plan.state == "differs":
            yield f"  {'':<14}  it has another entry named clew; pass --force to replace it with:"
            yield from (f"  {'':<14}  {line}" for line in plan.snippet.splitlines())
    if args.dry_run and files[0].changed:
        yield f"\nclew.toml would read:\n\n{(files[0].after or b'').decode().rstrip()}"
    yield from _closing_lines(args, root, files, plans)


def _closing_lines(
    args: argparse.Namespace, root: Path, files: list[PlannedFile], plans: list[ClientPlan]
) -> Iterator[str]:
    anything = any(change.changed for change in files) or any(plan.changed for plan in plans)
    kept = "differs" in [*(change.state for change in files), *(plan.state for plan in plans)]
    if not anything and not kept:
        yield "\nNothing changed: everything is already in place."
    if files[0].state == "differs":
        yield "\nYour clew.toml was kept. `--force` replaces it with what was found."
    if not args.named and not args.no_memory:
        commands = {name: _client_command(args.folder, name) for name in CLIENTS if name not in args.client}
        width = max(map(len, commands.values()))
        yield "\nConnect another client (writes or merges its configuration, and keeps what is in it):"
        for name, command in commands.items():
            yield f"  {command:<{width}}  {CLIENTS[name].title}: {_shown(config_path(name, root), root)}"
    if args.url:
        yield f"\nThe client sends the token in {token_path()}, which only you can read. Before you start the client:"
        yield f'  export {TOKEN_VARIABLE}="$(cat {shlex.quote(str(token_path()))})"'
    elif args.no_memory and anything and not args.dry_run:
        yield "\nRestart the client."
    yield from _next_steps(args, plans)
    yield from (f"\n{note}" for note in memory_notes(args))


def _next_steps(args: argparse.Namespace, plans: list[ClientPlan]) -> Iterator[str]:
    """The steps that remain for a person: in each client, and in this folder."""
    if args.dry_run or args.no_memory:
        return
    for plan in plans:
        if plan.state != "differs":
            yield f"\nNext, in {CLIENTS[plan.client].title}: {CLIENTS[plan.client].next_step}"
    command = own_command()
    shared = [plan for plan in plans if plan.within is not None and not args.url and command not in (BY_NAME, BY_UVX)]
    if shared:
        names = ", ".join(_shown(plan.path, plan.within or plan.path) for plan in shared)
        yield (
            f"\nWarning: {names} names `clew`, as on the computers of a team, and no `clew` on your PATH leads to this "
            f"one. Put {Path(command[0]).parent} on the PATH of the client, or install Clew with `pipx` or `uv tool`."
        )
    hooked = [name for name in dict.fromkeys(args.client) if name in HOOK_FILES]
    if hooked and not args.memory:
        yield (
            f"\nMemory is not connected. `{_client_command(args.folder, hooked[0])} --memory` also lets the client's "
            "hooks remember decisions and corrections, and bring them back."
        )


def _found_lines(findings: FolderContents) -> Iterator[str]:
    if findings.nothing:
        yield f"{findings.name} holds nothing that Clew reads yet."
    else:
        yield f"Found in {findings.name}:"
        yield from (f"  {label:<14}{text}" for label, text in _found(findings))
        yield f"  {'':<14}{READING_RULE}"
    if findings.truncated:
        yield f"  The search stopped after {findings.entries:,} names; what lies deeper was not looked at."
    if findings.unreadable:
        yield f"  {_count(findings.unreadable, 'entry', 'entries')} could not be read."


def _found(findings: FolderContents) -> Iterator[tuple[str, str]]:
    for spec in findings.requirements:
        journeys = f", {_count(spec.journeys, 'journey')}" if spec.journeys else ""
        yield (
            "requirements",
            f"{spec.path}: {_count(spec.requirements, 'requirement')}{journeys} in {_count(spec.files, 'file')}",
        )
    for folder in findings.specs:
        yield "specs", f"{folder.path}: {_count(folder.specs, 'spec')}, {_count(folder.changes, 'open change')}"
    for register in findings.registers:
        yield "register", f"{register.path} ({register.format})"
    if findings.pages:
        named = ", ".join(f"{pages.path} {pages.files:,}" for pages in findings.docs)
        yield "docs", f"{_count(findings.pages, 'page')}{f' ({named})' if named else ''}"
    for label, sources in (("code", findings.code), ("tests", findings.tests)):
        for source in sources:
            yield label, f"{source.path}: {_count(source.files, 'file')} ({', '.join(source.languages[:3])})"
    for result in findings.results:
        yield "results", f"{result.path} ({result.kind})"
    for nested in findings.nested:
        yield "left alone", f"{nested}: a project of its own"


def _as_data(
    args: argparse.Namespace, root: Path, findings: FolderContents, files: list[PlannedFile], plans: list[ClientPlan]
) -> dict[str, Any]:
    return {
        "root": str(root),
        "dry_run": args.dry_run,
        "changed": any(change.changed for change in files) or any(plan.changed for plan in plans),
        "findings": msgspec.to_builtins(findings),
        "files": [{"path": change.path, "state": change.state, "details": change.details} for change in files],
        "clients": [{"client": plan.client, "path": str(plan.path), "state": plan.state} for plan in plans],
        "available_clients": [
            {"client": name, "path": str(config_path(name, root)), "command": _client_command(args.folder, name)}
            for name in CLIENTS
        ],
    }


def _client_command(folder: str, client: str) -> str:
    place = "" if folder == "." else f"{shlex.quote(folder)} "
    return f"clew init {place}--client {client}"


def _shown(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
