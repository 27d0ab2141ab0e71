"""Preparing a clone: hooks, the lines of .gitattributes, and the merge driver. Nobody else's hooks are touched."""

import stat
from pathlib import Path

import msgspec

from clew import git
from clew.errors import InvalidArgument
from clew.register.doctor import DRIVER, LINE_ENDS, MANAGED, MERGE_ATTRIBUTE, hook_mode
from clew.register.repository import Repository

DRIVER_NAME = "merge.req-merge.name"
DRIVER_COMMAND = "clew req merge-driver %O %A %B --path %P"

_PRE_COMMIT = """#!/bin/sh
# managed-by: clew-hooks
# mode: {mode}
command -v clew >/dev/null 2>&1 || exit 0
staged=$(git diff --cached --name-only)
case "$staged" in
*.req*)
    clew req validate || {{
        echo "The register has errors. Mend them, or see: clew req help best-practice" >&2
        exit 1
    }} ;;
esac
if [ -z "$REQ_SKIP_GATE" ] && [ -n "$staged" ]; then
    clew req review --staged --gate{near} || {{
        echo "Put the id of its requirement in a comment of each file, or REQ-NONE: and a reason." >&2
        exit 1
    }}
fi
exit 0
"""
_POST_COMMIT = """#!/bin/sh
# managed-by: clew-hooks
command -v clew >/dev/null 2>&1 || exit 0
git rev-parse --verify --quiet HEAD~1 >/dev/null && clew req review --base HEAD~1 --summary 2>/dev/null
exit 0
"""
_COMMIT_MSG = """#!/bin/sh
# managed-by: clew-hooks
command -v clew >/dev/null 2>&1 || exit 0
[ -n "$REQ_SKIP_GATE" ] && exit 0
exec clew req check-message "$1"
"""
STRICT_LINES = 50
"""How near to a change the strict hook asks for a marker."""
HOOKS = ("pre-commit", "post-commit", "commit-msg")


class SetupStep(msgspec.Struct, frozen=True):
    what: str
    done: bool
    detail: str


class SetupReport(msgspec.Struct, frozen=True):
    ok: bool
    steps: tuple[SetupStep, ...]


def set_up(folder: Path, *, strict: bool | None = None, hooks: bool = True) -> SetupReport:
    """Prepare the clone. A hook that is strict stays so unless it is told otherwise."""
    repository = Repository(folder)
    if not repository.exists():
        raise InvalidArgument(f"{folder} is in no git repository.", hint="Run `git init` first.")
    steps = [_attributes(repository), _driver(folder)]
    if hooks:
        is_strict = hook_mode(repository) == "strict" if strict is None else strict
        near = f" --marker-near-hunks {STRICT_LINES}" if is_strict else ""
        text = _PRE_COMMIT.format(mode="strict" if is_strict else "default", near=near)
        for name, script in zip(HOOKS, (text, _POST_COMMIT, _COMMIT_MSG), strict=True):
            steps.append(_hook(repository, name, script))
    return SetupReport(all(step.done for step in steps), tuple(steps))


def take_down(folder: Path) -> SetupReport:
    """Remove the hooks that Clew or req installed."""
    repository = Repository(folder)
    steps = [_without_hook(repository, name) for name in HOOKS]
    return SetupReport(True, tuple(steps))


def _attributes(repository: Repository) -> SetupStep:
    file = repository.attributes_file()
    if file is None:
        return SetupStep(".gitattributes", False, "There is no work tree.")
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    present = {" ".join(line.split()) for line in text.splitlines()}
    missing = [line for line in (MERGE_ATTRIBUTE, LINE_ENDS[0]) if line not in present]
    if missing:
        start = text if not text or text.endswith("\n") else text + "\n"
        file.write_text(start + "".join(f"{line}\n" for line in missing), encoding="utf-8", newline="\n")
    return SetupStep(".gitattributes", True, f"added {len(missing)} lines" if missing else "as it should be")


def _driver(folder: Path) -> SetupStep:
    git.command(folder, "config", DRIVER_NAME, "merge two versions of a register")
    git.command(folder, "config", DRIVER, DRIVER_COMMAND)
    return SetupStep("merge driver", True, DRIVER_COMMAND)


def _hook(repository: Repository, name: str, text: str) -> SetupStep:
    folder = repository.hooks_folder()
    if folder is None:
        return SetupStep(name, False, "git does not say where hooks are.")
    file = folder / name
    if file.exists() and not _is_managed(file):
        return SetupStep(name, False, f"{file} is somebody else's and was left alone; call `clew req` from it.")
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return SetupStep(name, True, str(file))


def _without_hook(repository: Repository, name: str) -> SetupStep:
    folder = repository.hooks_folder()
    file = folder / name if folder else None
    if file is None or not file.exists() or not _is_managed(file):
        return SetupStep(name, True, "nothing of ours")
    file.unlink()
    return SetupStep(name, True, "removed")


def _is_managed(file: Path) -> bool:
    text = file.read_text(encoding="utf-8", errors="replace")
    return any(mark in text for mark in MANAGED)
