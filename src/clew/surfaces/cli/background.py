"""Building the search index in the background: a process of its own, started once, that no command waits for.

Only a person at a terminal gets one: scripts and tests start no process that they did not ask for.
"""

# Implements: REQ-d00444

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from clew.text.terminal import errors

if TYPE_CHECKING:
    from clew.project import Project
    from clew.search.question import IndexState
    from clew.store.interface import Job

VERBS = frozenset(("brief", "ask", "search", "kb status", "kb search", "kb ask"))
"""Commands after which somebody is likely to search."""


def index_news(project: "Project") -> tuple[str | None, bool]:
    """A line about the index for a person, and whether a process has to be started that builds it."""
    if not errors().isatty() or not project.config.search.background:
        return None, False
    state, job = project.index.state(), _running(project)
    if state is None or not _is_unfinished(state):
        return None, False
    if job is not None:
        return _progress(state, job), False
    return "The search index is built in the background. Until then, search is by keywords.", True


def _is_unfinished(state: "IndexState") -> bool:
    """True if some texts have no embeddings yet, or nothing was read yet."""
    return state.state in ("indexing", "changing_embedder", "damaged") or (
        not state.units and state.state != "words_only"
    )


def _running(project: "Project") -> "Job | None":
    from clew.search.dense.keeper import JOB

    store = project.store
    return next((job for job in store.jobs(state="running") if job.kind == JOB), None) if store is not None else None


def _progress(state: "IndexState", job: "Job") -> str:
    total = job.total or state.units
    percent = job.done * 100 // total if total else 0
    return (
        f"Indexing in the background: {percent} %, {job.done:,} of {total:,} texts. Until then, search is by keywords."
    )


def start_indexing(root: Path) -> "subprocess.Popen[bytes]":
    """Start `clew index` for a project and do not wait for it."""
    # A module of the current folder, which may be a clone, is none of Clew's.
    command = [sys.executable, "-P", "-m", "clew", "index", str(root)]
    nice = shutil.which("nice")
    return subprocess.Popen(
        [nice, "-n", "10", *command] if nice else command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
