"""The requirements that the code mentions, and the code that mentions none."""

from collections.abc import Iterator

import msgspec

from clew.formats.register.ids import CitedId, in_order
from clew.formats.register.model import Register, Status
from clew.register.reports.mentions import Mentions


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    mode: str = "default"
    referenced: dict[str, tuple[str, ...]]
    """By id, the files that mention it; `file:line` where lines were asked for."""
    orphans: tuple[str, ...]
    """Live requirements that no file mentions, drafts included."""
    ghosts: dict[str, tuple[str, ...]]
    """The ids that files cite and the register does not have, also criteria such as REQ-0001-9."""
    obsolete_referenced: dict[str, tuple[str, ...]]
    test_only: tuple[str, ...] = ()
    """Mentioned in tests and nowhere else."""
    drafts_unmarked: tuple[str, ...] = ()
    """The orphans that are drafts: nobody expects code for those."""
    scanned: int = 0
    """Files that were looked through."""


class UnlinkedFiles(msgspec.Struct, frozen=True):
    mode: str
    scanned: int
    linked: int
    unlinked: tuple[str, ...]


class FileRow(msgspec.Struct, frozen=True):
    file: str
    req_ids: tuple[str, ...]


class ByFile(msgspec.Struct, frozen=True):
    mode: str
    files: tuple[FileRow, ...]


class ByRequirement(msgspec.Struct, frozen=True):
    mode: str
    requirements: dict[str, tuple[str, ...]]


def coverage(register: Register, mentions: Mentions, *, lines: bool = False) -> Coverage:
    groups: dict[str, dict[str, dict[str, None]]] = {"referenced": {}, "ghosts": {}, "obsolete": {}}
    outside_tests: set[str] = set()
    for path, found in mentions.by_file.items():
        for mention in found:
            for group, name in _groups(register, mention):
                groups[group].setdefault(name, {})[f"{path}:{mention.line}" if lines else path] = None
            if path not in mentions.tests:
                outside_tests.add(mention.id)
    referenced = groups["referenced"]
    live = [each for each in register.requirements.values() if each.status is not Status.OBSOLETE]
    orphans = [each for each in live if each.id not in referenced]
    return Coverage(
        referenced=_listed(referenced),
        orphans=tuple(in_order(each.id for each in orphans)),
        ghosts=_listed(groups["ghosts"]),
        obsolete_referenced=_listed(groups["obsolete"]),
        test_only=tuple(in_order(referenced.keys() - outside_tests)),
        drafts_unmarked=tuple(in_order(each.id for each in orphans if each.status is Status.DRAFT)),
        scanned=len(mentions.by_file),
    )


def _groups(register: Register, mention: CitedId) -> Iterator[tuple[str, str]]:
    """The lists that a mention belongs to, each with the id. A criterion that does not exist is a ghost, as an id
    is."""
    requirement = register.requirements.get(mention.id)
    if requirement is None:
        yield "ghosts", mention.id
        return
    known = sum(label.isdecimal() and 0 < int(label) <= len(requirement.acceptance) for label in mention.labels)
    if known < len(mention.labels):
        yield "ghosts", f"{mention.id}-{'+'.join(mention.labels)}"
    if known or not mention.labels:
        yield ("obsolete" if requirement.status is Status.OBSOLETE else "referenced"), mention.id


def _listed(group: dict[str, dict[str, None]]) -> dict[str, tuple[str, ...]]:
    return {id: tuple(group[id]) for id in in_order(group)}


def unlinked_files(mentions: Mentions) -> UnlinkedFiles:
    unlinked = tuple(sorted(path for path, found in mentions.by_file.items() if not found))
    scanned = len(mentions.by_file)
    return UnlinkedFiles("unlinked_files", scanned, scanned - len(unlinked), unlinked)


def by_file(mentions: Mentions) -> ByFile:
    rows = (
        FileRow(path, tuple(in_order({mention.id for mention in found})))
        for path, found in sorted(mentions.by_file.items())
        if found
    )
    return ByFile("by_file", tuple(rows))


def by_requirement(found: Coverage) -> ByRequirement:
    """For each requirement that is cited, where."""
    cited = {**found.referenced, **found.obsolete_referenced}
    return ByRequirement("by_req", {id: cited[id] for id in in_order(cited)})
