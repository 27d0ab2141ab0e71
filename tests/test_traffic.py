"""Which calls are under way, for work in the background that gives way to them."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_client import McpClient

from clew.operation.listing import all_tools
from clew.project import Project
from clew.traffic import Traffic


# Verifies: REQ-d00348-C
def test_it_is_quiet_from_the_end_of_the_last_call_on() -> None:
    seconds = count()
    traffic = Traffic(lambda: float(next(seconds)))
    assert traffic.quiet_for() > 0
    with traffic.call():
        assert traffic.quiet_for() == 0
        with traffic.aside():
            assert traffic.quiet_for() > 0
            with traffic.call():
                assert traffic.quiet_for() == 0
            assert traffic.quiet_for() > 0
        assert traffic.quiet_for() == 0
    assert traffic.quiet_for() > 0


# Verifies: REQ-d00348-C
def test_a_call_that_fails_is_under_way_no_longer() -> None:
    seconds = count()
    traffic = Traffic(lambda: float(next(seconds)))
    with pytest.raises(ZeroDivisionError), traffic.call():
        raise ZeroDivisionError
    assert traffic.quiet_for() > 0
    with traffic.call():
        with pytest.raises(ZeroDivisionError), traffic.aside():
            raise ZeroDivisionError
        assert traffic.quiet_for() == 0


# Verifies: REQ-d00348-C
def test_every_tool_counts_as_long_as_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clew.toml").touch()
    project = Project.open(tmp_path)
    operation = next(tool.operation for tool in all_tools() if tool.name == "get_graph_status")
    run, seen = operation.run, []

    def watched(self: Any, call: Any) -> Any:
        seen.append(call.project.context.traffic.quiet_for())
        return run(self, call)

    monkeypatch.setattr(operation, "run", watched)
    try:
        with McpClient(project) as client:
            client("get_graph_status")
    finally:
        project.close()
    assert seen == [0.0]
