"""The state folder of a project, `.clew`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from clew.edit.below import SHARED_FOLDER as SHARED_FOLDER
from clew.edit.below import STATE_FOLDER as STATE_FOLDER
from clew.workspace.find import names_in

if TYPE_CHECKING:
    from clew.edit.admission import FolderTrust

_STAMPS = "stamp-"


def first_files(root: Path) -> dict[str, bytes]:
    """The files of a new state folder, by path below the root: they keep it out of `git status`. Empty if the folder is
    in use."""
    # An empty one was left by a process that was killed when it made the folder.
    if os.path.lexists(os.path.join(root, STATE_FOLDER, ".gitignore")):  # noqa: PTH118 - whenever a project is opened
        return {}
    used = [name for name in names_in(root / STATE_FOLDER) if not name.startswith(_STAMPS)]
    return {} if used else {f"{STATE_FOLDER}/.gitignore": b"*\n"}


def make_state_folder(root: Path) -> "FolderTrust":
    """The trust in the folder, which is made, with its stamp, where there is none. OSError where it cannot be made, or
    is a link."""
    # Not at the start of a server, which only asks for the name.
    from clew.edit import admission, below

    standing = admission.make(root / STATE_FOLDER)
    for path, data in first_files(root).items():
        # On a full disk nothing is left: then the folder counts as new when there is room again.
        below.write(root / path, data, 0o644)
    return standing


def make_folder_in(path: Path) -> None:
    """Make a folder that may lie in a state folder. A missing state folder gets its stamp first: otherwise the next
    admission would take it for foreign and clean it. OSError if it cannot be made, StoreError if the state folder is
    not trusted."""
    from clew.edit import admission, below

    anchor, names = below.anchor_of(path)
    if names[0] == STATE_FOLDER:
        if below.status_of(anchor / STATE_FOLDER) is None:
            make_state_folder(anchor)
        admission.demand(path)
    below.make_folder(path)
