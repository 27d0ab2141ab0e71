"""All specs and open changes of a project, put together from the graph once for each state of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar

import msgspec

from clew.errors import NotFound
from clew.formats.diagnostics import Diagnostic
from clew.formats.openspec.change import ChangeProposal
from clew.formats.openspec.layout import FileRole, FileRoleKind, Root, checked_id, classify
from clew.formats.openspec.names import folded
from clew.formats.openspec.outline import LazySpec, SpecOutline
from clew.formats.openspec.records import Delta, Requirement, Scenario, Spec
from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.graph.readers.specs import MISPLACED, SpecFile
from clew.text.display import shortened

_NOTES = (FileRoleKind.SPEC_NOTE, FileRoleKind.CHANGE_NOTE, FileRoleKind.DELTA_NOTE)
_FILE = "file."
"""The prefix of the codes of files that could not be read at all."""


class UnreadableFile(msgspec.Struct, frozen=True):
    """A file of a spec or change that is there and could not be read: listed with the reason instead of missing."""

    path: str
    place: FileRole
    reason: Diagnostic


def unreadable_files(diagnostics: Iterable[tuple[str, Diagnostic]], roots: Sequence[Root]) -> Iterator[UnreadableFile]:
    for path, reason in diagnostics:
        if reason.code.startswith(_FILE) or reason.code == MISPLACED:
            place = classify(path, roots)
            if place is not None and place.kind not in _NOTES:
                yield UnreadableFile(path, place, reason)


T = TypeVar("T", Requirement, Scenario)


class SpecEntry(msgspec.Struct, frozen=True):
    sealed: LazySpec
    path: str

    @property
    def outline(self) -> SpecOutline:
        return self.sealed.outline

    @property
    def spec(self) -> Spec:
        """All of it; unpacked when it is first asked for."""
        return self.sealed.spec


class ChangeEntry(msgspec.Struct, frozen=True):
    change: ChangeProposal
    root: Root
    folder: str
    """Relative to the project."""
    delta_paths: Mapping[str, str]
    """The file of each delta, by the id of the spec."""


class SpecLibrary(msgspec.Struct, frozen=True):
    specs: Mapping[str, SpecEntry]
    """By id, sorted."""
    changes: Mapping[str, ChangeEntry]
    """Open ones, likewise."""
    unreadable_files: tuple[UnreadableFile, ...] = ()
    """Files of either that are there and could not be read."""

    @property
    def unread_specs(self) -> dict[str, UnreadableFile]:
        """The specs that cannot be read, by id, unless another file is that spec."""
        found = {each.place.spec_id: each for each in self.unreadable_files if each.place.kind is FileRoleKind.SPEC}
        return {id: each for id, each in found.items() if id not in self.specs}

    def spec(self, id: str) -> SpecEntry:
        entry = self.specs.get(checked_id(id))
        if entry is None and (found := self.unread_specs.get(id)) is not None:
            raise NotFound(f"Spec '{id}' could not be read: {found.reason.message}", hint=f"Look at '{found.path}'.")
        if entry is None:
            raise NotFound(
                f"Spec '{id}' was not found.", hint=similar_names(id, self.specs, "list_specs shows all specs.")
            )
        return entry

    def change(self, id: str) -> ChangeEntry:
        entry = self.changes.get(checked_id(id, "change"))
        if entry is None:
            hint = similar_names(id, self.changes, "list_changes shows all open changes.")
            raise NotFound(f"Change '{id}' was not found.", hint=hint)
        return entry

    def in_force(self) -> Mapping[str, Spec]:
        return SpecsById(self.specs)

    def open_changes(self) -> list[ChangeProposal]:
        return [entry.change for entry in self.changes.values()]


class SpecsById(Mapping[str, Spec]):
    """The specs by id, each unpacked only when it is looked at."""

    def __init__(self, entries: Mapping[str, SpecEntry]) -> None:
        self._entries = entries

    def __getitem__(self, id: str) -> Spec:
        return self._entries[id].spec

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def find_deltas(change: ChangeProposal, spec_id: str | None) -> tuple[Delta, ...]:
    """The deltas of a change for one spec, or for all."""
    if spec_id is None:
        return change.deltas
    found = change.delta(checked_id(spec_id))
    if found is None:
        touched = ", ".join(delta.spec_id for delta in change.deltas) or "no spec"
        raise NotFound(f"Change '{change.id}' does not touch spec '{spec_id}'.", hint=f"It touches: {touched}.")
    return (found,)


def find_requirement(spec: Spec, name: str) -> Requirement:
    """By name, by slug, or by a name that differs only in case and spaces."""
    found = _named(name, spec.requirements)
    if found is None:
        hint = similar_names(name, [each.name for each in spec.requirements], "get_spec_requirements lists them.")
        raise NotFound(f"Spec '{spec.id}' has no requirement '{shortened(name)}'.", hint=hint)
    return found


def find_scenario(requirement: Requirement, name: str) -> Scenario:
    """Likewise."""
    found = _named(name, requirement.scenarios)
    if found is None:
        names = [each.name for each in requirement.scenarios]
        hint = similar_names(name, names, f"It has: {', '.join(names[:10]) or 'none'}.")
        raise NotFound(f"Requirement '{requirement.name}' has no scenario '{shortened(name)}'.", hint=hint)
    return found


def _named(name: str, among: tuple[T, ...]) -> T | None:
    wanted = name.strip()
    for same in (
        lambda each: each.name == wanted,
        lambda each: each.slug == wanted,
        lambda each: folded(each.name) == folded(wanted),
    ):
        found = next(filter(same, among), None)
        if found is not None:
            return found
    return None


def similar_names(name: str, known: Iterable[str], otherwise: str) -> str:
    """A hint with similar names."""
    close = get_close_matches(name[:80], list(known), n=3, cutoff=0.6)
    return f"Did you mean {', '.join(map(repr, close))}? {otherwise}" if close else otherwise


def library(graph: Graph, unreadable_files: Iterable[UnreadableFile] = ()) -> SpecLibrary:
    """Put together again; the service keeps it for each state of the graph."""
    specs: dict[str, SpecEntry] = {}
    for node in graph.nodes_by_kind(NodeKind.SPEC):
        if node.source is not None and not node.get_field("is_duplicate"):
            sealed: LazySpec = node.get_field("spec")
            specs[sealed.outline.id] = SpecEntry(sealed, node.source.path)
    parts: dict[str, list[Node]] = {}
    for node in graph.nodes_by_kind(NodeKind.REMAINDER):
        change_id = node.get_field("change_id")
        if change_id is not None:
            parts.setdefault(change_id, []).append(node)
    changes = {id: _change(id, nodes) for id, nodes in parts.items()}
    return SpecLibrary(dict(sorted(specs.items())), dict(sorted(changes.items())), tuple(unreadable_files))


def _change(id: str, nodes: list[Node]) -> ChangeEntry:
    files = {node.get_field("kind"): _file(node) for node in nodes}
    deltas = [delta for node in nodes if (delta := _file(node).delta) is not None]
    paths = {
        delta.spec_id: node.source.path
        for node in nodes
        if (delta := _file(node).delta) is not None and node.source is not None
    }
    misnamed = [node.source.path for node in nodes if _file(node).misnamed and node.source is not None]
    root: Root = nodes[0].get_field("root")
    own = id.removeprefix(f"{root.prefix}/") if root.prefix else id
    folder = f"{root.changes}/{own}"
    change = ChangeProposal(
        id,
        proposal=files[FileRoleKind.PROPOSAL].proposal if FileRoleKind.PROPOSAL in files else None,
        tasks=files[FileRoleKind.TASKS].tasks if FileRoleKind.TASKS in files else None,
        design=files[FileRoleKind.DESIGN].text if FileRoleKind.DESIGN in files else None,
        deltas=tuple(sorted(deltas, key=lambda delta: delta.spec_id)),
        metadata=files[FileRoleKind.METADATA].metadata if FileRoleKind.METADATA in files else None,
        misplaced=FileRoleKind.MISPLACED in files,
        misnamed=tuple(sorted(path.removeprefix(f"{folder}/") for path in misnamed)),
    )
    return ChangeEntry(change, root, folder, paths)


def _file(node: Node) -> SpecFile:
    file: SpecFile = node.get_field("records")
    return file
