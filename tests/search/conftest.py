"""What the tests of the engine share: engines on real folders, and an embedding service in this process.

The service speaks the interface that Clew knows. Its vectors count words, so that they are made at once and texts that
share words are near each other.
"""

import itertools
import json
import math
import os
import threading
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.postgres import Postgres

from clew.config import EmbedSettings
from clew.operation.paging import Cursors
from clew.search.engine import Backend, SearchEngine
from clew.text.database_address import Address

DIMENSIONS = 64
KEY = b"k" * 32

PATIENCE = 3600.0
"""Searches wait for the vectors of their queries, however slow the machine."""
Engines = Callable[..., SearchEngine]


CONTRACT = (
    *("test_engine", "test_engine_vectors", "test_engine_pages", "test_engine_expansion", "test_engine_bad_input"),
    *("test_surroundings", "test_agreement", "test_diversity", "test_contract_index"),
)
"""What holds for every engine: these modules run on each of them."""
OF_FILES = (
    *("far_down", "cancelled", "few_at_a_time", "earlier_embedder", "damaged", "whose_file_is_gone", "earlier_layout"),
    *("another_process", "killed", "approximate"),
)
"""Words in the names of their tests that are about files, and run on the embedded engine alone."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine_kind" in metafunc.fixturenames:
        name = metafunc.module.__name__.rpartition(".")[2]
        both = name in CONTRACT and not any(word in metafunc.function.__name__ for word in OF_FILES)
        metafunc.parametrize("engine_kind", ["embedded", "database"] if both else ["embedded"])


_schemas = itertools.count(1)


@pytest.fixture(scope="session")
def search_database(postgres: Postgres) -> Iterator[str]:
    with postgres.database(f"search_{os.getpid()}") as url:
        yield url


@pytest.fixture
def places(engine_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., Backend | None]:
    """Where an engine keeps its units: None for a folder."""
    if engine_kind == "embedded":
        return lambda settings, folder: None
    from clew.search.database.opening import in_database

    address = Address(request.getfixturevalue("search_database"))
    schema = f"s{next(_schemas)}"
    return lambda settings, folder: in_database(
        address, f"{schema}{'' if folder is None else '_other'}", "own", settings, PATIENCE
    )


@pytest.fixture
def engines(tmp_path: Path, places: Callable[..., Backend | None]) -> Iterator[Engines]:
    """Opens engines on one folder, or on another; without vectors unless settings say so."""
    opened: list[SearchEngine] = []

    def open_one(embed: EmbedSettings | None = None, folder: Path | None = None, **more: object) -> SearchEngine:
        settings = embed or EmbedSettings(kind="none")
        engine = SearchEngine(
            folder or tmp_path / "search",
            cursors=Cursors(KEY),
            embed=settings,
            backend=places(settings, folder),
            patience=PATIENCE,
            **more,
        )
        opened.append(engine)
        return engine

    yield open_one
    for engine in opened:
        engine.close()


@pytest.fixture
def engine(engines: Engines) -> SearchEngine:
    return engines()


class WordCounts:
    """The service: `asked` are the texts it embedded, `keys` what it was sent as a key."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.keys: list[str | None] = []
        self.url = ""
        self.fails = False
        self.answers = threading.Event()
        """Cleared, it lets everybody wait."""
        self.answers.set()

    def settings(self, model: str = "words") -> EmbedSettings:
        return EmbedSettings(
            kind="endpoint", url=self.url, model=model, dimensions=DIMENSIONS, attempts=1, texts_per_request=2048
        )


def vector_of(text: str, model: str) -> list[float]:
    values = [0.0] * DIMENSIONS
    for word in text.lower().split():
        values[zlib.crc32(f"{model}/{word.strip('.,')}".encode()) % DIMENSIONS] += 1.0
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return [value / length for value in values]


@pytest.fixture
def word_counts(monkeypatch: pytest.MonkeyPatch) -> Iterator[WordCounts]:
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    service = WordCounts()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            service.asked += body["input"]
            service.answers.wait(60)
            service.keys.append(self.headers["Authorization"])
            data = [
                {"index": place, "embedding": vector_of(text, body["model"])}
                for place, text in enumerate(body["input"])
            ]
            content = json.dumps({"data": data}).encode()
            self.send_response(400 if service.fails else 200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield service
    service.answers.set()
    server.shutdown()
    thread.join()
    server.server_close()
