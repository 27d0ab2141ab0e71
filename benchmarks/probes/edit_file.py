"""Changes one file of a project that is open, and says how long the graph took to follow. The files are put back."""

import json
import os
import sys
from pathlib import Path

from benchmarks.probes.stopwatch import Stopwatch
from clew.project import Project

EDITS = {"spec": (b" SHALL ", b" SHALL always "), "src": (b"total", b"sum"), "tests": (b"value", b"number")}
"""By folder: what is written in the place of what."""


def main() -> None:
    folder, rounds, kind = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    project = Project.open(folder)
    project.ensure_graph()
    files = sorted(path for path in (folder / kind).rglob("*") if path.is_file())
    watch = Stopwatch()
    parsed: list[int] = []
    for number in range(rounds):
        path = files[number * 7 % len(files)]
        before, times = path.read_bytes(), path.stat()
        path.write_bytes(before.replace(*EDITS[kind], 1))
        try:
            with watch.sample():
                report = project.refresh()
            parsed.append(report.parsed)
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        project.refresh()
    project.close()
    print(json.dumps({**watch.as_data(), "parsed": parsed}))


main()
