"""Files that use a file: one walk against the imports, for `impact`, `why` and the brief, and the imports that could
not be resolved."""

# Implements: REQ-d00363

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from clew.formats.code.imports import READ
from clew.formats.code.languages import family_for
from clew.graph.code.region import PREFIX, CodeRegion
from clew.graph.model import EdgeKind
from clew.graph.walk import Walk
from clew.text.display import counted

if TYPE_CHECKING:
    from clew.project import Project

FARTHEST = 3
"""Distance in imports up to which a file counts as a user."""
_SHOWN = 2


class User(msgspec.Struct, frozen=True):
    path: str
    imports: str
    """The file through which it uses the other, or the other itself."""
    is_test: bool
    distance: int


def users(project: "Project", path: str, farthest: int = FARTHEST) -> Iterator[User]:
    """The files that import a file, and those that import them, nearest first, as far as outlines are read. The caller
    holds the graph's lock."""
    graph = project.graph
    walk = Walk(graph, (PREFIX + path,), (EdgeKind.IMPORTS,), "in")
    for layer in walk.layers(farthest):
        for step in layer:
            name = step.id.removeprefix(PREFIX)
            tests = project.uses.tests.holds(name)
            yield User(name, step.own.removeprefix(PREFIX), tests, walk.depth)


def not_seen(code: CodeRegion, path: str, *, is_bound: bool) -> str:
    """A sentence about the imports of a file that could not be read; empty if all could."""
    family = family_for(path)
    if not is_bound and family is not None and family.blocks and family.name not in READ:
        return "Imports are not read in this language."
    unresolved = code.unresolved(path)
    if not unresolved:
        return ""
    places = ", ".join(f"'{each.module[1:]}' in {each.path}:{each.line}" for each in unresolved[:_SHOWN])
    more = f" and {counted(len(unresolved) - _SHOWN, 'more place')}" if len(unresolved) > _SHOWN else ""
    say = "No tsconfig.json, jsconfig.json or package.json leads to a file."
    return f"Not resolved, and may mean it: {places}{more}. {say}"
