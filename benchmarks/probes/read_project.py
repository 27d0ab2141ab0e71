"""Opens a project, builds its graph, and says how long that took and how much memory it needed."""

import json
import re
import resource
import sys
from pathlib import Path

from benchmarks.probes.stopwatch import Stopwatch
from clew.project import Project


def peak_megabytes() -> float:
    """The most memory this process ever held."""
    try:
        # ru_maxrss begins with what the parent held when it started this process; Linux knows better.
        kilobytes = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"), re.M)
    except OSError:
        kilobytes = None
    if kilobytes is not None:
        return int(kilobytes[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def main() -> None:
    watch = Stopwatch()
    with watch.sample():
        project = Project.open(sys.argv[1])
        report = project.refresh()
        project.ensure_graph()
    found = {
        "seconds": watch.seconds[0],
        "cpu": watch.cpu[0],
        "peak_megabytes": peak_megabytes(),
        "parsed": report.parsed,
        "from_cache": report.from_cache,
        "nodes": project.graph.node_counts(),
        "unmatched": sum(1 for _ in project.graph.evidence.unmatched()),
    }
    project.close()
    print(json.dumps(found))


main()
