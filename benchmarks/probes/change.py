"""Mutates, undoes and saves in process: FOLDER ROUNDS. The files are as before at the end."""

import json
import random
import sys
from typing import Any

from benchmarks.probes.stopwatch import Stopwatch
from clew.graph.model import NodeKind
from clew.operation.call import Call, carry_out
from clew.operation.listing import all_tools
from clew.operation.names import by_any_spelling
from clew.project import Project


def main() -> None:
    rounds = int(sys.argv[2])
    # Records of what is read for the first time are written down in the background: `reading` measures that.
    first = Project.open(sys.argv[1])
    first.ensure_graph()
    first.close()
    project = Project.open(sys.argv[1])
    project.ensure_graph()
    tools = by_any_spelling(all_tools())

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        return carry_out(tools[name], arguments, Call(project, all_tools())).data

    ids = sorted(node.id for node in project.graph.nodes_by_kind(NodeKind.REQUIREMENT) if node.id.startswith("REQ-d"))
    random.Random(3).shuffle(ids)
    products = [node.id for node in project.graph.nodes_by_kind(NodeKind.REQUIREMENT) if node.id.startswith("REQ-p")]
    steps = {
        "update_title and undo": lambda id, n: call("mutate_update_title", node_id=id, new_title=f"Title {n}"),
        "change_status and undo": lambda id, n: call("mutate_change_status", node_id=id, new_status="Deprecated"),
        "update_assertion and undo": lambda id, n: call(
            "mutate_update_assertion", assertion_id=f"{id}-A", new_text=f"It SHALL do {n}."
        ),
        "add_edge and undo": lambda id, n: call(
            "mutate_add_edge", source_id=id, target_id=products[n % len(products)], edge_kind="refines"
        ),
        "rename_node and undo": lambda id, n: call("mutate_rename_node", old_id=id, new_id=f"REQ-d9{n:04}"),
    }
    found = {}
    for figure, step in steps.items():
        watch = Stopwatch()
        for number in range(rounds + 1):
            with watch.sample():
                step(ids[number], number)
                call("undo_last_mutation")
        # The first one loads modules.
        found[figure] = {name: values[1:] for name, values in watch.as_data().items()}
    watch = Stopwatch()
    for number in range(rounds):
        call("mutate_update_title", node_id=ids[number], new_title=f"Saved {number}")
        with watch.sample():
            call("save_mutations")
        call("undo_last_mutation")
        call("save_mutations")
    found["save one requirement"] = watch.as_data()
    project.close()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
