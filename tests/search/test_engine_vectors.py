"""Vectors behind the engine: made in the background, by any process, after any interruption, with any embedder."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew.config import EmbedSettings
from clew.derived.file import DerivedFile, FileSchema
from clew.errors import Cancelled, StoreCorrupt
from clew.operation.paging import Cursors
from clew.search.dense import indexing, vectors
from clew.search.dense.indexing import MOST_PIECES
from clew.search.engine import SearchEngine
from clew.search.index import UnitIndex
from clew.search.index_tables import SCHEMA
from clew.search.question import Question, Results
from clew.search.units import Filters, Scope, Unit
from clew.store.sqlite.note import note_of

SCOPE = Scope(parts=("rule",))
Engines = Callable[..., SearchEngine]

NOUNS = ("loan", "fee", "member", "shelf", "desk", "day", "hour", "book", "map", "card")


def rules(count: int) -> list[Unit]:
    draw = random.Random(3)
    return [
        Unit(id=f"u{number}", part="rule", title=f"Rule {number}", body=" ".join(draw.choices(NOUNS, k=8)))
        for number in range(count)
    ]


def search(engine: SearchEngine, text: str = "loan fee", recipe: str = "dense", **more: object) -> Results:
    return engine.search(Question(text=text, scope=SCOPE, recipe=recipe, **more))


def index_in_another_process(folder: Path, settings: EmbedSettings) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, __file__, str(folder), str(settings.url), str(settings.model)],
        stdout=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if "proxy" not in name.lower()},
    )


def test_a_unit_is_compared_by_the_vector_that_it_has(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    units = rules(20)
    engine.units.put(units)
    engine.index_vectors()
    encoded = len(word_counts.asked)
    (found, *_) = search(engine, units[3].body, like="u3").results
    assert (found.id, found.why[0].score) == ("u3", pytest.approx(1.0, abs=1e-3))
    assert len(word_counts.asked) == encoded
    # A unit without a vector is asked by its text.
    assert search(engine, units[3].body, like="none").results[0].id == "u3"
    assert len(word_counts.asked) == encoded + 1


# Verifies: REQ-d00031-G
def test_what_stands_far_down_in_a_long_text_is_found_by_its_meaning(engines: Engines, word_counts: Any) -> None:
    engine = engines(msgspec.structs.replace(word_counts.settings(), max_tokens=40))
    filler = " ".join(f"The desk and the shelf of room {number} are open all day." for number in range(60))
    engine.units.put(
        [
            Unit(id="long", part="rule", title="Rooms", body=f"{filler} A lost card costs a fee. {filler}"),
            Unit(id="short", part="rule", title="Rooms", body="The desk and the shelf of room 7 are open all day."),
        ]
    )
    report = engine.index_vectors()
    assert report.embedded == 2
    assert {text.split("\n")[0] for text in word_counts.asked if text.count("\n")} == {"Rooms"}
    assert len(word_counts.asked) <= 2 + MOST_PIECES + 1
    assert [found.id for found in search(engine, "lost card fee").results] == ["long", "short"]
    assert search(engine).indexed == "2 texts indexed, 2 with embeddings"
    before = search(engine, "lost card fee").results[0].score
    engine.spaces.space(engine.spaces.configured()).vectors.fold()
    for path in engine.folder.glob("vectors-*"):
        path.write_bytes(b"x" * path.stat().st_size)
    again = engines(msgspec.structs.replace(word_counts.settings(), max_tokens=40))
    assert again.index_vectors().rebuilt
    assert search(again, "lost card fee").results[0].score == pytest.approx(before)
    again.units.put([Unit(id="copy", part="rule", title="Rooms", body=f"{filler} A lost card costs a fee. {filler}")])
    assert again.index_vectors().reused == 1
    assert {found.id for found in search(again, "lost card fee").results[:2]} == {"long", "copy"}
    again.units.delete(["long", "copy"])
    assert again.index_vectors().embedded == 0
    assert [found.id for found in search(again, "lost card fee").results] == ["short"]


# Verifies: REQ-d00402-K
def test_the_nearest_window_of_a_text_counts_as_much_as_the_whole_of_it(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    body = "\n\n".join(" ".join([word] * 40) for word in ("apples", "boats", "clouds"))
    bodies = {"long": body, "near": "boats nets", "far": "boats nets ropes sails"}
    engine.units.put([Unit(id=id, part="rule", title="", body=each, quoted=True) for id, each in bodies.items()])
    engine.index_vectors()
    whole = search(engine, "boats").results
    assert [found.id for found in whole] == ["near", "long", "far"]
    found = search(engine, "boats", by_windows=True).results
    assert [each.id for each in found] == ["long", "near", "far"]
    scores = {each.id: each.why[0].score for each in whole}
    assert found[0].why[0].score == pytest.approx((scores["long"] + 1) / 2, abs=0.01)
    # Of a text that is one window, the whole is its nearest window.
    assert found[1].why[0].score == pytest.approx(scores["near"], abs=0.01)


# Verifies: REQ-d00035-H
def test_what_words_find_best_stays_first_while_it_waits_for_its_vector(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(rules(40))
    engine.index_vectors()
    engine.units.put([Unit(id="late", part="rule", title="Loan fee", body="loan fee loan fee")])
    assert search(engine, recipe="lexical").results[0].id == "late"
    hits = search(engine, recipe="default", limit=40).results
    found = [hit.id for hit in hits]
    nearest = [hit.id for hit in search(engine, recipe="dense", limit=3).results]
    # Nothing was compared, so nothing may be taken for the nearness of its meaning.
    assert [part.signal for part in hits[found.index("late")].why] == ["lexical", "usual"]
    # Only what is nearest in meaning as well comes before it.
    assert set(found[: found.index("late")]) <= set(nearest)


# Verifies: REQ-d00035-H
def test_what_is_found_by_words_alone_waits_for_no_vector(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    engine.units.put([*rules(40), Unit(id="code", part="code", title="loan_fee", body="loan fee loan fee")])
    engine.index_vectors()
    engine.units.put([Unit(id="late", part="rule", title="Loan fee", body="loan fee loan fee")])
    assert engine.state().state == "indexing"
    question = Question(text="loan fee", scope=Scope(parts=("rule", "code")), recipe="default", limit=40)
    signals = {hit.id: [part.signal for part in hit.why] for hit in engine.search(question).results}
    assert (signals["code"], signals["late"]) == (["lexical"], ["lexical", "usual"])
    # Nor does it change how near is usual.
    usual = {
        part.score
        for parts in (("rule", "code"), ("rule",))
        for hit in engine.search(msgspec.structs.replace(question, scope=Scope(parts=parts))).results
        for part in hit.why
        if part.signal == "usual"
    }
    assert len(usual) == 1


# Verifies: REQ-d00035-C
def test_an_answer_says_how_much_is_indexed(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(rules(10))
    page = search(engine, recipe="default")
    assert page.results
    assert page.indexed == "10 texts indexed, 0 with embeddings"
    assert "The semantic index is not built yet: this answer uses keywords only. `clew index` builds it." in page.notes
    assert engine.state().state == "indexing"
    report = engine.index_vectors()
    assert (report.embedded, report.reused) == (10, 0)
    assert search(engine).indexed == "10 texts indexed, 10 with embeddings"
    assert engine.state().state == "complete"
    engine.units.put([Unit(id="more", part="rule", title="", body="loan")])
    assert search(engine).indexed == "11 texts indexed, 10 with embeddings"


# Verifies: REQ-d00030-C
def test_a_deleted_or_changed_unit_is_gone_from_the_vectors_at_once(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(rules(30))
    engine.index_vectors()
    gone = search(engine).results[0].id
    engine.units.delete([gone])
    assert gone not in {result.id for result in search(engine, limit=100).results}
    changed = search(engine).results[0].id
    engine.units.put([Unit(id=changed, part="rule", title="", body="nothing of the kind")])
    assert changed not in {result.id for result in search(engine, limit=100).results}
    engine.index_vectors()
    assert changed in {result.id for result in search(engine, limit=100).results}
    assert engine.state().embedded == 29


# Verifies: REQ-d00030-B, REQ-d00031-C
def test_scope_filters_and_operators_bind_the_search_by_meaning(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    tagged = [
        Unit(id="a", part="rule", title="", body="loan fee", tags=("x",)),
        Unit(id="b", part="rule", title="", body="loan fee desk"),
        Unit(id="c", part="minutes", title="", body="loan fee"),
    ]
    engine.units.put(tagged)
    engine.index_vectors()
    assert {result.id for result in search(engine).results} == {"a", "b"}
    assert [result.id for result in search(engine, filters=Filters(tags=("x",))).results] == ["a"]
    assert [result.id for result in search(engine, "loan fee -desk").results] == ["a"]
    assert [result.id for result in search(engine, "loan +desk").results] == ["b"]
    assert [result.id for result in search(engine, 'loan "fee desk"').results] == ["b"]


# Verifies: REQ-d00201-A
def test_demands_mean_the_same_to_a_search_by_meaning_as_to_one_by_words(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(
        [
            Unit(id="a", part="rule", title="", body="the race was run"),
            Unit(id="b", part="rule", title="", body="he is running a race"),
            Unit(id="c", part="rule", title="", body="a walk is no race"),
        ]
    )
    engine.index_vectors()
    for text, demanded in (("race running*", {"a", "b"}), ("race +runing", {"a", "b"}), ("race -runs", {"c"})):
        for recipe in ("lexical", "dense"):
            wanted = demanded if recipe == "dense" or "+" in text or "-" in text else {"a", "b", "c"}
            found = {result.id for result in search(engine, text, recipe=recipe).results}
            assert found == wanted, (text, recipe)


# Verifies: REQ-d00035-A
def test_indexing_that_is_cancelled_goes_on_where_it_stopped(
    engines: Engines, word_counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "TEXTS_AT_ONCE", 8)
    engine = engines(word_counts.settings())
    engine.units.put(rules(40))

    def stop_after_two_batches(done: int, total: int, message: str) -> None:
        if done >= 16:
            raise Cancelled("Enough.")

    with pytest.raises(Cancelled):
        engine.index_vectors(stop_after_two_batches)
    assert engine.state().embedded == 16
    report = engine.index_vectors()
    assert report.embedded == 24
    assert engine.state().embedded == 40
    texts = [text for text in word_counts.asked if text.startswith("Rule")]
    assert len(texts) == len(set(texts)) == 40


# Verifies: REQ-d00035-A
def test_long_texts_are_embedded_a_few_at_a_time(
    engines: Engines, word_counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "TEXTS_AT_ONCE", 8)
    engine = engines(msgspec.structs.replace(word_counts.settings(), max_tokens=40))
    body = " ".join(f"The desk and the shelf of room {number} are open all day." for number in range(8))
    engine.units.put([Unit(id=f"{number}", part="rule", title=f"Room {number}", body=body) for number in range(5)])
    seen: list[tuple[int, int]] = []

    def stop_after_three(done: int, total: int, message: str) -> None:
        seen.append((done, total))
        if done >= 3:
            raise Cancelled("Enough.")

    with pytest.raises(Cancelled):
        engine.index_vectors(stop_after_three)
    assert seen == [(0, 5), (1, 5), (2, 5), (3, 5)]
    assert engine.state().embedded == 3
    assert engine.index_vectors().embedded == 2


# Verifies: REQ-d00035-A
def test_indexing_that_is_killed_anywhere_is_completed_by_the_next_process(engines: Engines, word_counts: Any) -> None:
    units = rules(200)
    expected: list[str] | None = None
    for lines in (1, 3, 6):
        engine = engines(word_counts.settings(), folder=Path(engines().folder.parent / f"killed{lines}"))
        engine.units.put(units)
        worker = index_in_another_process(engine.folder, word_counts.settings())
        assert worker.stdout is not None
        for _ in range(lines):
            worker.stdout.readline()
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        worker.stdout.close()
        before = engine.state().embedded
        engine.index_vectors()
        assert before <= engine.state().embedded == engine.state().units == 200
        found = [result.id for result in search(engine, limit=100).results]
        expected = expected or found
        assert found == expected


# Verifies: REQ-d00035-B
def test_two_processes_that_index_at_once_leave_one_whole_index(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(rules(200))
    workers = [index_in_another_process(engine.folder, word_counts.settings()) for _ in range(2)]
    for worker in workers:
        worker.communicate()
        assert worker.returncode == 0
    engine.index_vectors()
    assert engine.state().embedded == engine.state().units == 200
    assert len({result.id for result in search(engine, limit=200).results}) == 200


# Verifies: REQ-d00035-D
def test_the_vectors_of_an_earlier_embedder_answer_until_new_ones_are_complete(
    engines: Engines, word_counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = engines(EmbedSettings())
    old.units.put(rules(20))
    old.index_vectors()
    before = [result.id for result in search(old).results]
    new = engines(word_counts.settings("new"))
    assert new.state().state == "changing_embedder"
    page = search(new)
    assert [result.id for result in page.results] == before
    assert "embedder changed" in " ".join(page.notes)

    def answers_from_the_old_one(done: int, total: int, message: str) -> None:
        if done < total:
            assert [result.id for result in search(new).results] == before

    monkeypatch.setattr(vectors, "FOLD_FROM", 1)
    new.index_vectors(answers_from_the_old_one)
    state = new.state()
    assert (state.state, state.embedded) == ("complete", 20)
    assert state.embedder is not None
    assert state.embedder.startswith("new@")
    assert len([path for path in new.folder.iterdir() if path.name.startswith("vectors-")]) == 1


# Verifies: REQ-d00035-E
@pytest.mark.parametrize("damage", ["flip", "cut"])
def test_damaged_vectors_are_noticed_and_written_anew_from_the_index(
    engines: Engines, word_counts: Any, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "FOLD_FROM", 1)
    engine = engines(word_counts.settings())
    engine.units.put(rules(50))
    engine.index_vectors()
    before = [result.id for result in search(engine).results]
    word_counts.asked.clear()
    (file,) = engine.folder.glob("vectors-*")
    content = bytearray(file.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 255
        file.write_bytes(content)
    else:
        file.write_bytes(content[: len(content) // 2])
    fresh = engines(word_counts.settings())
    page = search(fresh, recipe="default")
    assert page.results
    assert "damaged" in " ".join(page.notes)
    assert fresh.state().state == "damaged"
    report = fresh.index_vectors()
    assert (report.rebuilt, report.embedded) == (True, 0)
    assert [result.id for result in search(fresh).results] == before
    assert set(word_counts.asked) == {"loan fee"}


# Verifies: REQ-d00035-E
def test_vectors_whose_file_is_gone_are_read_from_the_index(
    engines: Engines, word_counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "FOLD_FROM", 1)
    engine = engines(word_counts.settings())
    engine.units.put(rules(50))
    engine.index_vectors()
    before = [result.id for result in search(engine).results]
    (file,) = engine.folder.glob("vectors-*")
    file.unlink()
    fresh = engines(word_counts.settings())
    assert [result.id for result in search(fresh).results] == before
    assert fresh.index_vectors().embedded == 0
    assert file.exists()
    assert [result.id for result in search(fresh).results] == before


# Verifies: REQ-d00035-G
def test_without_an_embedder_or_with_a_failing_one_words_are_searched(engines: Engines, word_counts: Any) -> None:
    engine = engines()
    engine.units.put(rules(10))
    assert engine.index_vectors().note is not None
    page = search(engine, recipe="default")
    assert page.results
    assert page.indexed == "10 texts indexed, without embeddings"
    word_counts.fails = True
    failing = engines(word_counts.settings())
    page = search(failing, recipe="default")
    assert page.results


# Verifies: REQ-o00010-B, REQ-d00031-E
def test_the_encoder_of_the_installation_finds_what_is_meant_and_not_said(engines: Engines) -> None:
    engine = engines(EmbedSettings())
    engine.units.put(
        [
            Unit(id="renewal", part="rule", title="Renewal", body="A member may keep a borrowed item for longer."),
            Unit(id="hours", part="rule", title="Hours", body="The building opens at nine in the morning."),
            Unit(id="fire", part="rule", title="Fire", body="In case of fire leave through the nearest exit."),
        ]
    )
    engine.index_vectors()
    page = search(engine, "extend the lending period", recipe="default")
    assert page.results[0].id == "renewal"
    assert [part.signal for part in page.results[0].why] == ["dense"]


# Verifies: REQ-o00010-C
def test_a_damaged_index_file_is_replaced_and_filled_again(engines: Engines) -> None:
    engine = engines()
    engine.units.put(rules(10))
    path = engine.folder / "index.db"
    engine.close()
    path.write_bytes(b"this is no database" * 400)
    again = engines()
    assert again.units.count() == 0
    assert "damaged" in " ".join(again.state().notes)
    again.units.put(rules(10))
    assert search(again, recipe="lexical").results


LAYOUT_5 = """
    DROP VIEW unit_tags;
    DROP TABLE tag_lists;
    DROP TABLE listed_tags;
    DROP VIEW indexed_units;
    ALTER TABLE unit_rows RENAME TO units;
    ALTER TABLE units DROP COLUMN rest;
    DROP TABLE unit_texts;
    CREATE TABLE unit_bodies (number INTEGER PRIMARY KEY, body TEXT NOT NULL, data BLOB NOT NULL);
    CREATE TABLE unit_tags (number INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (number, tag)) WITHOUT ROWID;
    CREATE TABLE lexical_streams (unit INTEGER PRIMARY KEY, title TEXT, body TEXT, compounds TEXT);
    PRAGMA user_version = 501;
"""
LAYOUT_6 = """
    DROP VIEW unit_tags;
    DROP TABLE tag_lists;
    DROP TABLE listed_tags;
    DROP TABLE unit_dictionary;
    CREATE TABLE tag_names (tag INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE tagged (number INTEGER NOT NULL, tag INTEGER NOT NULL, PRIMARY KEY (number, tag)) WITHOUT ROWID;
    CREATE VIEW unit_tags AS SELECT tagged.number, tag_names.name AS tag FROM tagged CROSS JOIN tag_names USING (tag);
    PRAGMA user_version = 602;
"""
LAYOUT_8 = """
    DROP VIEW unit_tags;
    DROP VIEW indexed_units;
    ALTER TABLE unit_rows RENAME TO units;
    DROP TABLE unit_files;
    PRAGMA user_version = 802;
"""


# Verifies: REQ-o00010-C, REQ-d00035-A
@pytest.mark.parametrize("earlier", [LAYOUT_5, LAYOUT_6, LAYOUT_8, "PRAGMA user_version = 701"])
def test_an_index_of_an_earlier_layout_keeps_its_embeddings(
    engines: Engines, word_counts: Any, monkeypatch: pytest.MonkeyPatch, earlier: str
) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(rules(20))
    engine.index_vectors()
    before = [result.id for result in search(engine).results]
    engine.close()
    with closing(sqlite3.connect(engine.folder / "index.db")) as connection:
        connection.executescript(earlier)
    # A Clew of that time kept no notes.
    note_of(engine.folder / "index.db").unlink()
    again = engines(word_counts.settings())
    assert (again.state().notes, again.units.count()) == ((), 0)
    # Units come back part by part; what has not come yet does not lose what was made of it.
    monkeypatch.setattr(indexing, "TEXTS_AT_ONCE", 1)
    again.units.put(rules(2))
    assert again.index_vectors().reused == 2
    again.units.put(rules(20))
    report = again.index_vectors()
    assert (report.embedded, report.reused) == (0, 18)
    assert [result.id for result in search(again).results] == before
    again.units.put([Unit(id="more", part="rule", title="", body="loan")])
    assert again.index_vectors().embedded == 1


BEFORE_VIEWS = FileSchema(
    name="The search index",
    version=802,
    statements=(
        "CREATE TABLE units (number INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT)",
        *(statement for statement in SCHEMA.statements if "embedde" in statement or "embeddings" in statement),
    ),
    remedy="it is rebuilt",
)


# Verifies: REQ-o00010-C
@pytest.mark.parametrize("statement", ["INSERT INTO units (title) VALUES ('new')", "SELECT number FROM units"])
def test_an_older_process_misses_its_table_in_an_index_that_a_newer_one_upgraded(
    tmp_path: Path, statement: str
) -> None:
    with closing(DerivedFile(tmp_path / "index.db", BEFORE_VIEWS)) as older:
        with older.writing() as connection:
            connection.execute("INSERT INTO units (title) VALUES ('old')")
        with closing(UnitIndex(tmp_path / "index.db")) as newer:
            assert newer.notes == ()
            with pytest.raises(StoreCorrupt, match="no such table"), older.writing() as connection:
                connection.execute(statement)


# Verifies: REQ-o00010-C
def test_an_index_of_an_earlier_layout_gets_the_pages_of_a_new_one(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(rules(20))
    engine.index_vectors()
    engine.close()
    path = engine.folder / "index.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in ("journal_mode = DELETE", "page_size = 4096", "user_version = 802"):
            connection.execute(f"PRAGMA {statement}")
        connection.execute("VACUUM")
        assert connection.execute("PRAGMA page_size").fetchone() == (4096,)
    note_of(path).unlink()
    with closing(UnitIndex(path)) as again, again.unbound() as connection:
        assert connection.execute("PRAGMA page_size").fetchone() == (2048,)
        assert connection.execute("SELECT count(*) FROM embeddings").fetchone() == (20,)


def make_vectors(folder: Path, url: str, model: str) -> None:
    settings = EmbedSettings(kind="endpoint", url=url, model=model, dimensions=64, attempts=1, texts_per_request=2048)
    indexing.TEXTS_AT_ONCE = 25
    engine = SearchEngine(folder, cursors=Cursors(b"k" * 32), embed=settings)
    # Not buffered: what has been said survives the process.
    engine.index_vectors(lambda done, total, message: os.write(1, f"{done}\n".encode()) and None)
    engine.close()


if __name__ == "__main__":
    make_vectors(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
