"""Real MCP clients read passages as resources, on stdio and over HTTP; others are refused."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters
from mcp.server.lowlevel import Server

from clew.operation.listing import all_tools
from clew.operation.toolsets import Choice, choose
from clew.project import Project
from clew.surfaces.mcp.server import Surface, build_server
from clew.surfaces.mcp.transports.http import serve_http
from clew.surfaces.mcp.transports.settings import HttpSettings

pytestmark = pytest.mark.anyio

LEGACY, MODERN = "legacy", "2026-07-28"
GUIDE = "# Guide\n\nThe default margin is 0.5 metres.\n\n## Pilots\n\nA pilot comes aboard.\n"

Listen = Callable[..., AbstractAsyncContextManager[str]]


@pytest.fixture
def root(make: Callable[..., Project]) -> Path:
    return make({"docs/guide.md": GUIDE}).config.root


def server_of(project: Project, **choice: Any) -> Server[Any]:
    listing = choose(all_tools(), Choice(**choice), {})
    return build_server(Surface(project, listing), "")


@asynccontextmanager
async def listening(server: Server[Any], *, sse: bool = False) -> AsyncIterator[str]:
    address: list[str] = []
    ready = anyio.Event()

    def announce(url: str) -> None:
        address.append(url)
        ready.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_http, server, HttpSettings(port=0, sse=sse, drain_seconds=0.0), announce)
        with anyio.fail_after(120):
            await ready.wait()
        yield address[0]
        tasks.cancel_scope.cancel()


async def searched(client: Client, query: str = "default margin") -> dict[str, Any]:
    result = await client.call_tool("kb.search", {"query": query})
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content["results"][0]
    return found


async def refused(client: Client, uri: str) -> str:
    with pytest.raises(MCPError) as error:
        await client.read_resource(uri)
    assert error.value.error.code == -32602
    reason: str = error.value.error.data["error"]["details"]["reason"]
    return reason


async def text_at(client: Client, uri: str) -> str:
    read = await client.read_resource(uri)
    assert len(read.contents) == 1
    assert read.contents[0].mime_type == "text/plain"
    text: str = read.contents[0].text
    return text


# Verifies: REQ-d00176-A+B+C
@pytest.mark.parametrize("era", [LEGACY, MODERN])
async def test_on_stdio_a_passage_is_read_by_its_client_and_by_no_other(root: Path, era: str) -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "clew", "serve", str(root)])
    async with Client(server, mode=era) as client, Client(server, mode=era) as other:
        templates = (await client.list_resource_templates()).resource_templates
        assert templates[0].uri_template == "clew://scratch/{session_id}/{passage_id}"
        found = await searched(client)
        assert (await client.list_resources()).resources == []
        assert await text_at(client, found["scratch_uri"]) == "# Guide\n\nThe default margin is 0.5 metres."
        assert await refused(other, found["scratch_uri"]) == "passage_not_found"
        own = await searched(other)
        assert own["section_id"] == found["section_id"]
        assert own["passage_id"] != found["passage_id"]
        assert await refused(client, own["scratch_uri"]) == "passage_not_found"


# Verifies: REQ-d00176-C
@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_over_http_a_session_reads_only_its_own_passages(root: Path, transport: str) -> None:
    project = Project.open(root)

    def connect(url: str) -> Client:
        return Client(sse_client(url) if transport == "sse" else url, mode=LEGACY)

    async with listening(server_of(project), sse=transport == "sse") as url, connect(url) as one, connect(url) as two:
        first, second = await searched(one), await searched(two)
        assert first["passage_id"] != second["passage_id"]
        assert "0.5 metres" in await text_at(one, first["scratch_uri"])
        assert await refused(two, first["scratch_uri"]) == "passage_not_found"
        forged = first["scratch_uri"].replace(*(each["scratch_uri"].split("/")[3] for each in (first, second)))
        assert await refused(two, forged) == "passage_not_found"
        result = await two.call_tool("kb.read_excerpt", {"passage_id": first["passage_id"]})
        assert result.structured_content["error"]["details"]["reason"] == "passage_not_found"
        assert not (await one.call_tool("kb.read_excerpt", {"passage_id": first["passage_id"]})).is_error
        assert (await searched(one))["passage_id"] == first["passage_id"]
    project.close()


# Verifies: REQ-d00176-C
async def test_without_sessions_the_address_itself_is_the_key(root: Path) -> None:
    project = Project.open(root)
    async with (
        listening(server_of(project)) as url,
        Client(url, mode=MODERN) as client,
        Client(url, mode=LEGACY) as other,
    ):
        found = await searched(client)
        assert "0.5 metres" in await text_at(client, found["scratch_uri"])
        assert not (await client.call_tool("kb.read_excerpt", {"passage_id": found["passage_id"]})).is_error
        again = await searched(client)
        assert again["scratch_uri"] != found["scratch_uri"]
        mixed = f"{found['scratch_uri'].rpartition('/')[0]}/{again['passage_id']}"
        assert await refused(client, mixed) == "passage_not_found"
        assert await refused(other, found["scratch_uri"]) == "passage_not_found"
        bound = await searched(other)
        assert await refused(client, bound["scratch_uri"]) == "passage_not_found"
    project.close()


# Verifies: REQ-d00241-A
@pytest.mark.parametrize("named", ["header", "query"])
async def test_a_session_that_the_transport_does_not_keep_is_nobodys(root: Path, named: str) -> None:
    import httpx2

    project = Project.open(root)
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "kb.search",
    }
    who = {"protocolVersion": MODERN, "clientInfo": {"name": "any", "version": "0"}, "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in who.items()}
    asked = {"name": "kb.search", "arguments": {"query": "margin"}, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    if named == "header":
        headers["mcp-session-id"] = "invented"
    async with listening(server_of(project)) as url, httpx2.AsyncClient(headers=headers, timeout=120) as http:
        for _ in range(2):
            answer = await http.post(url, json=body, params={"session_id": "invented"} if named == "query" else {})
            assert answer.status_code == 200
            assert "passage_id" in answer.text
    # Two calls of two strangers: nothing is found again that the first one left.
    assert project.kb.scratch.state().sessions == 2
    assert project.kb.scratch.state().reused == 0
    project.close()


# Verifies: REQ-d00177-D
async def test_a_session_over_http_that_asks_too_often_gets_an_envelope(root: Path) -> None:
    (root / "clew.toml").write_text((root / "clew.toml").read_text() + "\n[kb]\ncalls_per_minute = 1\nburst = 2\n")
    project = Project.open(root)
    async with listening(server_of(project)) as url, Client(url, mode=LEGACY) as client:
        for _ in range(2):
            await searched(client)
        asked = ("tools_call", {"name": "kb_search", "arguments": {"query": "margin"}})
        for tool, arguments in (("kb.search", {"query": "margin"}), asked):
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert result.structured_content["error"]["code"] == "BUDGET_EXCEEDED"
            assert result.structured_content["error"]["details"]["reason"] == "rate_limited"
            assert result.structured_content["error"]["details"]["retry_after_ms"] > 0
        assert not (await client.call_tool("clew_brief", {})).is_error
    project.close()


# Verifies: REQ-d00176-B
async def test_an_answer_points_to_its_passages_with_all_that_a_host_needs(root: Path) -> None:
    project = Project.open(root)
    async with Client(server_of(project)) as client:
        result = await client.call_tool("kb.search", {"query": "default margin"})
        link = result.content[1]
        assert link.type == "resource_link"
        named = result.structured_content["results"]
        assert [block.uri for block in result.content[1:]] == [each["scratch_uri"] for each in named]
        assert link.name == "Guide"
        assert link.mime_type == "text/plain"
        read = await client.read_resource(link.uri)
        assert link.size == len(read.contents[0].text.encode())
        assert link.annotations.audience == ["assistant"]
        assert link.annotations.priority == 0.1
        assert link.annotations.last_modified.endswith("Z")
        assert read.contents[0].meta["lastModified"] == link.annotations.last_modified
        assert read.contents[0].meta["source_uri"].startswith("docs/guide.md#L")
        # Quotes are the answer already: their passages are named once, and read under the same addresses.
        answer = await client.call_tool("kb.retrieve_evidence", {"question": "default margin"})
        assert len(answer.content) == 1
        data = answer.structured_content
        address = f"clew://scratch/{data['session_id']}/{data['sources'][0]['passage_id']}"
        assert "0.5 metres" in await text_at(client, address)
    project.close()


# Verifies: REQ-d00176-A+C
async def test_the_scheme_is_the_configured_one_and_that_of_the_profile(root: Path) -> None:
    (root / "clew.toml").write_text((root / "clew.toml").read_text() + '\n[kb]\nscheme = "port"\n')
    project = Project.open(root)
    for scheme, choice in (("port", {}), ("wekadocs", {"profile": "wekadocs"})):
        async with Client(server_of(project, **choice)) as client:
            templates = (await client.list_resource_templates()).resource_templates
            assert templates[0].uri_template == f"{scheme}://scratch/{{session_id}}/{{passage_id}}"
            found = await searched(client)
            assert found["scratch_uri"].startswith(f"{scheme}://scratch/")
            assert await text_at(client, found["scratch_uri"])
            other = found["scratch_uri"].replace(scheme, "clew")
            assert await refused(client, other) == "invalid_uri"
    project.close()


# Verifies: REQ-d00176-C
@pytest.mark.parametrize(
    "change",
    [
        lambda uri: "",
        lambda uri: "file:///etc/passwd",
        lambda uri: uri + "/",
        lambda uri: uri + "?x=1",
        lambda uri: uri + "\n",
        lambda uri: uri.replace("scratch", "Scratch"),
        lambda uri: uri.replace("clew:", "CLEW:"),
        lambda uri: uri.replace("scratch/", "scratch/../scratch/"),
        lambda uri: uri[:-1],
        lambda uri: uri[:-1] + "%41",
        lambda uri: "clew://scratch//",
        lambda uri: "clew://scratch/" + "a" * 10_000,
    ],
)
async def test_an_address_is_checked_to_the_letter(root: Path, change: Callable[[str], str]) -> None:
    project = Project.open(root)
    async with Client(server_of(project)) as client:
        found = await searched(client)
        assert await refused(client, change(found["scratch_uri"])) == "invalid_uri"
        assert await text_at(client, found["scratch_uri"])
    project.close()


# Verifies: REQ-d00176-B
async def test_an_older_client_gets_no_block_that_it_does_not_know(root: Path) -> None:
    project = Project.open(root)
    async with listening(server_of(project)) as url:
        import httpx2

        headers = {"Accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(headers=headers, timeout=120) as http:
            who = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "old", "version": "0"}}
            opened = await http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": who})
            http.headers["mcp-session-id"] = opened.headers["mcp-session-id"]
            asked = {"name": "kb.search", "arguments": {"query": "margin"}}
            answer = await http.post(url, json={"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked})
    assert "resource_link" not in answer.text
    assert "passage_id" in answer.text
    project.close()


async def test_a_server_of_memories_has_no_resources(root: Path) -> None:
    project = Project.open(root)
    async with Client(server_of(project, profile="context-graph"), mode=LEGACY) as client:
        assert client.server_capabilities.resources is None
        with pytest.raises(MCPError):
            await client.read_resource("clew://scratch/a/b")
    project.close()
