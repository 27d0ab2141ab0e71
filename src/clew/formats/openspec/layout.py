"""Roles of files in the folders of Spec Oxide and OpenSpec, by their paths alone.

| | Spec Oxide | OpenSpec |
|---|---|---|
| specs | `specs/<id>/spec.md` | `openspec/specs/<id>/spec.md` |
| open changes | `specs/_changes/<change>/` | `openspec/changes/<change>/` |
| archive | `specs/_archive/<date>-<change>/` | `openspec/changes/archive/<date>-<change>/` |

Ids of specs are paths: `platform/auth` is read from `platform/auth/spec.md` in both layouts, to any depth. Folders that
begin with a dot, and in Spec Oxide with an underscore, hold no specs. A repository may have several such roots; the ids
of one that lies in a package then begin with the package, as in `packages/web/auth`.
"""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import PurePosixPath

import msgspec

from clew.errors import InvalidArgument
from clew.text.display import shortened

SPEC_FILE = "spec.md"
SPOX_CONFIG = ".spox/config.toml"
_CHANGE_FILES = {"proposal.md": "proposal", "tasks.md": "tasks", "design.md": "design", ".openspec.yaml": "metadata"}
_CHANGE_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LONGEST_CHANGE_ID = 200
_OPENSPEC_MARKS = ("openspec/config.yaml", "openspec/project.md", "openspec/AGENTS.md")


class Layout(StrEnum):
    SPOX = "spox"
    OPENSPEC = "openspec"


class Root(msgspec.Struct, frozen=True):
    """One tree of specs. Folders are relative to the project, without a slash at the end."""

    layout: Layout
    specs: str
    changes: str
    archive: str
    prefix: str = ""
    """Prefix of the ids of its specs and changes, if the project has several roots."""


class FileRoleKind(StrEnum):
    SPEC = "spec"
    SPEC_NOTE = "spec_note"
    """A markdown file beside a spec, such as its design."""
    PROPOSAL = "proposal"
    TASKS = "tasks"
    DESIGN = "design"
    METADATA = "metadata"
    DELTA = "delta"
    MISPLACED = "misplaced"
    """A `spec.md` directly in a folder of specs: it has no id."""
    DELTA_NOTE = "delta_note"
    """Another markdown file below the deltas of a change."""
    CHANGE_NOTE = "change_note"


class FileRole(msgspec.Struct, frozen=True):
    """Role of a file in a spec folder."""

    kind: FileRoleKind
    root: Root
    spec_id: str = ""
    change_id: str = ""
    archived: bool = False


def openspec_root(folder: str = "openspec", prefix: str = "") -> Root:
    return Root(
        Layout.OPENSPEC,
        specs=_joined(folder, "specs"),
        changes=_joined(folder, "changes"),
        archive=_joined(folder, "changes/archive"),
        prefix=prefix,
    )


def spox_root(specs: str = "specs", changes: str | None = None, archive: str | None = None, prefix: str = "") -> Root:
    return Root(
        Layout.SPOX,
        specs=specs,
        changes=changes if changes is not None else _joined(specs, "_changes"),
        archive=archive if archive is not None else _joined(specs, "_archive"),
        prefix=prefix,
    )


def find_roots(paths: Iterable[str]) -> tuple[Root, ...]:
    """The roots that a list of files shows by their marks: the configuration of either tool, or its folders of changes.

    A folder `specs` without any of these may belong to anyone and is not taken. The ids of a root below another folder
    begin with that folder unless it is the only one.
    """
    homes: dict[tuple[str, Layout], None] = {}
    for path in sorted(filter(may_mark, paths)):
        for mark in (*_OPENSPEC_MARKS, "openspec/specs/", "openspec/changes/"):
            if (home := _before(path, mark)) is not None:
                homes[home, Layout.OPENSPEC] = None
        for mark in (SPOX_CONFIG, "specs/_changes/", "specs/_archive/"):
            if (home := _before(path, mark)) is not None and not home.endswith("openspec"):
                homes[home, Layout.SPOX] = None
    alone = len(homes) == 1
    return told_apart(
        openspec_root(_joined(home, "openspec"), "" if alone else home)
        if layout is Layout.OPENSPEC
        else spox_root(_joined(home, "specs"), prefix="" if alone else home)
        for home, layout in homes
    )


def may_mark(path: str) -> bool:
    """True if a file can be the mark of a root, or lie in a folder that is one."""
    return "openspec/" in path or "specs/_" in path or path.endswith(SPOX_CONFIG)


def told_apart(roots: Iterable[Root]) -> tuple[Root, ...]:
    """The roots with prefixes of their own: where two would have the same, the ids of the later one begin with its
    folder."""
    found: dict[str, Root] = {}
    for root in roots:
        own = msgspec.structs.replace(root, prefix=root.specs) if root.prefix in found else root
        found[own.prefix] = own
    return tuple(found.values())


def _before(path: str, mark: str) -> str | None:
    """The folder in which the mark stands; None where the path does not hold it."""
    if path.startswith(mark):
        return ""
    place = path.find(f"/{mark}")
    ends_well = mark.endswith("/") or place + 1 + len(mark) == len(path)
    return path[:place] if place >= 0 and ends_well else None


def classify(path: str, roots: Sequence[Root]) -> FileRole | None:
    """Role of a file; None if it belongs to no root, or is not read."""
    for root in roots:
        # OpenSpec's archive lies in its changes, Spec Oxide's changes in its specs: inner folders are asked first.
        for folder, archived in ((root.archive, True), (root.changes, False)):
            if (inner := _inside(path, folder)) is not None:
                return _in_change(inner, root, archived=archived)
        if (inner := _inside(path, root.specs)) is not None and (place := _in_specs(inner, root)) is not None:
            return place
    return None


def _in_specs(inner: tuple[str, ...], root: Root) -> FileRole | None:
    hidden = (".", "_") if root.layout is Layout.SPOX else (".",)
    *folders, name = inner
    if any(folder.startswith(hidden) for folder in folders) or not name.endswith(".md"):
        return None
    if not folders:
        return FileRole(FileRoleKind.MISPLACED, root) if name == SPEC_FILE else None
    kind = FileRoleKind.SPEC if name == SPEC_FILE else FileRoleKind.SPEC_NOTE
    return FileRole(kind, root, spec_id=_joined(root.prefix, "/".join(folders)))


def _in_change(inner: tuple[str, ...], root: Root, *, archived: bool) -> FileRole | None:
    if len(inner) < 2 or inner[0].startswith("."):
        return None
    change_id = _joined(root.prefix, inner[0])
    if len(inner) == 2:
        kind = _CHANGE_FILES.get(inner[1])
        if kind is None and not inner[1].endswith(".md"):
            return None
        return FileRole(FileRoleKind(kind or "change_note"), root, change_id=change_id, archived=archived)
    if inner[1] != "specs" or any(part.startswith(".") for part in inner[2:]):
        return FileRole(FileRoleKind.CHANGE_NOTE, root, "", change_id, archived) if inner[-1].endswith(".md") else None
    if inner[-1] != SPEC_FILE:
        return FileRole(FileRoleKind.DELTA_NOTE, root, "", change_id, archived) if inner[-1].endswith(".md") else None
    if len(inner) == 3:
        return FileRole(FileRoleKind.MISPLACED, root, change_id=change_id, archived=archived)
    return FileRole(FileRoleKind.DELTA, root, _joined(root.prefix, "/".join(inner[2:-1])), change_id, archived)


def _inside(path: str, folder: str) -> tuple[str, ...] | None:
    """The parts of a path below a folder; None where it does not lie there."""
    if folder in ("", "."):
        return PurePosixPath(path).parts
    return PurePosixPath(path[len(folder) + 1 :]).parts if path.startswith(f"{folder}/") else None


def spec_path(root: Root, spec_id: str) -> str:
    """Path of a spec's file."""
    return f"{_joined(root.specs, _own(checked_id(spec_id), root))}/{SPEC_FILE}"


def new_change_folder(root: Root, change_id: str) -> str:
    """Path of a new change's folder; its id must be accepted by other tools too."""
    own = _own(checked_id(change_id, "change"), root)
    if not _CHANGE_ID.fullmatch(own) or len(own) > LONGEST_CHANGE_ID or own == "archive":
        raise InvalidArgument(
            f"{shortened(own)!r} is not an id for a new change: at most {LONGEST_CHANGE_ID} small letters and digits, "
            "in words joined by single hyphens, and not 'archive'.",
            hint="Choose one such as 'add-login'.",
        )
    return _joined(root.changes, own)


def root_for(roots: Sequence[Root], id: str) -> Root:
    """The root that an id belongs to: the one whose prefix it begins with, else the first."""
    return next((root for root in roots if root.prefix and id.startswith(f"{root.prefix}/")), roots[0])


def _own(id: str, root: Root) -> str:
    return id.removeprefix(f"{root.prefix}/") if root.prefix else id


def checked_id(id: str, what: str = "spec") -> str:
    """The id of a spec or change, or an error: ids are paths below a folder and may not lead out of it."""
    parts = id.split("/")
    harmful = not all(parts) or any(part in (".", "..") or part.startswith("~") for part in parts)
    strange = any(sign in id for sign in "\\:") or not id.isprintable()
    if harmful or strange or len(id) > 400:
        raise InvalidArgument(
            f"{shortened(id)!r} is not an id of a {what}: an id is one or more names joined by slashes, such as 'auth'"
            " or 'platform/auth', without '..', a leading slash, a backslash or a colon.",
            hint=f"list_{what}s shows the ids.",
        )
    return id


def _joined(*parts: str) -> str:
    return "/".join(part for part in parts if part and part != ".")
