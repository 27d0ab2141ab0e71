"""Hooks with every fault that can befall them: broken input, dead and lying servers, damaged and protected files, no
room on the disk, a folder that vanished. Whatever happens, a hook exits with 0, prints what its host takes for an
answer, and says nothing on standard error.

One in twenty is an interpreter of its own, as a host starts it; the others begin with all modules loaded. What is tried
depends on the number of rounds alone.
"""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from tests import forked
from tests.attack.hook_worker import SECONDS, Ended, Task
from tests.attack.outcome import Outcome

STARTED_EVERY = 20
EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "PreCompact", "Stop", "SessionEnd")
HOSTS = ("claude-code", "codex", "gemini", "vscode", "cursor")
_ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1e308,
    2**70,
    "",
    "\0",
    "\ud800",
    "x" * 100_000,
    [],
    {},
    [[]],
    {"a": {}},
    "../..",
)
_NAMES = ("session_id", "cwd", "prompt", "tool_name", "tool_input", "tool_response", "tool_use_id", "turn_id", "source",
          "transcript_path", "error", "workspace_roots", "conversation_id", "prompt_response")  # fmt: skip
WORKERS = 2


@dataclass(frozen=True)
class Run:
    """One hook, and what is wrong with its world."""

    fault: str
    task: Task


def run(rounds: int) -> Outcome:
    """Run so many hooks, each with a fault of its own."""
    faults: list[str] = []
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="clew-") as folder:
        worlds = [World(Path(folder, str(number)), random.Random(rounds * 100 + number)) for number in range(WORKERS)]
        shares = [range(number, rounds, WORKERS) for number in range(WORKERS)]

        def attack(world: "World", share: range) -> None:
            with started() as ask:
                for _ in share:
                    with world.broken() as tried:
                        wrong = _wrong(ask(tried.task))
                    counts[tried.fault] += 1
                    if wrong is not None:
                        faults.append(f"{tried.fault}: {wrong}")

        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(attack, worlds, shares))
    return Outcome(rounds, tuple(faults[:20]), {"kinds of faults": len(counts)})


@contextmanager
def started() -> Iterator[Callable[[Task], Ended]]:
    """A process that runs hooks; gives a function that asks it."""
    command = [sys.executable, "-m", "tests.attack.hook_worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(task: Task) -> Ended:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(msgspec.to_builtins(task)).encode() + b"\n")
            process.stdin.flush()
            return msgspec.json.decode(process.stdout.readline(), type=Ended)

        yield ask
        process.stdin.close()


def _wrong(ended: Ended) -> str | None:
    """What is wrong with how a hook ended."""
    if not ended.in_time:
        return "it did not end"
    if ended.code or ended.complaint:
        return f"it ended with {ended.code}: {ended.complaint[-300:]!r}"
    if ended.printed.strip():
        try:
            json.loads(ended.printed)
        except ValueError:
            return f"it printed {ended.printed[:200]!r}"
    return None


class World:
    """A project whose hooks are run, one at a time, each with something broken."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self._chance = chance
        self._root = root / "harbour"
        self._state = self._root / ".clew"
        self._number = 0
        self._given = root / "given"
        (self._root / "src").mkdir(parents=True)
        (self._root / "clew.toml").write_text('[project]\nname = "harbour"\n[embedder]\nkind = "none"\n')
        (self._root / "src" / "tides.py").write_text("def height():\n    return 2\n")
        remember = ("remember", "Heights are in metres.", "--about", "src/tides.py", "-C", str(self._root))
        forked.run([sys.executable, "-m", "clew", *remember], check=True, capture_output=True)
        self._whole = root / "whole"
        shutil.copytree(self._state, self._whole)
        self._faults: tuple[Callable[[], Any], ...] = (
            self._odd_fields, self._broken_json, self._huge, self._no_input, self._odd_arguments, self._closed_output,
            self._dead_socket, self._lying_server, self._damaged_file, self._odd_spool, self._protected,
            self._full_disk, self._few_files, self._vanished, self._odd_environment, self._killed,
        )  # fmt: skip

    @contextmanager
    def broken(self) -> Iterator[Run]:
        self._number += 1
        with self._faults[self._number % len(self._faults)]() as tried:
            yield tried
        if self._number % 50 == 0:
            shutil.rmtree(self._state)
            shutil.copytree(self._whole, self._state)

    def _run(self, fault: str, given: bytes | None = None, **more: Any) -> Run:
        event, host = self._chance.choice(EVENTS), self._chance.choice(HOSTS)
        self._given.write_bytes(json.dumps(self._payload(event)).encode() if given is None else given)
        more = {"arguments": (event, "--host", host), "folder": str(self._root), **more}
        return Run(fault, Task(given=str(self._given), is_started=self._number % STARTED_EVERY == 0, **more))

    def _payload(self, event: str) -> dict[str, Any]:
        tool = self._chance.choice(
            (
                ("Read", {"file_path": str(self._root / "src/tides.py")}),
                ("Edit", {"file_path": "src/tides.py", "old_string": "a"}),
                ("Bash", {"command": "pytest -q"}),
                ("apply_patch", {"command": "*** Begin Patch\n*** Update File: src/tides.py\n"}),
            )
        )
        return {
            "session_id": f"s{self._number}",
            "cwd": str(self._root),
            "prompt": "No, src/tides.py is in metres, not in feet.",
            "tool_name": tool[0],
            "tool_input": tool[1],
            "tool_use_id": str(self._number),
            "hook_event_name": event,
        }

    # The faults

    @contextmanager
    def _odd_fields(self) -> Iterator[Run]:
        payload = self._payload("UserPromptSubmit")
        for name in self._chance.sample(_NAMES, 4):
            payload[name] = self._chance.choice(_ODD)
        payload["tool_input"] = self._chance.choice(
            (payload["tool_input"], dict.fromkeys(("command", "file_path", "files"), self._chance.choice(_ODD)))
        )
        yield self._run("odd fields", json.dumps(payload).encode())

    @contextmanager
    def _broken_json(self) -> Iterator[Run]:
        whole = json.dumps(self._payload("Stop")).encode()
        broken = (
            whole[: self._chance.randrange(len(whole))],
            b"[" * 100_000,
            b"\xff\xfe" + whole,
            b"null",
            b"[]",
            b"7",
            b'"x"',
            whole + b"}",
            b'{"a":' * 50_000,
            b"\0" * 1_000,
        )
        yield self._run("broken JSON", self._chance.choice(broken))

    @contextmanager
    def _huge(self) -> Iterator[Run]:
        payload = {
            **self._payload("PostToolUse"),
            "tool_response": "x" * self._chance.choice((10**6, 9 * 10**6)),
            "prompt": "No, a b c " * 50_000,
        }
        yield self._run("huge input", json.dumps(payload).encode())

    @contextmanager
    def _no_input(self) -> Iterator[Run]:
        yield self._run("no input", b"", streams=self._chance.choice(({}, {0: ""}, {0: "/dev/zero"})))

    @contextmanager
    def _odd_arguments(self) -> Iterator[Run]:
        odd = (
            (),
            ("--host",),
            ("UserPromptSubmit",),
            ("x", "--host", "y"),
            ("--host", "gemini"),
            ("Stop", "--host", "\udcff"),
            ("--", "-x"),
            ("Stop", "--host=cursor", "--what"),
            ("x" * 10_000, "--host", "codex"),
        )
        yield self._run("odd arguments", arguments=self._chance.choice(odd))

    @contextmanager
    def _closed_output(self) -> Iterator[Run]:
        ways = ({1: ""}, {1: "/dev/full"}, {0: "", 1: "", 2: ""}, {2: ""})
        yield self._run("closed output", streams=self._chance.choice(ways))

    @contextmanager
    def _dead_socket(self) -> Iterator[Run]:
        place = self._state / "hooks.sock"
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(place))
        if self._chance.random() < 0.3:
            place.unlink()
            self._chance.choice((place.mkdir, place.touch))()
        yield self._run("dead socket")
        shutil.rmtree(place) if place.is_dir() else place.unlink()

    @contextmanager
    def _lying_server(self) -> Iterator[Run]:
        place = self._state / "hooks.sock"
        replies = (
            b"",
            b"nonsense\n",
            b'{"taken": true}\n',
            b'{"taken": true, "context": 7}\n',
            b"[" * 60_000 + b"\n",
            b"x" * 200_000,
            b'{"taken": true, "context": "\\ud800\\u0000</memories>"}\n',
            b"\xff\n",
            None,
        )
        reply = self._chance.choice(replies)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(place))
            server.listen()
            server.settimeout(SECONDS)
            kept: list[socket.socket] = []

            def serve() -> None:
                try:
                    connection, _ = server.accept()
                    kept.append(connection)
                    if reply is not None:
                        connection.sendall(reply)
                        connection.close()
                except OSError:
                    return

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            yield self._run("lying server")
            server.shutdown(socket.SHUT_RDWR)
        for connection in kept:
            connection.close()
        place.unlink()

    @contextmanager
    def _damaged_file(self) -> Iterator[Run]:
        name = self._chance.choice(("memory.db", "memory-index.db"))
        place = self._state / name
        data = bytearray(place.read_bytes())
        for _ in range(self._chance.choice((1, 50, 2_000))):
            data[self._chance.randrange(len(data))] = self._chance.randrange(256)
        place.write_bytes(self._chance.choice((bytes(data), b"", b"x", bytes(data[: len(data) // 2]))))
        yield self._run("damaged file")
        shutil.rmtree(self._state)
        shutil.copytree(self._whole, self._state)

    @contextmanager
    def _odd_spool(self) -> Iterator[Run]:
        place = self._state / "hooks.spool"
        place.unlink(missing_ok=True)
        kind = self._chance.choice(("folder", "link", "garbage", "full", "pipe"))
        if kind == "folder":
            place.mkdir()
        elif kind == "link":
            place.symlink_to("/dev/full")
        elif kind == "pipe":
            os.mkfifo(place)
        else:
            place.write_bytes(b"\xff{]\n" * 100 if kind == "garbage" else b"x" * (4 * 1024 * 1024))
        yield self._run("odd spool")
        place.rmdir() if place.is_dir() else place.unlink()

    @contextmanager
    def _protected(self) -> Iterator[Run]:
        self._state.chmod(self._chance.choice((0o500, 0o000)))
        yield self._run("protected folder")
        self._state.chmod(0o700)

    @contextmanager
    def _full_disk(self) -> Iterator[Run]:
        yield self._run("full disk", limits={"RLIMIT_FSIZE": 0})

    @contextmanager
    def _few_files(self) -> Iterator[Run]:
        yield self._run("few open files", limits={"RLIMIT_NOFILE": self._chance.choice((8, 12, 20))})

    @contextmanager
    def _vanished(self) -> Iterator[Run]:
        gone = tempfile.mkdtemp()
        where = self._chance.choice((gone, "/", "", "\0", "relative"))
        payload = {**self._payload("UserPromptSubmit"), "cwd": where}
        yield self._run("vanished folder", json.dumps(payload).encode(), folder=gone, is_removed=True)

    @contextmanager
    def _odd_environment(self) -> Iterator[Run]:
        odd = (
            {"HOME": "/none", "XDG_RUNTIME_DIR": "relative"},
            {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
            {"TMPDIR": "/none"},
            {"CLEW_MEMORY": "off"},
            {"CLAUDE_PROJECT_DIR": "/none"},
            {"CLAUDE_PROJECT_DIR": "/proc/self"},
            {"PYTHONWARNINGS": "default"},
        )
        yield self._run("odd environment", environment=self._chance.choice(odd))

    @contextmanager
    def _killed(self) -> Iterator[Run]:
        """Told to end at some moment, as hosts do with what takes too long."""
        yield self._run("told to end", is_told_to_end=True)
