"""Server time of mutations with their undo, and of saving, on the generated project."""

import json
import sys

from benchmarks.figures import Figure, Result, milliseconds
from benchmarks.workspace import Workspace, run

LIMITS_MS = {
    "update_title and undo": 2.0,
    "change_status and undo": 2.0,
    "update_assertion and undo": 2.0,
    "add_edge and undo": 2.0,
    "rename_node and undo": 2.0,
    "save one requirement": 50.0,
}


def measure(space: Workspace, *, quick: bool) -> Result:
    rounds = 5 if quick else 25
    found = json.loads(run(sys.executable, "-m", "benchmarks.probes.change", str(space.generated), str(rounds)))
    return Result(
        f"Changing {space.shape.requirements:,} requirements",
        tuple(
            Figure(figure, "ms", milliseconds(found[figure]["seconds"]), limit, milliseconds(found[figure]["cpu"]))
            for figure, limit in LIMITS_MS.items()
        ),
    )
