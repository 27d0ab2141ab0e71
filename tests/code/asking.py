"""Small projects, and what `find_uses` says about them."""

import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from clew.operation.call import Call, carry_out
from clew.operation.listing import all_tools
from clew.project import Project

TOOL = next(tool for tool in all_tools() if tool.tool == "find_uses")


def write(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(textwrap.dedent(text), encoding="utf-8")
    return root


@contextmanager
def opened(root: Path, files: Mapping[str, str]) -> Iterator[Project]:
    project = Project.open(write(root, files))
    try:
        yield project
    finally:
        project.close()


def answer(project: Project, target: str, **arguments: Any) -> dict[str, Any]:
    found = carry_out(TOOL, {"target": target, **arguments}, Call(project, all_tools())).data
    return dict(msgspec.json.decode(msgspec.json.encode(found)))


def places(found: Mapping[str, Any], *kinds: str) -> list[str]:
    """The uses as PATH:LINE, of some kinds or of all but imports."""
    return [
        f"{use['path']}:{use['line']}"
        for use in found["uses"]
        if (use["kind"] in kinds if kinds else use["kind"] != "import")
    ]


def uses(root: Path, files: Mapping[str, str], target: str, *kinds: str) -> list[str]:
    """The exact uses of a target in a project, in the order of their places."""
    with opened(root, files) as project:
        found = answer(project, target, limit=200)
    found["uses"] = [use for use in found["uses"] if use["basis"] == "exact"]
    return sorted(places(found, *kinds), key=lambda place: (place.partition(":")[0], int(place.partition(":")[2])))
