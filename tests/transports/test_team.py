"""A server of a team over HTTP: principals with tokens, access tokens of an external issuer, and who called what."""

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import BinaryIO

import anyio
import anyio.to_thread
import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests import forked

from clew.errors import AlreadyExists, ConfigError, InvalidArgument, NotFound
from clew.setup import tokens
from clew.store.sqlite.engine import open_sqlite
from clew.surfaces.cli.main import main
from clew.surfaces.mcp.transports.access import oauth
from clew.surfaces.mcp.transports.access.oauth import OAuthSettings
from clew.surfaces.mcp.transports.settings import HttpSettings, check

pytestmark = pytest.mark.anyio

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
RESOURCE = "https://clew.example.org/mcp"
NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def admitted(http: httpx2.AsyncClient, token: str | None = None) -> bool:
    """Whether a request gets as far as to hear that there is nothing at its path."""
    answer = await http.get("/nowhere", headers=bearer(token) if token else {})
    assert answer.status_code in (401, 404)
    return answer.status_code == 404


# Verifies: REQ-d00484-A
def test_a_token_is_shown_once_and_kept_as_a_hash(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["token", "add", "alice", "--days", "30"]) == 0
    token = capsys.readouterr().out.strip()
    kept = tokens.tokens_path()
    assert token not in kept.read_text()
    assert token.removeprefix(tokens.PREFIX) not in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0
    assert main(["token", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["tokens"]
    assert (list(listed), listed["alice"]["read_only"]) == (["alice"], False)
    assert main(["token", "revoke", "alice"]) == 0
    assert tokens.listed() == {}


# Verifies: REQ-d00484-A
def test_bad_names_and_times_are_refused_and_change_nothing() -> None:
    tokens.add("alice", now=NOW)
    for name in ("", "a b", "../etc", "a/b", "x" * 65, "-a"):
        with pytest.raises(InvalidArgument):
            tokens.add(name, now=NOW)
    for days in (0, -1, tokens.MOST_DAYS + 1):
        with pytest.raises(InvalidArgument):
            tokens.add("bob", days=days, now=NOW)
    with pytest.raises(AlreadyExists):
        tokens.add("alice", now=NOW)
    with pytest.raises(NotFound):
        tokens.revoke("bob")
    assert list(tokens.listed()) == ["alice"]
    tokens.tokens_path().chmod(0o644)
    with pytest.raises(ConfigError, match="chmod"):
        tokens.listed()


# Verifies: REQ-d00484-B
async def test_a_token_is_good_until_it_expires_or_is_revoked(serve, clock):
    start = datetime.fromtimestamp(clock.time(), UTC)
    alice, bob = tokens.add("alice", days=1, now=start), tokens.add("bob", days=2, now=start)
    async with serve(team=True, clock=clock) as http:
        assert [await admitted(http, each) for each in (None, "nonsense", alice, bob)] == [False, False, True, True]
        clock.advance(timedelta(days=1, seconds=1).total_seconds())
        assert [await admitted(http, each) for each in (alice, bob)] == [False, True]
        tokens.revoke("bob")
        assert not await admitted(http, bob)
        carol = tokens.add("carol", now=datetime.fromtimestamp(clock.time(), UTC))
        assert await admitted(http, carol)
        assert (await http.get("/healthz")).status_code == 200
        assert (await http.get("/anything")).status_code == 401


# Verifies: REQ-d00484-C
def test_a_server_for_other_machines_needs_tokens() -> None:
    with pytest.raises(ConfigError, match="needs a token") as caught:
        check(HttpSettings(host="0.0.0.0"))
    assert "clew token add" in caught.value.hint
    check(HttpSettings(host="0.0.0.0", team=True))


class Issuer:
    """An issuer of access tokens on this machine, with keys and metadata as the protocol's clients expect them."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.asked: list[str] = []
        self.raw: bytes | None = None
        """What it says instead of any answer."""
        self.hold = threading.Event()
        self.hold.set()
        issuer = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked.append(self.path)
                issuer.hold.wait(60)
                if issuer.raw is not None:
                    issuer.send_raw(self.wfile)
                    return
                body = issuer.pages().get(self.path)
                self.send_response(200 if body is not None else 404)
                self.end_headers()
                self.wfile.write(json.dumps(body or {}).encode())

            def log_message(self, *said: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self.server.server_port}/realms/dev"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def send_raw(self, file: BinaryIO) -> None:
        file.write(self.raw or b"")

    def pages(self) -> dict[str, object]:
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        keys = {"keys": [{**public, "kid": "k1", "alg": "ES256", "use": "sig"}]}
        told = {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}
        return {"/realms/dev/.well-known/openid-configuration": told, "/realms/dev/keys": keys}

    def token(self, key: object = None, kid: str = "k1", **changed: object) -> str:
        claims = {"iss": self.url, "aud": RESOURCE, "sub": "ada", "scope": "clew:read clew:write"}
        claims |= {"exp": int(time.time()) + 3600, **changed}
        said = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(said, key or self.key, algorithm="ES256", headers={"kid": kid})

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    yield made
    made.close()


# Verifies: REQ-d00485-A
async def test_a_client_without_a_token_is_told_where_to_get_one(serve, issuer):
    async with serve(team=True, oauth=OAuthSettings(issuer=issuer.url, resource=RESOURCE)) as http:
        refused = await http.post("/mcp", json=PING)
        where = "https://clew.example.org/.well-known/oauth-protected-resource/mcp"
        assert refused.status_code == 401
        assert f'resource_metadata="{where}"' in refused.headers["www-authenticate"]
        for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
            told = (await http.get(path)).json()
            assert (told["resource"], told["authorization_servers"]) == (RESOURCE, [issuer.url])
            assert told["bearer_methods_supported"] == ["header"]


# Verifies: REQ-d00485-B
async def test_only_tokens_that_the_issuer_made_for_this_server_are_good(serve, issuer):
    other = ec.generate_private_key(ec.SECP256R1())
    public = issuer.key.public_key()
    bad = {
        "another audience": issuer.token(aud="https://elsewhere.example.org/mcp"),
        "several audiences": issuer.token(aud=["https://elsewhere.example.org", RESOURCE]),
        "no audience": issuer.token(aud=None),
        "the address with a slash": issuer.token(aud=f"{RESOURCE}/"),
        "expired": issuer.token(exp=int(time.time()) - 3600),
        "without an end": issuer.token(exp=None),
        "an end that is no time": issuer.token(exp=[1]),
        "a beginning that is no time": issuer.token(nbf={"a": 1}),
        "not yet good": issuer.token(nbf=int(time.time()) + 3600),
        "another issuer": issuer.token(iss="https://elsewhere.example.org"),
        "nobody's": issuer.token(sub=None),
        "somebody else's agent": issuer.token(sub="alice/agent"),
        "a name with a line break": issuer.token(sub="ada\nroot"),
        "an endless name": issuer.token(sub="a" * 201),
        "scopes that are no text": issuer.token(scope=["clew:read"]),
        "another key": issuer.token(key=other),
        "an unknown key": issuer.token(kid="k2"),
        "not signed": jwt.encode({"iss": issuer.url, "aud": RESOURCE, "sub": "ada"}, "", algorithm="none"),
        "signed with a shared secret": jwt.encode(
            {"iss": issuer.url, "aud": RESOURCE, "sub": "ada", "exp": int(time.time()) + 60},
            str(public.public_numbers().x).rjust(64, "0"),
            algorithm="HS256",
            headers={"kid": "k1"},
        ),
        "damaged": issuer.token()[:-4] + "AAAA",
    }
    async with serve(team=True, oauth=OAuthSettings(issuer=issuer.url, resource=RESOURCE)) as http:
        assert await admitted(http, issuer.token())
        assert await admitted(http, issuer.token(aud=[RESOURCE], sub="auth0|5f7c", scope="openid clew:read"))
        for why, token in bad.items():
            assert not await admitted(http, token), why
        refused = await http.post("/mcp", json=PING, headers=bearer(bad["expired"]))
        assert 'error="invalid_token"' in refused.headers["www-authenticate"]
        # The keys were fetched once: an unknown one does not make the server ask each time.
        assert issuer.asked.count("/realms/dev/keys") == 1


# Verifies: REQ-d00485-C
async def test_a_token_without_a_scope_of_this_server_is_refused(serve, issuer):
    async with serve(team=True, oauth=OAuthSettings(issuer=issuer.url, resource=RESOURCE)) as http:
        for scope in (None, "", "openid clew:reader"):
            refused = await http.post("/mcp", json=PING, headers=bearer(issuer.token(scope=scope)))
            assert refused.status_code == 403
            assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]
            assert 'scope="clew:read"' in refused.headers["www-authenticate"]
        for scope in ("clew:read", "clew:write"):
            assert await admitted(http, issuer.token(scope=scope))


# Verifies: REQ-d00485-D
@pytest.mark.parametrize(
    "raw",
    [
        *(b"HTTP/1.0 200 OK\r\n\r\n" + body for body in (b"[]", b"{}", b'{"keys": [1]}', b'{"keys": 1}', b"<html>")),
        b"no HTTP at all",
        b"",
    ],
)
def test_an_issuer_that_gives_no_keys_is_not_asked_with_every_request(issuer: Issuer, raw: bytes) -> None:
    checking = oauth.Issuer(OAuthSettings(issuer=issuer.url, resource=RESOURCE, keys=f"{issuer.url}/keys"))
    issuer.raw = raw
    assert [checking.principal(issuer.token()) for _ in range(5)] == [None] * 5
    assert issuer.asked == ["/realms/dev/keys"]


# Verifies: REQ-d00485-D
def test_keys_are_kept_while_the_issuer_does_not_answer(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    checking = oauth.Issuer(OAuthSettings(issuer=issuer.url, resource=RESOURCE))
    assert checking.principal(issuer.token()) == tokens.Principal("ada", may_write=True)
    issuer.raw = b""
    monkeypatch.setattr(oauth, "_KEYS_SECONDS", -1.0)
    monkeypatch.setattr(oauth, "_AGAIN_SECONDS", -1.0)
    asked = len(issuer.asked)
    assert checking.principal(issuer.token()) == tokens.Principal("ada", may_write=True)
    while len(issuer.asked) == asked:
        time.sleep(0.001)
    monkeypatch.setattr(oauth, "_OLDEST_KEYS_SECONDS", -1.0)
    assert checking.principal(issuer.token()) is None


# Verifies: REQ-d00485-D
def test_while_the_issuer_hangs_known_keys_are_good_at_once_and_unknown_ones_do_not_queue(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    checking = oauth.Issuer(OAuthSettings(issuer=issuer.url, resource=RESOURCE, keys=f"{issuer.url}/keys"))
    ada = tokens.Principal("ada", may_write=True)
    assert checking.principal(issuer.token()) == ada
    monkeypatch.setattr(oauth, "_KEYS_SECONDS", -1.0)
    monkeypatch.setattr(oauth, "_AGAIN_SECONDS", -1.0)
    monkeypatch.setattr(oauth, "_FETCH_SECONDS", 60.0)
    issuer.hold.clear()
    try:
        # Whoever waited here would wait for the issuer, which answers after all of this.
        assert [checking.principal(issuer.token()) for _ in range(3)] == [ada] * 3
        assert checking.principal(issuer.token(kid="k2")) is None
        while len(issuer.asked) == 1:
            time.sleep(0.001)
        assert len(issuer.asked) == 2
    finally:
        issuer.hold.set()


# Verifies: REQ-d00485-D
async def test_requests_that_wait_for_an_issuer_take_no_thread_of_the_calls(serve, issuer):
    async with serve(team=True, oauth=OAuthSettings(issuer=issuer.url, resource=RESOURCE)) as http:
        issuer.hold.clear()
        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(admitted, http, issuer.token(kid=f"k{number}"))
            while not issuer.asked:
                await anyio.sleep(0.001)
            assert anyio.to_thread.current_default_thread_limiter().borrowed_tokens == 0
            issuer.hold.set()


# Verifies: REQ-d00485-D
def test_keys_are_fetched_over_tls_only(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"issuer": issuer.url, "jwks_uri": "http://keys.example.org/keys"}
    monkeypatch.setattr(issuer, "pages", lambda: {"/realms/dev/.well-known/openid-configuration": told})
    checking = oauth.Issuer(OAuthSettings(issuer=issuer.url, resource=RESOURCE))
    looked_up: list[str] = []
    look_up = socket.getaddrinfo

    def counted(host: str, *more: object, **named: object) -> object:
        looked_up.append(host)
        assert host == "127.0.0.1"
        return look_up(host, *more, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(socket, "getaddrinfo", counted)
    assert checking.principal(issuer.token()) is None
    assert "/realms/dev/.well-known/openid-configuration" in issuer.asked
    assert set(looked_up) == {"127.0.0.1"}
    for keys in ("http://keys.example.org/keys", "file:///etc/keys", "https://[", "https:///keys"):
        with pytest.raises(ConfigError, match="--oauth-keys"):
            check(HttpSettings(team=True, oauth=OAuthSettings(issuer=issuer.url, resource=RESOURCE, keys=keys)))


# Verifies: REQ-d00485-A
def test_an_issuer_without_tls_elsewhere_is_refused() -> None:
    good = OAuthSettings(issuer="https://id.example.org", resource=RESOURCE)
    check(HttpSettings(host="0.0.0.0", team=True, oauth=good))
    for issuer, resource in (("http://id.example.org", RESOURCE), ("https://id.example.org", "ftp://x/mcp")):
        with pytest.raises(ConfigError, match="https"):
            check(HttpSettings(team=True, oauth=OAuthSettings(issuer=issuer, resource=resource)))


async def outcome(client: Client, arguments: dict[str, object]) -> str:
    try:
        answer = await client.call_tool("tools_call", arguments)
    except MCPError as error:
        return error.message
    return str(answer.content) if answer.is_error else "done"


# Verifies: REQ-d00481-C, REQ-d00484-B, REQ-d00486-A
async def test_the_owner_of_a_token_is_the_actor_and_every_call_is_written_down(small: Path, tmp_path: Path) -> None:
    with (small / "clew.toml").open("a", encoding="utf-8") as file:
        file.write('[embedder]\nkind = "none"\n')
    now = datetime.now(UTC)
    alice, eve = tokens.add("alice", now=now), tokens.add("eve", read_only=True, now=now)
    audit = tmp_path / "audit.jsonl"
    command = [sys.executable, "-m", "clew", "serve", str(small), "--transport", "http", "--port", "0", "--team"]
    with forked.Process([*command, "--audit", str(audit)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            url = server.stdout.readline().split(" at ")[1].strip()
            said: list[str] = []
            asked = {"content": "Lamps burn secretly.", "rationale": "seen on the quay at night"}
            for token in (alice, eve):
                async with (
                    httpx2.AsyncClient(headers=bearer(token), timeout=120) as http,
                    Client(streamable_http_client(url, http_client=http)) as client,
                ):
                    said.append(await outcome(client, {"name": "store_memory", "arguments": asked}))
        finally:
            server.terminate()
    assert said[0] == "done"
    assert "the token of eve is read-only" in said[1]
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [(line["principal"], line["tool"], line["writes"]) for line in lines] == [
        ("alice", "store_memory", True),
        ("eve", "store_memory", True),
    ]
    assert lines[0]["outcome"] == "ok" != lines[1]["outcome"]
    assert "secretly" not in audit.read_text()
    assert audit.stat().st_mode & 0o077 == 0
    with closing(open_sqlite(small / ".clew" / "memory.db", read_only=True)) as store:
        assert {event.actor for event in store.events()} == {"alice"}
