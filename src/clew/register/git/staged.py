"""The content of the next commit, read with as few calls of git as possible."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from clew.formats.code.comments import BLOCK, LINE, family_for, tokens
from clew.formats.register.ids import CitedId
from clew.workspace.git import parse
from clew.workspace.git.questions import contents as contents_of
from clew.workspace.git.run import answer
from clew.workspace.paths import display, raw

_INDEX = "GIT_INDEX_FILE"
_NOTHING = re.compile("0+")
_LIKE_AN_ID = re.compile(r"(?i)req[-_ ]?[0-9]")
_PLAIN = re.compile(
    r"(?<![A-Za-z0-9_-])REQ-(?:[0-9]{4}|[1-9][0-9]{4,17})(?=, REQ-|[:.)\]]?(?:\s+[A-Za-z('\"`]|\s*$))", re.MULTILINE
)
"""An id that nothing is beside which could make it another one, a range or a list of labels."""


class StagedChange(msgspec.Struct, frozen=True):
    register: bytes
    """As the next commit would hold it."""
    register_before: bytes | None
    """As the last one holds it, empty where it holds none; None where it stays as it is."""
    files: dict[str, bytes]
    """The other files that are wanted and new or changed."""


def staged_change(root: str, register: str, is_wanted: Callable[[str], bool]) -> StagedChange | None:
    """The staged files below a folder that holds a register in one file; None if the register is not staged, or git
    does not answer."""
    folder = Path(root)
    named = os.environ.get(_INDEX)
    # In a hook of `git commit --all` git names another index than the one of the work tree.
    index = {_INDEX: os.path.abspath(named)} if named else None  # noqa: PTH100
    shown = ("--raw", "-z", "--no-abbrev", "--no-renames", "--relative", "--diff-filter=d")
    listed = answer(folder, "diff", "--cached", *shown, environment=index)
    if listed is None:
        return None
    fields = parse.fields(listed)
    blobs: dict[str, tuple[str, str]] = {}
    for states, path in zip(fields[0::2], fields[1::2], strict=True):
        _, mode, before, after, _ = states.split()
        if mode.startswith("100") and (path == register or is_wanted(display(path))):
            blobs[display(path)] = before, after
    before, after = blobs.pop(register, ("", ""))
    if not after:
        held = answer(folder, "ls-files", "--stage", "-z", "--", raw(register), environment=index)
        entry = parse.tree_entries(held).get(register) if held else None
        if entry is None:
            return None
        after = entry.blob
    is_new = _NOTHING.fullmatch(before) is not None
    wanted = [after, *([before] if before and not is_new else []), *(blob for _, blob in blobs.values())]
    contents = contents_of(folder, wanted)
    return StagedChange(
        contents[after],
        b"" if is_new else contents[before] if before else None,
        {path: contents[blob] for path, (_, blob) in sorted(blobs.items())},
    )


def certain_citations(data: bytes, path: str) -> tuple[CitedId, ...]:
    """The citations in a file, if they are certain without the project's own grammar: everything in it that looks like
    an id is one, and is in a comment. Raises LookupError otherwise."""
    family = family_for(path)
    if family is None or b"\0" in data or b"\r" in data:
        raise LookupError(path)
    text = data.decode("utf-8", "replace")
    spelled = {match.start(): match[0] for match in _PLAIN.finditer(text)}
    if len(_LIKE_AN_ID.findall(text)) != len(spelled):
        raise LookupError(path)
    found: list[CitedId] = []
    for token in tokens(text, family) if spelled else ():
        if token.kind in (LINE, BLOCK):
            inside = [start for start in spelled if token.start <= start < token.end]
            found += [CitedId(spelled[start], text.count("\n", 0, start) + 1) for start in inside]
    if len(found) != len(spelled):
        raise LookupError(path)
    return tuple(found)
