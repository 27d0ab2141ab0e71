"""Checks of a clone's setup for a sound register."""

from pathlib import Path

import msgspec

from clew.register.change.transaction import lock_file
from clew.register.git.hooks import (
    RegisterPaths,
    finds_clew,
    hook_file,
    hook_mode,
    hook_text,
    place_of,
    read_hook,
    runs,
)
from clew.register.git.repository import GOOD, Repository
from clew.register.git.starting import missing_program
from clew.workspace.regular import contents

MERGE_ATTRIBUTE = "*.req merge=req-merge"
HISTORY_ATTRIBUTE = "*.req.history merge=union"
"""Both sides of a merge only add lines to the copy of a history."""
LINE_ENDS = ("*.req -text eol=lf", "project.req -text eol=lf")
DRIVER = "merge.req-merge.driver"
_DRIVER_THAT_LOSES = "renumber --base %O"
"""The driver that req installs takes a file for a revision, fails, and keeps one side without a word."""


class DoctorCheck(msgspec.Struct, frozen=True):
    name: str
    ok: bool
    detail: str
    advisory: bool


class Doctor(msgspec.Struct, frozen=True):
    ok: bool
    failed: int
    advisory_failed: int
    checks: tuple[DoctorCheck, ...]


def examine(repository: Repository, root: Path, register: Path, problem: str | None) -> Doctor:
    checks = [_register(register, problem)]
    place = place_of(root, register)
    if place is not None:
        checks += [*_hooks(repository, place), *_attributes(repository), _driver(repository)]
        checks += [_lock(repository, register), _signing(repository, register)]
    else:
        checks.append(DoctorCheck("git", False, "The register is in no git repository. Run `git init`.", False))
    failed = sum(not each.ok and not each.advisory for each in checks)
    advisory = sum(not each.ok and each.advisory for each in checks)
    return Doctor(failed == 0, failed, advisory, tuple(checks))


def _register(register: Path, problem: str | None) -> DoctorCheck:
    return DoctorCheck("register file", problem is None, problem or f"{register.name} loads and verifies.", False)


def _hooks(repository: Repository, place: RegisterPaths) -> list[DoctorCheck]:
    """The first keeps a register sound. Without the others nothing gets lost, but less is noticed."""
    asked = ("pre-commit", "req validate"), ("post-commit", "req review"), ("commit-msg", "req check-message")
    checks = []
    for name, command in asked:
        problem = _hook_problem(repository, name, command, place)
        mode = f", mode {hook_mode(repository) or 'your own'}" if name == "pre-commit" else ""
        checks.append(
            DoctorCheck(f"{name} hook", not problem, problem or f"installed{mode}", advisory=name != "pre-commit")
        )
    return checks


def _hook_problem(repository: Repository, name: str, command: str, place: RegisterPaths) -> str:
    """The reason why a hook does not protect a register; empty if it does."""
    file, text, hook = hook_file(repository, name), hook_text(repository, name), read_hook(repository, name)
    if text is None or file is None:
        return "There is none. `clew req setup` installs it."
    if command not in text:
        return f"There is one, but it does not run `clew {command}`. Add that to it."
    if not runs(file):
        return f"git does not run it, because it is not executable. Run `chmod +x {file}`."
    if not finds_clew(text):
        return "It finds no clew on this PATH, and checks nothing without it. Put clew there, or run `clew req setup`."
    if hook is not None and hook.places and place not in hook.places:
        others = ", ".join(sorted(each.register for each in hook.places))
        return f"It checks {others}, but not {place.register}. `clew req setup` adds that."
    return ""


def _lock(repository: Repository, register: Path) -> DoctorCheck:
    lock = lock_file(register).name
    ok = repository.ignores(lock)
    detail = "git ignores it" if ok else f"`git add --all` would commit {lock}. `clew req setup` has git ignore it."
    return DoctorCheck("lock file", ok, detail, True)


def _attributes(repository: Repository) -> list[DoctorCheck]:
    file = repository.attributes_file()
    try:
        lines = {" ".join(line.split()) for line in contents(file).decode("utf-8").splitlines()} if file else set()
    except (OSError, UnicodeDecodeError):
        lines = set()
    merges, pinned = MERGE_ATTRIBUTE in lines, any(line in lines for line in LINE_ENDS)
    advice = "Add the line `{}` to .gitattributes, or run `clew req setup`."
    return [
        DoctorCheck("merge attribute", merges, "present" if merges else advice.format(MERGE_ATTRIBUTE), False),
        DoctorCheck("line ends", pinned, "pinned to LF" if pinned else advice.format(LINE_ENDS[0]), False),
    ]


def _driver(repository: Repository) -> DoctorCheck:
    driver = repository.setting(DRIVER)
    if not driver:
        detail = "Not configured in this clone, so git merges the register by lines. Run `clew req setup`."
        return DoctorCheck("merge driver", False, detail, False)
    if _DRIVER_THAT_LOSES in driver:
        detail = "The driver of req keeps one side of a merge and loses the other. Run `clew req setup`."
        return DoctorCheck("merge driver", False, detail, False)
    if missing := missing_program(driver.replace("%%", "%")):
        detail = f"git cannot start it: there is no {missing} where it looks. Run `clew req setup`."
        return DoctorCheck("merge driver", False, detail, False)
    return DoctorCheck("merge driver", True, driver, False)


def _signing(repository: Repository, register: Path) -> DoctorCheck:
    wanted = (repository.setting("commit.gpgsign") or "").lower() in ("true", "1", "yes", "on")
    last = repository.log(register.name, 1) if repository.head() else []
    signed = bool(last) and last[0].signature_status in GOOD
    if wanted and signed:
        return DoctorCheck("commit signing", True, f"on; the last change was signed by {last[0].signer}", True)
    detail = "Commits are not signed here." if not wanted else "Signing is on, but the last change is not signed well."
    return DoctorCheck("commit signing", False, f"{detail} Set commit.gpgsign to vouch for changes.", True)
