"""`clew hook` as hosts run it: a process for each event, with and without a server."""

import json
import os
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.contract.memory_client import Memory, remembering, write_project
from tests.memory.hook_host import Host, listener_of, listening, wait_until

from clew.edit.state_folder import make_state_folder
from clew.ipc.address import sockets
from clew.memory.hooks import address
from clew.memory.hooks.handler import HookHandler
from clew.memory.hooks.payload import read_payload
from clew.memory.storage.citations import VERSION

TIDES = "def height(hour):\n    return hour * 2\n"
IMPATIENT = """
import sys
from clew.memory.hooks import client
client.ASKING_SHARE = 0.01
client.run(sys.argv[1:])
"""
needs_sockets = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no local sockets here")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_project(tmp_path / "harbour", {"src/tides.py": TIDES, "src/boats.py": "def boats():\n    return 7\n"})


@pytest.fixture
def client(root: Path) -> Iterator[Memory]:
    with remembering(root) as client:
        yield client


def spool(root: Path) -> Path:
    return root / ".clew" / address.SPOOL


# Verifies: REQ-d00310-A, REQ-d00312-B, REQ-d00313-C
def test_without_a_server_only_exact_names_are_answered_and_the_event_waits_for_a_server(
    root: Path, client: Memory
) -> None:
    by_symbol = client.store("Heights are in metres.", about=["src/tides.py::height"])
    by_file = client.store("Boats are counted at noon.", about=["src/boats.py"])
    client.ids("heights")
    agent = Host(root)
    assert agent.prompt("are heights in metres, and when are boats counted") == ""
    said = agent.prompt("look at height() again")
    assert (by_symbol[:8] in said, by_file[:8] in said) == (True, False)
    assert "symbol:src/tides.py::height" in said
    assert agent.prompt("now src/tides.py, and height() once more") == ""
    (root / "src/boats.py").write_text("def boats():\n    return 8\n")
    assert "file:src/boats.py (changed since)" in agent.tool("Read", {"file_path": str(root / "src/boats.py")})
    # The events wait where only their user reads them, and are handled once.
    assert stat.S_IMODE(spool(root).stat().st_mode) == 0o600
    waiting = spool(root).read_bytes()
    with listening(client.project):
        wait_until(lambda: not spool(root).read_bytes())
        spool(root).write_bytes(waiting)
        assert agent.prompt("src/boats.py and height() with the server") == ""
    assert spool(root).read_bytes() == b""
    texts = [
        each["snippet"] for each in client("search_graph", query="height", filters={"kinds": ["episode"]})["results"]
    ]
    assert sorted(texts).count("User: look at height() again") == 1
    assert client("get_recent_context", limit=10)["count"] == 2


# Verifies: REQ-d00304-A+B
def test_without_a_server_a_file_is_said_to_have_changed_only_where_what_it_says_did(
    root: Path, client: Memory
) -> None:
    client.store("Heights are in metres.", about=["src/tides.py"])
    client.ids("heights")
    (root / "src/tides.py").write_text(TIDES.replace("hour * 2", "hour*2"))
    assert "file:src/tides.py: Heights" in Host(root).prompt("see src/tides.py")
    (root / "src/tides.py").write_text(TIDES.replace("    return", "return"))
    assert "file:src/tides.py (changed since): Heights" in Host(root, "session-2").prompt("see src/tides.py")


# Verifies: REQ-d00310-A
def test_without_a_server_an_index_of_another_version_is_made_anew_before_it_is_asked(
    root: Path, client: Memory
) -> None:
    id = client.store("Heights are in metres.", about=["src/tides.py"])
    (index,) = root.rglob("memory-index.db")
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("PRAGMA user_version = 1")
    assert id[:8] in Host(root).prompt("see src/tides.py")
    with closing(sqlite3.connect(index)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


# Verifies: REQ-d00310-A
def test_without_a_server_nothing_is_shown_that_is_not_as_it_was_written(root: Path, client: Memory) -> None:
    id = client.store("Heights are in metres.", about=["src/tides.py"])
    client.ids("heights")
    (store,) = root.rglob("memory.db")
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE entries SET data = replace(data, 'metres', 'inches') WHERE id = ?", (id,))
    assert Host(root).prompt("see src/tides.py") == ""


# Verifies: REQ-d00310-A
def test_a_file_that_came_with_a_clone_leads_a_hook_to_no_file_of_the_user(root: Path, client: Memory) -> None:
    id = client.store("Heights are in metres.", about=["src/tides.py"])
    client.ids("heights")
    (store,) = root.rglob("memory.db")
    own = root.parent / "places.sqlite"
    with closing(sqlite3.connect(own)) as connection:
        connection.execute("CREATE TABLE bookmarks (address TEXT)")
    before = own.read_bytes()
    for index in (str(own), os.path.relpath(own, store.parent)):
        (store.parent / "team-memory").write_text(f"memory.db\n{index}\n")
        assert id[:8] in Host(root, index).prompt("see src/tides.py")
        assert own.read_bytes() == before


# Verifies: REQ-d00312-B
def test_what_a_hook_showed_alone_is_not_shown_again_by_a_server_that_has_not_heard_of_it(
    root: Path, client: Memory
) -> None:
    id = client.store("Heights are in metres.", about=["src/tides.py"])
    client.ids("heights")
    assert id[:8] in Host(root).prompt("see src/tides.py")
    server = HookHandler(root, client.project.memory)

    def said(session: str) -> str:
        told = read_payload(
            "claude-code", "UserPromptSubmit", {"session_id": session, "prompt": "src/tides.py once more"},
            with_answers=False,
        )  # fmt: skip
        heard: list[str] = []
        server.answer({**(told or {}), "root": str(root)}, lambda text: not heard.append(text), lambda: None)
        return heard[0]

    assert said("session-1") == ""
    assert id[:8] in said("session-2")


# Verifies: REQ-d00310-C, REQ-d00313-C
def test_private_text_and_secrets_reach_no_file_and_a_switch_ends_everything(root: Path, client: Memory) -> None:
    token = "gh" + "p_" + "A1b2C3d4" * 5
    agent = Host(root)
    agent.prompt(f"Use {token} for <private>the moon base</private> deployment. <private>no end")
    agent.prompt("<private>nothing but this</private>")
    kept = spool(root).read_text()
    assert "deployment" in kept
    for gone in (token, "moon base", "no end", "nothing but"):
        assert gone not in kept
    assert agent.prompt("src/tides.py", CLEW_MEMORY="off") == ""
    assert spool(root).read_text() == kept
    # Clew's own tools and commands are never told about.
    agent.tool("mcp__clew__search_graph", {"query": "x"})
    agent.tool("Bash", {"command": "cd src && clew recall boats"})
    assert spool(root).read_text() == kept


# Verifies: REQ-d00313-C
def test_the_spool_has_an_end(root: Path) -> None:
    make_state_folder(root)
    spool(root).write_bytes(b"x" * (4 * 1024 * 1024 - 10) + b"\n")
    before = spool(root).stat().st_size
    Host(root).prompt("one more")
    assert spool(root).stat().st_size == before


# Verifies: REQ-d00310-D
def test_a_hook_that_has_nothing_to_do_imports_nothing_heavy(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "clew", "hook", "UserPromptSubmit", "--host", "claude-code"],
        input=b"",
        capture_output=True,
        check=True,
        cwd=root,
    )
    imported = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert "clew.memory.hooks.client" in imported
    assert not imported & {"msgspec", "typing", "argparse", "pathlib", "sqlite3", "clew.errors", "anyio", "numpy"}


# Verifies: REQ-d00310-D
def test_what_a_hook_shows_without_a_server_needs_no_format_graph_or_encoder() -> None:
    loaded = "import sys, clew.memory.hooks.cited, clew.memory.hooks.named; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, check=True, text=True)
    assert "clew.memory.texts.block" in done.stdout.split()
    heavy = ("clew.formats", "clew.graph", "clew.search.embed", "clew.search.dense", "numpy")
    assert not [name for name in done.stdout.split() if name.startswith(heavy)]


# Verifies: REQ-d00312-A
@pytest.mark.parametrize(
    ("host", "event", "field"),
    [
        ("claude-code", "UserPromptSubmit", "additionalContext"),
        ("codex", "UserPromptSubmit", "additionalContext"),
        ("gemini", "BeforeAgent", "additionalContext"),
        ("vscode", "UserPromptSubmit", None),
        ("cursor", "beforeSubmitPrompt", None),
    ],
)
def test_each_host_gets_its_own_form(root: Path, client: Memory, host: str, event: str, field: str | None) -> None:
    client.store("Heights are in metres.", about=["src/tides.py"])
    client.ids("heights")
    printed = Host(root, host=host).run(event, {"prompt": "see src/tides.py", "conversation_id": "c", "turn_id": "t"})
    if field is None:
        assert printed.strip() == ("{}" if host == "cursor" else "")
    else:
        told = json.loads(printed)["hookSpecificOutput"]
        assert told["hookEventName"] == event
        assert "Heights are in metres." in told[field]
    nothing = Host(root, host=host).run(event, {"prompt": "hello there"})
    assert nothing.strip() == ("{}" if host in ("gemini", "cursor") else "")


# Verifies: REQ-d00310-A+B
@needs_sockets
@pytest.mark.parametrize("reply", [None, b"", b"nonsense\n", b'{"taken": false}\n', b"[" * 100_000 + b"\n"])
def test_a_server_that_does_not_answer_holds_nothing_up(root: Path, client: Memory, reply: bytes | None) -> None:
    id = client.store("Heights are in metres.", about=["src/tides.py"])
    client.ids("heights")
    with socket.socket(socket.AF_UNIX) as server:
        (address, *_) = sockets(str(root))
        # A long path has its socket in a folder that the first server makes.
        Path(address).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        server.bind(address)
        server.listen()
        connections = []

        def serve() -> None:
            try:
                connection, _ = server.accept()
            except OSError:
                # Nobody asked before the test was over.
                return
            connections.append(connection)
            if reply is not None:
                connection.makefile("rb").readline()
                connection.sendall(reply)
                connection.close()

        threading.Thread(target=serve, daemon=True).start()
        # The one that says nothing is given up early; what then has to be done may take as long as it needs.
        host = Host(root)
        if reply is None:
            host.command = (sys.executable, "-c", IMPATIENT)
        said = host.prompt("see src/tides.py")
    assert id[:8] in said
    assert "see src/tides.py" in spool(root).read_text()
    for connection in connections:
        connection.close()


# Verifies: REQ-d00313-A
@needs_sockets
def test_one_server_answers_and_another_takes_over_when_it_ends(root: Path, client: Memory) -> None:
    id = client.store("Heights are in metres.", about=["src/tides.py"])
    second = listener_of(client.project)

    def is_there() -> bool:
        return any(Path(address).exists() for address in sockets(str(root)))

    with listening(client.project):
        second.start()
        assert id[:8] in Host(root, "one").prompt("src/tides.py")
        wait_until(lambda: not spool(root).read_bytes())
    try:
        wait_until(is_there)
        assert id[:8] in Host(root, "two").prompt("are heights in metres")
    finally:
        second.stop()
    assert not is_there()


# Verifies: REQ-d00313-B
@needs_sockets
def test_a_deep_folder_has_its_socket_in_the_users_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = Path("/tmp") / f"clew-test-{tmp_path.name[-20:]}-{threading.get_native_id()}"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    root = write_project(tmp_path / "a" / ("deep" * 30) / "harbour", {"src/tides.py": TIDES})
    try:
        with remembering(root) as client, listening(client.project):
            client.store("Heights are in metres.", about=["src/tides.py"])
            assert "Heights are in metres." in Host(root).prompt("are heights in metres")
            (made,) = (runtime / "clew").iterdir()
            assert stat.S_IMODE(made.parent.stat().st_mode) == 0o700
        assert list(sockets(str(root))) == [str(made)]
    finally:
        (runtime / "clew").rmdir()
        runtime.rmdir()


# Verifies: REQ-d00313-B
@needs_sockets
def test_another_user_is_not_answered(root: Path, client: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    client.store("Heights are in metres.")
    with listening(client.project):
        monkeypatch.setattr("clew.ipc.address.peer_is_us", lambda connection: False)
        assert Host(root).prompt("are heights in metres") == ""
        monkeypatch.undo()
        assert "metres" in Host(root, "other").prompt("are heights in metres")


# Verifies: REQ-d00310-A
def test_where_clew_is_not_used_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    Host(tmp_path).prompt("We decided to use tabs.")
    assert [path.name for path in tmp_path.iterdir()] == [".git"]
