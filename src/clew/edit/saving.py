"""Saving: several files are written, or none of them.

The new contents are written beside the files first, and the store notes that they are complete. From then on the save
happens: the files are renamed into place, and where the process dies in the middle, whoever opens the project next does
the rest. A file that somebody else changed is never replaced.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from clew.edit.files_write import FileEdit, diff_of
from clew.edit.replacing import beside, replace_file, sync_folder, write_beside
from clew.errors import FileChanged, Refused
from clew.trace.edit.sessions import Journal, WrittenFile
from clew.workspace.files import content_hash, resolve

_ENDING = ".clew"
MOST_SHOWN = 4_000
"""Characters of a difference that an error repeats."""


def planned(root: Path, edits: Sequence[FileEdit]) -> tuple[WrittenFile, ...]:
    """Where the new contents are to stand."""
    return tuple(
        WrittenFile(
            path=edit.path,
            temporary=beside(resolve(root, edit.path), _ENDING).name,
            before=None if edit.before is None else content_hash(edit.before),
            after=None if edit.removes else content_hash(edit.after),
        )
        for edit in edits
    )


def write_temporaries(root: Path, edits: Sequence[FileEdit], files: Sequence[WrittenFile]) -> None:
    try:
        for edit, file in zip(edits, files, strict=True):
            if edit.removes:
                continue
            target = resolve(root, edit.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            write_beside(target.with_name(file.temporary), edit.after, target)
        for folder in {resolve(root, edit.path).parent for edit in edits}:
            sync_folder(folder)
    except OSError as error:
        remove_temporaries(root, files)
        raise _unwritable(edit.path, error) from error


def _unwritable(path: str, error: OSError) -> Refused:
    return Refused(
        f"'{path}' cannot be written: {error.strerror or error}.",
        hint="Check the folder's permissions and space. No file was changed.",
    )


def remove_temporaries(root: Path, files: Sequence[WrittenFile]) -> None:
    for file in files:
        with suppress(OSError):
            resolve(root, file.path).with_name(file.temporary).unlink(missing_ok=True)


def replace_all(root: Path, edits: Sequence[FileEdit], files: Sequence[WrittenFile]) -> None:
    """Put the new contents in place. FileChanged, with nothing changed, where a file is not what it was."""
    for edit in edits:
        _demand(root, edit)
    done: list[FileEdit] = []
    try:
        for edit, file in zip(edits, files, strict=True):
            _demand(root, edit)
            _put_in_place(root, file)
            done.append(edit)
    except (OSError, FileChanged) as error:
        for each in reversed(done):
            _take_back(root, each)
        if isinstance(error, OSError):
            raise _unwritable(edit.path, error) from error
        raise
    _sync(root, files)


def recovered(root: Path, journal: Journal) -> bool:
    """Complete or take back a save that was interrupted; whether its drafts are in the files now."""
    if not journal.prepared:
        remove_temporaries(root, journal.files)
        return False
    states = [(file, _hash_of(root, file.path)) for file in journal.files]
    waiting = [file for file, state in states if state == file.before]
    done = [file for file, state in states if state == file.after]
    is_ours = len(waiting) + len(done) == len(states)
    # Where somebody changed one of the files meanwhile and none was replaced, none is; otherwise the rest follows.
    if is_ours or done:
        for file in waiting:
            with suppress(FileNotFoundError):
                _put_in_place(root, file)
    _sync(root, journal.files)
    remove_temporaries(root, journal.files)
    return is_ours and all(_hash_of(root, file.path) == file.after for file in journal.files)


def changed_meanwhile(edit: FileEdit, theirs: bytes | None) -> FileChanged:
    """Both sides of a file that somebody else changed."""
    mine = diff_of([edit])
    other = "The file was deleted.\n" if theirs is None else diff_of([FileEdit(edit.path, edit.before, theirs)])
    return FileChanged(
        f"'{edit.path}' changed on disk since it was read. Nothing was saved; the drafts are kept.",
        hint="refresh_graph reads it and brings the drafts onto the new text; then save again.",
        data={"path": edit.path, "mine": mine[:MOST_SHOWN], "theirs": other[:MOST_SHOWN]},
    )


def _demand(root: Path, edit: FileEdit) -> None:
    current = content_of(root, edit.path)
    if current != edit.before:
        raise changed_meanwhile(edit, current)


def content_of(root: Path, path: str) -> bytes | None:
    """What a file holds now; None where there is none."""
    try:
        return resolve(root, path).read_bytes()
    except FileNotFoundError:
        return None


def _hash_of(root: Path, path: str) -> str | None:
    content = content_of(root, path)
    return None if content is None else content_hash(content)


def _put_in_place(root: Path, file: WrittenFile) -> None:
    target = resolve(root, file.path)
    if file.after is None:
        target.unlink()
    else:
        target.with_name(file.temporary).replace(target)


def _take_back(root: Path, edit: FileEdit) -> None:
    """Restore a file that was replaced already, unless somebody changed it since."""
    target = resolve(root, edit.path)
    with suppress(OSError):
        if content_of(root, edit.path) != (None if edit.removes else edit.after):
            return
        if edit.before is None:
            target.unlink()
        else:
            replace_file(target, edit.before, _ENDING)


def _sync(root: Path, files: Sequence[WrittenFile]) -> None:
    for folder in {resolve(root, file.path).parent for file in files}:
        sync_folder(folder)
