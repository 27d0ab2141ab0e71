"""The tables that clients fill are bounded, and what they promise holds at the bounds."""

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.surfaces.mcp.transports.access.guard import Guard
from clew.surfaces.mcp.transports.access.ratelimit import RateLimit
from clew.surfaces.mcp.transports.settings import HttpSettings
from clew.surfaces.mcp.transports.sse.event_log import EventLog

# Verifies: REQ-d00016-D


@given(
    max_events=st.integers(1, 6),
    max_bytes=st.integers(1, 60),
    events=st.lists(st.binary(max_size=25), max_size=30),
)
def test_a_log_gives_every_event_after_one_it_still_holds_and_no_other(max_events, max_bytes, events):
    log = EventLog(max_events, max_bytes)
    for event in events:
        log.append(event)
    assert log.last == len(events)
    held = [number for number in range(len(events) + 1) if log.holds_all_after(number)]
    assert held == list(range(held[0], len(events) + 1)), "what is lost is lost from the beginning only"
    kept = events[held[0] :]
    assert len(kept) <= max_events
    assert len(kept) <= 1 or sum(map(len, kept)) <= max_bytes
    for start in held:
        heard, number = [], start
        while (event := log.next_after(number)) is not None:
            heard.append(event)
            number += 1
        assert heard == events[start:]
    for lost in (-1, held[0] - 1, log.last + 1):
        with pytest.raises(LookupError):
            log.next_after(lost)


@given(
    max_events=st.integers(1, 5),
    max_bytes=st.integers(1, 50),
    events=st.lists(st.binary(max_size=30), max_size=30),
    data=st.data(),
)
def test_a_log_with_room_loses_nothing_that_is_still_to_be_heard(max_events, max_bytes, events, data):
    log, heard = EventLog(max_events, max_bytes), 0
    for event in events:
        heard = data.draw(st.integers(heard, log.last))
        if log.has_room(event, heard):
            log.append(event)
            assert log.holds_all_after(heard)
    assert log.has_room(b"x" * 100, log.last), "a client that has heard everything never blocks the next event"


def test_the_rate_table_forgets_the_address_unheard_for_longest(clock):
    limit = RateLimit(1.0, 1, clock, max_clients=2)
    assert [limit.take(address) for address in ("10.0.0.1", "10.0.0.2", "10.0.0.1")] == [0, 0, 1]
    assert limit.take("10.0.0.3") == 0
    assert limit.take("10.0.0.1") == 1
    assert limit.take("10.0.0.2") == 0


def test_addresses_of_one_ipv6_network_share_one_bucket(clock):
    limit = RateLimit(0.1, 1, clock)
    assert limit.take("2001:db8::1") == 0
    assert limit.take("2001:db8::ffff") == 10
    assert limit.take("2001:db8:0:1::1") == 0
    assert limit.take("fe80::1%eth0") == 0


@pytest.mark.anyio
async def test_a_failing_application_is_a_clean_500_and_its_message_is_not_logged(caplog):
    document = "a private sentence"

    async def failing(scope, receive, send):
        raise RuntimeError(document)

    transport = httpx2.ASGITransport(app=Guard(failing, HttpSettings()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
        answer = await http.get("/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
    assert "RuntimeError in GET /" in caplog.text
    assert "private" not in caplog.text + answer.text
