"""The git hooks for registers. One hook serves every project of a repository, each in its folder; it ignores a branch
without a register.

Of a hook Clew manages only the lines between two marks. Lines of others around them stay as they are, and so does a
hook that has no such marks.
"""

import os
import re
import shlex
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from clew.edit.recovery import recover
from clew.edit.replacing import translated
from clew.edit.transaction import replace_alone
from clew.register.change.storage import MARK, REPLACED, keep_copy
from clew.register.git.repository import Repository
from clew.register.git.starting import folder_first, missing_program
from clew.workspace.git import api as git
from clew.workspace.regular import contents

STRICT_LINES = 50
"""The greatest distance from a change, in lines, at which the strict hook accepts a marker."""
HOOKS = ("pre-commit", "post-commit", "commit-msg")

_SHEBANG = "#!/bin/sh\n"
_BEGIN = "# managed-by: clew-hooks\n"
_END = "# end of clew-hooks; lines of your own stay before or after\n"
_MANAGED = ("managed-by: clew-hooks", "managed-by: req-hooks")
"""The marks of hooks that Clew or req wrote."""
_BLOCK = re.compile(f"^{re.escape(_BEGIN)}.*?^{re.escape(_END.rstrip())}(?:\n|\\Z)", re.MULTILINE | re.DOTALL)
_ASKED = re.compile(r"^check (.+)$", re.MULTILINE)
_LED = re.compile(r"^PATH=.+$", re.MULTILINE)
_STRICT = re.compile(r"^# mode: strict\b", re.MULTILINE)

_PRE_COMMIT = """staged=$(git diff --cached --name-only)
[ -n "$staged" ] || exit 0
all=
case "$staged" in *.req*) all=--all ;; esac
kept=$(git rev-parse --git-path clew-told)
[ ! -e "$kept" ] || rm -f "$kept"
check() {{
    [ -e "$2" ] || return 0
    if [ -n "$REQ_SKIP_GATE" ]; then
        [ -n "$all" ] || return 0
        told=$(clew req validate --staged -C "$1" --file "$2" 2>&1) || {{
            printf '%s\\n' "$told" "The register has errors. Mend them, or see: clew req help best-practice" >&2
            exit 1
        }}
        return 0
    fi
    told=$(clew req review --staged --gate --summary $all{near} -C "$1" --file "$2" 2>&1) || {{
        printf '%s\\n' "$told" "Mend the errors of the register, if there are any." \\
            "Put the id of its requirement in a comment of each file, or REQ-NONE: and a reason." >&2
        exit 1
    }}
    # The hook after the commit tells what is known now, if what is committed is what was looked at.
    [ -e "$kept" ] || git write-tree >"$kept" 2>/dev/null
    printf '%s\\n' "$told" >>"$kept" 2>/dev/null
}}
"""
_POST_COMMIT = """{ read -r tree && read -r kept; } <<EOF
$(git rev-parse HEAD^{tree} --git-path clew-told)
EOF
if [ -f "$kept" ]; then
    { read -r looked_at && [ "$looked_at" = "$tree" ] && cat; } <"$kept" && rm -f "$kept" && exit 0
    rm -f "$kept"
fi
before=$(git rev-parse --verify --quiet HEAD~1^{tree}) || exit 0
[ "$before" != "$tree" ] || exit 0
check() {
    [ -e "$2" ] && clew req review --base HEAD~1 --summary -C "$1" --file "$2" 2>/dev/null
}
"""
_COMMIT_MSG = """[ -z "$REQ_SKIP_GATE" ] || exit 0
message=$1
ids=$(grep -v '^#' "$message" | grep -o 'REQ-[0-9][0-9]*')
[ -n "$ids" ] || exit 0
check() {
    [ -e "$2" ] || return 0
    known=yes
    for id in $ids; do
        grep -q "^    \\"$id\\": {" "$2" 2>/dev/null || known=
    done
    # Of a register in one file, what is there is known at once.
    [ -z "$known" ] || return 0
    told=$(clew req check-message "$message" -C "$1" --file "$2" 2>&1) || {
        printf '%s\\n' "$told" >&2
        exit 1
    }
}
"""


class RegisterPaths(msgspec.Struct, frozen=True, order=True):
    """A project and its register, both from the top of the work tree."""

    folder: str
    register: str


class HookStep(msgspec.Struct, frozen=True):
    done: bool
    detail: str


class Hook(msgspec.Struct, frozen=True):
    """A git hook with a part that Clew or req manages."""

    before: str
    """The lines before the managed ones."""
    after: str
    places: frozenset[RegisterPaths]
    """The registers that it protects."""
    is_strict: bool
    is_known: bool = True
    """True if it is known which of its lines are managed; false if req wrote it, or if a hook of an older Clew, which
    has no mark at the end, was changed."""


def read_hook(repository: Repository, name: str) -> Hook | None:
    """A hook that Clew or req manages; None for any other."""
    text = hook_text(repository, name) or ""
    if not any(mark in text for mark in _MANAGED):
        return None
    block = _BLOCK.search(text)
    # A hook merged by hand may have two such blocks: they become one.
    managed = "".join(_BLOCK.findall(text)) if block else text
    hook = Hook(
        text[: block.start()] if block else _SHEBANG,
        _BLOCK.sub("", text[block.end() :]) if block else "",
        frozenset(_places(managed)),
        is_strict=_STRICT.search(managed) is not None,
        is_known=block is not None,
    )
    if hook.is_known:
        return hook
    before, mark, rest = text.partition(_BEGIN)
    whole = _mode(name, is_strict=hook.is_strict) + _script(name, hook.places, is_strict=hook.is_strict)
    if not mark or not rest.startswith(whole):
        return hook
    return msgspec.structs.replace(hook, before=before, after=rest.removeprefix(whole), is_known=True)


def _places(script: str) -> Iterator[RegisterPaths]:
    for line in _ASKED.findall(script):
        # In a hook that others wrote, such a line may be anything.
        with suppress(ValueError):
            folder, register = shlex.split(line)
            yield RegisterPaths(folder, register)


def hook_mode(repository: Repository) -> str | None:
    """strict or default for a pre-commit hook that Clew or req manages; None for none."""
    hook = read_hook(repository, "pre-commit")
    return None if hook is None else "strict" if hook.is_strict else "default"


def hook_text(repository: Repository, name: str) -> str | None:
    file = hook_file(repository, name)
    try:
        # Bytes that are no UTF-8 stay what they are when the hook is written again, and so do line ends.
        return contents(file).decode("utf-8", "surrogateescape") if file else None
    except OSError:
        return None


def hook_file(repository: Repository, name: str) -> Path | None:
    folder = repository.hooks_folder()
    return folder / name if folder else None


def runs(file: Path) -> bool:
    """True if git runs a hook: it skips one that is not executable."""
    return sys.platform == "win32" or os.access(file, os.X_OK)


def finds_clew(text: str) -> bool:
    """True if the lines of Clew in a hook find it in the PATH of this process, or if the hook has no such lines."""
    led = _LED.search("".join(_BLOCK.findall(text)))
    return _MANAGED[0] not in text or missing_program(f"{led[0] if led else ''} clew") is None


def place_of(root: Path, register: Path) -> RegisterPaths | None:
    """The paths of a project and its register in their work tree; None outside of git."""
    top = git.toplevel(register.parent)
    if top is None:
        return None
    folder, file = (os.path.relpath(each.resolve(), top.resolve()) for each in (root, register))
    return RegisterPaths(Path(folder).as_posix(), Path(file).as_posix())


def install(repository: Repository, name: str, place: RegisterPaths, *, strict: bool | None) -> HookStep:
    """Add a register to those that a hook checks. A strict hook stays strict unless the caller says otherwise."""
    file = hook_file(repository, name)
    if file is None:
        return HookStep(False, "git does not say where hooks are.")
    recover(file.resolve().parent, None)
    hook = read_hook(repository, name)
    if hook is None and file.exists():
        return HookStep(False, f"{file} is not Clew's and was left alone; call `clew req` from it.")
    is_strict = hook_mode(repository) == "strict" if strict is None else strict
    before = hook or Hook(_SHEBANG, "", frozenset(), is_strict=is_strict)
    with translated(file):
        kept = _set_aside(file, before)
        block = _block(name, before.places | {place}, _finding(repository, file), is_strict=is_strict)
        _write(file, before.before + block + before.after)
        file.chmod(file.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return HookStep(True, f"{file}{kept}")


def uninstall(repository: Repository, name: str, place: RegisterPaths) -> HookStep:
    """Remove a register from a hook. If it was the last one, the managed lines are removed, and the hook too if nothing
    else is in it."""
    file = hook_file(repository, name)
    if file is not None:
        recover(file.resolve().parent, None)
    hook = read_hook(repository, name)
    if file is None or hook is None:
        return HookStep(True, "nothing of ours")
    with translated(file):
        return _let_go(repository, file, hook, name, place)


def _let_go(repository: Repository, file: Path, hook: Hook, name: str, place: RegisterPaths) -> HookStep:
    kept = _set_aside(file, hook)
    others = hook.places - {place}
    if others:
        block = _block(name, others, _finding(repository, file), is_strict=hook.is_strict)
        _write(file, hook.before + block + hook.after)
        return HookStep(True, f"still looks after {', '.join(sorted(each.register for each in others))}{kept}")
    if _says_something(hook.before) or _says_something(hook.after):
        _write(file, hook.before + hook.after)
        return HookStep(True, f"removed our lines from {file}{kept}")
    file.unlink()
    return HookStep(True, f"removed{kept}")


def _says_something(lines: str) -> bool:
    return any(line.strip() and not line.startswith("#!") for line in lines.splitlines())


def _set_aside(file: Path, hook: Hook) -> str:
    """Copy a hook that has lines of others; returns a sentence with the path of the copy."""
    if hook.is_known:
        return ""
    kept = keep_copy(file.with_name(f"{file.name}{MARK}{REPLACED}"), contents(file))
    return f"; what was there is now {kept}, see whether you want something of it"


def _block(name: str, places: Iterable[RegisterPaths], finding: str, *, is_strict: bool) -> str:
    """The managed lines. They run by themselves: settings of the lines before them have no effect on them, and the
    lines after them run too unless they refuse."""
    script = _script(name, places, is_strict=is_strict)
    return f"{_BEGIN}{_mode(name, is_strict=is_strict)}(\nset +eu\n{finding}{script}) || exit 1\n{_END}"


def _finding(repository: Repository, file: Path) -> str:
    """The line by which a hook finds this installation of Clew. A hook outside of git's own folder, or one that is a
    link out of it, may be shared, and gets no such line."""
    own = repository.own_folder()
    first = folder_first() if own is not None and file.resolve().is_relative_to(own.resolve()) else ""
    return f"{first}\n" if first else ""


def _mode(name: str, *, is_strict: bool) -> str:
    return f"# mode: {'strict' if is_strict else 'default'}\n" if name == "pre-commit" else ""


def _script(name: str, places: Iterable[RegisterPaths], *, is_strict: bool) -> str:
    near = f" --marker-near-hunks {STRICT_LINES}" if is_strict else ""
    checks = {"pre-commit": _PRE_COMMIT.format(near=near), "post-commit": _POST_COMMIT, "commit-msg": _COMMIT_MSG}
    asked = "".join(f"check {shlex.quote(each.folder)} {shlex.quote(each.register)}\n" for each in sorted(places))
    return f"command -v clew >/dev/null 2>&1 || exit 0\n{checks[name]}{asked}exit 0\n"


def _write(file: Path, text: str) -> None:
    # A hook may be a link to a file that is kept elsewhere.
    replace_alone(file.resolve(), text.encode("utf-8", "surrogateescape"))
