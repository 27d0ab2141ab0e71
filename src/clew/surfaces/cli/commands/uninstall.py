"""`clew uninstall`, and `clew init --remove`: what Clew wrote into configurations is taken out."""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from clew.edit.edits import FileEdit
from clew.edit.transaction import FileTransaction
from clew.grants import records_file
from clew.setup.clients.configure import complete_interrupted, write_file
from clew.setup.removal import PlannedRemoval, removals_in, removals_of_user
from clew.trust import user_configuration

ADMITS = True
"""It needs no project."""
EXAMPLE = """clew uninstall --dry-run        # show what would go
clew uninstall                  # take the server out of Codex and Claude Desktop"""

_PROGRAM = "The program itself goes with what installed it, such as `uv tool uninstall` or `pip uninstall`."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what would go, write nothing")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace) -> int:
    planned = list(removals_of_user())
    if not args.dry_run:
        for each in planned:
            if each.changed:
                complete_interrupted(each.path, within=None)
                write_file(each.path, each.before, each.after, within=None)
    own = [
        f"{place} holds your settings and grants; delete it yourself."
        for place in (user_configuration().parent, records_file().parent)
        if place.exists()
    ]
    _print(planned, None, [*own, _PROGRAM], args.dry_run, args.json)
    return 0


def remove_from(root: Path, proposed: str, *, dry_run: bool, as_json: bool) -> int:
    """Take out of a project what init wrote into it; its files change together."""
    planned = list(removals_in(root, proposed))
    edits = [
        FileEdit(each.path.relative_to(root).as_posix(), each.before, each.after, prune=_parent(each.path, root))
        for each in planned
        if each.changed
    ]
    if edits and not dry_run:
        FileTransaction(root, edits).commit()
    stays = []
    if (root / ".clew").exists():
        stays.append(".clew/ holds copies of what was changed, drafts and memories, unseen by git; delete it yourself.")
    _print(planned, root, [*stays, "`clew uninstall` does the same for your own configuration."], dry_run, as_json)
    return 0


def _parent(path: Path, root: Path) -> str:
    """The folder that stays although it becomes empty: the project's own, and .github, which belongs to the forge."""
    return ".github" if path.relative_to(root).parts[0] == ".github" else "."


def _print(
    planned: list[PlannedRemoval], root: Path | None, stays: Iterable[str], dry_run: bool, as_json: bool
) -> None:
    if as_json:
        from clew.surfaces.cli.output import print_json

        print_json({"dry_run": dry_run, "files": [_as_data(each) for each in planned], "stays": list(stays)})
    else:
        print("\n".join(_lines(planned, root, stays, dry_run)))


def _as_data(each: PlannedRemoval) -> dict[str, Any]:
    state = "kept" if not each.changed else "removed" if each.after is None else "changed"
    return {"path": str(each.path), "state": state, "removed": each.details, "kept": each.kept}


def _lines(planned: list[PlannedRemoval], root: Path | None, stays: Iterable[str], dry_run: bool) -> Iterator[str]:
    would = "would be " if dry_run else ""
    for each in planned:
        path = each.path.relative_to(root) if root is not None else each.path
        if each.changed:
            what = "removed" if each.after is None else f"without {' and '.join(each.details)}"
            yield f"  {would}{what}: {path}"
        if each.kept:
            yield f"  kept: {path}, because {each.kept}"
    if not any(each.changed for each in planned):
        yield "Nothing of Clew's was found to take out."
    yield from (f"  stays: {each}" for each in stays)
