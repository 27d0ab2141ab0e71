"""The user's manifest: a Markdown file with active concepts, pending actions and notes, read again on request.

Nothing in it is carried out: what it asks for is checked and returned as calls that somebody may make.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import ClewError, OutsideProject
from clew.text.display import shortened
from clew.workspace.regular import beginning

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

HOME_FOLDER = ".context-graph"
LARGEST = 1_000_000
_HEADING = re.compile(r"#{1,6}\s+(?P<name>.+?)\s*#*\s*$")
_ITEM = re.compile(r"\s*(?:[-*+]\s+|\d+[.)]\s+)?(?P<text>\S.*?)\s*$")
_MERGE = re.compile(r"\[MERGE:\s*(?P<ids>[^\]]+)\]", re.IGNORECASE)
_NOTE = re.compile(r"\[NOTE:\s*(?P<about>[^\]]+)\]\s*(?P<text>.*)", re.IGNORECASE)


class PendingAction(msgspec.Struct, frozen=True, kw_only=True):
    action: str
    call: dict[str, Any]
    """The tool that carries it out, with its arguments."""


class ManifestNote(msgspec.Struct, frozen=True):
    about: str
    text: str


class RejectedLine(msgspec.Struct, frozen=True):
    line: int
    text: str
    reason: str


class UserManifest(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    found: bool
    concepts: tuple[str, ...] = ()
    actions: tuple[PendingAction, ...] = ()
    notes: tuple[ManifestNote, ...] = ()
    applied: tuple[str, ...] = ()
    """Always empty: actions are proposed, and carried out by the client."""
    rejected: tuple[RejectedLine, ...] = ()
    truncated: bool = False


def reload_manifest(view: "MemoryView", path: str) -> UserManifest:
    place = _allowed(view, path)
    try:
        text = beginning(place, LARGEST).decode("utf-8", "replace")
    except OSError:
        return UserManifest(path=str(place), found=False)
    return _read(view, place, text)


def _allowed(view: "MemoryView", path: str) -> Path:
    """The file, if it lies in the user's own folder of manifests or in the project."""
    home = Path.home() / HOME_FOLDER
    if "\0" in path:
        raise OutsideProject("The path holds a NUL.", hint="Pass a path.")
    given = Path(path).expanduser()
    place = (given if given.is_absolute() else view.service.context.root / given).resolve()
    for root in (home, view.service.context.root):
        if place.is_relative_to(root.resolve()):
            return place
    raise OutsideProject(
        f"The manifest '{shortened(path)}' lies neither in ~/{HOME_FOLDER} nor in the project.",
        hint=f"Put it into ~/{HOME_FOLDER}/manifest.md.",
    )


def _read(view: "MemoryView", place: Path, text: str) -> UserManifest:
    section = ""
    concepts: list[str] = []
    actions: list[PendingAction] = []
    notes: list[ManifestNote] = []
    rejected: list[RejectedLine] = []
    for number, line in enumerate(text.splitlines(), start=1):
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if heading:
            section = heading["name"].casefold()
        elif item is None:
            continue
        elif merge := _MERGE.search(line):
            try:
                actions.append(_merge(view, merge["ids"]))
            except ClewError as error:
                rejected.append(RejectedLine(number, line.strip()[:200], error.message))
        elif note := _NOTE.search(line):
            notes.append(ManifestNote(note["about"].strip(), note["text"].strip()))
        elif section.startswith("active concepts"):
            concepts.append(item["text"])
        elif section.startswith("notes"):
            notes.append(ManifestNote("", item["text"]))
        elif section.startswith("pending actions"):
            rejected.append(RejectedLine(number, line.strip()[:200], "It is not an action; [MERGE: id, id] is."))
    return UserManifest(
        path=str(place),
        found=True,
        concepts=tuple(concepts),
        actions=tuple(actions),
        notes=tuple(notes),
        rejected=tuple(rejected),
    )


def _merge(view: "MemoryView", given: str) -> PendingAction:
    memories = [view.library.named(each) for each in given.split(",") if each.strip()]
    arguments = {
        "source_node_ids": [memory.id for memory in memories],
        "target_name": memories[0].title if memories else "",
        "rationale": "Asked for in the user's manifest",
    }
    return PendingAction(action="merge", call={"tool": "merge_concepts", "arguments": arguments})
