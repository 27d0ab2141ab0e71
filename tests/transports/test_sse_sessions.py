"""HTTP+SSE: a session outlives its stream, and its client misses nothing."""

import json

import pytest

# Verifies: REQ-d00017-A+B+C+D

pytestmark = pytest.mark.anyio

EXPIRED = -32016


async def test_connecting_gives_an_endpoint_then_a_heartbeat_with_the_connection_id(serve, clock):
    async with serve("sse", clock) as http, http.sse("/sse") as source:
        events = aiter(source)
        endpoint, heartbeat = await anext(events), await anext(events)
        assert source.response.headers["content-type"].startswith("text/event-stream")
    ping = json.loads(heartbeat.data)
    assert (endpoint.event, heartbeat.event) == ("endpoint", "heartbeat")
    assert ping == {"type": "ping", "timestamp": 1_700_000_000, "connection_id": ping["connection_id"]}
    assert endpoint.data == f"/messages?session_id={ping['connection_id']}"
    assert len(ping["connection_id"]) >= 22, "22 characters of base64 are 128 bits"


# Verifies: REQ-d00017-A
async def test_a_heartbeat_is_a_comment_unless_the_client_asks_for_events(serve):
    async with serve("sse", heartbeat_events=False) as http:
        async with http.stream("GET", "/sse") as answer:
            said = ""
            async for part in answer.aiter_text():
                said += part
                if said.count("\n\n") >= 2:
                    break
            assert said.startswith("event: endpoint")
            assert ": heartbeat\n\n" in said
            assert "event: heartbeat" not in said
        async with http.sse("/sse?heartbeat=event") as source:
            events = aiter(source)
            assert [(await anext(events)).event for _ in range(2)] == ["endpoint", "heartbeat"]


async def test_a_heartbeat_comes_every_thirty_seconds(serve, listen, clock):
    async with serve("sse", clock) as http, listen(http) as listener:
        for beat in (1, 2):
            await clock.asleep(30.0)
            clock.advance(30)
            event = await listener.event()
            assert event.event == "heartbeat"
            assert json.loads(event.data)["timestamp"] == 1_700_000_000 + 30 * beat


async def test_a_posted_request_is_answered_as_a_message_event_with_an_id(serve, listen, clock):
    async with serve("sse", clock) as http, listen(http) as listener:
        initialized = await listener.initialize()
        accepted = await listener.call(7, "echo", text="hello")
        answer = await listener.message()
        assert initialized["result"]["serverInfo"]["name"] == "workshop"
        assert accepted.status_code == 202
        assert (answer["id"], answer["result"]["content"][0]["text"]) == (7, "hello")
        assert listener.last_event_id == f"{listener.connection_id}.2"


async def test_a_call_goes_on_without_a_stream_and_its_answer_waits_for_the_reconnect(serve, listen, clock, workshop):
    async with serve("sse", clock) as http:
        async with listen(http) as first:
            await first.initialize()
            await first.call(1, "hold", text="long")
            await workshop.entered["long"].wait()
        await clock.asleep(60.0)
        workshop.gate["long"].set()
        clock.advance(59)
        async with listen(http, Last_Event_ID=first.last_event_id) as second:
            answer = await second.message()
            assert (second.connection_id, second.endpoint) == (first.connection_id, first.endpoint)
            assert (answer["id"], answer["result"]["content"][0]["text"]) == (1, "long")
            await second.call(2, "echo", text="same session, no new handshake")
            assert (await second.message())["id"] == 2


async def test_the_session_id_alone_finds_the_session_again(serve, listen, clock, workshop):
    async with serve("sse", clock) as http:
        async with listen(http) as first:
            await first.initialize()
            await first.call(1, "hold", text="long")
            await workshop.entered["long"].wait()
        await clock.asleep(60.0)
        workshop.gate["long"].set()
        async with listen(http, f"/sse?session_id={first.connection_id}") as second:
            assert (await second.message())["id"] == 1


async def test_a_reconnect_replays_exactly_what_came_after_the_given_event(serve, listen, clock):
    async with serve("sse", clock) as http:
        async with listen(http) as first:
            await first.initialize()
            await first.call(1, "steps", text="step", count=5)
            seen = [await first.message() for _ in range(2)]
            resume_from = first.last_event_id
            lost = [await first.message() for _ in range(4)]
        await clock.asleep(60.0)
        async with listen(http, Last_Event_ID=resume_from) as second:
            again = [await second.message() for _ in range(4)]
            await second.call(2, "echo", text="next")
            after = await second.message()
    assert [message["params"]["progress"] for message in seen] == [1, 2]
    assert again == lost
    assert (again[-1]["id"], after["id"]) == (1, 2)


async def test_a_client_cut_off_before_its_first_message_can_come_back(serve, listen, clock):
    async with serve("sse", clock) as http:
        async with http.sse("/sse") as source:
            endpoint = await anext(aiter(source))
        await clock.asleep(60.0)
        async with listen(http, Last_Event_ID=endpoint.id) as second:
            assert (await second.initialize())["id"] == "init"
            assert second.endpoint == endpoint.data


async def test_reconnecting_stops_the_countdown(serve, listen, clock):
    async with serve("sse", clock) as http:
        async with listen(http) as first:
            await first.initialize()
        await clock.asleep(60.0)
        async with listen(http, Last_Event_ID=first.last_event_id) as second:
            await clock.nobody_asleep(60.0)
            clock.advance(3600)
            await second.event()
            await second.call(1, "echo", text="still here")
            assert (await second.message())["id"] == 1


async def test_after_the_grace_the_session_is_gone_for_reading_and_writing(serve, listen, clock, workshop):
    async with serve("sse", clock) as http:
        async with listen(http) as first:
            await first.initialize()
            await first.call(1, "hold", text="abandoned")
            await workshop.entered["abandoned"].wait()
        await clock.asleep(60.0)
        clock.advance(60)
        refused = [
            await http.get("/sse", headers={"Last-Event-ID": first.last_event_id}),
            await http.get("/sse", params={"session_id": first.connection_id}),
            await first.call(2, "echo", text="too late"),
        ]
        for answer in refused:
            assert answer.status_code == 404
            assert answer.json()["error"]["code"] == EXPIRED
            assert "GET /sse" in answer.json()["error"]["data"]["recovery"]
        await workshop.left["abandoned"].wait()
        assert workshop.cancelled == {"abandoned"}
        async with listen(http) as fresh:
            assert (await fresh.initialize())["id"] == "init"


async def test_an_unknown_session_is_answered_like_an_expired_one(serve, clock):
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with serve("sse", clock) as http:
        answers = [await http.post("/messages", json=message)]
        for session_id in ("", "unknown", "x" * 500, "../../etc/passwd"):
            answers += [
                await http.get("/sse", params={"session_id": session_id}),
                await http.get("/sse", headers={"Last-Event-ID": f"{session_id}.1"}),
                await http.get("/sse", headers={"Last-Event-ID": session_id}),
                await http.post("/messages", params={"session_id": session_id}, json=message),
            ]
    assert {(answer.status_code, answer.json()["error"]["code"]) for answer in answers} == {(404, EXPIRED)}


async def test_an_event_id_of_the_future_or_of_another_session_is_refused(serve, listen, clock):
    async with serve("sse", clock) as http, listen(http) as one, listen(http) as other:
        future = await http.get("/sse", headers={"Last-Event-ID": f"{one.connection_id}.5"})
        foreign = await http.get(
            "/sse", params={"session_id": one.connection_id}, headers={"Last-Event-ID": other.last_event_id}
        )
    assert [answer.json()["error"]["code"] for answer in (future, foreign)] == [EXPIRED, EXPIRED]


async def test_a_second_stream_takes_over_and_the_first_is_closed(serve, listen, clock):
    async with serve("sse", clock) as http, listen(http) as first:
        await first.initialize()
        async with listen(http, Last_Event_ID=first.last_event_id) as second:
            await first.at_end()
            await second.call(1, "echo", text="to the second")
            assert (await second.message())["id"] == 1
            clock.advance(3600)
            assert (await second.event()).event == "heartbeat"
            await second.call(2, "echo", text="no grace runs while it listens")
            assert (await second.message())["id"] == 2


async def test_a_reconnect_is_refused_when_missed_events_are_no_longer_kept(serve, listen, clock, workshop):
    async with serve("sse", clock, buffer_events=4) as http:
        async with listen(http) as first:
            await first.initialize()
            await first.call(1, "hold", text="first")
            await workshop.entered["first"].wait()
        await clock.asleep(60.0)
        await first.call(2, "steps", text="burst", count=10)
        await workshop.entered["burst"].wait()
        for url, headers in (
            ("/sse", {"Last-Event-ID": first.last_event_id}),
            (f"/sse?session_id={first.connection_id}", {}),
        ):
            refused = await http.get(url, headers=headers)
            assert (refused.status_code, refused.json()["error"]["code"]) == (404, EXPIRED)


async def test_missed_events_are_bounded_by_bytes_too(serve, listen, clock, workshop):
    async with serve("sse", clock, buffer_bytes=2000) as http:
        async with listen(http) as first:
            await first.initialize()
        await clock.asleep(60.0)
        for call_id in (1, 2):
            await first.call(call_id, "steps", text="x" * 900 + str(call_id), count=1)
            await workshop.entered["x" * 900 + str(call_id)].wait()
        refused = await http.get("/sse", headers={"Last-Event-ID": first.last_event_id})
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, EXPIRED)


async def test_a_listening_client_gets_every_event_even_when_they_overflow_the_buffer(serve, listen, clock):
    async with serve("sse", clock, buffer_events=3, buffer_bytes=500) as http, listen(http) as listener:
        await listener.initialize()
        await listener.call(1, "steps", text="burst", count=200)
        progress = [(await listener.message())["params"]["progress"] for _ in range(200)]
        assert progress == list(range(1, 201))
        assert (await listener.message())["id"] == 1


async def test_two_clients_see_only_their_own_answers(serve, listen, clock):
    async with serve("sse", clock) as http, listen(http) as one, listen(http) as other:
        assert one.connection_id != other.connection_id
        await one.initialize()
        await other.initialize()
        for number in range(5):
            await one.call(number, "echo", text=f"one {number}")
            await other.call(number, "echo", text=f"other {number}")
        heard_by_one = [(await one.message())["result"]["content"][0]["text"] for _ in range(5)]
        heard_by_other = [(await other.message())["result"]["content"][0]["text"] for _ in range(5)]
        assert sorted(heard_by_one) == [f"one {number}" for number in range(5)]
        assert sorted(heard_by_other) == [f"other {number}" for number in range(5)]
        # Whatever else had been sent would come before the next heartbeat.
        await clock.asleep(30.0, count=2)
        clock.advance(30)
        assert [(await listener.event()).event for listener in (one, other)] == ["heartbeat", "heartbeat"]


async def test_a_session_can_be_used_only_with_the_credential_that_opened_it(serve, listen, clock):
    async with serve("sse", clock) as http, listen(http, Authorization="Bearer the-owner") as owner:
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for stranger in ({}, {"Authorization": "Bearer somebody-else"}):
            posted = await http.post(owner.endpoint, json=message, headers=stranger)
            opened = await http.get("/sse", params={"session_id": owner.connection_id}, headers=stranger)
            assert [answer.json()["error"]["code"] for answer in (posted, opened)] == [EXPIRED, EXPIRED]
        mine = await http.post(owner.endpoint, json=message, headers={"Authorization": "Bearer the-owner"})
        assert mine.status_code == 202


async def test_the_number_of_sessions_is_bounded(serve, listen, clock):
    async with serve("sse", clock, max_sessions=2) as http:
        async with listen(http) as one, listen(http):
            full = await http.get("/sse")
            assert (full.status_code, full.json()["error"]["code"]) == (503, "too_many_sessions")
            assert full.headers["retry-after"] == "60"
            assert (await one.initialize())["id"] == "init"
        await clock.asleep(60.0, count=2)
        clock.advance(60)
        await clock.nobody_asleep(60.0)
        async with listen(http) as fresh:
            assert (await fresh.initialize())["id"] == "init"


async def test_a_malformed_message_is_refused_and_the_session_survives(serve, listen, clock):
    not_json = [b'{"jsonrpc": "2.0", "id": 1, ', b"\xff\xfe\x00", b"[" * 100_000, b"", b"NaN"]
    not_a_frame = [
        b"[]",
        b'"text"',
        b'{"id": 1, "method": "ping"}',
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": 5}',
    ]
    async with serve("sse", clock) as http, listen(http) as listener:
        await listener.initialize()
        for body, code in [*((body, -32700) for body in not_json), *((body, -32600) for body in not_a_frame)]:
            refused = await http.post(listener.endpoint, content=body, headers={"Content-Type": "application/json"})
            id = 1 if code == -32600 and b'"id": 1' in body else None
            assert (refused.status_code, refused.json()["error"]["code"], refused.json()["id"]) == (400, code, id)
        await listener.call(1, "echo", text="alive")
        assert (await listener.message())["result"]["content"][0]["text"] == "alive"


async def test_a_message_that_is_not_declared_as_json_is_refused(serve, listen, clock):
    async with serve("sse", clock) as http, listen(http) as listener:
        refused = await http.post(listener.endpoint, content=b"{}", headers={"Content-Type": "text/plain"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (415, -32600)


async def test_a_cancelled_call_stops_and_the_session_goes_on(serve, listen, clock, workshop):
    async with serve("sse", clock) as http, listen(http) as listener:
        await listener.initialize()
        await listener.call(1, "hold", text="unwanted")
        await workshop.entered["unwanted"].wait()
        await listener.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        await workshop.left["unwanted"].wait()
        assert workshop.cancelled == {"unwanted"}
        await listener.call(2, "echo", text="next")
        assert (await listener.message())["id"] == 2


async def test_a_slow_call_does_not_hold_up_another(serve, listen, clock, workshop):
    async with serve("sse", clock) as http, listen(http) as listener:
        await listener.initialize()
        await listener.call(1, "hold", text="slow")
        await workshop.entered["slow"].wait()
        await listener.call(2, "echo", text="quick")
        assert (await listener.message())["id"] == 2
        workshop.gate["slow"].set()
        assert (await listener.message())["id"] == 1


async def test_line_separators_inside_a_text_arrive_unharmed(serve, listen, clock):
    text = "one\u2028two\u2029three\x85four\r\nfive é 漢"
    async with serve("sse", clock) as http, listen(http) as listener:
        await listener.initialize()
        await listener.call(1, "echo", text=text)
        event = await listener.event()
        assert json.loads(event.data)["result"]["content"][0]["text"] == text
        assert len(event.data.splitlines()) == 1


async def test_a_crashing_tool_is_an_error_answer_and_the_session_goes_on(serve, listen, clock):
    async with serve("sse", clock) as http, listen(http) as listener:
        await listener.initialize()
        await listener.call(1, "crash", text="private words")
        assert "error" in await listener.message()
        await listener.call(2, "echo", text="alive")
        assert (await listener.message())["id"] == 2


async def test_head_on_the_stream_answers_without_opening_a_session(serve, listen, clock):
    async with serve("sse", clock, max_sessions=1) as http:
        assert (await http.head("/sse")).status_code == 200
        async with listen(http) as listener:
            assert (await listener.initialize())["id"] == "init"
