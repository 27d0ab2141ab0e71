"""Targets that are in the history alone: an issue's number, a range of commits, a definition that was removed."""

# Implements: REQ-d00757

import posixpath
import re
import time
from typing import TYPE_CHECKING

from clew.errors import NotFound
from clew.text.display import counted, shortened
from clew.why.target import Target, file_argument, near_names
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history

if TYPE_CHECKING:
    from clew.operation.call import Call
    from clew.why.story.patient import SearchedPast

PAST_SECONDS = 6.0
"""Seconds that a search in the commits may take: whoever asks for what is no longer there has nothing else to read."""
_NUMBER = re.compile(r"#\d{1,7}|GH-\d{1,7}|!\d{1,6}|[A-Z][A-Z0-9]{1,9}-\d{1,6}")
_RANGE = re.compile(r"(?P<first>[^\s.][^\s]*?)\.\.(?P<last>[^\s.][^\s]*)(?P<path>\s+\S.*)?")
_DEFINABLE = re.compile(r"[^\W\d][\w$]{2,}(?:(?:\.|::)[^\W\d][\w$]*){0,4}")


def past_of(call: "Call", until: float) -> "SearchedPast | None":
    """The history that can be searched; None without git."""
    from clew.why.story.patient import SearchedPast

    reader = call.project.history
    head = reader.ensure(max(until - time.monotonic(), 0.0)).head
    if head is None:
        return None
    return SearchedPast(call.root, reader.history, head, max(until - time.monotonic(), PAST_SECONDS))


def number(call: "Call", text: str, until: float) -> Target | None:
    """An issue or pull request that messages of commits name."""
    if _NUMBER.fullmatch(text) is None or (past := past_of(call, until)) is None:
        return None
    from clew.why.story.removed import commits_naming

    return Target(asked=text, kind="number", name=text) if commits_naming(past, text) else None


def between(call: "Call", text: str) -> Target | None:
    """The commits from one revision to another, `A..B`, and a file or folder behind it."""
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    last = git.commit_of(call.root, match["last"])
    if last is None or git.commit_of(call.root, match["first"]) is None:
        return None
    name = f"{match['first']}..{match['last']}"
    path = (match["path"] or "").strip()
    return Target(
        asked=text, kind="commits", name=name, path=_past_path(call, path, match["last"], last) if path else None
    )


def _past_path(call: "Call", text: str, name: str, last: str) -> str:
    """The path of a file or folder that commits up to one of them touched. NotFound for any other."""
    path = file_argument(call, text).path or posixpath.normpath(text.replace("\\", "/"))
    if path.startswith(("../", "/")) or path == "..":
        raise NotFound(f"'{shortened(text)}' is outside of the project.", hint="Name a file or folder of the project.")
    if not git_history.commits_between(call.root, None, last, path, 1):
        raise NotFound(
            f"Not known: no commit up to {shortened(name)} touched '{shortened(text)}'.",
            hint=f"{near_names(call, path)}Name a file or folder that was there, or leave it out.",
        )
    return path


def removed(call: "Call", text: str, until: float) -> tuple[Target | None, str]:
    """A definition that is no longer there; or words on the commits that were looked through for it."""
    if _DEFINABLE.fullmatch(text) is None or (past := past_of(call, until)) is None:
        return None, ""
    from clew.why.story.removed import story_of_definition

    story = story_of_definition(past, text)
    if story.events:
        return Target(asked=text, kind="removed symbol", name=text), ""
    if not story.is_done:
        looked = f"{story.looked:,} of {story.total:,} commits were" if story.total >= 0 else "no commit was"
        raise NotFound(
            f"Not known yet: nothing here is called '{shortened(text)}', and {looked} looked through for a definition"
            " that was removed.",
            hint="Ask again in a moment.",
        )
    unread = f", {story.unreadable:,} apart that git cannot show" if story.unreadable else ""
    return None, f", and none of {counted(story.looked, 'commit')}{unread} has a definition of it"
