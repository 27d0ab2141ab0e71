"""Overview of a project: its own words, its folder, and its history."""

# Implements: REQ-d00440

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from clew.errors import ClewError
from clew.setup.detect import sniff
from clew.trace.read.resolve import Resolver, subject_of
from clew.trace.reports.impact import impact
from clew.why.overview.about import AboutProject, about_project
from clew.why.overview.holdings import Holdings, holdings
from clew.why.overview.past import BusyFile, Past, past_of
from clew.why.users import users

if TYPE_CHECKING:
    from clew.formats.code.outline import Symbol
    from clew.project import Project

_WAIT_SECONDS = 1.0
"""For a history that is read for the first time."""
_FEWEST_LINES = 4
_MOST_ASKING = 5


class Overview(msgspec.Struct, frozen=True):
    about: AboutProject
    holds: Holdings
    past: Past | None
    """None where there is no history."""
    notes: tuple[str, ...] = ()


def overview(project: "Project") -> Overview:
    """Reads names, a manifest, a README and the newest commits. The dependents of the busiest files are shown if the
    graph and the outlines of source files are ready."""
    root = project.config.root
    holds = holdings(project)
    about = about_project(root, project.config.name)
    try:
        ready = project.history.ensure(_WAIT_SECONDS)
        past = past_of(project.history.history, _is_source_of(root)) if ready.head is not None else None
        if past is not None:
            past = msgspec.structs.replace(past, busy=tuple(_with_impact(project, each) for each in past.busy))
    except ClewError as error:
        return Overview(about, holds, None, (f"The history cannot be read: {error.message}",))
    return Overview(about, holds, past, ready.notes if past is not None and not past.commits else ())


def _with_impact(project: "Project", busy: BusyFile) -> BusyFile:
    """The file with the requirements and files that a change of it concerns, as `clew impact` finds them."""
    graph, root = project.graph, project.config.root
    # Outlines that were never read would have to be read now, all of them.
    used_by = sum(1 for _ in users(project, busy.path, 1)) if project.code.was_read else None
    try:
        subject = subject_of(graph, Resolver(graph, project.context.grammar), root, busy.path, root)
    except ClewError:
        return msgspec.structs.replace(busy, used_by=used_by)
    found = impact(graph, subject, (), limit=_MOST_ASKING)
    asking = tuple(each.id for each in found.stands_for if each.distance == 1)
    return msgspec.structs.replace(busy, asked_by=asking, proofs=found.proofs_total, used_by=used_by)


def _is_source_of(root: Path) -> Callable[[str], bool]:
    def is_source(path: str) -> bool:
        return sniff.language(PurePosixPath(path)) is not None and (root / path).is_file()

    return is_source


def main_symbol(project: "Project", path: str) -> "Symbol | None":
    """The longest function or class of a file, as a subject of a question."""
    from clew.formats.code.outline import decoded, outline_of
    from clew.graph.code.keeper import LARGEST_FILE
    from clew.workspace.files import read_bytes

    try:
        data = read_bytes(project.config.root, path, limit=min(project.config.max_file_bytes, LARGEST_FILE))
    except ClewError:
        return None
    symbols = [
        each
        for each in outline_of(decoded(data), path).symbols
        # `mod tests` of a file in Rust is no subject either.
        if not each.is_test and each.name not in ("test", "tests")
    ]
    long = [each for each in symbols if each.end_line - each.line + 1 >= _FEWEST_LINES]
    return max(long or symbols, key=lambda each: each.end_line - each.line, default=None)
