"""The command line, as a shell uses it."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import forked, in_process
from tests.stderr import without_progress

from clew.operation.declare import Toolset
from clew.operation.listing import ListedOperation, all_tools
from clew.surfaces.cli.main import all_commands, main

CLEW = [sys.executable, "-m", "clew"]
DEMO = Path(__file__).parent.parent.parent / "examples" / "demo"

OF_A_SESSION = {
    *("refresh_graph", "tools_search", "open_cursor", "cursor_next", "cursor_info", "search_specs"),
    *("inject_context", "get_memetic_status", "utl_status", "reflect_on_memory", "epistemic_action", "get_system_logs"),
}
"""Tools whose answer depends on the process, on what it was asked before, or on how far the index has come."""
OF_A_PROCESS = {"last_refresh", "session_id", "passage_id", "scratch_uri", "uri", "elapsed_ms"}
"""Keys whose values are."""


def clew(*arguments: str, cwd: Path | None = None, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    # The limit is for a server that runs where it should have refused: it would never end.
    return forked.run(
        [*CLEW, *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        timeout=600,
    )


# Verifies: REQ-o00006-C
@pytest.mark.parametrize("arguments", [["--help"], ["help"]])
def test_help_is_an_overview_of_all_commands(arguments: list[str]) -> None:
    done = clew(*arguments)
    assert done.returncode == 0
    shown = " ".join(done.stdout.split())
    for summary in all_commands().values():
        assert summary in shown


# Verifies: REQ-o00006-A
@pytest.mark.parametrize("command", all_commands())
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = in_process.run(Path.cwd(), command, "--help")
    assert done.returncode == 0
    assert f"clew {command}" in done.stdout.partition("example:")[2]


# Verifies: REQ-o00006-A
@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (["brief", "--json"], {"project", "attention", "next_calls"}),
        (["status", "--json"], {"graph", "summary", "workspace"}),
        (["search", "tide", "--json"], {"results", "total", "next_cursor"}),
        (["show", "REQ-d00001", "--json"], {"id", "assertions", "ancestors", "children"}),
        (["check", "--json"], {"findings", "count"}),
        (["doctor", "--json"], {"checks", "ok"}),
    ],
)
def test_data_is_printed_as_json_on_request(demo: Path, arguments: list[str], keys: set[str]) -> None:
    done = clew(*arguments, cwd=demo)
    assert without_progress(done.stderr) == ""
    assert keys <= json.loads(done.stdout).keys()


# Verifies: REQ-o00006-A
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["search", "tide"], 0, ""),
        (["search", "zeppelin"], 1, ""),
        (["show", "REQ-d00001"], 0, ""),
        (["show", "REQ-d09999"], 1, "REQ-d09999"),
        (["check"], 1, ""),
        (["search", "(", "--regex"], 2, "regular expression"),
        (["serach", "tide"], 2, "Did you mean 'search'"),
        (["show"], 2, "usage"),
        (["brief", "nowhere"], 2, "nowhere"),
        (["call", "no_such_tool"], 2, "no_such_tool"),
        (["call", "search", "{"], 2, "not JSON"),
        (["call", "store_memory", '{"content": "x", "importance": NaN}'], 2, "not JSON"),
        (["call", "store_memory", '{"content": "x", "importance": 1e999}'], 2, "out of range"),
        (["call", "search", "{}"], 2, "query"),
        (["tools", "--toolsets", "nothing"], 2, "nothing"),
        (["serve", "--profile", "nobody"], 2, "nobody"),
        (["serve", "--transport", "http", "--host", "0.0.0.0"], 2, "token"),
    ],
)
def test_exit_codes_tell_scripts_what_happened(demo: Path, arguments: list[str], code: int, says: str) -> None:
    done = clew(*arguments, cwd=demo)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert says in done.stderr


# Verifies: REQ-o00006-B, REQ-p00001-B
@pytest.mark.anyio
async def test_call_prints_the_structured_result_that_an_mcp_client_gets(
    demo: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    # Cognition measures what its own process did.
    told = [tool for tool in all_tools() if tool.read_only and tool.toolset is not Toolset.COGNITION]
    tools = [tool for tool in told if tool.name not in OF_A_SESSION and _can_be_tried(tool)]
    different = []
    # Some tools ask git, and one says how long ago the last commit was: long enough ago to be the same in two answers.
    dated = {**os.environ, "GIT_AUTHOR_DATE": "2005-04-07T12:00:00Z", "GIT_COMMITTER_DATE": "2005-04-07T12:00:00Z"}
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    # An index that is still being made is told about as far as it is.
    with (demo / "clew.toml").open("a", encoding="utf-8") as file:
        file.write('\n[embedder]\nkind = "none"\n[kb]\ntimeout_seconds = 600\n')
    for command in (("init", "--quiet"), ("add", "--all"), (*identity, "commit", "--quiet", "--message=demo")):
        subprocess.run(["git", *command], cwd=demo, check=True, env=dated)
    for prepare in (["index", str(demo)], ["call", "rebuild_index", "{}", "-C", str(demo)]):
        main(prepare)
    capfd.readouterr()
    async with Client(
        StdioServerParameters(
            command=CLEW[0],
            args=[*CLEW[1:], "serve", str(demo), "--toolsets", "all"],
            # The same user: the SDK passes few variables on.
            env=dict(os.environ),
        )
    ) as client:
        for tool in tools:
            structured = (await client.call_tool(tool.name, dict(tool.operation.about.example))).structured_content
            main(["call", tool.name, json.dumps(tool.operation.about.example), "-C", str(demo)])
            printed = json.loads(capfd.readouterr().out)
            if _lasting(printed) != _lasting(structured):
                different.append((tool.name, printed, structured))
    assert different == []
    assert len(tools) > 20


def _lasting(answer: Any) -> Any:
    """An answer without what is another in every process: times, and handles of its session."""
    if isinstance(answer, list):
        return [_lasting(each) for each in answer]
    if isinstance(answer, dict):
        return {key: _lasting(value) for key, value in answer.items() if key not in OF_A_PROCESS}
    return answer


def _can_be_tried(tool: ListedOperation) -> bool:
    return bool(tool.operation.about.example) or not tool.input_schema.get("required")


# Verifies: REQ-o00006-B
def test_call_reads_arguments_from_standard_input(demo: Path) -> None:
    done = clew("call", "get_requirement", "-", cwd=demo, stdin='{"req_id": "d1"}')
    assert json.loads(done.stdout)["id"] == "REQ-d00001"


# Verifies: REQ-o00006-D
def test_colours_and_progress_are_for_terminals_only(demo: Path) -> None:
    plain = clew("check", cwd=demo)
    assert "\x1b" not in plain.stdout + plain.stderr
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen([*CLEW, "check"], cwd=demo, stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    shown = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    process.wait()
    os.close(leader)
    assert b"\x1b[31m" in shown
    assert b"%" in shown


# Verifies: REQ-o00006-E, REQ-d00020-B
def test_check_lists_findings_with_code_place_and_hint_and_fails(demo: Path) -> None:
    findings = json.loads(clew("check", "--json", cwd=demo).stdout)["findings"]
    assert sorted(finding["code"] for finding in findings) == [
        "trace.broken_reference",
        "trace.stale_hash",
        "trace.uncovered_assertion",
    ]
    for finding in findings:
        assert finding["line"] > 0
        assert (demo / finding["path"]).exists()
        assert finding["hint"]


# Verifies: REQ-o00006-E
def test_check_passes_when_there_is_nothing_to_find_and_strict_counts_warnings(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    (tmp_path / "clew.toml").touch()
    assert clew("check", cwd=tmp_path).returncode == 0
    (tmp_path / "spec" / "a.md").write_text(
        "## REQ-p00001: Title\n\n**Level**: PRD | **Status**: Active\n\n"
        "## Assertions\n\nA. It SHALL c.\n\n*End* *Title* | **Hash**: 00000000\n",
        encoding="utf-8",
    )
    now = json.loads(clew("show", "p1", "--json", cwd=tmp_path).stdout)
    assert now["hash_state"] == "stale"
    assert clew("check", cwd=tmp_path).returncode == 1
    spec = tmp_path / "spec" / "a.md"
    finding = next(
        item for item in json.loads(clew("check", "--json", cwd=tmp_path).stdout)["findings"] if "hash" in item["code"]
    )
    current = finding["message"].rstrip(".").rpartition(" ")[2]
    spec.write_text(spec.read_text(encoding="utf-8").replace("00000000", current), encoding="utf-8")
    assert clew("check", cwd=tmp_path).returncode == 0
    assert clew("check", "--strict", cwd=tmp_path).returncode == 1


def test_output_that_nobody_reads_any_more_ends_quietly(demo: Path) -> None:
    done = subprocess.run(
        f"{' '.join(CLEW)} tools --json | head -c 10", shell=True, cwd=demo, capture_output=True, check=False, text=True
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_the_store_is_described_by_doctor(demo: Path) -> None:
    checks = json.loads(clew("doctor", "--json", cwd=demo).stdout)["checks"]
    assert {check["name"]: check["ok"] for check in checks} == {
        "clew": True,
        "libraries": True,
        "configuration": True,
        "git": True,
        "server": True,
        "store": True,
        "encoder": True,
        "search": True,
        "graph": True,
        "requirements": True,
        "code": True,
        "tests": True,
    }


# Verifies: REQ-o00007-A
def test_clew_finds_nothing_to_complain_of_in_clew() -> None:
    done = clew("check", "--strict", str(DEMO.parent.parent))
    assert done.returncode == 0, done.stdout


# Verifies: REQ-d00440-A, REQ-d00443-H
def test_json_alone_is_the_brief_as_data_and_an_empty_question_is_answered_with_what_to_write(
    demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo)
    assert main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out)["node_counts"]["requirement"] == 23
    for question in ("", "  "):
        assert main(["ask", question]) == 2
        assert "clew ask needs a question." in capsys.readouterr().err
