"""Beginning a change."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from clew.errors import Conflict
from clew.files import resolve
from clew.formats.openspec.layout import Layout, Root, new_change_folder, root_for
from clew.writing import replace_file


def new_change(project: Path, roots: Sequence[Root], change_id: str, title: str, today: date) -> tuple[str, ...]:
    """Begin a change: a folder with a proposal and tasks to fill in. Returns the files."""
    root = root_for(roots, change_id)
    folder = new_change_folder(root, change_id)
    if resolve(project, folder).exists():
        raise Conflict(f"'{folder}' exists already.", hint="Choose another id.")
    heading = " ".join(title.split()) or folder.rpartition("/")[2].replace("-", " ").capitalize()
    files = {
        f"{folder}/proposal.md": f"# {heading}\n\n## Why\n\n## What Changes\n\n## Impact\n",
        f"{folder}/tasks.md": "## 1. Implementation\n\n- [ ] 1.1 \n",
    }
    if root.layout is Layout.OPENSPEC:
        files[f"{folder}/.openspec.yaml"] = f"schema: spec-driven\ncreated: {today.isoformat()}\n"
    for path, text in files.items():
        replace_file(resolve(project, path), text.encode(), expected=None, within=project)
    return tuple(files)
