"""Asks Clew who uses each symbol of a list, in a process of its own: `python -m benchmarks.code.asking ROOT TARGETS`.

Prints what was found, what the first index cost and how long an answer took, as JSON.
"""

import json
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.probes.stopwatch import Stopwatch

MOST = 500
"""Uses on a page."""


class Shown(msgspec.Struct, frozen=True, array_like=True):
    """A use as `find_uses` shows it."""

    path: str
    line: int
    kind: str
    basis: str


class Asked(msgspec.Struct, frozen=True):
    """Clew's answers about the symbols of a project."""

    uses: dict[str, tuple[Shown, ...]]
    errors: dict[str, str]
    milliseconds: tuple[float, ...]
    """Of warm answers: the second about each symbol."""
    cpu_milliseconds: tuple[float, ...]
    """Of the same, the part in which a processor worked."""
    cold_milliseconds: tuple[float, ...]
    """Of processors, in first answers, with the index made before."""
    first_seconds: float
    """Of processors, from opening the project without a cache to the first answer, with child processes."""
    first_wall_seconds: float
    peak_megabytes: float
    index_megabytes: float


def main() -> None:
    root, targets = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    sys.stdout.buffer.write(msgspec.json.encode(asked(root, targets)))


def asked(root: Path, targets: list[str]) -> Asked:
    from clew.errors import ClewError
    from clew.operation.call import Call, carry_out
    from clew.operation.listing import all_tools
    from clew.project import Project

    first, cold, warm = Stopwatch(), Stopwatch(), Stopwatch()
    uses: dict[str, tuple[Shown, ...]] = {}
    errors: dict[str, str] = {}
    with first.sample():
        project = Project.open(root)
        _until_read(project)
    peak = _peak()
    folder = Path(project.context.derived_folder)
    kept = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    try:
        for target in targets:
            tool = _tool()
            try:
                with cold.sample():
                    carry_out(tool, {"target": target}, Call(project, all_tools()))
                with warm.sample():
                    carry_out(tool, {"target": target}, Call(project, all_tools()))
                uses[target] = _everything(project, target)
            except ClewError as error:
                errors[target] = error.message
    finally:
        project.close()
    return Asked(
        uses,
        errors,
        tuple(seconds * 1000 for seconds in warm.seconds),
        tuple(seconds * 1000 for seconds in warm.cpu),
        tuple(seconds * 1000 for seconds in cold.cpu),
        first.cpu[0],
        first.seconds[0],
        peak,
        kept,
    )


def answers(root: Path, targets: list[str]) -> Iterator[tuple[str, tuple[Shown, ...]]]:
    """The uses of one symbol after the other, as they are asked for."""
    from clew.errors import ClewError
    from clew.project import Project

    project = Project.open(root)
    try:
        _until_read(project)
        for target in targets:
            with suppress(ClewError):
                yield target, _everything(project, target)
    finally:
        project.close()


def _tool() -> Any:
    from clew.operation.listing import all_tools
    from clew.operation.names import by_any_spelling

    tools = by_any_spelling(all_tools())
    if "find_uses" not in tools:
        sys.exit("This version of Clew has no operation find_uses: there is nothing to measure.")
    return tools["find_uses"]


def _until_read(project: Any) -> None:
    """Every source file read, as in the background of a server."""
    project.ensure_graph()
    began = time.monotonic()
    while project.code.ensure(60.0):
        if time.monotonic() - began > 3600:
            raise TimeoutError("Source files were not read in an hour.")


def _everything(project: Any, target: str) -> tuple[Shown, ...]:
    from clew.operation.call import Call, carry_out
    from clew.operation.listing import all_tools

    tool, arguments = _tool(), {"target": target, "limit": MOST}
    found: list[Shown] = []
    while True:
        data = carry_out(tool, arguments, Call(project, all_tools())).data
        found += [Shown(each["path"], each["line"], each["kind"], each["basis"]) for each in data["uses"]]
        if not data.get("next_cursor"):
            return tuple(found)
        arguments = {"target": target, "limit": MOST, "cursor": data["next_cursor"]}


def _peak() -> float:
    """Of this process and, if one of them was larger, of its largest child."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1e3


if __name__ == "__main__":
    main()
