"""A project of a few requirements for the first source document, and its tools as a user of elspais calls them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp import Client

from clew.project import Project
from clew.surfaces.mcp.instructions import instructions
from clew.surfaces.mcp.server import Surface, build_server
from clew.surfaces.mcp.tools import TOOLS
from clew.surfaces.mcp.toolsets import Choice, choose

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


def asking(project: Project) -> Ask:
    """Calls a tool through a client of a server that has the profile of elspais."""
    listing = choose(TOOLS, Choice(profile="elspais"))
    server = build_server(Surface(project, listing), instructions(listing))

    async def call(name: str, **arguments: Any) -> dict[str, Any]:
        async with Client(server) as client:
            result = await client.call_tool(name, arguments)
            assert result.structured_content is not None
            return {**result.structured_content, "is_error": bool(result.is_error)}

    return call


def ids(items: Any) -> list[str]:
    return [item["id"] for item in items]
