"""Commands of `clew req` that merge registers: the one that git calls, and the one that people call."""

import argparse
import sys
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from clew.edit.replacing import replace_file
from clew.errors import ClewError, FormatError
from clew.formats.register import read_single, write_single
from clew.formats.register.directory import FOLDER, INDEX
from clew.formats.register.model import Register
from clew.register.git.merge import MergeConflict, Merged, merge
from clew.register.service import RegisterService
from clew.surfaces.cli.req_commands import Command, now, taking
from clew.text.counting import counted


def _merge_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("base", help="the version both sides go back to (%%O)")
    parser.add_argument("ours", help="our version, which becomes the merged one (%%A)")
    parser.add_argument("theirs", help="their version (%%B)")
    parser.add_argument("--path", default="project.req", help="what the file is called (%%P)")


def _merge(service: RegisterService, args: argparse.Namespace) -> dict[str, Any]:
    """Runs where git runs it: in the work tree, in the middle of a merge."""
    place = PurePosixPath(args.path)
    if place.name == INDEX or place.parent.name == FOLDER:
        print(f"CONFLICT in {args.path}: the register is a folder; `clew req merge` merges it whole.", file=sys.stderr)
        return {"merged": False, "requirements": 0, "renumbered": {}, "conflicts": [args.path]}
    ours = read_single(Path(args.ours).read_bytes(), f"{args.path} (ours)")
    version = Path(args.theirs).read_bytes()
    theirs = read_single(version, f"{args.path} (theirs)")
    merged = merge(_base(Path(args.base), ours), ours, theirs, now())
    replace_file(Path(args.ours), write_single(merged.register))
    if merged.renumbered:
        # It may take a look at the whole history.
        with suppress(ClewError):
            merged = msgspec.structs.replace(merged, other=service.side_of(version, args.path))
    return _told(merged, service, args.path)


def _merge_branch(service: RegisterService, args: argparse.Namespace) -> dict[str, Any]:
    merged = service.merge_branch(now(), args.branch)
    return _told(merged, service, service.file.place.name)


def _told(merged: Merged, service: RegisterService, path: str) -> dict[str, Any]:
    """What a merge came to. What people have to look at goes to standard error, where git shows it."""
    for line in (*_renumbered(merged, service), *(_conflict(path, each) for each in merged.conflicts)):
        print(line, file=sys.stderr)
    if merged.kept:
        print(f"What was there held more than either side and is now {merged.kept}", file=sys.stderr)
    return {
        "merged": not merged.conflicts,
        "requirements": len(merged.register.requirements),
        "renumbered": merged.renumbered,
        "conflicts": [f"{each.id}.{each.field}" for each in merged.conflicts],
        **({"kept": str(merged.kept)} if merged.kept else {}),
    }


def _merged_text(done: dict[str, Any]) -> str:
    if done["merged"]:
        return f"Merged into {counted(done['requirements'], 'requirement')}."
    left = counted(len(done["conflicts"]), "conflict")
    if not done["requirements"]:
        return f"{left} left."
    return f"{left} left, with our values so far: settle each with `clew req update`, then `git add` the register."


def _base(file: Path, ours: Register) -> Register:
    """Without a common version, or with one that cannot be read, everything is new on both sides."""
    try:
        return read_single(file.read_bytes(), trusted=True)
    except FormatError:
        return ours.replaced(requirements={}, hazards={}, safety_functions={}, safety_requirements={})


def _renumbered(merged: Merged, service: RegisterService) -> list[str]:
    """The ids of the other side that changed, and where its code says them. What this side's code says means the
    requirements of this side and is right."""
    try:
        markers = service.markers_at(merged.other, merged.renumbered) if merged.other and merged.renumbered else {}
    except ClewError:
        markers = {}
    lines = []
    for old, new in merged.renumbered.items():
        where = f"; its markers are in {', '.join(files)}" if (files := markers.get(old)) else ""
        lines.append(f"{old} of the other branch is now {new}{where}")
    return lines


def _conflict(path: str, each: MergeConflict) -> str:
    return f"CONFLICT in {path}: {each.id}, {each.field}: ours {each.ours!r}, theirs {each.theirs!r}"


MERGING = (
    Command(
        "merge",
        "merge the register of another branch, or of the merge that git is in the middle of",
        _merge_branch,
        taking("branch", nargs="?", help="a branch, tag or commit"),
        _merged_text,
        lambda done, args: not done["merged"],
    ),
    Command(
        "merge-driver",
        "merge two versions of a register, as git calls it",
        _merge,
        _merge_arguments,
        _merged_text,
        lambda done, args: not done["merged"],
        finds_register=False,
    ),
)
