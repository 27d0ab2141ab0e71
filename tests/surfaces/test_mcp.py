"""The server through a real client, in both eras of the protocol."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.server.lowlevel import Server
from tests.mcp_client import McpClient, Options

from clew.operation.defaults import default_names
from clew.operation.listing import all_tools
from clew.operation.names import portable
from clew.project import Project
from clew.text.tokens import estimate_tokens
from clew.workspace.holding import formats_in

pytestmark = pytest.mark.anyio

Serve = Callable[..., Server[Any]]
ERAS = ("legacy", "2026-07-28")


async def call(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def refusal(client: Client, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert result.is_error
    assert result.structured_content is not None
    assert result.content[0].text.startswith(result.structured_content["message"])
    return result.structured_content


# Verifies: REQ-o00005-A, REQ-o00004-A
@pytest.mark.parametrize("era", ERAS)
async def test_either_era_lists_and_calls_tools(serve: Serve, demo: Path, era: str) -> None:
    async with Client(serve(demo), mode=era) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        usual = default_names(formats_in(demo, ("spec",)))
        assert list(tools) == [portable(tool.name) for tool in all_tools() if tool.name in usual]
        assert tools["search_everything"].annotations is not None
        assert tools["search_everything"].annotations.read_only_hint is True
        assert tools["search_everything"].input_schema["required"] == ["query"]
        status = await call(client, "get_graph_status")
        assert status["node_counts"]["requirement"] == 23


# Verifies: REQ-d00011-D
@pytest.mark.parametrize(
    "tool",
    [tool for tool in all_tools() if tool.operation.about.example or not tool.input_schema.get("properties")],
    ids=lambda tool: tool.name,
)
def test_every_example_gives_an_answer_that_its_schema_and_its_text_agree_with(
    opened: Callable[[Path], Project], demo: Path, tool: Any
) -> None:
    # An answer is compared with the schema that is listed, once for all of them.
    with McpClient(opened(demo), Options(toolsets=("all",))) as client:
        answer = client.answer(tool.name, **tool.operation.about.example)
    assert answer.data is not None
    assert 2 * estimate_tokens(answer.text) <= 4_000


# Verifies: REQ-o00004-D
async def test_the_default_listing_is_cheap(serve: Serve, demo: Path) -> None:
    async with Client(serve(demo)) as client:
        listed = (await client.list_tools()).tools
    costs = {tool.name: estimate_tokens(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in listed}
    assert len(costs) == 16
    assert sum(costs.values()) < 5_500
    assert {name: cost for name, cost in costs.items() if cost >= 600} == {}


# Verifies: REQ-p00003-A
async def test_the_profile_of_elspais_answers_under_its_name_with_its_tools(serve: Serve, demo: Path) -> None:
    async with Client(serve(demo, profile="elspais"), mode="legacy") as client:
        assert client.server_info is not None
        assert client.server_info.name == "elspais"
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            tool.name for tool in all_tools() if tool.toolset == "trace"
        ]
        with pytest.raises(MCPError):
            await client.call_tool("clew_brief", {})


# Verifies: REQ-o00004-C
async def test_an_unlisted_tool_is_found_and_called(serve: Serve, demo: Path) -> None:
    async with Client(serve(demo, toolsets=("core",))) as client:
        assert "get_hierarchy" not in [tool.name for tool in (await client.list_tools()).tools]
        found = await call(client, "tools_search", query="ancestors and children of a requirement", limit=3)
        assert found["tools"][0]["name"] == "get_hierarchy"
        assert found["tools"][0]["arguments"] == "req_id, limit?, cursor?, max_tokens?"
        inner = await call(client, "tools_call", name="get_hierarchy", arguments={"req_id": "REQ-d00001"})
    async with Client(serve(demo)) as client:
        assert inner == await call(client, "get_hierarchy", req_id="REQ-d00001")


# Verifies: REQ-o00004-C, REQ-o00004-B
async def test_tools_call_reaches_nothing_that_is_excluded(serve: Serve, demo: Path) -> None:
    async with Client(serve(demo, exclude=("search",))) as client:
        error = await refusal(client, "tools_call", {"name": "search", "arguments": {"query": "tide"}})
        assert error["code"] == "unknown_tool"
        error = await refusal(client, "tools_call", {"name": "tools_call", "arguments": {}})
        assert error["code"] == "invalid_argument"
        error = await refusal(client, "tools_call", {"name": "get_requirement", "arguments": {"req_id": "REQ-d09999"}})
        assert error["code"] == "not_found"


# Verifies: REQ-d00010-B
async def test_an_unknown_tool_is_a_protocol_error_that_suggests_the_closest(serve: Serve, demo: Path) -> None:
    async with Client(serve(demo)) as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("get_requirment", {})
        assert refused.value.error.code == -32602
        assert "get_requirement" in refused.value.error.message


# Verifies: REQ-d00010-A+C, REQ-p00002-B
@pytest.mark.parametrize(
    ("name", "arguments", "mentions"),
    [
        ("search", {}, ("query",)),
        ("search", {"query": 7}, ("query", "7", "`str`")),
        ("search", {"query": ""}, ("query",)),
        ("search", {"query": "   "}, ("empty",)),
        ("search", {"query": "a", "limit": 0}, ("limit", "0", ">= 1")),
        ("search", {"query": "a", "limit": 10_000}, ("limit", "10000", "<= 500")),
        ("search", {"query": "a", "limit": "5"}, ("limit", "'5'", "`int`")),
        ("search", {"query": "a", "field": "colour"}, ("field", "colour")),
        ("search", {"query": "a", "feild": "id"}, ("feild",)),
        ("search", {"query": "x" * 2_000}, ("2000", "1000")),
        ("search", {"query": "w " * 60}, ("60", "40")),
        ("search", {"query": "-only"}, ("excludes",)),
        ("search", {"query": "a", "cursor": "nonsense"}, ("nonsense",)),
        ("get_requirement", {"req_id": "REQ-d09999"}, ("REQ-d09999",)),
        ("get_requirement", {"req_id": ["REQ-d00001"]}, ("req_id", "`str`")),
        ("get_requirement", {"req_id": "x" * 5_000}, ("xxx",)),
        ("get_requirement", {"req_id": "REQ-d00001\0"}, ("REQ-d00001",)),
        ("refresh_graph", {"full": "yes"}, ("full", "yes", "`bool`")),
        ("tools_search", {"query": "x" * 600}, ("query",)),
        ("clew_brief", {"max_tokens": 3}, ("max_tokens", "3", ">= 400")),
    ],
)
async def test_bad_arguments_give_an_error_that_names_value_rule_and_next_step(
    serve: Serve, demo: Path, name: str, arguments: dict[str, Any], mentions: tuple[str, ...]
) -> None:
    async with Client(serve(demo)) as client:
        error = await refusal(client, name, arguments)
        assert error["code"] in ("invalid_argument", "not_found", "invalid_cursor")
        assert error["hint"]
        assert len(error["message"]) < 400
        for mention in mentions:
            assert mention in error["message"]
        assert (await call(client, "get_graph_status"))["total_nodes"] > 0


# Verifies: REQ-d00013-D, REQ-d00015-C
async def test_a_catastrophic_pattern_is_refused_and_holds_up_nobody(serve: Serve, small: Path) -> None:
    import anyio

    (small / "spec" / "trap.md").write_text(
        f"## REQ-d00009: {'a' * 60}!\n\n**Level**: DEV | **Status**: Draft\n\n*End* *x*\n", encoding="utf-8"
    )
    finished: list[str] = []
    async with Client(serve(small)) as client:
        await call(client, "get_graph_status")

        async def slow() -> None:
            error = await refusal(client, "search", {"query": "(a|aa)+$", "regex": True})
            assert error["code"] == "invalid_pattern"
            finished.append("slow")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(slow)
            await anyio.lowlevel.checkpoint()
            for _ in range(3):
                await call(client, "get_requirement", req_id="REQ-d00001")
            finished.append("fast")
    assert finished == ["fast", "slow"]


# Verifies: REQ-d00013-D
@pytest.mark.parametrize("pattern", ["(", "[z-a]", "a{99999999999}", "(?P<n>a)(?P<n>b", "*"])
async def test_an_invalid_pattern_is_refused(serve: Serve, small: Path, pattern: str) -> None:
    async with Client(serve(small)) as client:
        error = await refusal(client, "search", {"query": pattern, "regex": True})
        assert error["code"] == "invalid_pattern"
        assert pattern in error["message"]


# Verifies: REQ-d00011-B, REQ-p00004-B
async def test_pages_cover_every_result_once_and_stay_within_their_budget(serve: Serve, demo: Path) -> None:
    async with Client(serve(demo)) as client:
        everything = await call(client, "search", query="REQ", field="id", limit=500)
        assert everything["total"] == 18
        for arguments in ({"limit": 4}, {"limit": 500, "max_tokens": 600}):
            seen: list[str] = []
            cursor = None
            while True:
                more = {} if cursor is None else {"cursor": cursor}
                page = await call(client, "search", query="REQ", field="id", **arguments, **more)
                seen += [item["id"] for item in page["results"]]
                cursor = page["next_cursor"]
                assert page["truncated"] is (cursor is not None)
                if cursor is None:
                    break
            assert seen == [item["id"] for item in everything["results"]]


# Verifies: REQ-d00011-C
async def test_a_cursor_ends_with_the_state_it_was_issued_for(serve: Serve, demo: Path) -> None:
    async with Client(serve(demo)) as client:
        page = await call(client, "search", query="REQ", field="id", limit=4)
        error = await refusal(client, "search", {"query": "other", "limit": 4, "cursor": page["next_cursor"]})
        assert error["code"] == "invalid_cursor"
        (demo / "spec" / "new.md").write_text("## REQ-d00099: New\n\n*End* *New*\n", encoding="utf-8")
        error = await refusal(
            client, "search", {"query": "REQ", "field": "id", "limit": 4, "cursor": page["next_cursor"]}
        )
        assert "changed" in error["message"]


# Verifies: REQ-d00010-D
async def test_an_unexpected_failure_tells_nothing_of_the_files_and_the_server_goes_on(
    serve: Serve, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.trace.service import TraceService

    def broken(self: TraceService) -> None:
        raise RuntimeError("secret line of a document")

    async with Client(serve(demo)) as client:
        with monkeypatch.context() as patched:
            patched.setattr(TraceService, "status", broken)
            with pytest.raises(MCPError) as failed:
                await client.call_tool("get_graph_status", {})
        assert "secret" not in failed.value.error.message
        assert (await call(client, "get_graph_status"))["total_nodes"] > 0


# Verifies: REQ-d00014-A
async def test_the_brief_says_what_matters_within_its_budget(serve: Serve, demo: Path) -> None:
    async with Client(serve(demo)) as client:
        result = await client.call_tool("clew_brief", {})
        data, text = result.structured_content, result.content[0].text
        assert data is not None
        assert data["project"] == "demo"
        assert {concern["code"]: concern["count"] for concern in data["attention"]} == {
            "trace.broken_reference": 1,
            "trace.stale_hash": 1,
            "trace.uncovered_assertion": 1,
        }
        assert data["next_calls"]
        assert "REQ-o00009" in text
        assert estimate_tokens(text) < 750
        short = await client.call_tool("clew_brief", {"max_tokens": 500})
        assert short.structured_content is not None
        assert short.structured_content["truncated"] is True
        assert estimate_tokens(short.content[0].text) <= 500


# Verifies: REQ-d00013-A+B+I
async def test_a_changed_file_is_reported_as_stale_and_seen_by_the_next_question(serve: Serve, small: Path) -> None:
    async with Client(serve(small)) as client:
        first = await call(client, "get_graph_status")
        assert first["is_stale"] is False
        spec = small / "spec" / "small.md"
        spec.write_text(spec.read_text(encoding="utf-8").replace("Keep time", "Keep tide"), encoding="utf-8")
        assert (await call(client, "get_graph_status"))["is_stale"] is True
        assert (await call(client, "get_requirement", req_id="REQ-p00001"))["title"] == "Keep tide"
        assert (await call(client, "get_graph_status"))["is_stale"] is False
        report = await call(client, "refresh_graph")
        assert (report["files_parsed"], report["files"]) == (0, 1)
        report = await call(client, "refresh_graph", full=True)
        assert report["files_parsed"] == 1
        assert report["last_refresh"] > first["last_refresh"]


# Verifies: REQ-p00004-A+B, REQ-d00011-A+B
async def test_a_requirement_with_hundreds_of_children_and_endless_texts_is_told_page_by_page(
    serve: Serve, small: Path
) -> None:
    blocks = [
        f"## REQ-p00002: {'long title ' * 2_000}\n\n**Level**: PRD | **Status**: Active\n\n{'prose ' * 9_000}\n\n"
    ]
    blocks += ["## Assertions\n\n", f"A. It SHALL {'go on ' * 5_000}\n\n*End* *x*\n\n"]
    metadata = "**Level**: DEV | **Status**: Active | **Implements**: REQ-p00002"
    blocks += [f"## REQ-d{number:05}: Child {number}\n\n{metadata}\n\n*End* *x*\n\n" for number in range(100, 500)]
    (small / "spec" / "wide.md").write_text("".join(blocks), encoding="utf-8")
    async with Client(serve(small)) as client:
        seen: list[str] = []
        arguments: dict[str, Any] = {"req_id": "REQ-p00002", "limit": 500, "max_tokens": 6_000}
        # What an agent may write back comes whole; what no answer can hold is refused, and says where it stands.
        refused = await client.call_tool("get_requirement", arguments)
        assert refused.is_error
        assert "Read it in its file" in refused.content[0].text
        while True:
            result = await client.call_tool("get_hierarchy", arguments)
            assert not result.is_error, result.content
            page = result.structured_content
            assert page is not None
            assert 2 * estimate_tokens(result.content[0].text) <= 6_000
            seen += [child["id"] for child in page["children"]]
            if page["next_cursor"] is None:
                break
            arguments["cursor"] = page["next_cursor"]
        assert seen == [f"REQ-d{number:05}" for number in range(100, 500)]
        found = await call(client, "search", query="long")
        assert found["results"][0]["id"] == "REQ-p00002"
        assert found["truncated"] is True


# The server tells the SDK that there is none, which saves making the list of tools for every call.
# Verifies: REQ-d00010-A
def test_no_tool_wants_an_argument_in_a_header() -> None:
    assert not [tool.name for tool in all_tools() if "x-mcp-header" in json.dumps(tool.input_schema)]
