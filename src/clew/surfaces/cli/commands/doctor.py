"""`clew doctor`."""

import argparse
import platform
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import msgspec

from clew import __version__
from clew.config import EmbedSettings
from clew.context import STORE_PATIENCE_SECONDS
from clew.errors import ClewError, ConfigError, StoreError
from clew.project import Project
from clew.search.embed.opening import open_embedder
from clew.store.interface import Store
from clew.surfaces.cli.opening import Here, add_folder, add_json
from clew.surfaces.cli.output import print_json
from clew.text.terminal import coloured, columns, wrapped
from clew.workspace.find import scan
from clew.workspace.git import api as git
from clew.workspace.root import admitted

EXAMPLE = "clew doctor"
ADMITS = True
"""It examines the installation where no project is, and says so."""


class HealthCheck(msgspec.Struct, frozen=True):
    name: str
    ok: bool
    detail: str
    hint: str = ""


def configure(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    checks = list(_checks(args.folder))
    if args.json:
        print_json({"checks": [msgspec.to_builtins(check) for check in checks], "ok": all(c.ok for c in checks)})
    else:
        width = columns()
        for check in checks:
            mark = coloured("ok  ", "green") if check.ok else coloured("FAIL", "red")
            print(wrapped(f"{mark} {check.name}: {check.detail}", width))
            if check.hint:
                print(wrapped(coloured(f"     {check.hint}", "dim"), width))
    return 0 if all(check.ok for check in checks) else 1


def _checks(folder: str) -> Iterator[HealthCheck]:
    yield HealthCheck("clew", True, f"{__version__} on Python {platform.python_version()}, {sys.platform}")
    yield HealthCheck(
        "libraries", True, f"mcp {version('mcp')}, msgspec {version('msgspec')}, SQLite {sqlite3.sqlite_version}"
    )
    try:
        admitted(Path(folder), named=not isinstance(folder, Here))
    except ClewError as error:
        yield HealthCheck("project", False, error.message, error.hint)
        return
    try:
        project = Project.open(folder, drafts=False)
    except ClewError as error:
        yield HealthCheck("configuration", False, error.message, error.hint)
        return
    try:
        yield from _project_checks(project)
    finally:
        project.close()


def _project_checks(project: Project) -> Iterator[HealthCheck]:
    config = project.config
    files = ", ".join(config.files) or "none; the usual folders are read"
    yield HealthCheck("configuration", not config.notes, files, "; ".join(config.notes))
    top = git.toplevel(config.root)
    refused = git.problem(config.root) if top is None else None
    found = f"work tree {top}" if top else refused or "not a git work tree; change metrics are not available"
    yield HealthCheck("git", refused is None, found)
    yield _server_check(project)
    yield from _store_checks(project)
    encoder = _encoder_check(config.embedder)
    yield encoder
    yield _index_check(project, encoder)
    try:
        project.ensure_graph()
    except ClewError as error:
        yield HealthCheck("graph", False, error.message, error.hint)
        return
    counts = project.graph.node_counts()
    yield HealthCheck("graph", True, ", ".join(f"{number} {kind}" for kind, number in counts.items()) or "empty")
    for selection, name in ((config.requirements, "requirements"), (config.code, "code"), (config.tests, "tests")):
        tree = scan(config.root, selection)
        hint = f"Not there: {', '.join(tree.missing)}; clew.toml names the folders." if tree.missing else ""
        yield HealthCheck(
            name, not tree.missing, f"{len(tree.files)} files in {', '.join(selection.folders) or 'no folder'}", hint
        )


def _server_check(project: Project) -> HealthCheck:
    """The state of the server. Commands work without one, so none is not a fault."""
    from clew.surfaces.cli.asking import SWITCH, VARIABLE, is_switched_off, server_of

    if is_switched_off():
        return HealthCheck("server", True, f"not asked, because {VARIABLE} is set; commands read the project")
    process, reason = server_of(str(project.config.root))
    if process is not None:
        return HealthCheck("server", True, f"process {process} answers commands that read, unless {SWITCH} is given")
    found = f"one runs, but {reason}" if reason else "none runs"
    return HealthCheck("server", True, f"{found}; commands read the project themselves")


def _encoder_check(settings: EmbedSettings) -> HealthCheck:
    """An installation without the encoder's packages is in order: everything works by words. A model that the
    configuration names and that cannot be used is a fault."""
    if settings.kind == "endpoint":
        # The index asks the service, and its state says how that went.
        return HealthCheck("encoder", True, f"{settings.model} at {settings.url}")
    try:
        encoder = open_embedder(settings)
    except ConfigError as error:
        detail = f"not available, so search uses keywords only. {error.message}"
        return HealthCheck("encoder", settings.kind == "minilm", detail, error.hint)
    if encoder is None:
        return HealthCheck("encoder", True, 'none, as [embedder] kind = "none" asks; search uses keywords only')
    return HealthCheck("encoder", True, f"{encoder.name}, {encoder.dimensions} dimensions")


def _index_check(project: Project, encoder: HealthCheck) -> HealthCheck:
    state = project.index.state()
    if state is None:
        return HealthCheck("search", False, project.index.problem or "no index", "Exact matches are found without one.")
    hint = "`clew index` makes it complete." if state.state in ("indexing", "damaged") and state.units else ""
    detail = f"{state.describe()}, {state.state.replace('_', ' ')}, embedder {state.embedder or 'none'}"
    notes = (note for note in state.notes if not encoder.hint or encoder.hint not in note)
    return HealthCheck("search", state.state != "damaged", "; ".join((detail, *notes)), hint)


def _store_checks(project: Project) -> Iterator[HealthCheck]:
    from clew.memory.storage.home import STORE_FILE, places
    from clew.store.sqlite.damaged_copies import damaged_files

    memory = places(project.context)[0] / STORE_FILE
    yield _project_store_check(project)
    if project.config.store is not None:
        yield from _team_checks(project)
    elif memory.exists():
        yield _memory_store_check(memory)
    if project.context.recovered:
        yield HealthCheck("interrupted writes", True, " ".join(project.context.recovered))
    for store in (project.context.store_file, memory):
        if kept := damaged_files(store):
            names = ", ".join(f"{file.name} ({file.stat().st_size:,} bytes)" for file in kept)
            hint = f"They are in {store.parent}. Delete them once nothing is missed."
            yield HealthCheck("damaged stores", True, f"kept: {names}", hint)


def _team_checks(project: Project) -> Iterator[HealthCheck]:
    """Checks of the team's store, and of the memory, where a repository around the project has a store of its own."""
    context = project.context
    store = context.shared
    yield _team_check("team", store, context.team_problem)
    if store is not None and context.inside:
        try:
            with closing(context.open_team("")) as whole:
                yield _team_check("memory", whole, None)
        except (StoreError, ConfigError) as error:
            yield HealthCheck("memory", False, error.message, error.hint)


def _team_check(name: str, store: Store | None, problem: StoreError | None) -> HealthCheck:
    if store is None or problem is not None:
        said = problem or StoreError("The team's store cannot be used.")
        return HealthCheck(
            name, False, said.message, said.hint or "Reading goes on from the copy. `clew store status` says more."
        )
    return _store_check(name, store)


def _memory_store_check(path: Path) -> HealthCheck:
    from clew.store.sqlite.engine import open_own

    try:
        with closing(open_own(path, busy_timeout=STORE_PATIENCE_SECONDS)) as store:
            return _store_check("memory", store)
    except StoreError as error:
        return HealthCheck("memory", False, error.message, error.hint)


def _project_store_check(project: Project) -> HealthCheck:
    store = project.store
    if store is None:
        problem = project.context.store_problem
        hint = "Files are still read, without what is only in the store: drafts, reviews, decisions, history."
        if problem is None:
            return HealthCheck("store", False, "It cannot be used.", hint)
        return HealthCheck("store", False, problem.message, f"{problem.hint} {hint}")
    return _store_check("store", store)


def _store_check(name: str, store: Store) -> HealthCheck:
    try:
        damage = store.check()
    except StoreError as error:
        return HealthCheck(name, False, error.message, error.hint)
    if damage:
        return HealthCheck(name, False, "; ".join(damage), "docs/store.md says how to save what is left.")
    facts = store.describe()
    if facts.get("disk_full"):
        hint = "Free some space. What is in the store can be read, and nothing can be written."
        return HealthCheck(name, False, f"The disk of {facts['location']} is full.", hint)
    return HealthCheck(name, True, ", ".join(f"{fact} {value}" for fact, value in facts.items() if value is not None))
