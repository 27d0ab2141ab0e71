"""A careless client: thousands of messages, most of them malformed, over stdio and HTTP.

Every request has to get exactly one answer, every malformed message an error with the right code, and the server has to
go on. What is sent depends on the number of rounds alone.
"""

import http.client
import json
import random
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.attack.outcome import Outcome

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602

SMALL_SPEC = """# Small

## REQ-p00001: Keep time

**Level**: PRD | **Status**: Active

The clock SHALL keep time.

## Assertions

A. The clock SHALL keep time.

*End* *Keep time* | **Hash**: 00000000
"""
_TOOLS = ("get_graph_status", "search", "get_requirement", "tools_search", "kb_search", "kb.search", "no_such_tool")
_METHODS = (
    "tools/list",
    "ping",
    "no/such/method",
    "",
    "tools/call",
    "resources/list",
    "prompts/get",
    "logging/setLevel",
)
_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    2**70,
    "",
    "x" * 5_000,
    "é\U0001f600\u2028\x00",
    [],
    {},
    [[]],
    {"a": 1},
)


@dataclass(frozen=True)
class Message:
    body: bytes
    id: str | int | None
    """The id that its answer carries."""
    code: int | None
    """The code that its answer has to have; None where any answer will do."""


def run(rounds: int) -> Outcome:
    """Send `rounds` messages over stdio and as many over HTTP."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "spec").mkdir()
        (root / "spec" / "small.md").write_text(SMALL_SPEC, encoding="utf-8")
        (root / "clew.toml").write_text('[requirements]\nfolders = ["spec"]\n', encoding="utf-8")
        faults, codes = _attack_stdio(root, rounds)
        more, others = _attack_http(root, rounds)
    return Outcome(2 * rounds, (*faults, *more), {f"of {code}": number for code, number in (codes + others).items()})


def make_messages(rounds: int) -> list[Message]:
    """The messages of an attack; ids are unique, so that answers can be counted."""
    chance = random.Random(rounds)
    kinds: tuple[Callable[[random.Random, int], Message], ...] = (
        _call,
        _call,
        _method,
        _odd,
        _broken,
        _surrogate,
        _flipped,
    )
    return [chance.choice(kinds)(chance, number) for number in range(1, rounds + 1)]


def _call(chance: random.Random, number: int) -> Message:
    arguments = {
        name: chance.choice(_VALUES) for name in chance.sample(("query", "req_id", "limit", "name", "field"), 2)
    }
    params = {"name": chance.choice(_TOOLS), "arguments": chance.choice((arguments, arguments, None, [1], "text"))}
    return _request(number, "tools/call", params)


def _method(chance: random.Random, number: int) -> Message:
    return _request(number, chance.choice(_METHODS), {chance.choice("abc"): chance.choice(_VALUES)})


def _request(number: int, method: str, params: Any) -> Message:
    id = number if number % 2 else f"request {number}"
    return Message(_encoded({"jsonrpc": "2.0", "id": id, "method": method, "params": params}), id, None)


def _odd(chance: random.Random, number: int) -> Message:
    """An object that is no request."""
    good = {"jsonrpc": "2.0", "id": number, "method": "tools/list"}
    changed, id, code = chance.choice(
        (
            ({"id": chance.choice((None, 1.5, True, {}, [], 2**64, "x" * 2_000))}, None, INVALID_REQUEST),
            ({"jsonrpc": chance.choice((None, "1.0", 2.0, "2"))}, number, INVALID_REQUEST),
            ({"method": chance.choice((None, 7, [], {}))}, number, INVALID_REQUEST),
            ({"params": chance.choice(([], [1, 2]))}, number, INVALID_PARAMS),
            ({"params": chance.choice(("text", 7, True))}, number, INVALID_REQUEST),
        )
    )
    return Message(_encoded(good | changed), id, code)


def _broken(chance: random.Random, number: int) -> Message:
    whole = _encoded({"jsonrpc": "2.0", "id": number, "method": "tools/list"})
    body, code = chance.choice(
        (
            (whole[: chance.randrange(1, len(whole) - 1)], PARSE_ERROR),
            (whole + b"}", PARSE_ERROR),
            (b"\xff\xfe" + whole, PARSE_ERROR),
            (whole.replace(b'"2.0"', b"NaN"), PARSE_ERROR),
            (b'{"a":' * 20_000, PARSE_ERROR),
            (b"[" + whole + b"," + whole + b"]", INVALID_REQUEST),
            (chance.choice((b"[]", b"null", b"7", b'"text"', b"{}")), INVALID_REQUEST),
        )
    )
    return Message(body, None, code)


def _surrogate(chance: random.Random, number: int) -> Message:
    half = chance.choice((r"\ud800", r"\udfff", r"a\udbffb"))
    whole = _request(number, "tools/call", {"name": "search", "arguments": {"query": "HALF"}})
    return Message(whole.body.replace(b"HALF", half.encode()), whole.id, INVALID_PARAMS)


def _flipped(chance: random.Random, number: int) -> Message:
    """A request with one byte more that no JSON begins with."""
    whole = _encoded({"jsonrpc": "2.0", "id": number, "method": "ping"})
    return Message(bytes([chance.randrange(0x80, 0x100)]) + whole, None, PARSE_ERROR)


def _encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def _wrong(message: Message, answers: list[dict[str, Any]]) -> str | None:
    """What is wrong with the answers to a message."""
    shown = f"{message.body[:120]!r}"
    if len(answers) != 1:
        return f"{len(answers)} answers to {shown}"
    answer = answers[0]
    if ("result" in answer) == ("error" in answer) or answer.get("jsonrpc") != "2.0":
        return f"no JSON-RPC answer to {shown}: {str(answer)[:120]}"
    code = answer.get("error", {}).get("code")
    if message.code is not None and code != message.code:
        return f"error {code} instead of {message.code} for {shown}"
    return f"an internal error for {shown}: {answer['error']}" if code in (0, -32603) else None


def _initialize() -> dict[str, Any]:
    client = {"name": "attack", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params}


# Over stdio


def _attack_stdio(root: Path, rounds: int) -> tuple[list[str], Counter[int]]:
    messages = make_messages(rounds)
    process = subprocess.Popen(
        [sys.executable, "-m", "clew", "serve", str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    with process:
        answers = Answers(process.stdout)
        for line in (_encoded(_initialize()), *(message.body for message in messages)):
            process.stdin.write(line + b"\n")
            process.stdin.flush()
        complete = answers.wait_for(rounds + 1)
        process.stdin.close()
    return _faults(messages, answers.by_id) if complete else (["the server ended"], Counter())


class Answers:
    """What a server says, read while more is sent: a pipe that is full in both directions would stop both sides."""

    def __init__(self, stream: Any) -> None:
        self.by_id: dict[Any, list[dict[str, Any]]] = {}
        self._count = 0
        self._ended = False
        self._changed = threading.Condition()
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: Any) -> None:
        for line in stream:
            answer = json.loads(line)
            if "method" not in answer:
                with self._changed:
                    self.by_id.setdefault(answer["id"], []).append(answer)
                    self._count += 1
                    self._changed.notify()
        with self._changed:
            self._ended = True
            self._changed.notify()

    def wait_for(self, count: int) -> bool:
        """Wait for so many answers; False where the server ends before."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._count >= count)
            return self._count >= count


def _faults(messages: list[Message], answers: dict[Any, list[dict[str, Any]]]) -> tuple[list[str], Counter[int]]:
    """What is wrong: with the answers to each id, and with the number of answers that have none."""
    faults = [wrong for each in messages if each.id is not None and (wrong := _wrong(each, answers.get(each.id, [])))]
    expected = Counter(each.code for each in messages if each.id is None)
    nameless = Counter(answer["error"]["code"] for answer in answers.get(None, []))
    if expected != nameless:
        faults.append(f"errors without an id: {dict(nameless)} instead of {dict(expected)}")
    codes = [answer["error"]["code"] for each in answers.values() for answer in each if "error" in answer]
    return faults, Counter(codes)


# Over HTTP


def _attack_http(root: Path, rounds: int) -> tuple[list[str], Counter[int]]:
    command = [sys.executable, "-m", "clew", "serve", str(root), "--transport", "http", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    faults: list[str] = []
    codes: Counter[int] = Counter()
    try:
        address = urlsplit(process.stdout.readline().rpartition(" ")[2].strip())
        connection = http.client.HTTPConnection(address.hostname or "", address.port or 0, timeout=300)
        with closing(connection):
            session = _post(connection, _encoded(_initialize()), {})[1]
            for message in make_messages(rounds):
                answers, _ = _post(connection, message.body, {"Mcp-Session-Id": session})
                wrong = _wrong(message, answers)
                if wrong is not None:
                    faults.append(f"over HTTP: {wrong}")
                codes.update(answer["error"]["code"] for answer in answers if "error" in answer)
    finally:
        process.terminate()
        process.communicate()
    return faults, codes


def _post(
    connection: http.client.HTTPConnection, body: bytes, headers: dict[str, str]
) -> tuple[list[dict[str, Any]], str]:
    """The answers to a message, and the session; a client that is too fast waits as it is told."""
    accepted = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    while True:
        connection.request("POST", "/mcp", body, {**accepted, **headers})
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != 429:
            break
    if answer.getheader("content-type", "").startswith("text/event-stream"):
        lines = [line[len("data:") :].strip() for line in text.splitlines() if line.startswith("data:")]
        found = [json.loads(line) for line in lines if line]
        return [each for each in found if "method" not in each], answer.getheader("mcp-session-id", "")
    return [json.loads(text)], answer.getheader("mcp-session-id", "")


if __name__ == "__main__":
    outcome = run(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
    sys.stdout.write(f"{outcome}\n")
    sys.exit(1 if outcome.faults else 0)
