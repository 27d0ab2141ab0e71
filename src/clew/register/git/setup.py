"""Preparing a clone: hooks, the lines of .gitattributes and .gitignore, and the merge driver."""

import os
from pathlib import Path

import msgspec

from clew.edit.recovery import recover
from clew.edit.replacing import translated
from clew.edit.targets import real_target
from clew.edit.transaction import replace_alone
from clew.errors import InvalidArgument, OutsideProject
from clew.register.change.transaction import lock_file
from clew.register.git import hooks as hooking
from clew.register.git.doctor import DRIVER, HISTORY_ATTRIBUTE, LINE_ENDS, MERGE_ATTRIBUTE
from clew.register.git.repository import Repository
from clew.register.git.starting import driver_line
from clew.text.display import counted
from clew.workspace.git import api as git
from clew.workspace.regular import contents

DRIVER_NAME = "merge.req-merge.name"
DRIVER_COMMAND = "clew req merge-driver %O %A %B --path %P"
LOCKS = ".*.req.lock"


class SetupStep(msgspec.Struct, frozen=True):
    what: str
    done: bool
    detail: str


class SetupReport(msgspec.Struct, frozen=True):
    ok: bool
    steps: tuple[SetupStep, ...]


def set_up(root: Path, register: Path | None = None, *, strict: bool | None = None, hooks: bool = True) -> SetupReport:
    """Prepare the clone that holds a register, by default the one in `project.req` of the folder."""
    register = register or root / "project.req"
    repository = Repository(register.parent)
    place = hooking.place_of(root, register)
    if place is None:
        raise InvalidArgument(f"{register.parent} is in no git repository.", hint="Run `git init` first.")
    steps = [_attributes(repository), _ignored(repository, register), _driver(register.parent)]
    for name in hooking.HOOKS if hooks else ():
        step = hooking.install(repository, name, place, strict=strict)
        steps.append(SetupStep(name, step.done, step.detail))
    return SetupReport(all(step.done for step in steps), tuple(steps))


def take_down(root: Path, register: Path) -> SetupReport:
    """Remove the hooks that Clew or req installed for a register."""
    repository, place = Repository(register.parent), hooking.place_of(root, register)
    if place is None:
        return SetupReport(True, ())
    steps = ((name, hooking.uninstall(repository, name, place)) for name in hooking.HOOKS)
    return SetupReport(True, tuple(SetupStep(name, step.done, step.detail) for name, step in steps))


def bounds_of(root: Path, place: Path) -> Path | None:
    """The folder that a link must not leave when a file is written, so that a clone cannot make Clew write into the
    user's home folder. None for a place outside of the project, which only its user can name."""
    written, around = (Path(os.path.normpath(each.absolute())) for each in (place, root))
    is_inside = written.is_relative_to(around)
    return (git.toplevel(root) or root) if is_inside else None


def _attributes(repository: Repository) -> SetupStep:
    file = repository.attributes_file()
    if file is None:
        return SetupStep(".gitattributes", False, "There is no work tree.")
    return _with_lines(file, (MERGE_ATTRIBUTE, LINE_ENDS[0], HISTORY_ATTRIBUTE))


def _ignored(repository: Repository, register: Path) -> SetupStep:
    """The lock beside a register is never removed, and belongs into no commit."""
    lock = lock_file(register)
    attributes = repository.attributes_file()
    if attributes is None or repository.ignores(lock.name):
        return SetupStep(".gitignore", True, "as it should be")
    return _with_lines(attributes.with_name(".gitignore"), (LOCKS if lock.match(LOCKS) else lock.name,))


def _with_lines(file: Path, wanted: tuple[str, ...]) -> SetupStep:
    """Add the lines that a file lacks, with its own line ends."""
    try:
        with translated(file):
            return _added(real_target(file, within=file.parent), wanted)
    except OutsideProject as error:
        return SetupStep(file.name, False, str(error))


def _added(file: Path, wanted: tuple[str, ...]) -> SetupStep:
    recover(file.parent, None)
    text = contents(file).decode("utf-8", "surrogateescape") if file.exists() else ""
    present = {" ".join(line.split()) for line in text.splitlines()}
    missing = [line for line in wanted if line not in present]
    if missing:
        end = "\r\n" if "\r\n" in text else "\n"
        start = text if not text or text.endswith("\n") else text + end
        longer = start + "".join(f"{line}{end}" for line in missing)
        replace_alone(file, longer.encode("utf-8", "surrogateescape"))
    added = f"added {counted(len(missing), 'line')}" if missing else "as it should be"
    return SetupStep(file.name, True, added)


def _driver(folder: Path) -> SetupStep:
    git.command(folder, "config", DRIVER_NAME, "merge two versions of a register")
    command = driver_line(DRIVER_COMMAND)
    git.command(folder, "config", DRIVER, command)
    return SetupStep("merge driver", True, command)
