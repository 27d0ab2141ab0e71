"""The folder in which a project keeps what Clew made of it."""

from pathlib import Path

from clew.workspace.find import names_in

STATE_FOLDER = ".clew"


def first_files(root: Path) -> dict[str, bytes]:
    """What a new state folder begins with, by path below the root: it should not show in `git status`. Nothing where
    the folder is in use."""
    # An empty one was left by a process that was killed when it made the folder.
    return {} if names_in(root / STATE_FOLDER) else {f"{STATE_FOLDER}/.gitignore": b"*\n"}


def make_state_folder(root: Path) -> None:
    """Make the folder where there is none. OSError where it cannot be made."""
    # Not at the start of a server, which only asks for the name.
    from clew.edit.replacing import make_folder

    for path, data in first_files(root).items():
        place = root / path
        make_folder(place.parent)
        try:
            place.write_bytes(data)
        except OSError:
            # On a full disk: then the folder counts as new when there is room again.
            place.unlink(missing_ok=True)
            raise
