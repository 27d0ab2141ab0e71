"""`clew store`: authored data, on this machine or in a team's database."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.config import LOCAL_STORE
from clew.errors import ConfigError, InvalidArgument, StoreError
from clew.surfaces.cli.opening import add_folder, add_json, open_project
from clew.surfaces.cli.output import print_json
from clew.text.database_address import Address
from clew.text.terminal import columns, wrapped

if TYPE_CHECKING:
    from clew.memory.storage.moving import MovedStore, Opener
    from clew.project import Project

EXAMPLE = """clew store status
clew store init --to postgresql://owner@db.example.org/clew --writer alice --reader dashboard
clew store migrate --to postgresql://owner@db.example.org/clew
clew store backup ~/backups/today
clew store restore ~/backups/today"""

_ACTIONS = {
    "status": "say where the store is, who you are in it, and what it holds",
    "init": "make the project's schema and its roles in a team's database, or bring them up to date",
    "migrate": "copy everything authored to another store, and verify it; what is here stays",
    "backup": "copy everything authored into a folder",
    "restore": "copy a backup into the present store, which may hold nothing else",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=_ACTIONS, help="; ".join(f"{name}: {what}" for name, what in _ACTIONS.items())
    )
    parser.add_argument("place", nargs="?", help="the folder of a backup")
    parser.add_argument("--to", metavar="URL", help="the database, or `local`; without it, the configured store")
    for role in ("reader", "writer", "owner"):
        parser.add_argument(
            f"--{role}",
            action="append",
            default=[],
            metavar="USER",
            help=f"init: a user of the database that is {role}",
        )
    add_folder(parser, positional=False)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    project = open_project(args.folder)
    try:
        match args.action:
            case "status":
                return _status(project, as_json=args.json)
            case "init":
                return _init(project, args)
            case "migrate":
                return _migrate(project, args)
            case _:
                return _keep_or_restore(project, args)
    finally:
        project.close()


def _status(project: "Project", *, as_json: bool) -> int:
    status: dict[str, Any] = {"project": project.config.name}
    store = project.context.shared
    if store is None:
        raise project.context.shared_problem or project.context.store_problem or ConfigError("There is no store.")
    status |= store.describe()
    if project.config.store is not None:
        status["role"] = _role(store)
    else:
        status |= {f"memory_{key}": value for key, value in _memory(project).items()}
    problem = project.context.team_problem
    if as_json:
        print_json(status)
    else:
        sys.stdout.write(
            "".join(f"{key.replace('_', ' ')}: {value}\n" for key, value in status.items() if value is not None)
        )
    if problem is not None:
        sys.stderr.write(wrapped(f"clew: {problem}\n", columns(sys.stderr)))
    return 1 if problem is not None or "memory_problem" in status else 0


def _memory(project: "Project") -> dict[str, Any]:
    """The memory's own file, which exists where no team's database holds everything; `problem` if it is damaged."""
    from contextlib import closing

    from clew.memory.storage.home import STORE_FILE, places
    from clew.store.sqlite.engine import open_own

    file = places(project.context)[0] / STORE_FILE
    if not file.exists():
        return {}
    try:
        with closing(open_own(file)) as memory:
            described = memory.describe()
    except StoreError as error:
        return {"location": str(file), "problem": str(error)}
    return {key: described[key] for key in ("location", "bytes", "records", "events", "tombstones")}


def _role(store: Any) -> str | None:
    from clew.store.postgres.roles import role_of

    if store.stale is not None:
        return None
    with store.database.asking() as connection:
        return role_of(connection.lent, store.database.schema)


def _init(project: "Project", args: argparse.Namespace) -> int:
    import uuid
    from contextlib import closing

    from clew.store.postgres.engine import open_postgres
    from clew.store.postgres.roles import init
    from clew.store.team import schema_of, search_schema

    address = _address(project, args.to)
    members = {"reader": tuple(args.reader), "writer": tuple(args.writer), "owner": tuple(args.owner)}
    made: dict[str, list[int]] = {}
    for inside in dict.fromkeys((project.context.inside, "")):
        schema = schema_of(project.config, inside=inside)
        made[schema] = init(address, schema, members)  # type: ignore[arg-type]
        _init_search(address, schema, search_schema(project.config, inside=inside))
        with closing(open_postgres(address, schema)) as store:
            # What names the repository in what is remembered, so that a reader may be the first to come.
            store.setting("repository", uuid.uuid4().hex.encode())
    if args.json:
        print_json({"store": str(address), "schemas": {name: {"steps": steps} for name, steps in made.items()}})
        return 0
    for schema, steps in made.items():
        done = f"made, with the roles {schema}_reader, _writer and _owner" if 1 in steps else "up to date"
        sys.stdout.write(f"The schema {schema} in {address} is {done}.\n")
    sys.stdout.write(f'Use it: `store = "{address}"` in your configuration, or CLEW_STORE.\n')
    return 0


def _init_search(address: Address, schema: str, of_search: str) -> None:
    """Make the tables of embeddings and of a search index in the database, where pgvector is there to keep them."""
    from clew.search.database.connecting import connected
    from clew.search.database.tables import ON_DEMAND, grant, has_vectors, make_tables, take_steps
    from clew.store.postgres.roles import role_name

    with connected(address) as connection:
        if not has_vectors(connection):
            sys.stderr.write("clew: the database has no pgvector, so embeddings are not shared.\n")
            return
        make_tables(connection, of_search)
        grant(connection, of_search, reader=role_name(schema, "reader"), writer=role_name(schema, "writer"))
        take_steps(connection, of_search, ON_DEMAND)


def _migrate(project: "Project", args: argparse.Namespace) -> int:
    from clew.memory.storage.moving import here, move, team

    if args.to is None:
        raise InvalidArgument("migrate needs --to.", hint="Pass --to URL, or --to local.")
    if args.to == LOCAL_STORE:
        if project.config.store is None:
            raise InvalidArgument(
                "The store is on this machine already.", hint="Set CLEW_STORE to where it comes from."
            )
        source, target = team(project.context, project.config.store), here(project.context)
    else:
        source, target = here(project.context), team(project.context, Address(args.to))
    exit_code = _report_move(move(source, target, _report), as_json=args.json)
    if not args.json:
        address, left = (LOCAL_STORE, "in the database") if args.to == LOCAL_STORE else (Address(args.to), "here")
        sys.stdout.write(
            f'Nothing {left} was changed. Use it: `store = "{address}"` in your configuration, or CLEW_STORE.\n'
        )
    return exit_code


def _keep_or_restore(project: "Project", args: argparse.Namespace) -> int:
    from clew.memory.storage.moving import keep, restore

    if args.place is None:
        raise InvalidArgument(f"{args.action} needs a folder.", hint=f"clew store {args.action} FOLDER")
    present = _present(project)
    folder = Path(args.place)
    if args.action == "backup":
        return _report_move(keep(present, folder, _report), as_json=args.json)
    return _report_move(restore(folder, present, _report, project.context.root), as_json=args.json)


def _present(project: "Project") -> "Opener":
    from clew.memory.storage.moving import here, team

    return here(project.context) if project.config.store is None else team(project.context, project.config.store)


def _address(project: "Project", given: str | None) -> Address:
    if given:
        return Address(given)
    if project.config.store is None:
        raise InvalidArgument("No database is named.", hint="Pass --to URL, or set CLEW_STORE.")
    return project.config.store


def _report(what: str, done: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{what}: {done:,}\x1b[K")


def _report_move(moved: "MovedStore", *, as_json: bool) -> int:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    if as_json:
        import msgspec

        print_json(msgspec.to_builtins(moved))
        return 0
    sys.stdout.write(f"Copied from {moved.source} to {moved.target}, and compared:\n")
    for name, copied in (("project", moved.project), ("memory", moved.memory)):
        held = copied.content
        sys.stdout.write(
            f"  {name}: {held.records:,} records, {held.tombstones:,} deleted, {held.events:,} events"
            f" ({copied.events:,} of them now), sha256 {held.sha256}\n"
        )
    for note in moved.notes:
        sys.stdout.write(wrapped(f"Note: {note}\n", columns(sys.stdout)))
    return 0
