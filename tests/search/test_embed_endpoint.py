"""A service that speaks the embeddings interface of OpenAI, played by a server in this process."""

import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from clew.config import EmbedSettings
from clew.errors import ClewError, ConfigError, InvalidArgument, Unavailable
from clew.search.embed.embedder import Embedder
from clew.search.embed.opening import open_embedder

KEY = "sk-not-a-real-key-123"
DIMENSIONS = 6


def vector_of(text: str) -> list[float]:
    return [float(len(text)), *(float(text.count(letter)) for letter in "abcd"), 1.0]


class Service:
    """Answers as the tests tell it to, and remembers what it was asked."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.failures: list[tuple[int, str]] = []
        self.answer: bytes | None = None
        self.location: str | None = None
        self.url = ""

    def reply(self, body: dict[str, Any]) -> tuple[int, bytes]:
        self.requests.append(body)
        if self.failures:
            status, text = self.failures.pop(0)
            return status, text.encode()
        if self.answer is not None:
            return 200, self.answer
        data = [{"index": index, "embedding": vector_of(text)} for index, text in enumerate(body["input"])]
        return 200, json.dumps({"data": data[::-1], "model": body["model"]}).encode()


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    played = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            played.keys.append(self.headers.get("Authorization"))
            if played.location is not None and not self.path.endswith("/elsewhere"):
                self.send_response(302)
                self.send_header("Location", played.location)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, content = played.reply(body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            # A client that lost patience is gone.
            with suppress(ConnectionError):
                self.end_headers()
                self.wfile.write(content)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    played.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield played
    server.shutdown()
    thread.join()
    server.server_close()


def opened(service: Service, **more: Any) -> Embedder:
    settings: dict[str, Any] = {"dimensions": DIMENSIONS, "pause_seconds": 0.0, "model": "m", **more}
    embedder = open_embedder(EmbedSettings(kind="endpoint", url=service.url, **settings))
    assert embedder is not None
    return embedder


def test_texts_go_out_in_requests_of_limited_size_and_come_back_in_order(service: Service) -> None:
    texts = [f"text {'a' * number}" for number in range(7)]
    vectors = opened(service, texts_per_request=3).embed(texts)
    assert [len(request["input"]) for request in service.requests] == [3, 3, 1]
    expected = np.array([vector_of(text) for text in texts], np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(vectors, expected, atol=1e-6)
    assert service.requests[0]["model"] == "m"
    assert service.requests[0]["dimensions"] == DIMENSIONS


def test_without_a_number_of_dimensions_the_service_is_asked(service: Service) -> None:
    embedder = opened(service, dimensions=None)
    assert embedder.dimensions == DIMENSIONS
    assert "dimensions" not in service.requests[0]


def test_another_model_has_another_name(service: Service) -> None:
    assert opened(service).name == opened(service).name != opened(service, model="n").name
    assert opened(service).name != opened(service, max_tokens=100).name


def test_nothing_that_services_refuse_is_sent(service: Service) -> None:
    embedder = opened(service, max_tokens=50)
    assert embedder.embed(["", "a\0b", "word " * 200_000, "\ud800", "🙂 漢字"]).shape == (5, DIMENSIONS)
    empty, with_nul, long, half, other = service.requests[0]["input"]
    assert (empty, with_nul, half, other) == (" ", "a b", "?", "🙂 漢字")
    assert len(long) <= 300


def test_the_key_is_taken_from_the_environment_and_sent(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_KEY", KEY)
    embedder = opened(service, key_variable="EMBEDDING_KEY")
    embedder.embed(["text"])
    assert service.keys == [f"Bearer {KEY}"]
    assert KEY not in repr(embedder) + embedder.name


@pytest.mark.parametrize("value", [None, "", "two\nlines", "ключ"])
def test_a_variable_without_a_key_is_refused_without_showing_it(
    service: Service, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("EMBEDDING_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("EMBEDDING_KEY", value)
    with pytest.raises(ConfigError) as caught:
        opened(service, key_variable="EMBEDDING_KEY")
    assert "EMBEDDING_KEY" in caught.value.message
    assert not value or value not in str(caught.value)


def test_a_key_is_not_sent_unencrypted_to_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_KEY", KEY)
    settings = EmbedSettings(
        kind="endpoint", url="http://embeddings.invalid/v1", model="m", key_variable="EMBEDDING_KEY"
    )
    with pytest.raises(ConfigError, match="unencrypted"):
        open_embedder(settings)


def test_a_redirection_is_not_followed_with_the_key(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_KEY", KEY)
    embedder = opened(service, key_variable="EMBEDDING_KEY")
    service.location = f"{service.url}/elsewhere"
    with pytest.raises(ConfigError, match="302"):
        embedder.embed(["text"])
    assert len(service.keys) == 1


def test_a_failure_that_may_pass_is_tried_again(service: Service) -> None:
    service.failures = [(503, "busy"), (429, "slow down")]
    assert opened(service, attempts=3).embed(["text"]).shape == (1, DIMENSIONS)
    assert len(service.requests) == 3


def test_attempts_are_bounded(service: Service) -> None:
    service.failures = [(500, "broken")] * 10
    with pytest.raises(Unavailable, match="500"):
        opened(service, attempts=2).embed(["text"])
    assert len(service.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
def test_a_refusal_is_not_tried_again_and_its_text_does_not_repeat_the_key(
    service: Service, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("EMBEDDING_KEY", KEY)
    service.failures = [(status, f"the key {KEY} is wrong")] * 3
    with pytest.raises(ConfigError) as caught:
        opened(service, key_variable="EMBEDDING_KEY").embed(["text"])
    assert str(status) in caught.value.message
    assert KEY not in str(caught.value)
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"<html>", Unavailable),
        (b"{}", Unavailable),
        (b'{"data": []}', Unavailable),
        (b'{"data": [{"index": 3, "embedding": [1, 2, 3, 4, 5, 6]}]}', Unavailable),
        (b'{"data": [{"index": 0, "embedding": [1, 2, 3]}]}', ConfigError),
        (b'{"data": [{"index": 0, "embedding": []}]}', Unavailable),
        (b'{"data": [{"index": 0, "embedding": [1e39, 2, 3, 4, 5, 6]}]}', Unavailable),
        (b'{"data": [{"index": 0, "embedding": ["one"]}]}', Unavailable),
    ],
)
def test_an_answer_that_is_not_what_was_asked_for_is_an_error(
    service: Service, answer: bytes, error: type[ClewError]
) -> None:
    service.answer = answer
    with pytest.raises(error):
        opened(service).embed(["text"])


def test_a_service_that_is_not_there_is_named(service: Service) -> None:
    embedder = opened(service, attempts=1)
    with socket.socket() as silent:
        # A port that is taken, and on which nobody listens.
        silent.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        settings = EmbedSettings(
            kind="endpoint", url=f"http://{place}/v1", model="m", dimensions=3, attempts=2, pause_seconds=0
        )
        absent = open_embedder(settings)
        assert absent is not None
        with pytest.raises(Unavailable, match=re.escape(place)):
            absent.embed(["text"])
    with pytest.raises(InvalidArgument):
        embedder.embed("text")


def test_a_service_that_does_not_answer_in_time_is_given_up(service: Service) -> None:
    waiting = threading.Event()
    service.reply = lambda body: (waiting.wait(120), (200, b"{}"))[1]  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        opened(service, timeout_seconds=0.05, attempts=1).embed(["text"])
    waiting.set()


@pytest.mark.parametrize(
    "url", ["ftp://host/v1", "host/v1", "http://", "http://user:secret@host/v1", "https://host/v1?key=1", "http://h:x/"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_embedder(EmbedSettings(kind="endpoint", url=url, model="m", dimensions=3))
    assert "secret" not in str(caught.value)
