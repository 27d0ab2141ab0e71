"""A day of an agent: everything from the first brief to the last refresh, over stdio with a real client."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

pytestmark = pytest.mark.anyio

CODE = '''"""When there is enough water."""


def longest_line(plan: str) -> int:
    """The width of the plan in words, in characters."""
    return max(map(len, plan.splitlines()))
'''


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.invalid")
    done = subprocess.run(["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def project(demo: Path) -> Path:
    (demo / "src" / "fairwater" / "width.py").write_text(CODE, encoding="utf-8")
    git(demo, "init", "--quiet", "--initial-branch=main")
    git(demo, "add", "--all")
    git(demo, "commit", "--quiet", "--message=Start")
    return demo


# Verifies: REQ-p00001-A, REQ-p00002-A
async def test_an_agent_reads_links_changes_saves_undoes_and_refreshes(project: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "clew", "serve", str(project), "--toolsets", "all"]
    )
    async with Client(server) as client:

        async def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
            answer = await client.call_tool(tool, arguments)
            assert not answer.is_error, answer.content
            assert answer.structured_content is not None
            return answer.structured_content

        brief = await call("clew_brief")
        assert any(concern["code"] == "trace.uncovered_assertion" for concern in brief["attention"])

        found = await call("search", query="plan in words", limit=5)
        assert "REQ-d00006" in {result["id"] for result in found["results"]}
        gaps = await call("get_uncovered_assertions", req_id="REQ-d00006")
        assert [gap["id"] for gap in gaps["assertions"]] == ["REQ-d00006-C"]

        suggested = await call("suggest_links", file_path="src/fairwater/width.py", limit=5)
        assert "REQ-d00006" in {each["requirement_id"].removesuffix("-C") for each in suggested["suggestions"]}
        applied = await call("apply_link", file_path="src/fairwater/width.py", line=4, requirement_id="REQ-d00006-C")
        assert applied["success"]
        code = (project / "src" / "fairwater" / "width.py").read_text(encoding="utf-8")
        assert "# Implements: REQ-d00006-C\ndef longest_line" in code

        before = {path: path.read_bytes() for path in (project / "spec").rglob("*.md")}
        await call("mutate_add_requirement", req_id="REQ-d00042", title="Width", level="dev", parent_id="REQ-o00001")
        await call(
            "mutate_add_assertion", req_id="REQ-d00042", label="A", text="A line SHALL have 72 characters at most."
        )
        await call("mutate_update_title", node_id="REQ-d00042", new_title="Width of a line")
        assert {path: path.read_bytes() for path in (project / "spec").rglob("*.md")} == before
        await call("undo_last_mutation")
        assert (await call("get_requirement", req_id="REQ-d00042"))["title"] == "Width"

        saved = await call("save_mutations", message="A limit for the width", save_branch=True)
        assert saved["success"]
        changed = [path for path in (project / "spec").rglob("*.md") if before.get(path) != path.read_bytes()]
        assert len(changed) == 1
        assert (await call("list_safety_branches"))["branches"]

        await call("undo_last_mutation")
        await call("save_mutations")
        refreshed = await call("refresh_graph", full=True)
        assert refreshed["success"]
        assert (await call("get_requirement", req_id="REQ-d00042"))["assertions"] == []
