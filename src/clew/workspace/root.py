"""Choice of the project's folder, and of the folders that are read only after the user confirmed them: one decision for
commands, servers, hooks and editors.

A hook looks here with every prompt, so that nothing but `os` is imported at once.
"""

# Implements: REQ-d00637

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

CONFIGURED = ("clew.toml", ".elspais.toml")
REPOSITORY = ".git"
REGISTER, SPECS = "project.req", "openspec"
MOST_FILES = 20_000
"""A folder with more of them that is neither configured nor a repository is hardly meant as a project."""


def marked(folder: str) -> str | None:
    """The project at or above a folder, by its contents; None if there is none. The nearest folder with a configuration
    or a repository counts, else the nearest with a register or an OpenSpec folder."""
    return marked_above(os.path.realpath(folder))


def marked_above(start: str) -> str | None:
    """The same for a path without links."""
    here = start
    with_content = None
    while True:
        if any(os.path.exists(os.path.join(here, name)) for name in CONFIGURED):
            return here
        # A home in a repository keeps its settings there; what lies below is not of one project because of that.
        if os.path.exists(os.path.join(here, REPOSITORY)) and (here == start or not _is_wide(here)):
            return here
        if with_content is None and (
            os.path.isfile(os.path.join(here, REGISTER)) or os.path.isdir(os.path.join(here, SPECS))
        ):
            with_content = here
        above = os.path.dirname(here)
        if above == here:
            return with_content
        here = above


def admitted(folder: "Path", *, named: bool) -> "Path":
    """The project at or above a folder, if it may be read. Refused as in `project_at`, and without a grant for a file
    system's root, the user's home and very many files."""
    root = project_at(folder, named=named)
    confirm(root)
    return root


def project_at(folder: "Path", *, named: bool) -> "Path":
    """The project at or above a folder, or the folder itself where somebody named it. Refused for one that is no
    project and was not named."""
    from pathlib import Path

    start = os.path.realpath(folder)
    found = marked(start)
    if found is None and not named:
        from clew.errors import Refused

        raise Refused(
            f"There is no project here: neither '{start}' nor a folder above it holds .git, {', '.join(CONFIGURED)}, "
            f"{REGISTER} or {SPECS}/. Nothing was read.",
            hint="Go to a project, name its folder with -C FOLDER, or make this folder one with `clew init`.",
        )
    return Path(found or start)


def confirm(root: "Path") -> None:
    """Refused for a folder that is read only after the user confirmed it."""
    from clew.errors import Refused
    from clew.grants import Grant, is_granted

    why = _too_wide(str(root))
    if why is not None and not is_granted(root, Grant.FOLDER):
        import shlex

        raise Refused(
            f"'{root}' {why}, so it is read only when you confirm that you mean it. Nothing was read.",
            hint=f"Name a folder in it, or confirm this one: `clew trust {shlex.quote(str(root))} --grant folder`.",
            data={"unconfirmed": str(root)},
        )


def _too_wide(root: str) -> str | None:
    if os.path.dirname(root) == root:
        return "is the root of a file system"
    if _is_wide(root):
        return "is your home folder"
    names = (*CONFIGURED, REPOSITORY)
    if any(os.path.exists(os.path.join(root, name)) for name in names) or not _has_more_than(root, MOST_FILES):
        return None
    return f"holds more than {MOST_FILES:,} files and is not a repository"


def _is_wide(folder: str) -> bool:
    """True for the root of a file system, and for the user's home."""
    return os.path.dirname(folder) == folder or folder == os.path.realpath(os.path.expanduser("~"))


def _has_more_than(root: str, most: int) -> bool:
    from clew.workspace.find import ALWAYS_SKIPPED

    count = 0
    for _, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in ALWAYS_SKIPPED]
        # Folders without files take time as well.
        count += len(files) + len(folders)
        if count > most:
            return True
    return False
