"""Snapshots of the tools as clients see them. `make docs` writes them, so that a change shows in them."""

import json
from pathlib import Path

from clew.operation.listing import ListedOperation, all_tools
from clew.operation.names import portable
from clew.operation.toolsets import ALL, Choice, choose
from clew.surfaces.mcp.server import describe

SNAPSHOTS = Path(__file__).parent / "snapshots"


def listed_tools() -> tuple[ListedOperation, ...]:
    """All tools under the names that clients see."""
    return choose(all_tools(), Choice(toolsets=(ALL,)), {}).shown


def snapshots() -> dict[str, str]:
    """File name and content of the snapshot of every tool."""
    return {f"{portable(tool.name)}.json": _rendered(tool) for tool in listed_tools()}


def _rendered(tool: ListedOperation) -> str:
    return json.dumps(describe(tool), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _write() -> None:
    wanted = snapshots()
    for path in SNAPSHOTS.glob("*.json"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (SNAPSHOTS / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    _write()
