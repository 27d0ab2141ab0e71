"""Calls the tools of the register in process, as the server does: FOLDER cold TOOL, or FOLDER warm ROUNDS."""

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.probes.stopwatch import Stopwatch
from clew.operation.call import Call, carry_out
from clew.operation.listing import all_tools
from clew.project import Project

_TOOLS = {tool.name: tool for tool in all_tools()}
NEW: Mapping[str, Any] = {
    "title": "Keep what was measured",
    "statement": "The recorder shall keep every reading for ninety days after the contract ended.",
    "rationale": "A regulator asks for readings long after they were made.",
    "acceptance": ["A reading of the ninetieth day is found"],
}


def ask(project: Project, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return carry_out(_TOOLS[tool], arguments, Call(project, all_tools())).data


def cold(folder: Path, tool: str) -> dict[str, float]:
    """From opening the project, of which nothing is cached, to the answer."""
    shutil.rmtree(folder / ".clew", ignore_errors=True)
    watch = Stopwatch()
    with watch.sample():
        project = Project.open(folder)
        ask(project, tool, {})
    project.close()
    return {"seconds": watch.seconds[0], "cpu": watch.cpu[0]}


def warm(folder: Path, rounds: int) -> dict[str, dict[str, list[float]]]:
    project = Project.open(folder)
    watches: dict[str, Stopwatch] = {}

    def timed(figure: str, tool: str, arguments: Mapping[str, Any]) -> None:
        with watches.setdefault(figure, Stopwatch()).sample():
            ask(project, tool, arguments)

    for tool in ("req_list", "req_status", "req_next", "req_coverage", "req_stale", "req_validate"):
        ask(project, tool, {})
    register = (folder / "project.req").read_bytes()
    for number in range(rounds):
        timed("req_list", "req_list", {})
        timed("req_show", "req_show", {"id": str(number * 37 + 1)})
        timed("req_status", "req_status", {})
        timed("req_next", "req_next", {})
        timed("req_coverage, warm", "req_coverage", {})
        timed("req_stale, warm", "req_stale", {})
        timed("req_add, synced", "req_add", NEW)
        timed("req_validate, after a change", "req_validate", {})
        timed("req_review", "req_review", {"base": "HEAD~1"})
    (folder / "project.req").write_bytes(register)
    project.close()
    return {figure: watch.as_data() for figure, watch in watches.items()}


def main() -> None:
    folder = Path(sys.argv[1])
    found = cold(folder, sys.argv[3]) if sys.argv[2] == "cold" else warm(folder, int(sys.argv[3]))
    print(json.dumps(found))


main()
