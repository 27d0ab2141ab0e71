"""Git: `run` starts it, `parse` understands what it prints, `questions` are what Clew asks of a folder."""

from clew.workspace.git.questions import (
    WHOLE_FILE,
    ChangedLines,
    base_branch,
    branch,
    branches,
    changed_lines,
    changed_paths,
    changed_since,
    common_folder,
    content_at,
    contents,
    fork_of,
    head,
    toplevel,
    uncommitted,
)
from clew.workspace.git.run import answer, command

__all__ = [
    "WHOLE_FILE",
    "ChangedLines",
    "answer",
    "base_branch",
    "branch",
    "branches",
    "changed_lines",
    "changed_paths",
    "changed_since",
    "command",
    "common_folder",
    "content_at",
    "contents",
    "fork_of",
    "head",
    "toplevel",
    "uncommitted",
]
