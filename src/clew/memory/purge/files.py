"""The files of Clew that may hold purged text besides the memory's store, and how it is taken out of each."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from clew.derived.file import throw_away
from clew.edit import below
from clew.edit.admission import admit
from clew.edit.backups import FOLDER as BACKUPS
from clew.edit.locking import locked
from clew.edit.recovery import COLLECTION as FILE_EDITS
from clew.edit.state_folder import STATE_FOLDER
from clew.errors import ClewError
from clew.memory.mirror.markdown import end_of_name
from clew.memory.mirror.service import remove_files
from clew.memory.mirror.state import FILE as MIRROR_FILE
from clew.memory.purge.derived import DerivedFiles
from clew.memory.purge.traces import Traces
from clew.memory.storage.home import INDEX_FILE, STORE_FILE
from clew.store.restoring import delete_leftover
from clew.store.sqlite.damaged_copies import damaged_files
from clew.store.sqlite.engine import open_own
from clew.workspace.find import files_below, folders_named, paths_named
from clew.workspace.git.find import work_trees

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import IO, Any

    from clew.memory.storage.home import Home


_PROJECT_STORE = "clew.db"
_BESIDE = ("-wal", "-shm", "-journal")
_SPOOLS = "*.spool*"
"""Events that no server has read yet."""
_PATIENCE_SECONDS = 2.0
COPY_PREFIX = "team-"


def state_folders(home: "Home") -> list[Path]:
    """The state folders of all projects of the repository, in all its work trees."""
    trees = {home.root, *(work_trees(home.folder.parent) if home.folder.name != STATE_FOLDER else ())}
    named = (folder for tree in sorted(trees) for folder in folders_named(tree, STATE_FOLDER))
    found = (folder.parent.resolve() / folder.name for folder in named if not folder.is_symlink())
    # What is not believed was not made here: nothing that was remembered here is in it.
    return [folder for folder in dict.fromkeys(found) if admit(folder).is_ours]


def purge_mirrors(folders: "Collection[Path]", ids: "Collection[str]") -> tuple[str, ...]:
    """Delete the Markdown files of memories in every work tree."""
    return tuple(f"deleted {file}" for folder in folders for file in remove_files(folder, ids))


def with_names(traces: Traces, folders: "Collection[Path]", ids: "Collection[str]") -> Traces:
    """The traces of memories, and the names of their Markdown files in the mirror, which are made from their titles."""
    is_mirrored = any((folder / MIRROR_FILE).exists() for folder in folders)
    return traces.and_also(map(end_of_name, ids)) if is_mirrored else traces


def purge_files(home: "Home", projects: "Collection[DerivedFiles]", traces: Traces) -> tuple[str, ...]:
    """Remove purged text from every other file of Clew; returns what was done."""
    done: list[str] = []
    for damaged in damaged_files(home.path):
        below.remove(damaged)
        done.append(f"deleted the rescued store {damaged.name}")
    for project in projects:
        if delete_leftover(project.folder):
            done.append(f"deleted the copy of a backup that a killed restore left in {project.folder}")
        for file in _holding(project.folder, project.sought_in):
            with suppress(OSError, ClewError):
                done.append(project.clean(file) if project.is_derived(file) else _cleaned(project.folder, file, traces))
    for folder in _apart(home, projects):
        for file in _holding(folder, lambda _: traces):
            with suppress(OSError, ClewError):
                done.append(_cleaned(folder, file, traces))
    return tuple(dict.fromkeys(said for said in done if said))


def empty_spools(home: "Home", folders: "Collection[Path]") -> None:
    """Leave nothing of events that no server has read yet."""
    for place in (home.folder, *folders):
        for file in paths_named(place, _SPOOLS):
            with suppress(OSError), _opened(file) as opened, locked(opened, _PATIENCE_SECONDS):
                opened.truncate()


def _opened(file: Path) -> "IO[bytes]":
    """A file of Clew's own; OSError for a link, which may lead to a file of the user's."""
    return os.fdopen(below.open_file(file, os.O_RDWR), "r+b")


def left_in(
    home: "Home", projects: "Collection[DerivedFiles]", traces: Traces, shared: "Collection[str]" = ()
) -> tuple[str, ...]:
    """The files of Clew that still have purged text, apart from texts that project files or other memories contain as
    well."""
    found = {file for project in projects for file in project.left(shared)}
    rest = traces.without(shared)
    found |= {file for folder in _apart(home, projects) for file in files_below(folder) if rest.in_file(file)}
    return tuple(sorted(map(str, found)))


def _apart(home: "Home", projects: "Collection[DerivedFiles]") -> list[Path]:
    """The memory's own folder, where it is not that of a project."""
    return [home.folder] if home.folder.resolve() not in {project.folder for project in projects} else []


def _holding(folder: Path, sought: "Callable[[Path], Traces]") -> "Iterator[Path]":
    own = {STORE_FILE, INDEX_FILE}
    for file in files_below(folder):
        name = file.name
        for suffix in _BESIDE:
            name = name.removesuffix(suffix)
        # A copy of a team's store, and the index of it, follow what is purged in the database.
        if name not in own and not name.startswith(COPY_PREFIX) and sought(file).in_file(file):
            yield file


def _cleaned(folder: Path, file: Path, traces: Traces) -> str:
    inside = file.relative_to(folder).as_posix()
    part = inside.partition("/")[0]
    if file.name.startswith(_PROJECT_STORE):
        _purge_project_store(folder / _PROJECT_STORE, traces)
        return f"took it out of the history of file changes in {folder / _PROJECT_STORE}"
    if part == BACKUPS or "-damaged-" in file.name:
        below.remove(file)
        return f"deleted {file}"
    if ".db" in file.suffixes or ".db-" in file.name:
        throw_away(file.with_name(file.name.partition(".db")[0] + ".db"))
        return f"deleted {file}, which is made again"
    return _without_lines(file, traces)


def _purge_project_store(place: Path, traces: Traces) -> None:
    def edit(collection: str, id: str, value: "Any") -> "Any":
        if isinstance(value, str):
            return "" if traces.in_text(value) else value
        # Drafts are work that is not saved yet: their author decides.
        return None if collection == FILE_EDITS and traces.in_value(value) else value

    store = open_own(place)
    try:
        store.rewrite(edit)
        store.compact()
    finally:
        store.close()


def _without_lines(file: Path, traces: Traces) -> str:
    """Remove the lines with purged text from a file of lines, such as a spool of events."""
    # In place: a process that adds lines has the file open, and locks it meanwhile.
    with _opened(file) as opened, locked(opened, _PATIENCE_SECONDS):
        lines = opened.read().splitlines(keepends=True)
        kept = [line for line in lines if not traces.in_bytes(line)]
        opened.seek(0)
        opened.truncate()
        opened.writelines(kept)
    return f"took {len(lines) - len(kept)} lines out of {file}"
