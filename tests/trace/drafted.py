"""A small project in which everything odd occurs that a spec file may hold, and the graph without the places of it."""

from pathlib import Path
from typing import Any

from clew.graph.graph import Graph
from clew.graph.model import NodeKind
from clew.project import Project
from clew.trace.edit.mutations.records import recorded_mutation
from clew.trace.edit.results import MutationResult

TIDY = """# Tidy

Free text before the first requirement.

---

## REQ-p00001: Keep time

**Level**: PRD | **Status**: Active

It SHALL keep time.

## Assertions

A. The clock SHALL show the hour.
B. The clock SHALL show the minute.
C. The clock SHALL show the second,
   and nothing smaller.

## Rationale

Time flies.

*End* *Keep time* | **Hash**: 00000000

---

## REQ-d00001: Show the hour

**Level**: DEV | **Status**: Draft | **Implements**: REQ-p00001-A, REQ-p00099

Hours go from 0 to 23.

## Assertions

A. The hour SHALL be two digits wide.

*End* *Show the hour*

---

## REQ-d00002: Show the minute

**Level**: DEV | **Status**: Active | **Implements**: REQ-p00001-B+C,
  REQ-d00001
**Refines**: REQ-o00001

*End* *Show the minute* | **Hash**: N/A

---

Free text after the last requirement.
"""

WINDOWS = """# REQ-o00001: Wind the clock

**Level**: ops | **Status**: Active
**Implements**: REQ-p00001

### Assertions

A. It SHALL be wound daily.

B. It SHALL tell when it was not.

C. It SHALL ring.

*End* *Wind the clock* | **Hash**: 12345678

# REQ-o00002: Ring the bell

Level: ops
Status: Draft
Implements: -

Ring \u00fcber all.
""".replace("\n", "\r\n")

JOURNEY = """\ufeff## JNY-Clock-01: A day with the clock

**Actor**: Keeper
**Goal**: To be on time
Validates: REQ-p00001-A, REQ-o00001-B+C

## Steps

1. Wind it.

*End* *JNY-Clock-01*

## REQ-d00003: Set the clock

**Level**: DEV | **Status**: Active | **Implements**: REQ-o00001-A-C

*End* *Set the clock*"""

TWICE = b"""## REQ-d00001: Show the hour again

**Level**: DEV | **Status**: Draft | **Refines**: REQ-p00001

Caf\xe9 au lait.

## Assertions

A. It SHALL repeat itself.

*End* *Show the hour again*
"""

CODE = """\"\"\"Clock.\"\"\"


# Implements: REQ-d00001-A, REQ-p00001-B
def hour():  # Implements: REQ-o00001
    return 1
"""

TESTS = """# Verifies: REQ-o00001-C


def test_REQ_p00001_A_works():
    pass


# Verifies: REQ-p00001-B+C, REQ-d00001-A
def test_minute():
    pass


def test_second():
    pass
"""

FILES: dict[str, bytes] = {
    "clew.toml": b'[project]\nname = "odd"\n\n[search]\nbackground = false\n',
    "spec/a-tidy.md": TIDY.encode(),
    "spec/b-windows.md": WINDOWS.encode(),
    "spec/c-journey.md": JOURNEY.encode(),
    "spec/d-twice.md": TWICE,
    "src/clock.py": CODE.encode(),
    "tests/test_clock.py": TESTS.encode(),
}


def write_project(root: Path) -> Path:
    for path, content in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return root


def contents(root: Path) -> dict[str, bytes]:
    """The files of the project, without what Clew keeps for itself."""
    files = (path for path in root.rglob("*") if path.is_file() and ".clew" not in path.relative_to(root).parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def said(graph: Graph) -> dict[str, Any]:
    """All that a graph says, without the lines it stands in. Free text counts by its lines: taking out what stands
    between two pieces of it makes one of them."""
    nodes, edges, broken = graph.memory.snapshot()
    authored = {
        node.id: (node.kind, node.title, _fields(dict(node.fields)), node.source.path if node.source else None)
        for node in nodes.values()
        if node.kind is not NodeKind.REMAINDER
    }
    free = [node for node in nodes.values() if node.kind is NodeKind.REMAINDER]
    lines = sorted((node.source.path, line) for node in free for line in _lines(node.get_field("text")) if node.source)
    return {
        "nodes": authored,
        "edges": edges,
        "broken": sorted((each.source_id, each.target_id, each.edge_kind, each.fault, each.path) for each in broken),
        "free": lines,
        "metrics": {id: dict(graph.metrics(id)) for id in authored},
    }


def _fields(fields: dict[str, Any]) -> dict[str, Any]:
    if fields.get("hash_state") in ("stale", "missing"):
        # The hash to write follows the rule of the file's other hashes, whichever they are by now.
        fields.pop("hash_now")
    return fields


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip(" -\ufeff")]


def mutate(project: Project, operation: str, **arguments: Any) -> MutationResult:
    """Draft a mutation by its name; one that removes something is confirmed."""
    mutation = recorded_mutation(operation, arguments)
    if mutation.removes:
        mutation = mutation.settled(confirm=True)
    return project.mutations.mutate(mutation)
