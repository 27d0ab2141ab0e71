"""A register as it was in a commit, and what changed since."""

from collections.abc import Iterator, Mapping

import msgspec

from clew.errors import InvalidArgument, NotFound
from clew.formats.register.directory import ENDING, INDEX, read_directory
from clew.formats.register.ids import in_order
from clew.formats.register.model import Layout, Register, Requirement
from clew.formats.register.single import read_single
from clew.register import results
from clew.register.change.transaction import RegisterFile
from clew.register.git.repository import Repository
from clew.register.reports.mentions import Mention
from clew.register.reports.queries import finding_row
from clew.register.rules.validator import validate_requirement
from clew.text.shortening import shortened


class Changed(msgspec.Struct, frozen=True):
    id: str
    transitions: tuple[str, ...]
    reason: str


class Diff(msgspec.Struct, frozen=True):
    spec: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Changed, ...]
    empty: bool
    truncated: bool = False


class Check(msgspec.Struct, frozen=True):
    ok: bool
    base: str
    path: str
    changed_requirements: tuple[str, ...]
    errors: int
    warnings: int
    findings: tuple[results.FindingRow, ...]
    changed_files: tuple[str, ...]
    coverage: tuple["CheckedFile", ...] = ()
    truncated: bool = False


class CheckedFile(msgspec.Struct, frozen=True):
    file: str
    req_ids: tuple[str, ...]
    unknown_ids: tuple[str, ...]
    has_markers: bool


def register_at(file: RegisterFile, repository: Repository, commit: str) -> Register:
    """The register in a commit, whatever its checksum says: what git keeps, git vouches for. `repository` is seen from
    the folder that holds the register."""
    name = file.place.name
    single = file.layout is Layout.SINGLE
    data = repository.content_at(commit, name) if single else None
    found = {name: data} if data is not None else {} if single else repository.contents_at(commit, name)
    register = _register_in(found, name, file.layout, trusted=True)
    if register is None:
        path = name if single else f"{name}/{INDEX}"
        raise NotFound(f"There is no {path} in {commit[:9]}.", hint="Name a revision that has the register already.")
    return register


def staged_register(file: RegisterFile, repository: Repository) -> Register | None:
    """The register that the next commit would hold; None where it would hold none, or just the one that is there."""
    name = file.place.name
    found = repository.staged_contents(name)
    now = file.read().files
    if found.keys() == {_path(name, path) for path in now} and all(found[_path(name, p)] == now[p] for p in now):
        return None
    return _register_in(found, name, file.layout, trusted=False)


def _path(name: str, path: str) -> str:
    return f"{name}/{path}" if path else name


def _register_in(found: Mapping[str, bytes], name: str, layout: Layout, *, trusted: bool) -> Register | None:
    if layout is Layout.SINGLE:
        return read_single(found[name], name, trusted=trusted) if name in found else None
    files = {path.removeprefix(f"{name}/"): data for path, data in found.items() if path.endswith(ENDING)}
    return read_directory(files, name, trusted=trusted) if INDEX in files else None


def transitions(before: Requirement, after: Requirement) -> Iterator[str]:
    """What differs between two versions of a requirement."""
    for name in ("title", "statement", "rationale"):
        if getattr(before, name) != getattr(after, name):
            yield f"{name} changed"
    for name in ("status", "priority", "kind"):
        old, new = getattr(before, name), getattr(after, name)
        if old is not new:
            yield f"{name}: {old.word} -> {new.word}"
    if before.acceptance != after.acceptance:
        yield f"acceptance: {len(before.acceptance)} -> {len(after.acceptance)} items"
    if before.links != after.links:
        yield f"links: {len(before.links)} -> {len(after.links)}"
    if before.tags != after.tags:
        yield f"tags: {', '.join(before.tags) or 'none'} -> {', '.join(after.tags) or 'none'}"


def of_evidence(before: Requirement, after: Requirement) -> Iterator[str]:
    """What differs in the records of a requirement, and that something was noted about it."""
    if before.tests != after.tests:
        yield f"evidence: {len(before.tests)} -> {len(after.tests)} records"
    elif before.updated != after.updated:
        yield f"history: {len(before.history)} -> {len(after.history)} entries"


def diff(spec: str, before: Register, after: Register, *, evidence: bool = False) -> Diff:
    """What was added, removed and changed; with `evidence` also where only records of tests came."""
    old, new = before.requirements, after.requirements
    added = tuple(in_order(new.keys() - old.keys()))
    removed = tuple(in_order(old.keys() - new.keys()))
    changed = []
    for id in in_order(old.keys() & new.keys()):
        told = (*transitions(old[id], new[id]), *(of_evidence(old[id], new[id]) if evidence else ()))
        if told:
            changed.append(Changed(id, told, last_reason(new[id])))
    return Diff(spec, added, removed, tuple(changed), not (added or removed or changed))


def last_reason(requirement: Requirement) -> str:
    return next((entry.reason for entry in reversed(requirement.history) if entry.reason), "")


def split_spec(spec: str) -> tuple[str, str]:
    """BASE..HEAD, BASE.. or BASE; a missing end is HEAD."""
    base, _, head = spec.partition("..")
    base, head = base.strip(), head.removeprefix(".").strip()
    if not base:
        raise InvalidArgument(
            f"The spec '{shortened(spec)}' needs a base.",
            hint="Pass BASE..HEAD, BASE.. or a single BASE, such as main..HEAD.",
        )
    return base, head or "HEAD"


def changed_requirements(before: Register, after: Register) -> list[str]:
    """New ones, and those that differ in anything but their evidence."""
    return in_order(
        id
        for id, requirement in after.requirements.items()
        if (old := before.requirements.get(id)) is None
        or old.updated != requirement.updated
        or any(transitions(old, requirement))
    )


def checked(
    base: str,
    path: str,
    before: Register,
    after: Register,
    files: tuple[str, ...],
    mentions: Mapping[str, tuple[Mention, ...]],
) -> Check:
    """What the rules for single requirements say about those that changed, and what the changed files mention."""
    ids = changed_requirements(before, after)
    rows = tuple(finding_row(each) for id in ids for each in validate_requirement(after.requirements[id]))
    errors = sum(row.level == "error" for row in rows)
    covered = tuple(_file(name, mentions[name], after) for name in files if name in mentions)
    return Check(errors == 0, base, path, tuple(ids), errors, len(rows) - errors, rows, files, covered)


def _file(name: str, mentions: tuple[Mention, ...], register: Register) -> CheckedFile:
    ids = in_order({mention.id for mention in mentions})
    unknown = tuple(id for id in ids if id not in register.requirements)
    return CheckedFile(name, tuple(ids), unknown, bool(ids))
