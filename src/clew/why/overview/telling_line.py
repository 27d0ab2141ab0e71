"""A line that is worth a question: the commit that wrote it says why, and names an issue or a pull request."""

# Implements: REQ-d00440

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from clew.derived.history import FileTouch
from clew.errors import ClewError
from clew.why.inquiry import references_in
from clew.why.story.comparing import SINGLE_WEIGHT, weight_of
from clew.why.story.reason import body_of, reason_in, says_why
from clew.why.target import read_text
from clew.workspace.git import api as git
from clew.workspace.git.difference import differences

if TYPE_CHECKING:
    from clew.project import Project

_LOOKED_AT = 80
"""Commits of a file whose messages are looked at."""
_COMPARED = 3
_SECONDS = 2.0


class _Telling(msgspec.Struct, frozen=True):
    path: str = ""
    text: str = ""


def telling_place(project: "Project", paths: Sequence[str]) -> str | None:
    """The place of such a line in one of the files; None where there is none. It is looked for once for each commit."""
    history = project.history.history
    about = (history.state().head or "", "telling line 1", *paths)
    known = history.kept(_Telling, *about)
    if known is None:
        try:
            known = next(_found(project, paths), _Telling())
        except ClewError:
            return None
        history.keep(known, *about)
    number = _number(project, known) if known.text else 0
    return f"{known.path}:{number}" if number else None


def _found(project: "Project", paths: Sequence[str]) -> Iterator[_Telling]:
    top, prefix = git.toplevel(project.config.root), git.prefix_of(project.config.root)
    if top is None:
        return
    for path in paths:
        touches = [each for each in project.history.history.of_path(path, _LOOKED_AT) if _says_why(each)]
        for touch in touches[:_COMPARED]:
            commit = touch.commit
            changed = differences(top, commit.parents[0], commit.id, (f"{prefix}{touch.path}",), seconds=_SECONDS)
            rows = (row.strip() for each in changed for block in each.blocks for row in block.new)
            for row in rows:
                if weight_of(row) >= SINGLE_WEIGHT and _number(project, _Telling(path, row)):
                    yield _Telling(path, row)


def _says_why(touch: FileTouch) -> bool:
    message = touch.commit.message
    return len(touch.commit.parents) == 1 and bool(references_in(message)) and says_why(reason_in(body_of(message)))


def _number(project: "Project", telling: _Telling) -> int:
    """The number of the line, where it stands once in the file; 0 where it does not."""
    text = read_text(project, telling.path)
    found = [number for number, row in enumerate(text.lines if text else (), 1) if row.strip() == telling.text]
    return found[0] if len(found) == 1 else 0
