"""The folder of a hook's project, and the place for events that no server took.

A hook runs with every prompt, so this module and those it needs import little of the standard library and nothing else.
"""

import os

from clew.ipc.address import STATE_FOLDER
from clew.workspace.git.place import leads_to, located

SPOOL = "hooks.spool"
"""Events that wait for a server, one JSON object a line."""
_PROJECT_VARIABLES = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")


def folders(named: object) -> list[str]:
    """The folders in which the host may be working, the likeliest first: the project it names, the folder it names, and
    this one."""
    found = [os.environ.get(name, "") for name in _PROJECT_VARIABLES]
    found += [named] if isinstance(named, str) else []
    try:
        found.append(os.getcwd())
    except OSError:
        pass  # the folder was removed
    return [each for each in found if each and "\0" not in each]


def spools(root: str) -> list[str]:
    """The folders in which events wait: beside the memory that the work trees of a repository share, or in the
    project's folder."""
    found = []
    shared = _shared_folder(root)
    if shared is not None:
        found.append(os.path.join(shared, SPOOL))
    found.append(os.path.join(root, STATE_FOLDER, SPOOL))
    return found


def folder_inside(root: str) -> str | None:
    """The project's own folder inside its repository, empty where it is the repository itself; None without git."""
    tree = located(root)
    if tree is None or tree.looks_bare:
        return None
    inside = os.path.relpath(root, tree.top).replace(os.sep, "/")
    return "" if inside == "." else inside


def _shared_folder(root: str) -> str | None:
    """The folder of the repository's memory, where there is one already and the repository is the project's own."""
    tree = located(root)
    if tree is None or tree.looks_bare:
        return None
    folder = os.path.join(os.path.normpath(tree.common), "clew")
    if not os.path.isfile(os.path.join(folder, "memory.db")):
        return None
    if leads_to(tree):
        # It takes the user's grants to say, and is seldom so.
        from clew.workspace.git.find import is_allowed

        return folder if is_allowed(tree) else None
    return folder
