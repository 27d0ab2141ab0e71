"""Embeddings that several servers share: a text is encoded once, by whoever comes first."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.search.conftest import PATIENCE

from clew.config import EmbedSettings
from clew.errors import Cancelled
from clew.operation.paging import Cursors
from clew.search.database.connecting import Database
from clew.search.database.embeddings import SharedEmbeddings
from clew.search.database.opening import in_database
from clew.search.engine import SearchEngine
from clew.search.question import Question
from clew.search.units import Scope, Unit
from clew.text.database_address import Address

SCOPE = Scope(parts=("rule",))
Open = Callable[[str, EmbedSettings], SearchEngine]


def rules(count: int, **more: Any) -> list[Unit]:
    return [
        Unit(id=f"u{number}", part="rule", title=f"Rule {number}", body=f"loan {number} costs a fee. " * 3, **more)
        for number in range(count)
    ]


@pytest.fixture(params=["in files", "in the database"])
def servers(request: pytest.FixtureRequest, search_database: str, tmp_path: Path) -> Open:
    """Opens engines of several servers before one database."""
    schema = f"shared_{abs(hash(request.node.name))}"

    def opened(name: str, embed: EmbedSettings) -> SearchEngine:
        folder, cursors = tmp_path / name, Cursors(bytes(32))
        if request.param == "in the database":
            place = in_database(Address(search_database), schema, name, embed, PATIENCE)
            engine = SearchEngine(folder, cursors=cursors, embed=embed, backend=place)
        else:
            sharing = SharedEmbeddings(Database(Address(search_database), schema))
            engine = SearchEngine(folder, cursors=cursors, embed=embed, sharing=sharing, patience=PATIENCE)
        request.addfinalizer(engine.close)
        return engine

    return opened


# Verifies: REQ-d00491-A
def test_a_second_server_starts_with_what_the_first_encoded(servers: Open, word_counts: Any) -> None:
    first, second = (servers(name, word_counts.settings()) for name in ("a", "b"))
    first.units.put([*rules(20), *(Unit(id="q", part="rule", title="Q", body="A fee. " * 80, quoted=True),)])
    made = first.index_vectors()
    assert (made.embedded, made.reused) == (21, 0)
    asked = len(word_counts.asked)
    second.units.put([*rules(20), *(Unit(id="q", part="rule", title="Q", body="A fee. " * 80, quoted=True),)])
    again = second.index_vectors()
    assert (again.embedded, again.reused) == (0, 21)
    assert len(word_counts.asked) == asked
    question = Question(text="loan 7 fee", scope=SCOPE, recipe="dense")
    one, other = ([(unit.id, round(unit.score, 3)) for unit in each.rank(question).units] for each in (first, second))
    assert one[0] == other[0]
    assert dict(one) == pytest.approx(dict(other), abs=2e-3)
    windows = [each.window_likeness("a fee", ["q"])["q"] for each in (first, second)]
    assert windows[0] == pytest.approx(windows[1], abs=2e-3)


# Verifies: REQ-d00491-B
def test_servers_that_encode_at_once_encode_no_text_twice(servers: Open, word_counts: Any) -> None:
    engines = [servers(name, word_counts.settings()) for name in ("a", "b", "c")]
    for engine in engines:
        engine.units.put(rules(150))
    working = [threading.Thread(target=engine.index_vectors) for engine in engines]
    for each in working:
        each.start()
    for each in working:
        each.join()
    assert len(word_counts.asked) == len(set(word_counts.asked)) == 150
    assert [engine.state().embedded for engine in engines] == [150, 150, 150]


# Verifies: REQ-d00491-B
def test_what_a_server_began_and_did_not_finish_is_encoded_by_another(servers: Open, word_counts: Any) -> None:
    first, second = (servers(name, word_counts.settings()) for name in ("a", "b"))
    for engine in (first, second):
        engine.units.put(rules(100))

    def stop(done: int, total: int, message: str) -> None:
        if word_counts.asked:
            raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        first.index_vectors(stop)
    before = len(word_counts.asked)
    assert 0 < before < 100
    second.index_vectors()
    assert second.state().embedded == 100
    assert len(word_counts.asked) == 100
