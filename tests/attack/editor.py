"""An editor that a hostile clone steers, or that is broken: what it sends to `clew lsp`.

After every attack the server has to answer a question of an honest editor as before, and it must not have read a file
outside of the project: those are pipes, and whoever opens one waits for ever, or hold ids that an answer would show.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests import forked
from tests.attack.client import SMALL_SPEC
from tests.attack.outcome import Outcome

SECONDS = 60.0
"""An answer takes so long only from a server that hangs."""
_ID = "REQ-p00001"
_ASKED = re.compile(rb'"id": "(outside [^"]*)"')
_QUESTIONS = ("hover", "definition", "references", "completion", "codeAction")
_LARGE = 33 * 1024 * 1024
_HUGE_LENGTHS = (b"99999999999", b"9" * 18, b"9" * 30, b"9" * 5_000)


def run(rounds: int) -> Outcome:
    """Each of the attacks once, and so many messages that were damaged at random."""
    with tempfile.TemporaryDirectory() as folder:
        root, outside = Path(folder) / "project", Path(folder) / "outside"
        _make(root, outside)
        faults: list[str] = []
        counts: Counter[str] = Counter()
        attacks = {**_frames(), **_messages(root, outside), "damaged": _damaged(root, rounds)}
        with ExitStack() as stack:
            server = None
            for name, attack in attacks.items():
                is_first = name.startswith("before")
                if server is None or is_first:
                    server = stack.enter_context(Server(root, starts=not is_first))
                    counts["servers"] += 1
                fault = server.survives(attack)
                if fault:
                    faults.append(f"{name}: {fault}")
                    server = None
        return Outcome(len(attacks) - 1 + rounds, tuple(faults), dict(counts))


def _make(root: Path, outside: Path) -> None:
    (root / "spec").mkdir(parents=True)
    (root / "spec" / "small.md").write_text(SMALL_SPEC, encoding="utf-8")
    (root / "clock.py").write_text(f"# Implements: {_ID}\ndef clock():\n    pass\n", encoding="utf-8")
    (root / "clew.toml").write_text('[requirements]\nfolders = ["spec"]\n[embedder]\nkind = "none"\n', encoding="utf-8")
    outside.mkdir()
    (outside / "secret.py").write_text(f"# Implements: {_ID}\n", encoding="utf-8")
    os.mkfifo(outside / "pipe")
    os.mkfifo(root / "pipe.py")
    (root / "link.py").symlink_to(outside / "pipe")
    (root / "secret.py").symlink_to(outside / "secret.py")


def framed(message: Any) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _notice(method: str, **params: Any) -> bytes:
    return framed({"jsonrpc": "2.0", "method": method, "params": params})


def question(kind: str, uri: str, id: Any, line: Any = 0, character: Any = 16) -> bytes:
    place = {"line": line, "character": character}
    params: dict[str, Any] = {"textDocument": {"uri": uri}, "position": place}
    params |= {"context": {"includeDeclaration": True, "diagnostics": []}, "range": {"start": place, "end": place}}
    if kind == "completion":
        params["context"] = {"triggerKind": 1}
    return framed({"jsonrpc": "2.0", "id": id, "method": f"textDocument/{kind}", "params": params})


def opened(uri: str, text: str) -> bytes:
    return _notice("textDocument/didOpen", textDocument={"uri": uri, "languageId": "x", "version": 1, "text": text})


class Server:
    """`clew lsp` and the bytes between it and us."""

    def __init__(self, root: Path, *, starts: bool) -> None:
        self._root = root
        self._process = forked.Process(
            [sys.executable, "-m", "clew", "lsp"],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._answers: dict[Any, Any] = {}
        self._news = threading.Condition()
        self._has_ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._asked = 0
        self._has_begun = starts
        if starts:
            self._start()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._reader.join()

    def survives(self, attack: bytes) -> str:
        """What is wrong afterwards; empty where nothing is."""
        try:
            self._send(attack)
            if not self._has_begun:
                self._has_begun = True
                self._start()
            # Questions are answered side by side: those about what is outside have to be answered as well.
            for id in _ASKED.findall(attack):
                self._answer(id.decode())
            self._asked += 1
            honest = f"honest {self._asked}"
            self._send(question("hover", (self._root / "clock.py").as_uri(), honest))
            if _ID not in json.dumps(self._answer(honest)):
                return "an honest question is answered wrongly"
        except (TimeoutError, BrokenPipeError):
            return "a question is not answered any more"
        told = [id for id in self._answers if self._tells(id)]
        return f"the question {told[0]} is answered" if told else ""

    def _tells(self, id: Any) -> bool:
        """Whether something outside was shown; those that ask for it have ids that say so."""
        return str(id).startswith("outside") and _ID in json.dumps(self._answers[id])

    def _start(self) -> None:
        params = {"processId": None, "rootUri": self._root.as_uri(), "capabilities": {}}
        self._send(framed({"jsonrpc": "2.0", "id": "begin", "method": "initialize", "params": params}))
        self._answer("begin")
        self._send(_notice("initialized"))

    def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def _answer(self, id: Any) -> Any:
        with self._news:
            if not self._news.wait_for(lambda: id in self._answers or self._has_ended, SECONDS):
                raise TimeoutError
            if id not in self._answers:
                raise BrokenPipeError
            return self._answers[id]

    def _read(self) -> None:
        assert self._process.stdout is not None
        source = self._process.stdout
        while line := source.readline():
            if not line.lower().startswith(b"content-length:"):
                continue
            while source.readline().strip():
                pass
            message = json.loads(source.read(int(line.partition(b":")[2])))
            with self._news:
                if "id" in message and "method" not in message:
                    self._answers[message["id"]] = message.get("result", message.get("error"))
                self._news.notify_all()
        with self._news:
            self._has_ended = True
            self._news.notify_all()


def _frames() -> dict[str, bytes]:
    ping = framed({"jsonrpc": "2.0", "id": "p", "method": "no/such"})
    found = {
        "no length": b"X: 1\r\n\r\n{}\r\n",
        "a negative length": b"Content-Length: -5\r\n\r\n",
        "a length that is no number": b"Content-Length: abc\r\n\r\n",
        "no head": b'{"jsonrpc": "2.0", "id": 1, "method": "initialize"}\r\n',
        "a long line": b"X: " + b"x" * 1_000_000 + b"\r\n\r\n",
        "many lines": b"X: 1\r\n" * 10_000 + b"\r\n",
        "other spelling": b"content-LENGTH:%d\n\n%b"
        % (len(ping.partition(b"\r\n\r\n")[2]), ping.partition(b"\r\n\r\n")[2]),
        "a large body": framed(b" " * _LARGE),
        "a deep body": framed(b'{"jsonrpc":"2.0","method":"x","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        "bytes that are no text": framed(b"\xff\xfe\x00"),
        "half a surrogate pair": framed({"jsonrpc": "2.0", "id": "\ud800", "method": "textDocument/hover"}),
    }
    for number, length in enumerate(_HUGE_LENGTHS[2:]):
        found[f"a length of many digits {number}"] = b"Content-Length: %b\r\n\r\n" % length
    for body in (b"null", b"1", b'"x"', b"[]", b"[{}]", b"{}", b"{", b"", b"NaN"):
        found[f"the body {body!r}"] = framed(body)
    return found


def _messages(root: Path, outside: Path) -> dict[str, bytes]:
    uri = (root / "clock.py").as_uri()
    elsewhere = {
        "a file": (outside / "secret.py").as_uri(),
        "a pipe": (outside / "pipe").as_uri(),
        "a pipe in the project": (root / "pipe.py").as_uri(),
        "a link to a pipe": (root / "link.py").as_uri(),
        "a link to a file": (root / "secret.py").as_uri(),
        "points": f"{root.as_uri()}/../outside/secret.py",
        "encoded points": f"{root.as_uri()}/%2e%2e/outside/secret.py",
        "an encoded slash": f"{root.as_uri()}/..%2foutside%2fsecret.py",
        "points to a pipe": f"{root.as_uri()}/spec/..%2f..%2Foutside/pipe",
        "NUL": f"{uri}%00",
        "another scheme": f"https://127.0.0.1{outside}/secret.py",
        "no scheme": str(outside / "secret.py"),
        "a host": f"file://127.0.0.1{outside}/secret.py",
        "a broken host": "file://[::1/secret.py",
        "a device": "file:///dev/zero",
        "nothing": "",
        "long": f"{root.as_uri()}/{'a/' * 50_000}",
    }
    found = {
        f"{kind} of {name}": question(kind, address, f"outside {name} {kind}")
        for name, address in elsewhere.items()
        for kind in _QUESTIONS
    }
    for line, character in ((-1, 0), (0, -1), (2**31 - 1, 0), (0, 2**31 - 1), (2**70, 2**70), ("0", None), (1.5, 0)):
        found[f"the place {line} {character}"] = b"".join(
            question(kind, uri, f"place {kind}", line, character) for kind in ("definition", "references")
        )
        found[f"the place {line} {character}"] += question("codeAction", uri, "c", line, character)
    long_line = "a" * 400_000 + " "
    found["a long line"] = opened("untitled:1", long_line) + b"".join(
        question(kind, "untitled:1", kind, 0, len(long_line)) for kind in _QUESTIONS
    )
    points = ("a." * 200_000) + "#"
    found["a long line of points"] = opened("untitled:1", points) + b"".join(
        question(kind, "untitled:1", kind, 0, len(points)) for kind in _QUESTIONS
    )
    found["words in one line"] = opened("untitled:1", "REQ-a1 " * 100_000) + question(
        "hover", "untitled:1", "h", 0, 690_000
    )
    found["many texts"] = b"".join(opened(f"untitled:{number}", "x" * 1_000) for number in range(3_000))
    found["large texts"] = b"".join(opened(f"untitled:{number}", "x" * 10_000_000) for number in range(12))
    whole = [{"text": "x" * _LARGE}]
    document = {"uri": uri, "version": 2}
    found["a large change"] = (
        opened(uri, f"# Implements: {_ID}\n")
        + _notice("textDocument/didChange", textDocument=document, contentChanges=whole)
        + _notice("textDocument/didClose", textDocument={"uri": uri})
    )
    far = {"start": {"line": 2**31 - 1, "character": 0}, "end": {"line": 0, "character": 2**31 - 1}}
    found["a change elsewhere"] = opened("untitled:1", "x") + _notice(
        "textDocument/didChange",
        textDocument={"uri": "untitled:1", "version": 2},
        contentChanges=[{"range": far, "text": "y"}],
    )
    found["a change of what is not open"] = _notice(
        "textDocument/didChange", textDocument=document, contentChanges=whole[:0]
    )
    found["closed twice"] = 2 * _notice("textDocument/didClose", textDocument={"uri": uri})
    found["cancelled"] = b"".join(_notice("$/cancelRequest", id=number) for number in range(5_000))
    found["asked and cancelled"] = b"".join(
        question("hover", uri, number) + _notice("$/cancelRequest", id=number) for number in range(500)
    )
    for bad in (None, [], {}, "x" * 100_000):
        found[f"cancelled {str(bad)[:10]}"] = _notice("$/cancelRequest", id=bad)
    rejected: list[list[Any]] = [[str(outside / "secret.py"), 1, _ID], ["../outside/pipe", 1, _ID], [], [1, "x", {}]]
    found["rejected elsewhere"] = b"".join(
        framed({"jsonrpc": "2.0", "id": number, "method": "workspace/executeCommand", "params": {
            "command": "clew.rejectLink", "arguments": arguments
        }})
        for number, arguments in enumerate(rejected)
    )  # fmt: skip
    found["begun twice"] = framed(
        {"jsonrpc": "2.0", "id": "again", "method": "initialize", "params": {
            "processId": None, "rootUri": root.as_uri(), "capabilities": {}
        }}
    )  # fmt: skip
    found["before: a question"] = b"".join(question(kind, uri, f"early {kind}") for kind in _QUESTIONS)
    found["before: a text"] = opened(uri, "x") + _notice("textDocument/didSave", textDocument={"uri": uri})
    found["before: done"] = _notice("initialized")
    return found


def _damaged(root: Path, rounds: int) -> bytes:
    """Messages with a byte changed, taken out or doubled; what is damaged depends on the number of rounds alone."""
    chance = random.Random(rounds)
    uri = (root / "clock.py").as_uri()

    def made() -> Iterator[bytes]:
        for number in range(rounds):
            message = bytearray(question(chance.choice(_QUESTIONS), uri, number).partition(b"\r\n\r\n")[2])
            at = chance.randrange(len(message))
            match chance.randrange(3):
                case 0:
                    message[at] = chance.randrange(256)
                case 1:
                    del message[at]
                case _:
                    message[at:at] = message[at : at + 8]
            yield framed(bytes(message))

    return b"".join(made())


if __name__ == "__main__":
    outcome = run(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
    sys.stdout.write(f"{outcome}\n")
    sys.exit(1 if outcome.faults else 0)
