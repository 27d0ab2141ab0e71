"""The report of a merge of registers, and the merge of two files that git asks for."""

import sys
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from clew.edit.transaction import replace_alone
from clew.errors import ClewError, FormatError
from clew.formats.register.directory import FOLDER, INDEX, MAX_BYTES
from clew.formats.register.model import Register
from clew.formats.register.single import read_single, write_single
from clew.register.change.draft import Author
from clew.register.git.merge import MergeConflict, Merged, merge
from clew.register.requests import MergedFiles
from clew.register.service import RegisterService
from clew.text.display import counted
from clew.workspace.regular import contents


def merge_files(wanted: MergedFiles, service: RegisterService, by: Author) -> dict[str, Any]:
    """Merge two versions of a register into ours."""
    place = PurePosixPath(wanted.path)
    if place.name == INDEX or place.parent.name == FOLDER:
        _tell(f"CONFLICT in {wanted.path}: the register is a folder; `clew req merge` merges it whole.")
        return {"merged": False, "requirements": 0, "renumbered": {}, "conflicts": [wanted.path]}
    ours = read_single(contents(Path(wanted.ours), MAX_BYTES), f"{wanted.path} (ours)")
    version = contents(Path(wanted.theirs), MAX_BYTES)
    theirs = read_single(version, f"{wanted.path} (theirs)")
    merged = merge(_base(Path(wanted.base), ours), ours, theirs, by)
    replace_alone(Path(wanted.ours), write_single(merged.register))
    if merged.renumbered:
        # It may take a look at the whole history.
        with suppress(ClewError):
            merged = msgspec.structs.replace(merged, other=service.side_of(version, wanted.path))
    return reported(merged, service, wanted.path)


def _base(file: Path, ours: Register) -> Register:
    """Without a common version, or with one that cannot be read, everything is new on both sides."""
    try:
        return read_single(contents(file, MAX_BYTES), trusted=True)
    except FormatError:
        return msgspec.structs.replace(ours, requirements={}, hazards={}, safety_functions={}, safety_requirements={})


def reported(merged: Merged, service: RegisterService, path: str) -> dict[str, Any]:
    """The result of a merge. Problems that people have to look at go to standard error, where git shows them."""
    for line in (*_renumbered(merged, service), *(_conflict(path, each) for each in merged.conflicts)):
        _tell(line)
    if merged.kept:
        _tell(f"The replaced register held requirements of neither side; it is kept as {merged.kept}")
    return {
        "merged": not merged.conflicts,
        "requirements": len(merged.register.requirements),
        "renumbered": merged.renumbered,
        "conflicts": [f"{each.id}.{each.field}" for each in merged.conflicts],
        **({"kept": str(merged.kept)} if merged.kept else {}),
    }


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def merged_text(done: dict[str, Any]) -> str:
    if done["merged"]:
        return f"Merged into {counted(done['requirements'], 'requirement')}."
    left = counted(len(done["conflicts"]), "conflict")
    if not done["requirements"]:
        return f"{left} left."
    return f"{left} left, with our values so far: settle each with `clew req update`, then `git add` the register."


def _renumbered(merged: Merged, service: RegisterService) -> list[str]:
    """The ids of the other side that changed, and the places where its code cites them. Citations in this side's code
    mean this side's requirements and stay."""
    try:
        markers = service.markers_at(merged.other, merged.renumbered) if merged.other and merged.renumbered else {}
    except ClewError:
        markers = {}
    lines = []
    for old, new in merged.renumbered.items():
        where = f"; its markers are in {', '.join(files)}" if (files := markers.get(old)) else ""
        lines.append(f"{old} of the other branch is now {new}{where}")
    if markers and any(markers.values()):
        lines.append("`clew req coverage --remap merge` shows what these markers would be, and with --apply writes it.")
    return lines


def _conflict(path: str, each: MergeConflict) -> str:
    return f"CONFLICT in {path}: {each.id}, {each.field}: ours {each.ours!r}, theirs {each.theirs!r}"
