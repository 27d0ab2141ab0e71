"""Opens a project, builds its graph, and says how long that took and how much memory it needed."""

import json
import re
import sys
import time
from pathlib import Path

from clew.project import Project


def peak_megabytes() -> float:
    """The most memory this process ever held."""
    try:
        # Not ru_maxrss where it can be avoided: it begins with what the parent held at the time of the fork.
        kilobytes = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"), re.M)
        if kilobytes is not None:
            return int(kilobytes[1]) / 1024
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def main() -> None:
    started = time.perf_counter()
    project = Project.open(sys.argv[1])
    report = project.refresh()
    project.ensure_graph()
    seconds = time.perf_counter() - started
    found = {
        "seconds": seconds,
        "peak_megabytes": peak_megabytes(),
        "parsed": report.parsed,
        "from_cache": report.from_cache,
        "nodes": project.graph.node_counts(),
    }
    project.close()
    print(json.dumps(found))


main()
