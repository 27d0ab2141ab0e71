"""Carrying out one step of a transaction and taking it back, in the process that began it and in the next one alike."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from clew.edit.edits import folder_contents, place_of
from clew.edit.journal import FileStep, MoveStep, Step
from clew.edit.replacing import make_folder, put_in_place, replace_file, sync_folder
from clew.text.hashing import content_hash
from clew.workspace.files import resolve
from clew.workspace.paths import raw
from clew.workspace.regular import ANY_BYTES, contents


def difference(root: Path, step: Step) -> str | None:
    """The path of a file that changed since the step was planned; None if the step can be carried out."""
    if isinstance(step, FileStep):
        return None if _hash(place_of(root, step.path)) == step.before else step.path
    if not _source(root, step).is_dir():
        return step.source
    if os.path.lexists(place_of(root, step.target)):
        return step.target
    now = folder_contents(_source(root, step))
    changed = [path for path in (now | step.contents) if now.get(path) != step.contents.get(path)]
    return f"{step.source}/{min(changed)}" if changed else None


def is_done(root: Path, step: Step) -> bool:
    if isinstance(step, FileStep):
        return _hash(place_of(root, step.path)) == step.after
    return not os.path.lexists(_source(root, step)) and place_of(root, step.target).is_dir()


def can_go_on(root: Path, step: Step) -> bool:
    """True if an interrupted step is done or can still be done, because nobody else changed its files."""
    if is_done(root, step):
        return True
    is_ready = isinstance(step, MoveStep) or step.after is None or temporary_of(root, step).exists()
    return is_ready and difference(root, step) is None


def apply(root: Path, step: Step) -> None:
    if isinstance(step, MoveStep):
        target = place_of(root, step.target)
        make_folder(target.parent)
        _source(root, step).rename(target)
        return
    place = place_of(root, step.path)
    if step.after is not None:
        put_in_place(temporary_of(root, step), place)
        return
    place.unlink()
    remove_emptied_folders(root, step)


def remove_emptied_folders(root: Path, step: Step) -> None:
    """Remove the folders that a step left empty, up to the one that the step names."""
    if isinstance(step, MoveStep) or step.after is not None or step.prune is None:
        return
    folder, top = place_of(root, step.path).parent, resolve(root, step.prune)
    with suppress(OSError):
        while folder != top and folder.is_relative_to(top):
            with suppress(FileNotFoundError):
                folder.rmdir()
            folder = folder.parent
    sync_folder(folder)


def revert(root: Path, step: Step) -> None:
    """Take a step back if it was carried out and its result was not changed since."""
    if not is_done(root, step):
        return
    if isinstance(step, MoveStep):
        place_of(root, step.target).rename(_source(root, step))
        return
    place = place_of(root, step.path)
    if step.inverse.made:
        place.unlink()
        return
    replace_file(place, step.inverse.applied(contents(place, ANY_BYTES) if step.after is not None else b""))
    if step.after is None and step.mode is not None:
        place.chmod(step.mode)


def sync(root: Path, steps: Iterable[Step]) -> None:
    """Make the names durable in every folder that the steps touch."""
    folders: set[Path] = set()
    for step in steps:
        if isinstance(step, MoveStep):
            folders |= {_source(root, step).parent, place_of(root, step.target).parent}
        else:
            folders.add(place_of(root, step.path).parent)
    for folder in folders:
        sync_folder(folder)


def temporary_of(root: Path, step: FileStep) -> Path:
    return place_of(root, step.path).with_name(raw(step.temporary))


def _source(root: Path, step: MoveStep) -> Path:
    """The folder itself, even if it is a link."""
    place_of(root, step.source)
    return root / raw(step.source)


def _hash(place: Path) -> str | None:
    try:
        return content_hash(contents(place, ANY_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return None
