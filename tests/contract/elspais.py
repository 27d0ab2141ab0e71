"""A project of a few requirements for the first source document, and its tools as a user of elspais calls them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.mcp_client import McpClient

Ask = Callable[..., Any]

SPEC = """
## REQ-p00001: Keeping time

**Level**: PRD | **Status**: Active

## Assertions

A. The clock SHALL show the hour.
B. The clock SHALL chime.

*End* *Keeping time*

## REQ-o00001: Showing the hour

**Level**: OPS | **Status**: Active | **Implements**: REQ-p00001-A

## Assertions

A. Hands SHALL move with the hour.

*End* *Showing the hour*

## REQ-o00002: Chiming

**Level**: OPS | **Status**: Draft | **Refines**: REQ-p00001

## Assertions

A. Bells SHALL ring on the hour.

*End* *Chiming*

## REQ-d00001: Moving hands

**Level**: DEV | **Status**: Active | **Implements**: REQ-o00001, REQ-o00002

## Assertions

A. The short hand SHALL move once an hour.
B. The long hand SHALL move every MINUTE.
C. Neither hand SHALL move back.

*End* *Moving hands*

## REQ-d00002: Oiling

**Level**: DEV | **Status**: Active

*End* *Oiling*

# JNY-Reader-01: Reading the time

**Actor**: Reader

*End* *JNY-Reader-01*
"""

CODE = """# Implements: REQ-d00001-A
def move_short_hand():
    pass
"""

TESTS = """
# Verifies: REQ-d00001-A
def test_short_hand():
    pass


# Verifies: REQ-d00001-A+B
def test_both_hands():
    pass


# Verifies: REQ-o00001
def test_showing():
    pass
"""

RESULTS = """<testsuite name="clock">
<testcase classname="tests.test_clock" name="test_short_hand"/>
<testcase classname="tests.test_clock" name="test_both_hands"><failure message="stuck"/></testcase>
</testsuite>"""

CONFIGURATION = '[project]\nname = "clock"\n[tests]\nfolders = ["tests"]\nresults = ["results/*.xml"]\n'

SHORT, BOTH = (f"test:tests/test_clock.py::test_{name}" for name in ("short_hand", "both_hands"))


def write_clock(root: Path) -> Path:
    written = {
        "spec/clock.md": SPEC,
        "src/clock.py": CODE,
        "tests/test_clock.py": TESTS,
        "results/junit.xml": RESULTS,
        "clew.toml": CONFIGURATION,
    }
    for path, text in written.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def asking(client: McpClient) -> Ask:
    """Calls a tool; an error is an answer that says so."""

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        answer = client.result(name, **arguments)
        return {**answer.data, "is_error": answer.is_error}

    return call


def picture(ask: Ask) -> dict[str, Any]:
    """All that the tools tell about the graph, for telling whether it is still the same."""
    found = pages(ask, "query_nodes", "results", kind="requirement")
    return {
        "counts": ask("get_graph_status")["node_counts"],
        "requirements": [ask("get_requirement", req_id=each["id"]) for each in found],
        "broken": pages(ask, "get_broken_references", "broken_references"),
    }


def pages(ask: Ask, tool: str, field: str, **arguments: Any) -> list[dict[str, Any]]:
    """What a tool lists, on all its pages."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    while True:
        page = ask(tool, **arguments, **cursor)
        found += page[field]
        if page["next_cursor"] is None:
            return found
        cursor = {"cursor": page["next_cursor"]}


def ids(items: Any) -> list[str]:
    return [item["id"] for item in items]
