"""Commands that a running server answers: real processes, beside the same commands without a server."""

import json
import os
import pty
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests import forked
from tests.cli.server_process import (
    CLEW,
    PATIENCE,
    WITHOUT_LIBRARIES,
    Ended,
    LyingServer,
    alone,
    command,
    served,
    serving,
    wait_for,
    wait_until,
)

from clew.edit.state_folder import make_state_folder
from clew.ipc.address import sockets
from clew.ipc.listener import COMMAND, Listener
from clew.operation.listing import all_operations
from clew.project import Project
from clew.surfaces.cli import asking
from clew.surfaces.cli.served import CommandAnswers
from clew.workspace.own_program import code_state

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no local sockets here")

SPEC = """# REQ-d00001: Heights

**Level**: DEV | **Status**: Active | **Implements**: -

Heights SHALL be in metres.

## Assertions

A. A height SHALL be twice the hour.

*End* *Heights* | **Hash**: 00000000
"""
DECLINED = 3
"""The exit code of a command that may not read the project itself."""


def project_in(folder: Path) -> Path:
    for path, text in {
        "clew.toml": '[project]\nname = "harbour"\n[embedder]\nkind = "none"\n[search]\nbackground = false\n',
        "spec/heights.md": SPEC,
        "docs/tides.md": "# Tides\n\nA height is twice the hour of the tide.\n",
        "src/tides.py": '"""Tides."""\n\n\n# Implements: REQ-d00001-A\ndef height(hour):\n    return hour * 2\n',
        "tests/test_tides.py": "# Verifies: REQ-d00001-A\ndef test_height():\n    assert height(2) == 4\n",
    }.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, "commit", "-qm", "Double the hour, as the pilots do"], cwd=folder, check=True)
    # What a first command makes once is there for both ways.
    alone(folder, "search", "height")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project_in(tmp_path_factory.mktemp("made") / "harbour")


@pytest.fixture(scope="module")
def shared(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with a server; tests that change something take one of their own."""
    root = tmp_path_factory.mktemp("shared") / "harbour"
    shutil.copytree(made, root)
    with serving(root):
        wait_for(root)
        yield root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "harbour")
    return tmp_path / "harbour"


COMMANDS = (
    ("why", "src/tides.py:5"),
    ("why", "src/tides.py:5", "--json"),
    ("why", "REQ-d00001-A"),
    ("why", "HEAD"),
    ("why", "height"),
    ("why", "nothing-like-this"),
    ("why",),
    ("context", "src/tides.py"),
    ("context", "src/tides.py", "--max-tokens", "1"),
    ("search", "height", "of", "the", "tide"),
    ("search", "height", "--json"),
    ("search", "zzzqqq"),
    ("ask", "how high is a tide?"),
    ("show", "REQ-d00001"),
    ("show", "d1"),
    ("show", "REQ-d99999"),
    ("impact", "src/tides.py"),
    ("impact", "REQ-d00001", "--limit", "1", "--json"),
    ("recall", "height"),
    ("uses", "height"),
    ("uses", "src/tides.py:5", "--json"),
    ("uses", "nothing_like_this"),
    ("brief",),
    ("brief", "--json"),
    (),
)


# Verifies: REQ-d00756-A
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_server_answers_with_the_same_bytes_and_exit_code(shared: Path, words: tuple[str, ...]) -> None:
    assert without_times(served(shared, *words)) == without_times(alone(shared, *words))


def without_times(ended: Ended) -> Ended:
    """Without the time at which a process read the files."""
    code, output, errors = ended
    return code, re.sub(rb'"last_refresh": "[^"]+"', b"", output), errors


# Verifies: REQ-d00756-A
def test_a_command_means_files_from_the_folder_in_which_it_is_given(shared: Path) -> None:
    for folder, *words in (
        (shared / "src", "why", "tides.py:5"),
        (shared / "src", "impact", "tides.py"),
        (shared / "src", "context", "docs/tides.md"),
        (shared.parent, "why", "src/tides.py:5", "-C", "harbour"),
        (shared.parent, "-C", "harbour", "why", "src/tides.py:5"),
        (shared.parent, "brief", "-C", "harbour/src"),
    ):
        assert served(folder, *words) == alone(folder, *words), words


# Verifies: REQ-d00756-A
def test_a_project_that_is_reached_by_a_link_is_the_same_project(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(shared)
    assert served(tmp_path / "link", "show", "REQ-d00001") == alone(tmp_path / "link", "show", "REQ-d00001")


# Verifies: REQ-d00756-A
def test_a_terminal_gets_the_same_colours_and_line_ends(shared: Path) -> None:
    seen = [
        on_terminal(shared, "why", "src/tides.py:5", CLEW_SERVER=switch, **more)
        for more in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"COLUMNS": "40"})
        for switch in ("on", "off")
    ]
    assert seen[::2] == seen[1::2]
    assert b"\x1b[" in seen[0]
    assert len(set(seen)) > 2


def on_terminal(root: Path, *words: str, **environment: str) -> bytes:
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    told = {**os.environ, "CLEW_SERVER_SECONDS": PATIENCE, "TERM": "xterm", **environment}
    with forked.Process([*CLEW, *words], cwd=root, env=told, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        written = b""
        with suppress(OSError):
            while part := os.read(ours, 65_536):
                written += part
        os.close(ours)
    assert process.returncode == 0
    return written


# Verifies: REQ-d00756-A
def test_what_is_declared_as_served_only_reads_and_is_what_commands_look_for() -> None:
    listed = [each for each in all_operations() if each.verb is not None and each.operation.about.served]
    assert {name for each in listed for name in (each.verb, *each.aliases)} == asking.SERVED
    assert not [each.verb for each in listed if not each.read_only or each.operation.about.writes]
    assert not [each.verb for each in listed if each.operation.about.folder == "none"]


# Verifies: REQ-d00756-A
def test_an_edited_file_is_seen(root: Path) -> None:
    with serving(root):
        wait_for(root)
        assert b"twice the hour" in served(root, "show", "REQ-d00001")[1]
        (root / "spec/heights.md").write_text(SPEC.replace("twice", "three times"))
        assert b"three times the hour" in served(root, "show", "REQ-d00001")[1]
        (root / "src/tides.py").write_text("def height(hour):\n    return hour * 3\n\n\ndef depth():\n    return 1\n")
        assert served(root, "why", "src/tides.py::depth") == alone(root, "why", "src/tides.py::depth")
        assert served(root, "why", "src/tides.py::depth")[0] == 0


# Verifies: REQ-d00756-B
@pytest.mark.parametrize(
    "variables",
    [{"CLEW_AI_COMMAND": "cat"}, {"XDG_CONFIG_HOME": "/nowhere"}, {"USER": "somebody-else"}, {"TZ": "Asia/Tokyo"}],
    ids=lambda each: next(iter(each)),
)
def test_another_environment_is_declined(shared: Path, variables: dict[str, str]) -> None:
    assert served(shared, "show", "REQ-d00001", **variables)[0] == DECLINED
    assert command(shared, "show", "REQ-d00001", **variables) == alone(shared, "show", "REQ-d00001", **variables)


# Verifies: REQ-d00756-B
def test_another_version_is_declined(shared: Path) -> None:
    other = "import clew\nclew.__version__ = '9.9.9'\n"
    blocked = (sys.executable, "-c", other + WITHOUT_LIBRARIES)
    assert command(shared, "show", "REQ-d00001", program=blocked)[0] == DECLINED
    other += "from clew.surfaces.cli.main import entry\nentry()"
    again = command(shared, "show", "REQ-d00001", program=(sys.executable, "-c", other))
    assert again == alone(shared, "show", "REQ-d00001")


# Verifies: REQ-d00756-B
def test_code_that_changed_after_the_start_is_declined(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy" / "clew"
    shutil.copytree(Path(asking.__file__).parents[2], copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("PYTHONPATH", str(copy.parent))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    with serving(root):
        wait_until(lambda: served(root, "show", "REQ-d00001")[0] == 0)
        with (copy / "text" / "words.py").open("a") as file:
            file.write("\n# newer\n")
        assert served(root, "show", "REQ-d00001")[0] == DECLINED
        assert command(root, "show", "REQ-d00001")[0] == 0


# Verifies: REQ-d00756-B
def test_the_state_of_the_code_is_the_same_as_long_as_nothing_changes() -> None:
    assert code_state() == code_state()


# Verifies: REQ-d00756-B
def test_a_changed_configuration_is_declined(root: Path) -> None:
    with serving(root):
        wait_for(root)
        told = (root / "clew.toml").read_text()
        (root / "clew.toml").write_text(told.replace("harbour", "haven"))
        assert served(root, "brief")[0] == DECLINED
        assert b"haven" in command(root, "brief")[1]
        (root / "clew.toml").write_text(told)
        assert served(root, "brief") == alone(root, "brief")


# Verifies: REQ-d00756-B
def test_a_server_with_drafts_declines(root: Path) -> None:
    with serving(root):
        wait_for(root)
        drafted = json.dumps({"node_id": "REQ-d00001", "new_title": "Depths"})
        done = command(root, "call", "mutate_update_title", drafted)
        assert done[0] == 0, done
        assert served(root, "show", "REQ-d00001")[0] == DECLINED
        assert command(root, "show", "REQ-d00001") == alone(root, "show", "REQ-d00001")


# Verifies: REQ-d00756-B
def test_help_and_wrong_options_are_no_work_of_a_server_and_do_not_reach_its_protocol(root: Path) -> None:
    with serving(root) as process:
        wait_for(root)
        for words in (("why", "--help"), ("why", "--wrong"), ("search", "x", "--limit", "many")):
            assert command(root, *words) == alone(root, *words)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":7,"method":"ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 7


# Verifies: REQ-d00756-B
def test_a_server_that_only_reads_listens_to_nobody(root: Path) -> None:
    with serving(root, "--read-only") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":7,"method":"ping"}\n')
        process.stdin.flush()
        process.stdout.readline()
        assert not [each for each in sockets(str(root)) if Path(each).exists()]
        assert command(root, "show", "REQ-d00001") == alone(root, "show", "REQ-d00001")


# Verifies: REQ-d00756-C
@pytest.mark.parametrize(
    "replies",
    [
        (b"",),
        (b"nonsense\n",),
        (b'{"taken": false}\n',),
        (b'{"taken": true}\n',),
        (b'{"taken": true}\n', b'{"code": 0, "printed": [[1, ["half'),
        (b'{"taken": true}\n', b'{"code": 0, "printed": [[3, ["x"]]]}\n'),
        (b'{"taken": true}\n', b'{"code": "0", "printed": []}\n'),
        (b'{"taken": true}\n', b'{"code": 0, "printed": [[1, "x"]]}\n'),
        (b'{"taken": true}\n', b"[" * 100_000 + b"\n"),
        (b'{"taken": true}\n', b"{}\n" * 1_000),
        (b'{"taken": true}\n', b"x" * (65 * 1024 * 1024)),
    ],
    ids=lambda each: str(each)[:40],
)
def test_whatever_a_server_sends_there_is_one_answer(root: Path, replies: tuple[bytes | None, ...]) -> None:
    expected = alone(root, "show", "REQ-d00001")
    with closing(LyingServer(root, replies)) as server:
        assert command(root, "show", "REQ-d00001") == expected
        assert len(server.requests) == 1


# Verifies: REQ-d00756-C
def test_a_server_that_says_nothing_is_given_up(root: Path) -> None:
    expected = alone(root, "show", "REQ-d00001")
    with closing(LyingServer(root, (None,))) as server:
        assert command(root, "show", "REQ-d00001", CLEW_SERVER_SECONDS="0.1") == expected
        assert len(server.requests) == 1


# Verifies: REQ-d00756-C
def test_text_of_a_server_is_as_harmless_on_a_terminal_as_any_other(root: Path) -> None:
    reply = json.dumps({"code": 0, "printed": [[1, ["a\x1b]0;title\x07b\n"]], [2, ["c\x1b[2Jd\n"]]]}).encode() + b"\n"
    with closing(LyingServer(root, (b'{"taken": true}\n', reply))):
        code, output, errors = command(root, "show", "REQ-d00001")
    assert (code, b"\x1b" in output, b"\x1b" in errors) == (0, False, False)
    assert "a␛]0;title␇b" in output.decode()


# Verifies: REQ-d00756-C
def test_a_killed_server_leaves_nothing_that_holds_a_command_up(root: Path) -> None:
    with serving(root) as process:
        wait_for(root)
        process.send_signal(signal.SIGKILL)
        process.wait(120)
        assert [each for each in sockets(str(root)) if Path(each).exists()]
        assert command(root, "show", "REQ-d00001") == alone(root, "show", "REQ-d00001")


# Verifies: REQ-d00756-C, REQ-d00313-B
def test_a_socket_behind_a_link_is_not_asked(root: Path, tmp_path: Path) -> None:
    (root / ".clew").rename(tmp_path / "state")
    with closing(LyingServer(project_folder(tmp_path / "other"), (b'{"taken": false}\n',))) as server:
        (root / ".clew").symlink_to(tmp_path / "other" / ".clew")
        command(root, "show", "REQ-d00001")
        assert server.requests == []
        (root / ".clew").unlink()
        (tmp_path / "state").rename(root / ".clew")
        (root / ".clew" / "hooks.sock").symlink_to(tmp_path / "other" / ".clew" / "hooks.sock")
        assert command(root, "show", "REQ-d00001") == alone(root, "show", "REQ-d00001")
        assert server.requests == []


def project_folder(folder: Path) -> Path:
    folder.mkdir()
    make_state_folder(folder)
    return folder


def heed_interrupts() -> None:
    """Whoever runs the tests in the background has interrupts ignored, which a new process would inherit."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# Verifies: REQ-d00756-D
def test_an_interrupted_command_ends_and_cancels_the_work_of_the_server(root: Path) -> None:
    project = Project.open(root)
    project.ensure_graph()
    answers = CommandAnswers(project)
    listener = Listener(root, {COMMAND: answers})
    listener.start()
    try:
        wait_for(root)
        wait_until(lambda: not answers.under_way)
        patient = {**os.environ, "CLEW_SERVER_SECONDS": PATIENCE}
        # Nobody else can have the graph meanwhile: the command waits for it.
        with (
            project.context.keeper.turn(),
            forked.Process([*CLEW, "brief"], cwd=root, env=patient, preexec_fn=heed_interrupts) as process,
        ):
            try:
                wait_until(lambda: answers.under_way)
                process.send_signal(signal.SIGINT)
                assert process.wait(120) == 130
                wait_until(lambda: not answers.under_way)
            finally:
                process.kill()
    finally:
        listener.stop()
        project.close()


# Verifies: REQ-d00756-B+C
def test_a_server_that_closes_leaves_the_command_to_its_own_process(root: Path) -> None:
    expected = alone(root, "brief")
    project = Project.open(root)
    project.ensure_graph()
    answers = CommandAnswers(project)
    listener = Listener(root, {COMMAND: answers})
    listener.start()
    try:
        wait_for(root)
        wait_until(lambda: not answers.under_way)
        ended: list[object] = []
        with project.context.keeper.turn():
            waiting = threading.Thread(target=lambda: ended.append(command(root, "brief")))
            waiting.start()
            wait_until(lambda: answers.under_way)
            listener.stop()
        waiting.join(120)
        assert ended == [expected]
    finally:
        listener.stop()
        project.close()


# Verifies: REQ-d00756-E
@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\n",
        b"{\n",
        b"[]\n",
        b'{"for": "command"}\n',
        b'{"for": ["command"]}\n',
        b'{"for": "other", "root": "/"}\n',
        b"[" * 100_000 + b"\n",
        b'{"for": "command", "root": "' + b"x" * 300_000 + b'"}\n',
        b"\xff\xfe\n",
    ],
    ids=lambda each: repr(each[:24]),
)
def test_a_message_that_is_no_request_changes_nothing(shared: Path, message: bytes) -> None:
    for _ in range(20):
        with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
            connection.connect(next(sockets(str(shared))))
            connection.sendall(message)
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(30)
            assert b'"taken": true' not in connection.recv(65_536)
    assert served(shared, "show", "REQ-d00001")[0] == 0


# Verifies: REQ-d00756-E
@pytest.mark.parametrize(
    "changes",
    [
        {"folder": "/"},
        {"folder": "../.."},
        {"folder": "\0"},
        {"words": ["why", "x", "-C", "/"]},
        {"words": ["remember", "x"]},
        {"words": ["serve"]},
        {"words": ["why"] * 20_000},
        {"words": [1]},
        {"environment": {}},
        {"terminal": [[True, True, -1], [False, False, None]]},
        {"root": "/"},
    ],
    ids=lambda each: str(each)[:40],
)
def test_a_request_leads_a_server_to_no_other_project_and_to_no_change(
    shared: Path, changes: dict[str, object]
) -> None:
    whole = {**asking.request(str(shared)), "folder": str(shared), "words": ["show", "REQ-d00001"]}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(next(sockets(str(shared))))
        connection.settimeout(60)
        connection.sendall(json.dumps({**whole, **changes}).encode() + b"\n")
        told = connection.recv(65_536)
    assert json.loads(told.splitlines()[0])["taken"] is False if told else True
    assert served(shared, "show", "REQ-d00001")[0] == 0


# Verifies: REQ-d00756-E
def test_clients_that_say_nothing_hold_up_no_command_for_long(shared: Path) -> None:
    silent = [socket.socket(socket.AF_UNIX) for _ in range(12)]
    try:
        for each in silent:
            each.connect(next(sockets(str(shared))))
        assert served(shared, "show", "REQ-d00001")[0] == 0
    finally:
        for each in silent:
            each.close()


# Verifies: REQ-d00756-E
def test_each_project_and_each_work_tree_has_its_own_server(root: Path, tmp_path: Path) -> None:
    other = project_in(tmp_path / "other")
    (other / "spec/heights.md").write_text(SPEC.replace("twice", "half"))
    tree = tmp_path / "tree"
    subprocess.run(["git", "worktree", "add", "-q", str(tree)], cwd=root, check=True)
    (tree / "spec/heights.md").write_text(SPEC.replace("twice", "ten times"))
    make_state_folder(tree)
    with serving(root), serving(tree):
        assert wait_for(root) != wait_for(tree)
        assert served(other, "show", "REQ-d00001")[0] == DECLINED
        assert b"half the hour" in command(other, "show", "REQ-d00001")[1]
        assert b"twice the hour" in served(root, "show", "REQ-d00001")[1]
        assert b"ten times the hour" in served(tree, "show", "REQ-d00001")[1]


# Verifies: REQ-d00756-F
def test_a_command_can_do_without_a_server_and_doctor_says_who_answers(root: Path) -> None:
    assert b"none runs" in command(root, "doctor")[1]
    with serving(root) as process:
        wait_for(root)
        assert served(root, "show", "REQ-d00001", "--no-server")[0] == DECLINED
        assert served(root, "show", "REQ-d00001", CLEW_SERVER="off")[0] == DECLINED
        assert command(root, "show", "REQ-d00001", "--no-server") == alone(root, "show", "REQ-d00001")
        assert f"process {process.pid} answers".encode() in command(root, "doctor")[1]
        assert b"CLEW_SERVER" in command(root, "doctor", CLEW_SERVER="off")[1]
        assert b"another value of TZ" in command(root, "doctor", TZ="Asia/Tokyo")[1]
        (address, *_) = sockets(str(root))
        assert stat.S_IMODE(Path(address).stat().st_mode) == 0o600
