"""What every HTTP endpoint refuses, and that it goes on serving afterwards."""

import anyio
import httpx2
import pytest

# Verifies: REQ-d00016-B+C+D

pytestmark = pytest.mark.anyio

EVERYWHERE = "0.0.0.0"
TOKEN = "correct-horse-battery"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ENDPOINTS = [("GET", "/healthz"), ("POST", "/mcp"), ("GET", "/sse"), ("POST", "/messages"), ("GET", "/nowhere")]


def refusal(answer):
    error = answer.json()["error"]
    assert error["message"], "every refusal says what is wrong"
    assert error["hint"], "every refusal says what to do next"
    return answer.status_code, error["code"]


async def test_health_names_the_server(serve):
    async with serve() as http:
        answer = await http.get("/healthz")
    assert answer.json() == {"ok": True, "name": "workshop", "version": "1.2.3"}


async def test_a_foreign_host_name_is_refused_at_every_endpoint(serve):
    foreign = ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost@evil.example", "[::2]", "a b"]
    async with serve("sse") as http:
        for host in foreign:
            for method, path in ENDPOINTS:
                assert refusal(await http.request(method, path, headers={"Host": host})) == (421, "wrong_host")


async def test_loopback_names_and_configured_hosts_are_answered(serve):
    async with serve(allowed_hosts=("clew.lan",)) as http:
        for host in ("127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:80", "clew.lan", "CLEW.lan:8443"):
            assert (await http.get("/healthz", headers={"Host": host})).status_code == 200, host


async def test_a_foreign_origin_is_refused_at_every_endpoint(serve):
    foreign = [
        "http://evil.example",
        "null",
        "https://localhost.evil.example",
        "file://",
        "http://",
        "app://localhost",
        "",
    ]
    async with serve("sse") as http:
        for origin in foreign:
            for method, path in ENDPOINTS:
                answer = await http.request(method, path, headers={"Origin": origin})
                assert refusal(answer) == (403, "wrong_origin")
                assert "access-control-allow-origin" not in answer.headers


async def test_a_trusted_origin_may_read_the_answer(serve):
    trusted = ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:5173", "https://ide.example", "app://ide"]
    async with serve(allowed_origins=("https://ide.example", "app://ide")) as http:
        for origin in trusted:
            answer = await http.get("/healthz", headers={"Origin": origin})
            missing = await http.get("/nowhere", headers={"Origin": origin})
            assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, origin)
            assert "Origin" in answer.headers["vary"]
            assert (missing.status_code, missing.headers["access-control-allow-origin"]) == (404, origin)


async def test_a_trusted_page_gets_permission_before_it_shows_its_token(serve):
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, mcp-session-id",
    }
    async with serve(token=TOKEN) as http:
        del http.headers["Authorization"]
        trusted = await http.options("/mcp", headers={"Origin": "http://localhost:3000", **asked})
        foreign = await http.options("/mcp", headers={"Origin": "http://evil.example", **asked})
        plain = await http.options("/mcp")
    assert trusted.status_code == 204
    assert trusted.headers["access-control-allow-headers"] == "authorization, mcp-session-id"
    assert refusal(foreign) == (403, "wrong_origin")
    assert refusal(plain) == (401, "unauthorized")


async def test_without_the_right_token_every_endpoint_is_closed(serve):
    wrong = ["", "Bearer", "Bearer wrong-token-of-length", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x"]
    async with serve("sse", token=TOKEN) as http:
        del http.headers["Authorization"]
        for headers in ({}, *({"Authorization": value} for value in wrong)):
            for method, path in ENDPOINTS:
                answer = await http.request(method, path, headers=headers)
                assert refusal(answer) == (401, "unauthorized")
                assert answer.headers["www-authenticate"].startswith("Bearer")
                assert TOKEN not in answer.text


async def test_with_the_right_token_every_endpoint_is_open(serve):
    async with serve("sse", token=TOKEN) as http:
        assert (await http.get("/healthz")).status_code == 200
        assert (await http.get("/healthz", headers={"Authorization": f"bearer {TOKEN}"})).status_code == 200


async def test_an_oversized_body_is_refused_whether_declared_or_not(serve):
    async def chunks():
        for _ in range(8):
            yield b"x" * 1000

    async with serve("sse", max_body=4000) as http:
        for path in ("/mcp", "/messages"):
            declared = await http.post(path, content=b"x" * 4001)
            streamed = await http.post(path, content=chunks())
            assert refusal(declared) == (413, "body_too_large")
            assert refusal(streamed) == (413, "body_too_large")
        assert (await http.get("/healthz")).status_code == 200


async def test_a_body_declared_too_large_is_refused_before_it_is_sent(serve):
    async with serve() as http:
        stream = await anyio.connect_tcp(http.base_url.host, http.base_url.port)
        async with stream:
            await stream.send(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000000\r\n\r\n")
            assert (await stream.receive()).startswith(b"HTTP/1.1 413")


async def test_a_body_of_exactly_the_limit_is_read(serve):
    async with serve("sse", max_body=4000) as http:
        answer = await http.post("/messages", content=b"x" * 4000, headers={"Content-Type": "application/json"})
    assert answer.status_code == 404


async def test_a_five_megabyte_body_is_refused_by_default(serve):
    async with serve() as http:
        assert refusal(await http.post("/mcp", content=b"x" * 5_000_000)) == (413, "body_too_large")
        assert (await http.get("/healthz")).status_code == 200


async def test_oversized_headers_are_refused(serve):
    async with serve() as http:
        long = await http.get("/healthz", headers={"X-Long": "x" * 40_000})
        many = await http.get("/healthz", headers=[(f"X-{n}", "x") for n in range(120)])
        assert [refusal(answer) for answer in (long, many)] == [(431, "headers_too_large")] * 2
        assert (await http.get("/healthz")).status_code == 200


async def test_a_client_that_asks_too_often_has_to_wait(serve, clock):
    async with serve(clock=clock, rate=2, burst=3) as http:
        allowed = [(await http.get("/healthz")).status_code for _ in range(3)]
        refused = await http.get("/healthz")
        assert allowed == [200, 200, 200]
        assert (refusal(refused), refused.headers["retry-after"]) == ((429, "rate_limited"), "1")
        clock.advance(0.5)
        assert (await http.get("/healthz")).status_code == 200
        assert (await http.get("/healthz")).status_code == 429


async def test_wrong_tokens_count_against_the_rate(serve, clock):
    async with serve(clock=clock, token=TOKEN, rate=1, burst=3) as http:
        wrong = {"Authorization": "Bearer a-guess-that-is-wrong"}
        statuses = [(await http.get("/healthz", headers=wrong)).status_code for _ in range(5)]
        clock.advance(60)
        posted = [(await http.post("/mcp", content=b"{}", headers=wrong)).status_code for _ in range(5)]
    assert statuses == posted == [401, 401, 401, 429, 429]


async def test_a_path_that_is_not_served_says_which_are(serve):
    async with serve("http") as http:
        for method, path, status in (("GET", "/nowhere", 404), ("POST", "/healthz", 405), ("GET", "/sse", 404)):
            answer = await http.request(method, path)
            assert answer.status_code == status
            assert "/mcp" in answer.json()["error"]["hint"]


async def test_malformed_json_on_streamable_http_is_a_parse_error_and_the_server_goes_on(serve):
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    async with serve() as http:
        for version in ({}, {"MCP-Protocol-Version": "2026-07-28"}):
            answer = await http.post("/mcp", content=b'{"jsonrpc":', headers={**headers, **version})
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)
        assert (await http.get("/healthz")).status_code == 200


async def test_bytes_that_are_not_http_are_refused_and_the_server_goes_on(serve):
    async with serve() as http:
        stream = await anyio.connect_tcp(http.base_url.host, http.base_url.port)
        async with stream:
            await stream.send(b"\x16\x03\x01 this is not http\r\n\r\n")
            assert (await stream.receive()).startswith(b"HTTP/1.1 400")
        assert (await http.get("/healthz")).status_code == 200


async def test_a_client_that_leaves_in_the_middle_of_its_body_does_no_harm(serve):
    async with serve() as http:
        stream = await anyio.connect_tcp(http.base_url.host, http.base_url.port)
        async with stream:
            await stream.send(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
        assert (await http.get("/healthz")).status_code == 200


async def test_ipv6_loopback_is_served(serve):
    async with serve(host="::1") as http:
        assert http.base_url.host == "::1"
        assert (await http.get("/healthz")).status_code == 200


async def test_localhost_listens_on_loopback_only(serve):
    async with serve(host="localhost") as http:
        assert http.base_url.host == "127.0.0.1"
        assert (await http.get("/healthz")).status_code == 200


async def test_listening_everywhere_works_with_a_token_and_still_checks_the_host(serve):
    async with serve(host=EVERYWHERE, token=TOKEN) as http:
        assert (await http.get("/healthz")).status_code == 200
        assert refusal(await http.get("/healthz", headers={"Host": "10.1.2.3"})) == (421, "wrong_host")
        async with httpx2.AsyncClient(base_url=http.base_url) as stranger:
            assert refusal(await stranger.get("/healthz")) == (401, "unauthorized")


FOREIGN = [
    {"Origin": "http://evil.example"},
    {"Host": "evil.example"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
]


# Verifies: REQ-d00660-A
@pytest.mark.parametrize("content", [b"", b"{}"])
@pytest.mark.parametrize("foreign", FOREIGN, ids=str)
async def test_what_a_foreign_page_sends_uses_up_nothing_of_honest_clients(serve, clock, foreign, content):
    async with serve(clock=clock, rate=1, burst=3) as http:
        statuses = [(await http.post("/mcp", content=content, headers=foreign)).status_code for _ in range(9)]
        assert statuses[3:] == [429] * 6
        assert set(statuses[:3]) <= {403, 421}
        assert [(await http.get("/healthz")).status_code for _ in range(4)] == [200, 200, 200, 429]


# Verifies: REQ-d00660-A
async def test_a_link_from_another_site_leads_here_and_is_counted_apart(serve, clock):
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    async with serve(clock=clock, rate=1, burst=2) as http:
        assert [(await http.get("/healthz", headers=followed)).status_code for _ in range(3)] == [200, 200, 429]
        assert (await http.get("/healthz", headers={"Sec-Fetch-Site": "same-origin"})).status_code == 200
        assert (await http.get("/healthz", headers={"Sec-Fetch-Site": "none"})).status_code == 200


CHUNKED = b"Transfer-Encoding: chunked\r\n"
TWO_LENGTHS = [
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + CHUNKED + b"Content-Length: 0\r\n\r\n0\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nconTent-lenGth: 5\r\ntransfer-ENCODING: Chunked\r\n\r\n0\r\n\r\n",
    b"POST /mcp HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
]
SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


# Verifies: REQ-d00660-D
@pytest.mark.parametrize("said", TWO_LENGTHS)
async def test_a_body_with_two_lengths_closes_the_connection_and_nothing_behind_it_is_served(serve, said):
    async with serve() as http:
        for before in (b"", SMUGGLED):
            stream = await anyio.connect_tcp(http.base_url.host, http.base_url.port)
            async with stream:
                await stream.send(before + said + SMUGGLED)
                answers = b""
                try:
                    while True:
                        answers += await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    pass
                assert answers.count(b"HTTP/1.1 200") == len(before) // len(SMUGGLED)
                assert answers.count(b"HTTP/1.1 ") == len(before) // len(SMUGGLED) + 1
                assert b"HTTP/1.1 400" in answers
        assert (await http.get("/healthz")).status_code == 200
