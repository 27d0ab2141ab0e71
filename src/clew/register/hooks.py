"""The hooks that git runs for registers. One hook serves every project of a repository, each in its folder; a branch
that does not have a register yet is none of its business. Nobody else's hooks are touched.
"""

import os
import re
import shlex
import stat
from collections.abc import Iterable
from pathlib import Path

import msgspec

from clew import git
from clew.register.doctor import MANAGED, hook_mode
from clew.register.repository import Repository

STRICT_LINES = 50
"""How near to a change the strict hook asks for a marker."""

_HEAD = """#!/bin/sh
# managed-by: clew-hooks
{mode}command -v clew >/dev/null 2>&1 || exit 0
"""
_PRE_COMMIT = """staged=$(git diff --cached --name-only)
[ -n "$staged" ] || exit 0
check() {{
    [ -e "$2" ] || return 0
    case "$staged" in
    *.req*)
        told=$(clew req validate --staged -C "$1" --file "$2" 2>&1) || {{
            printf '%s\\n' "$told" "The register has errors. Mend them, or see: clew req help best-practice" >&2
            exit 1
        }} ;;
    esac
    [ -z "$REQ_SKIP_GATE" ] || return 0
    told=$(clew req review --staged --gate{near} -C "$1" --file "$2" 2>&1) || {{
        printf '%s\\n' "$told" "Put the id of its requirement in a comment of each file, or REQ-NONE: and a reason." >&2
        exit 1
    }}
}}
"""
_POST_COMMIT = """git rev-parse --verify --quiet HEAD~1 >/dev/null || exit 0
check() {
    [ -e "$2" ] && clew req review --base HEAD~1 --summary -C "$1" --file "$2" 2>/dev/null
}
"""
_COMMIT_MSG = """[ -z "$REQ_SKIP_GATE" ] || exit 0
message=$1
check() {
    [ -e "$2" ] || return 0
    told=$(clew req check-message "$message" -C "$1" --file "$2" 2>&1) || {
        printf '%s\\n' "$told" >&2
        exit 1
    }
}
"""
HOOKS = ("pre-commit", "post-commit", "commit-msg")
_ASKED = re.compile(r"^check (.+)$", re.MULTILINE)


class Place(msgspec.Struct, frozen=True, order=True):
    """A project and its register, both from the top of the work tree."""

    folder: str
    register: str


class HookStep(msgspec.Struct, frozen=True):
    done: bool
    detail: str


def place_of(root: Path, register: Path) -> Place | None:
    """Where a project is in its work tree; None outside of git."""
    top = git.toplevel(register.parent)
    if top is None:
        return None
    folder, file = (os.path.relpath(each.resolve(), top.resolve()) for each in (root, register))
    return Place(Path(folder).as_posix(), Path(file).as_posix())


def install(repository: Repository, name: str, place: Place, *, strict: bool | None) -> HookStep:
    """Have a hook look after a register, beside those it looks after already. A hook that is strict stays so unless it
    is told otherwise."""
    file = _file(repository, name)
    if file is None:
        return HookStep(False, "git does not say where hooks are.")
    before = _managed_text(file)
    if before is None and file.exists():
        return HookStep(False, f"{file} is somebody else's and was left alone; call `clew req` from it.")
    is_strict = hook_mode(repository) == "strict" if strict is None else strict
    _write(file, _script(name, {*_places(before or ""), place}, is_strict=is_strict))
    return HookStep(True, str(file))


def uninstall(repository: Repository, name: str, place: Place) -> HookStep:
    """Have a hook let go of a register; a hook that has no other is removed."""
    file = _file(repository, name)
    before = _managed_text(file) if file else None
    if file is None or before is None:
        return HookStep(True, "nothing of ours")
    others = set(_places(before)) - {place}
    if not others:
        file.unlink()
        return HookStep(True, "removed")
    _write(file, _script(name, others, is_strict=hook_mode(repository) == "strict"))
    return HookStep(True, f"still looks after {', '.join(sorted(each.register for each in others))}")


def _script(name: str, places: Iterable[Place], *, is_strict: bool) -> str:
    if name == "pre-commit":
        near = f" --marker-near-hunks {STRICT_LINES}" if is_strict else ""
        head, body = (
            _HEAD.format(mode=f"# mode: {'strict' if is_strict else 'default'}\n"),
            _PRE_COMMIT.format(near=near),
        )
    else:
        head, body = _HEAD.format(mode=""), _POST_COMMIT if name == "post-commit" else _COMMIT_MSG
    asked = "".join(f"check {shlex.quote(each.folder)} {shlex.quote(each.register)}\n" for each in sorted(places))
    return f"{head}{body}{asked}exit 0\n"


def _places(script: str) -> list[Place]:
    return [Place(*words) for line in _ASKED.findall(script) if len(words := shlex.split(line)) == 2]


def _file(repository: Repository, name: str) -> Path | None:
    folder = repository.hooks_folder()
    return folder / name if folder else None


def _managed_text(file: Path) -> str | None:
    """What a hook says that Clew or req wrote; None for any other."""
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    return text if any(mark in text for mark in MANAGED) else None


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
