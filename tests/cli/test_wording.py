"""What people read names commands, where agents read the names of tools."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.operation.as_commands import as_commands
from clew.operation.listing import all_tools
from clew.surfaces.cli.resolve import resolve
from clew.surfaces.cli.verbs import parser_of

Clew = Callable[..., Any]

TOOLS = re.compile(
    r"(?<!clew call )\b(" + "|".join(re.escape(tool.name) for tool in all_tools() if "_" in tool.name) + r")\b"
)


# Verifies: REQ-o00006-G
@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("req show 99", 1, "`clew req list` shows every requirement with its id."),
        ("specs show nothing", 1, "`clew specs list` shows all specs."),
        ("change show nothing", 1, "`clew change list` shows all open changes."),
        ("specs show passage-windows nothing", 1, "`clew specs show` lists them."),
    ],
)
def test_the_hint_of_an_error_names_the_command(line: str, code: int, says: str, clew: Clew, demo: Path) -> None:
    done = clew(demo, *line.split())
    assert done.returncode == code, done.stderr
    assert says in done.stderr


# Verifies: REQ-o00006-G
def test_errors_as_data_keep_the_names_that_agents_know(clew: Clew, demo: Path) -> None:
    done = clew(demo, "req", "show", "99", "--json")
    assert done.returncode == 1
    assert "req_list" in json.loads(done.stdout)["hint"]


# Verifies: REQ-o00006-G
def test_the_brief_says_what_to_type_next_and_as_data_what_to_call(clew: Clew, demo: Path) -> None:
    shown = clew(demo, "brief").stdout.partition("Try\n")[2]
    commands = [line.split("  ")[1] for line in shown.splitlines() if line.startswith("  clew ")]
    assert "clew show REQ-p00001" in commands
    assert not [command for command in commands if command.startswith("clew call")]
    calls = [each["call"] for each in json.loads(clew(demo, "brief", "--json").stdout)["next_calls"]]
    assert "get_project_summary()" in calls


# Verifies: REQ-o00006-G
def test_the_help_of_the_register_names_tools_only_where_it_is_about_tools(clew: Clew, demo: Path) -> None:
    index = clew(demo, "req", "help").stdout
    assert not TOOLS.search(index)
    for name in (line.split()[0] for line in index.splitlines()):
        text = clew(demo, "req", "help", name).stdout
        assert bool(TOOLS.search(text)) is (name in ("agents", "mcp")), name


# Verifies: REQ-o00006-G
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("req_link and remove=true", "`clew req link --remove`"),
        ("use `req_verify` with care", "use `clew req verify` with care"),
        ("req_verify by=inspection, and", "`clew req verify --by inspection`, and"),
        ("req_schema with which=import shows", "`clew req schema import` shows"),
        ("kb.search or kb_retrieve_evidence", "`clew kb search` or `clew kb ask`"),
        ("refresh_graph with full=true reads", """`clew call refresh_graph '{"full": true}'` reads"""),
        ("search finds; search_specs too", "search finds; `clew specs search` too"),
        ('search(query="low water")', '`clew search "low water"`'),
        ("`clew call req_show` and req_shows", "`clew call req_show` and req_shows"),
        ("req_trace has that", "`clew req trace` has that"),
        ("src/req_show.py and my_req_show", "src/req_show.py and my_req_show"),
    ],
)
def test_a_tool_is_named_as_the_command_with_its_options(text: str, shown: str) -> None:
    assert as_commands(text) == shown


# Verifies: REQ-o00006-G
@pytest.mark.parametrize("tool", [tool.name for tool in all_tools() if not tool.name.isalpha()])
def test_the_command_that_stands_for_a_tool_exists(tool: str) -> None:
    program, name, *words = as_commands(tool).strip("`").split()
    assert program == "clew"
    if name == "call":
        assert words == [tool]
    else:
        listed, rest = resolve(name, words)
        assert rest == []
        assert parser_of(listed.operation).prog == f"clew {' '.join((name, *words))}"
