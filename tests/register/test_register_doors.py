"""Other ways into the register: a server for agents, pages in a browser, a menu, and the settings of Claude Code."""

import json
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from tests import forked
from tests.register.served import Served, make_project
from tests.register.shell import ADD, Shell

from clew.errors import ConfigError
from clew.surfaces.req.web import open_server


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = make_project(tmp_path / "project", git=False)
    made.add(title="Lock <b>doors</b>")
    made.add(title="Tell the owner", parent="1")
    yield made
    made.close()


@pytest.fixture
def address(served: Served) -> Iterator[str]:
    where, stop = serving(served, "127.0.0.1")
    yield where
    stop()


def fetched(url: str, **headers: str) -> tuple[int, str]:
    try:
        with urlopen(Request(url, headers=headers)) as answer:  # noqa: S310 - the address is our own
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


# Verifies: REQ-d00234-A
def test_the_register_can_be_read_in_a_browser(served: Served, address: str) -> None:
    status, page = fetched(address)
    assert status == 200
    assert "Lock &lt;b&gt;doors&lt;/b&gt;" in page
    assert '<a href="/r/REQ-0002">' in page
    assert '<a href="/r/REQ-0001">REQ-0001</a>' in fetched(f"{address}r/2")[1]
    assert json.loads(fetched(f"{address}api/list")[1])["count"] == 2
    assert json.loads(fetched(f"{address}api/r/req-2")[1])["title"] == "Tell the owner"
    served.add(title="Made while it is served")
    assert "Made while it is served" in fetched(address)[1]


# Verifies: REQ-d00234-A
def test_a_browser_is_told_what_is_not_there_and_other_names_are_refused(address: str) -> None:
    assert fetched(f"{address}r/9")[0] == 404
    assert json.loads(fetched(f"{address}api/r/9")[1])["code"] == "REQ-E-NOT-FOUND"
    assert fetched(f"{address}etc/passwd")[0] == 404
    status, told = fetched(address, Host="evil.example")
    assert status == 421
    assert "--allow-host" in told
    assert fetched(address, Host="[not an address")[0] == 421
    assert fetched(f"{address}r/%5B?x=[")[0] == 404
    for host, port in (("127.0.0.1", int(address.rstrip("/").rpartition(":")[2])), ("no such host", 0), ("::1", 70000)):
        with pytest.raises(ConfigError):
            open_server(None, host, port)  # type: ignore[arg-type]


def serving(served: Served, host: str, *allowed: str) -> tuple[str, Callable[[], None]]:
    where, run, stop = open_server(served.project.register, host, 0, allowed)
    thread = threading.Thread(target=run)
    thread.start()

    def stopped() -> None:
        stop()
        thread.join()

    return where, stopped


# Verifies: REQ-d00234-A
def test_a_reader_that_breaks_off_is_no_news(address: str, capfd: pytest.CaptureFixture[str]) -> None:
    place = ("127.0.0.1", int(address.rstrip("/").rpartition(":")[2]))
    for _ in range(3):
        with socket.create_connection(place) as reader:
            # Closed with data unread, which the other end sees as an error.
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            reader.sendall(b"GET /api/list HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert fetched(address)[0] == 200
    assert "Traceback" not in capfd.readouterr().err


# Verifies: REQ-d00234-A
def test_a_server_that_others_reach_answers_to_the_names_that_were_allowed(served: Served) -> None:
    address, stop = serving(served, "0.0.0.0", "Build.example.org", "192.0.2.7")
    try:
        assert address.startswith("http://127.0.0.1:")
        for host, status in (
            ("build.example.org:7878", 200),
            ("192.0.2.7", 200),
            ("localhost", 200),
            ("127.0.0.1", 200),
            ("evil.example", 421),
            ("192.0.2.8", 421),
        ):
            assert fetched(address, Host=host)[0] == status, host
    finally:
        stop()
    with pytest.raises(ConfigError, match="is not a host name"):
        open_server(served.project.register, "127.0.0.1", 0, ("http://a",))


# Verifies: REQ-d00234-A
@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_addresses_of_the_newer_kind_can_be_listened_on(served: Served) -> None:
    address, stop = serving(served, "::1")
    try:
        assert address.startswith("http://[::1]:")
        assert fetched(address)[0] == 200
    finally:
        stop()


# Verifies: REQ-d00234-B, REQ-d00822-G
def test_the_server_of_req_is_one_command_and_one_entry(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text('{"mcpServers": {"other": {"command": "x"}, "req": {"command": "req", "args": ["mcp"]}}}\n')
    assert shell.json("mcp", "--init-config", code=2)["code"] == "REQ-E-REFUSED"
    assert shell.json("mcp", "--init-config", "--force")["changed"]
    entries = json.loads(path.read_text())["mcpServers"]
    assert entries["other"] == {"command": "x"}
    assert entries["req"]["args"] == ["req", "mcp"]
    assert entries["req"]["command"] == "clew"
    # As req does: what is there is never touched without --force.
    assert shell.json("mcp", "--init-config", code=2)["code"] == "REQ-E-REFUSED"
    path.unlink()
    assert shell.json("mcp", "--init-config")["changed"]
    made = json.loads(path.read_text())
    assert made["_readme"]
    assert made["mcpServers"]["req"]["command"] == "clew"

    ask = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    ask["params"] = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    listed = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    with forked.Process(
        [sys.executable, "-m", "clew", *entries["req"]["args"]],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        print(json.dumps(ask), file=server.stdin, flush=True)
        assert json.loads(server.stdout.readline())["result"]["serverInfo"]["name"] == "req"
        print(json.dumps(told), json.dumps(listed), sep="\n", file=server.stdin, flush=True)
        assert len(json.loads(server.stdout.readline())["result"]["tools"]) == 29
        server.stdin.close()
    assert server.returncode == 0


# Verifies: REQ-d00234-C
def test_claude_code_is_told_once_and_keeps_its_own_settings(shell: Shell, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "opus", "permissions": {"allow": ["Bash(ls:*)"], "deny": ["Read(.env)"]}}')

    shell.run("hooks", "install", "--claude-code")
    first = settings.read_bytes()
    shell.run("setup", "--no-agents", "--claude-code")

    assert settings.read_bytes() == first
    told = json.loads(first)
    assert told["model"] == "opus"
    assert told["permissions"]["deny"] == ["Read(.env)"]
    assert told["permissions"]["allow"][0] == "Bash(ls:*)"
    assert "Bash(clew req validate:*)" in told["permissions"]["allow"]
    assert not any("repair" in rule for rule in told["permissions"]["allow"])
    assert told["hooks"]["Stop"] == [{"hooks": [{"type": "command", "command": "clew req validate"}]}]
    settings.write_text("{ not json")
    report = shell.json("hooks", "install", "--claude-code", code=1)
    assert not report["steps"][-1]["done"]
    assert settings.read_text() == "{ not json"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
# Verifies: REQ-d00234-D
def test_the_menu_runs_commands_one_after_another(shell: Shell, tmp_path: Path) -> None:
    import pty

    shell.run("add", *ADD)
    assert shell.json("tui", code=2)["code"] == "REQ-E-REFUSED"
    lines = ["3 1", "show 99", "no-such", "'", "", "update 1 --status proposed --reason 'we talked'", "quit"]
    leader, follower = pty.openpty()
    with os.fdopen(leader, "wb", buffering=0) as terminal:
        asking = forked.Process(
            [sys.executable, "-m", "clew", "req", "tui"],
            cwd=tmp_path,
            stdin=follower,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        os.close(follower)
        terminal.write("".join(f"{line}\n" for line in lines).encode())
        shown, _ = asking.communicate(timeout=120)
    assert asking.returncode == 0
    assert "The sixth login is refused" in shown
    assert "There is no requirement '99'" in shown
    assert shell.json("show", "1")["status"] == "Proposed"


# Verifies: REQ-d00660-E
def test_what_sends_no_body_or_comes_from_a_foreign_page_shuts_nobody_out(address: str) -> None:
    place = ("127.0.0.1", int(address.rstrip("/").rpartition(":")[2]))
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
    with ExitStack() as stack:
        threads = threading.active_count()
        for _ in range(100):
            stack.enter_context(socket.create_connection(place)).sendall(head[:-1])
        for _ in range(500):
            assert fetched(address, Origin="http://evil.example")[0] in (403, 429)
        assert fetched(address)[0] == 200
        assert threading.active_count() < threads + 50
    with socket.create_connection(place) as reader:
        reader.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with reader.makefile("rb") as answer:
            assert answer.read().count(b"HTTP/1.1") == 1


# Verifies: REQ-d00660-E
def test_no_page_but_its_own_may_read_the_register(address: str) -> None:
    assert fetched(address, Origin="http://localhost:3000")[0] == 403
    assert fetched(address, Origin=address.rstrip("/"))[0] == 200
