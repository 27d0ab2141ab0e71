"""The length of eight calls: functions of Clew that each passes, over a copy of the demo.

    python -m benchmarks.flows

The calls go over the protocol, with the client and the server in this process. Only functions of the package `clew` are
counted, and only in the thread of the server's loop and in those that carry out calls: work in the background belongs
to no call. Another state of the source is measured with PYTHONPATH=FOLDER/src.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client

import clew
from clew.operation.listing import all_tools
from clew.operation.toolsets import Choice, choose
from clew.project import Project
from clew.surfaces.mcp.server import Surface, build_server

DEMO = Path(__file__).parent.parent / "examples" / "demo"
SOURCE = str(Path(clew.__file__).parent) + os.sep
AN_HOUR_SECONDS = 3_600
ROUNDS = 3
"""Each call is made so often; the shortest is counted, because the first ones fill caches."""


class Passed:
    """Functions that one call passed, each with how often."""

    def __init__(self) -> None:
        self.functions: Counter[CodeType] = Counter()

    @property
    def calls(self) -> int:
        return self.functions.total()

    @property
    def modules(self) -> int:
        return len({code.co_filename for code in self.functions})

    def by_room(self) -> Counter[str]:
        """Calls by top room."""
        found: Counter[str] = Counter()
        for code, calls in self.functions.items():
            found[Path(code.co_filename).relative_to(SOURCE).parts[0].removesuffix(".py")] += calls
        return found


class Profiler:
    """Counts calls of Clew's functions in the threads that answer."""

    def __init__(self) -> None:
        self._passed: Passed | None = None

    def install(self) -> None:
        """For every thread that is started after this."""
        threading.setprofile(self._count)

    def during(self, work: Callable[[], object]) -> Passed:
        self._passed = passed = Passed()
        try:
            if threading.current_thread() is threading.main_thread():
                sys.setprofile(self._count)
            work()
        finally:
            sys.setprofile(None)
            self._passed = None
        return passed

    def _count(self, frame: FrameType, event: str, argument: object) -> None:
        passed = self._passed
        if passed is None or event != "call" or not frame.f_code.co_filename.startswith(SOURCE):
            return
        name = threading.current_thread().name
        if name.startswith(("AnyIO worker", "ThreadPoolExecutor", "MainThread")):
            passed.functions[frame.f_code] += 1


class Flows:
    """The calls that are measured, on one open project."""

    def __init__(self, root: Path, project: Project, call: Callable[[str, Mapping[str, Any]], Any]) -> None:
        self._root = root
        self._project = project
        self._call = call

    def measured(self, profiler: Profiler) -> dict[str, Passed]:
        for tool in ("get_requirement", "kb.retrieve_evidence", "search_graph"):
            # The first call of a tool imports what it needs, and starts reading in the background.
            self._call(tool, self._arguments(tool, 100))
        time.sleep(AT_REST_SECONDS)
        flows: dict[str, tuple[Callable[[int], None], Callable[[int], object]]] = {
            "get_requirement, settled": (self._settle, self._tool("get_requirement")),
            "get_requirement, within 2 s of a written file": (self._write_new, self._tool("get_requirement")),
            "changed .md -> graph": (self._change, lambda number: self._project.refresh()),
            "mutate_update_title": (self._settle, self._tool("mutate_update_title")),
            "save_mutations, one draft": (self._drafted, self._tool("save_mutations")),
            "kb.retrieve_evidence": (self._settle, self._tool("kb.retrieve_evidence")),
            "store_memory": (self._settle, self._tool("store_memory")),
            "search_graph": (self._settle, self._tool("search_graph")),
        }
        found: dict[str, Passed] = {}
        for name, (prepare, work) in flows.items():
            rounds: list[Passed] = []
            for number in range(ROUNDS):
                prepare(number)
                rounds.append(profiler.during(lambda work=work, number=number: work(number)))  # type: ignore[misc]
            found[name] = min(rounds, key=lambda passed: passed.calls)
        return found

    def _tool(self, name: str) -> Callable[[int], object]:
        return lambda number: self._call(name, self._arguments(name, number))

    def _arguments(self, tool: str, number: int) -> Mapping[str, Any]:
        words = ("margin under the keel", "reading a tide table", "windows of a day", "height of the water")
        asked = words[number % len(words)]
        return {
            "get_requirement": {"req_id": "REQ-d00001"},
            "mutate_update_title": {"node_id": "REQ-d00002", "new_title": f"The height between turns {number}"},
            "save_mutations": {},
            "kb.retrieve_evidence": {"question": f"What is said about the {asked}?"},
            "store_memory": {
                "content": f"Table {number} of the harbour office has {asked} in feet, not in metres.",
                "rationale": "The office changed its unit in spring.",
            },
            "search_graph": {"query": f"the {asked} in feet"},
        }[tool]

    def _settle(self, number: int) -> None:
        settle(self._root)
        self._project.refresh()

    def _write_new(self, number: int) -> None:
        self._settle(number)
        (self._root / "docs" / f"note{number}.md").write_text(f"# Note {number}\n\nA ship was late.\n", "utf-8")
        self._call("get_requirement", self._arguments("get_requirement", number))

    def _change(self, number: int) -> None:
        self._settle(number)
        path = self._root / "spec" / "dev-surface.md"
        path.write_text(path.read_text("utf-8").replace("The harbour sets", "The harbour, again, sets"), "utf-8")

    def _drafted(self, number: int) -> None:
        self._settle(number)
        self._call("mutate_update_title", self._arguments("mutate_update_title", 10 + number))


AT_REST_SECONDS = 5.0
"""Time for the work in the background that the first calls started."""


def settle(root: Path) -> None:
    """Date files and folders back, so that none counts as just written."""
    past = time.time() - AN_HOUR_SECONDS
    for folder, names, files in os.walk(root, topdown=False):
        if ".clew" not in Path(folder).parts:
            for name in (*files, *names):
                if name != ".clew":
                    os.utime(Path(folder, name), (past, past))
            os.utime(folder, (past, past))


def measure() -> dict[str, Passed]:
    profiler = Profiler()
    profiler.install()
    with tempfile.TemporaryDirectory() as made:
        root = Path(made) / "demo"
        shutil.copytree(DEMO, root)
        settle(root)
        project = Project.open(root)
        listing = choose(all_tools(), Choice(toolsets=("all",)), {})
        dotted = {tool.original or tool.name: tool.name for tool in listing.callable}
        server = build_server(Surface(project, listing), "")
        try:
            with (
                start_blocking_portal("asyncio") as portal,
                portal.wrap_async_context_manager(Client(server)) as client,
            ):

                def call(tool: str, arguments: Mapping[str, Any]) -> Any:
                    result = portal.call(lambda: client.call_tool(dotted.get(tool, tool), dict(arguments)))
                    if result.is_error:
                        raise SystemExit(f"{tool} failed: {result.content}")
                    return result

                return Flows(root, project, call).measured(profiler)
        finally:
            project.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flows", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true", help="print data, with the calls by room")
    args = parser.parse_args()
    found = measure()
    if args.json:
        data = {
            name: {
                "calls": each.calls,
                "functions": len(each.functions),
                "modules": each.modules,
                "rooms": dict(each.by_room().most_common()),
            }
            for name, each in found.items()
        }
        print(json.dumps(data, indent=2))
        return
    print(f"{'flow':<48} {'calls':>7} {'functions':>9} {'modules':>7}  most calls in")
    for name, each in found.items():
        rooms = ", ".join(f"{room} {calls:,}" for room, calls in each.by_room().most_common(4))
        print(f"{name:<48} {each.calls:>7,} {len(each.functions):>9,} {each.modules:>7}  {rooms}")


if __name__ == "__main__":
    main()
