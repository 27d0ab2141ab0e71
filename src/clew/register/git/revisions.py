"""A register as it was in a commit, and the changes since."""

from collections.abc import Mapping

import msgspec

from clew.errors import InvalidArgument, NotFound
from clew.formats.register.directory import ENDING, INDEX, read_directory
from clew.formats.register.ids import CitedId, in_order
from clew.formats.register.model import Register, RegisterLayout
from clew.formats.register.single import read_single
from clew.register.change.transaction import RegisterFile
from clew.register.git.repository import Repository
from clew.register.reports.difference import changed_requirements
from clew.register.reports.validation import FindingRow, finding_row
from clew.register.rules.validator import validate_requirement
from clew.text.display import shortened


class Check(msgspec.Struct, frozen=True):
    ok: bool
    base: str
    path: str
    changed_requirements: tuple[str, ...]
    errors: int
    warnings: int
    findings: tuple[FindingRow, ...]
    changed_files: tuple[str, ...]
    coverage: tuple["CheckedFile", ...] = ()
    truncated: bool = False


class CheckedFile(msgspec.Struct, frozen=True):
    file: str
    req_ids: tuple[str, ...]
    unknown_ids: tuple[str, ...]
    has_markers: bool


def register_at(file: RegisterFile, repository: Repository, commit: str) -> Register:
    """The register in a commit, whatever its checksum is, because git has one of its own. Paths of `repository` are
    relative to the register's folder."""
    name = file.place.name
    single = file.layout is RegisterLayout.SINGLE
    data = repository.content_at(commit, name) if single else None
    found = {name: data} if data is not None else {} if single else repository.contents_at(commit, name)
    register = _register_in(found, name, file.layout, trusted=True)
    if register is None:
        path = name if single else f"{name}/{INDEX}"
        raise NotFound(f"There is no {path} in {commit[:9]}.", hint="Name a revision that has the register already.")
    return register


def staged_register(file: RegisterFile, repository: Repository) -> Register | None:
    """The staged register; None if it is missing or equal to the one in the work tree."""
    name = file.place.name
    found = repository.staged_contents(name)
    now = file.read().files
    if found.keys() == {_path(name, path) for path in now} and all(found[_path(name, p)] == now[p] for p in now):
        return None
    return _register_in(found, name, file.layout, trusted=False)


def _path(name: str, path: str) -> str:
    return f"{name}/{path}" if path else name


def _register_in(found: Mapping[str, bytes], name: str, layout: RegisterLayout, *, trusted: bool) -> Register | None:
    if layout is RegisterLayout.SINGLE:
        return read_single(found[name], name, trusted=trusted) if name in found else None
    files = {path.removeprefix(f"{name}/"): data for path, data in found.items() if path.endswith(ENDING)}
    return read_directory(files, name, trusted=trusted) if INDEX in files else None


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


def checked(
    base: str,
    path: str,
    before: Register,
    after: Register,
    files: tuple[str, ...],
    mentions: Mapping[str, tuple[CitedId, ...]],
) -> Check:
    """The findings on the changed requirements, each by itself, and the mentions of requirements in the changed
    files."""
    ids = changed_requirements(before, after)
    rows = tuple(finding_row(each) for id in ids for each in validate_requirement(after.requirements[id]))
    errors = sum(row.level == "error" for row in rows)
    covered = tuple(_file(name, mentions[name], after) for name in files if name in mentions)
    return Check(errors == 0, base, path, tuple(ids), errors, len(rows) - errors, rows, files, covered)


def _file(name: str, mentions: tuple[CitedId, ...], register: Register) -> CheckedFile:
    ids = in_order({mention.id for mention in mentions})
    unknown = tuple(id for id in ids if id not in register.requirements)
    return CheckedFile(name, tuple(ids), unknown, bool(ids))
