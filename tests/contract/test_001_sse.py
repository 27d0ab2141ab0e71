"""The transport of the second source document: the tools of its profile over server-sent events."""

from pathlib import Path

import anyio
import pytest
from tests.contract.memory_client import WHY
from tests.transports.conftest import FakeClock, Listener
from tests.transports.profile_server import HeldDream, asked, connected, serving

pytestmark = pytest.mark.anyio

SSE_SESSION_EXPIRED = -32016
TIDES = ("Tide tables are in UTC.", "Tide heights are in metres.", "Tide gauges are read at noon.")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# Verifies: REQ-d00017-A
async def test_tc_sse_001_us_006_ac_01_connecting_brings_a_heartbeat_and_another_every_thirty_seconds(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    async with serving(tmp_path, clock) as http, http.sse("/sse") as source:
        listener = Listener(http, source)
        await listener.greeted()
        assert listener.connection_id
        await clock.asleep(30.0)
        clock.advance(30)
        assert (await listener.event()).event == "heartbeat"


# Verifies: REQ-d00017-A
async def test_tc_sse_002_a_request_is_answered_as_an_event(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeClock()) as http, connected(http) as listener:
        stored, _ = await asked(listener, "store_memory", content=TIDES[0], rationale=WHY)
        assert stored["created"]
        assert "_cognitive_pulse" in stored


# Verifies: REQ-d00017-B+C
async def test_tc_sse_003_us_006_ac_03_a_session_outlives_its_connection_for_sixty_seconds(tmp_path: Path) -> None:
    clock = FakeClock()
    async with serving(tmp_path, clock) as http:
        async with connected(http) as first:
            await asked(first, "store_memory", content=TIDES[0], rationale=WHY)
            await asked(first, "temporary_scratchpad", action="write", key="berth", value="three")
        await clock.asleep(60.0)
        clock.advance(59)
        async with connected(http, first.last_event_id) as second:
            assert second.connection_id == first.connection_id
            recent, _ = await asked(second, "get_recent_context", session_only=True)
            assert [each["snippet"] for each in recent["memories"]] == [TIDES[0]]
            kept, _ = await asked(second, "temporary_scratchpad", action="read", key="berth")
            assert "three" in str(kept)
        await clock.asleep(60.0)
        clock.advance(60)
        await clock.nobody_asleep(60.0)
        refused = await http.get("/sse", headers={"Last-Event-ID": second.last_event_id})
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (404, SSE_SESSION_EXPIRED)
        assert error["data"]["recovery"]


# Verifies: REQ-d00305-E
async def test_tc_sse_004_us_006_ac_02_results_of_a_search_are_streamed(tmp_path: Path) -> None:
    async with serving(tmp_path, FakeClock()) as http, connected(http) as listener:
        for text in TIDES:
            await asked(listener, "store_memory", content=text, rationale=WHY)
        found, told = await asked(listener, "search_graph", query="tide")
        assert found["count"] == len(TIDES)
        assert told == [f"{hit['citation_tag']} {hit['title'] or hit['snippet']}" for hit in found["results"]]


# Verifies: REQ-d00348-D
async def test_ec_mcp_005_a_client_that_reconnects_during_a_dream_is_told_the_phases_that_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldDream(monkeypatch)
    clock = FakeClock()
    async with serving(tmp_path, clock) as http:
        async with connected(http) as first:
            for text in TIDES:
                await asked(first, "store_memory", content=text, rationale=WHY)
            await first.call("dream", "trigger_dream", blocking=True, abort_on_query=False)
            before = ""
            while before != "rem: links":
                before = (await first.message())["params"]["message"]
            assert await anyio.to_thread.run_sync(held.begun.wait, 60)
        await clock.asleep(60.0)
        clock.advance(30)
        async with connected(http, first.last_event_id) as second:
            held.free.set()
            told = []
            while "id" not in (message := await second.message()):
                told.append(message["params"]["message"])
            assert message["result"]["structuredContent"]["triggered"]
            assert told
            assert all(each.startswith("rem") for each in told)
