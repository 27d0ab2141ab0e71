"""Questions while the encoder does not answer."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from tests.kb.conftest import CONFIG
from tests.sourced import sourced

from clew.config import EmbedSettings, load
from clew.errors import InvalidCursor, TimedOut
from clew.kb.answer.answering import QuotedAnswer, answer
from clew.kb.answer.passages import Caller
from clew.kb.answer.requests import EvidenceRequest, Mode, Narrowing, SearchRequest
from clew.kb.answer.section_search import Finder, FoundSections
from clew.kb.answer.shortlist import KeptPages, PageOptions
from clew.kb.ingest.units import units_of
from clew.operation.call import Call, Deadline, carry_out
from clew.operation.listing import all_tools
from clew.operation.paging import Cursors, Pages
from clew.project import Project
from clew.search.dense import search as dense
from clew.search.dense.files import FileVectors
from clew.search.dense.search import VectorSearch
from clew.search.dense.spaces import Embedders, EmbeddingSpace, Spaces
from clew.search.engine import Backend, SearchEngine
from clew.search.index import UnitIndex

if TYPE_CHECKING:
    from clew.search.embed.embedder import Embedder, Vectors

BELLS = "# Bells\n\nThe fog bell rings every ten seconds.\n\n# Lamps\n\nThe lamp turns once a minute.\n"
ASKERS = 12


class Blocked:
    """An embedder that answers while it may."""

    name, dimensions, max_tokens = "blocked", 8, 256
    spaces: Embedders

    def __init__(self) -> None:
        self.answers = threading.Event()
        self.answers.set()
        self.asked: list[str] = []

    def takes(self, text: str) -> bool:
        return True

    def waited_for(self, seconds: float) -> None:
        """From now on searches wait so long for the vectors of their queries."""
        self.spaces.patience = seconds

    def embed(self, texts: Sequence[str]) -> "Vectors":
        self.asked += texts
        self.answers.wait()
        return np.eye(self.dimensions, dtype=np.float32)[[len(text) % self.dimensions for text in texts]]


class _BlockedSpaces(Spaces):
    embedder: "Embedder"

    def configured(self) -> "Embedder | None":
        return self.embedder


@pytest.fixture
def blocked() -> Iterator[Blocked]:
    embedder = Blocked()
    yield embedder
    embedder.answers.set()


@pytest.fixture
def finder(make: Callable[..., Project], tmp_path: Path, blocked: Blocked) -> Iterator[Finder]:
    """Finds the documents of a project in an index whose vectors the embedder made."""
    library = make({"docs/bells.md": BELLS}).kb
    library.index()
    folder = tmp_path / "search"
    units = UnitIndex(folder / "index.db")
    spaces = _BlockedSpaces(folder, units, EmbedSettings(kind="endpoint"))
    spaces.embedder = blocked
    blocked.spaces = spaces
    engine = SearchEngine(
        folder,
        cursors=Cursors(b"k" * 32),
        backend=Backend(units, VectorSearch(FileVectors(folder, units, spaces), spaces)),
    )
    with library.library.reading() as reading:
        engine.units.put(list(units_of(reading, "docs/bells.md")))
    engine.index_vectors()
    yield Finder(library.library, engine)
    engine.close()


# Verifies: REQ-d00404-A
def test_words_answer_all_who_ask_while_the_encoder_is_blocked(finder: Finder, blocked: Blocked) -> None:
    blocked.waited_for(0.02)
    blocked.answers.clear()

    def ask(number: int) -> QuotedAnswer:
        return answer(finder, EvidenceRequest(question="How often does the fog bell ring" + "?" * number))

    with ThreadPoolExecutor(ASKERS) as askers:
        answers = list(askers.map(ask, range(ASKERS)))
    assert all("every ten seconds" in each.quotes[0].quote for each in answers)
    assert all(dense.TOO_BUSY in each.notes for each in answers)


# Verifies: REQ-d00404-B
def test_an_answer_waits_for_a_blocked_encoder_once(
    finder: Finder, blocked: Blocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    vector = EmbeddingSpace.vector

    def noted(space: EmbeddingSpace, query: str, patience: float | None = None) -> "Vectors":
        asked.append(query)
        return vector(space, query, patience)

    monkeypatch.setattr(EmbeddingSpace, "vector", noted)
    blocked.waited_for(0.02)
    blocked.answers.clear()
    found = answer(finder, EvidenceRequest(question="How often does the fog bell ring?"))
    assert dense.TOO_BUSY in found.notes
    assert len(asked) == 1


# Verifies: REQ-d00404-D
def test_who_asks_again_is_answered_by_meaning_once_the_encoder_answers(finder: Finder, blocked: Blocked) -> None:
    request = EvidenceRequest(question="How often does the fog bell ring?")
    blocked.waited_for(1.0)
    blocked.answers.clear()
    assert dense.TOO_BUSY in answer(finder, request).notes
    blocked.waited_for(0.02)
    assert dense.TOO_BUSY in finder.find(SearchRequest(query="fog bell", mode=Mode.VECTOR_ONLY)).notes
    blocked.answers.set()
    blocked.waited_for(600.0)
    assert dense.TOO_BUSY not in answer(finder, request).notes
    assert dense.TOO_BUSY not in finder.find(SearchRequest(query="fog bell", mode=Mode.VECTOR_ONLY)).notes


# Verifies: REQ-d00404-C
def test_what_was_found_is_shown_however_late_it_is(make: Callable[..., Project]) -> None:
    project = make({"docs/bells.md": BELLS})
    kb = project.kb
    kb.index()
    now = [0.0]
    caller = Caller(
        owner="",
        session=kb.session_name(""),
        scheme="clew",
        boundary=kb.boundary(),
        check=Deadline(lambda: None, 5.0, monotonic=lambda: now[0]),
    )
    asked = SearchRequest(query="fog bell", top_k=5, mode=Mode.VECTOR_ONLY, narrowing=Narrowing(), max_per_document=1)
    pages = Pages(project.context.cursors, "kb.search", {}, None)
    found = kb.shortlist.ranked(asked, caller, pages)
    now[0] = 6.0
    shown = PageOptions(offset=0, page_size=5, max_snippet_chars=280, debug=False, mode=Mode.VECTOR_ONLY)
    items, _ = kb.shortlist.page("fog bell", found, shown, caller)
    assert "every ten seconds" in items[0].preview
    with pytest.raises(TimedOut):
        kb.shortlist.ranked(msgspec.structs.replace(asked, query="lamp"), caller, pages)


BUOYS = {
    f"docs/buoy{number}.md": f"# Buoy {number}\n\nThe bell of buoy {number} rings {'very ' * number}loudly.\n"
    for number in range(10)
}


WATCHES = "# Watches\n\n" + "\n\n".join(
    f"On watch {number} the bell rings {'loudly ' * (12 - number)}{'and far over the sea ' * 10}{'.' * number}"
    for number in range(8)
)
"""One section of eight windows. The first says most by its words; one of them is nearest to a question, whatever that
is, as their lengths give vectors."""


# Verifies: REQ-d00404-G
def test_how_long_answers_wait_is_a_setting_also_of_the_user(
    make: Callable[..., Project], blocked: Blocked, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "clew").mkdir()
    (tmp_path / "clew" / "config.toml").write_text(
        "[kb]\ntimeout_seconds = 77.0\n[search]\npatience_seconds = 0.0\n", encoding="utf-8"
    )
    monkeypatch.setattr(Spaces, "configured", lambda spaces: blocked)
    project = make(BUOYS, config=CONFIG.replace('kind = "none"', 'kind = "minilm"'))
    assert project.config.kb.timeout_seconds == 77.0
    project.kb.index()
    engine = project.index.engine
    assert engine is not None
    engine.index_vectors()
    blocked.answers.clear()
    assert dense.TOO_BUSY in _call(project, "kb.search", query="the bell of buoy 3")["notes"]
    (project.config.root / "clew.toml").write_text(f"{CONFIG}[kb]\ntimeout_seconds = 78.0\n", encoding="utf-8")
    assert load(project.config.root).kb.timeout_seconds == 78.0


@pytest.fixture
def files() -> dict[str, str]:
    return BUOYS


@pytest.fixture
def buoys(
    make: Callable[..., Project], files: dict[str, str], blocked: Blocked, monkeypatch: pytest.MonkeyPatch
) -> Project:
    """A project with vectors of its documents, whose encoder is too busy for the next question."""
    monkeypatch.setattr(Spaces, "configured", lambda spaces: blocked)
    project = make(files, config=CONFIG.replace('kind = "none"', 'kind = "minilm"'))
    project.kb.index()
    engine = project.index.engine
    assert engine is not None
    assert engine.index_vectors().note is None
    blocked.spaces = engine.spaces
    blocked.waited_for(0.02)
    blocked.answers.clear()
    return project


def _call(project: Project, tool: str, **arguments: object) -> dict[str, Any]:
    tools = all_tools()
    return carry_out(next(each for each in tools if each.name == tool), arguments, Call(project, tools)).data


def _recovered(blocked: Blocked) -> None:
    blocked.answers.set()
    blocked.waited_for(600.0)


# Verifies: REQ-d00404-E
@pytest.mark.parametrize(
    ("tool", "asked", "items", "size"),
    [
        ("kb.retrieve_evidence", {"question": "Which bell rings loudly?"}, "quotes", "max_quotes"),
        ("kb.search", {"query": "Which bell rings loudly?", "top_k": 10}, "results", "page_size"),
    ],
)
def test_a_further_page_goes_on_as_the_first_one_was_found(
    buoys: Project,
    blocked: Blocked,
    tool: str,
    asked: dict[str, object],
    items: str,
    size: str,
) -> None:
    by_words = _call(buoys, tool, **asked, **{size: 10})
    first = _call(buoys, tool, **asked, **{size: 3})
    assert dense.TOO_BUSY in first["notes"]
    _recovered(blocked)
    # Somebody who asks the same anew gets other results, and does not take away what was on the way.
    by_meaning = _call(buoys, tool, **asked, **{size: 10})
    assert _sections(by_meaning[items]) != _sections(by_words[items])
    rest = _call(buoys, tool, **asked, **{size: 10}, cursor=first["next_cursor"])
    assert _sections(first[items]) + _sections(rest[items]) == _sections(by_words[items])


# Verifies: REQ-d00404-E
@pytest.mark.parametrize("files", [{"docs/watches.md": WATCHES}])
def test_a_cursor_leads_on_in_its_own_order_of_quotes_of_the_same_sections(buoys: Project, blocked: Blocked) -> None:
    asked = {"question": "Which bell rings loudly?"}
    by_words = _call(buoys, "kb.retrieve_evidence", **asked, max_quotes=8)
    first = _call(buoys, "kb.retrieve_evidence", **asked, max_quotes=3)
    _recovered(blocked)
    by_meaning = _call(buoys, "kb.retrieve_evidence", **asked, max_quotes=8)
    other = _call(buoys, "kb.retrieve_evidence", **asked, max_quotes=3)
    assert _lines(by_meaning) != _lines(by_words)
    for page, everything in ((first, by_words), (other, by_meaning)):
        rest = _call(buoys, "kb.retrieve_evidence", **asked, max_quotes=8, cursor=page["next_cursor"])
        assert _lines(page) + _lines(rest) == _lines(everything)


# Verifies: REQ-d00404-E
def test_a_further_page_is_refused_once_a_document_on_it_changed(buoys: Project, blocked: Blocked) -> None:
    asked = {"question": "Which bell rings loudly?", "max_quotes": 3}
    first = _call(buoys, "kb.retrieve_evidence", **asked)
    _recovered(blocked)
    (buoys.config.root / sourced(first)[0]["section_id"].removeprefix("doc:").partition("#")[0]).write_text("# Gone\n")
    with pytest.raises(InvalidCursor, match="changed"):
        _call(buoys, "kb.retrieve_evidence", **asked, cursor=first["next_cursor"])


# Verifies: REQ-d00404-F
def test_what_further_pages_go_on_with_is_bounded_and_forgotten_after_a_while(buoys: Project) -> None:
    kb = buoys.kb
    found = kb.finder.find(SearchRequest(query="Which bell rings loudly?", top_k=10))
    now = [0.0]
    kept: KeptPages[FoundSections] = KeptPages(60.0, monotonic=lambda: now[0])

    def before(cursor: str) -> FoundSections | None:
        pages = Pages(buoys.context.cursors, "kb.search", {}, cursor)
        return kept.before(pages, kb.library, kb.boundary())

    # Texts of a few words in ten sections take tens of kilobytes: so many of them do not stay.
    for number in range(1_000):
        kept.keep(str(number), kb.boundary(), found)
    assert before("0") is None
    assert before("999") == found
    now[0] = 59.0
    assert before("999") == found
    now[0] = 119.0
    assert before("999") is None


def _sections(items: Sequence[dict[str, Any]]) -> list[str]:
    return [each.get("section_id") or each["quote"] for each in items]


def _lines(answer: dict[str, Any]) -> list[int]:
    return [each["line"] for each in answer["quotes"]]
