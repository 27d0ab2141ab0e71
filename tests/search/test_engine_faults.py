"""What goes wrong around the engine, and what it must not cost."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from clew.config import EmbedSettings
from clew.errors import InvalidArgument
from clew.search.dense import search as dense
from clew.search.dense import spaces, vectors
from clew.search.engine import SearchEngine
from clew.search.question import Question, Results
from clew.search.units import Scope, Unit

Engines = Callable[..., SearchEngine]

SCOPE = Scope(parts=("rule",))


def rules(*bodies: str) -> list[Unit]:
    return [Unit(id=f"u{number}", part="rule", title="", body=body) for number, body in enumerate(bodies)]


def search(engine: SearchEngine, text: str, **more: Any) -> Results:
    return engine.search(Question(text=text, scope=SCOPE, **{"recipe": "dense", **more}))


# Verifies: REQ-o00010-C
def test_vectors_of_a_lost_index_are_never_taken_for_those_of_its_successor(
    engines: Engines, word_counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "FOLD_FROM", 1)
    engine = engines(word_counts.settings())
    engine.units.put(rules("apples on trees", "boats at sea"))
    engine.index_vectors()
    path = engine.folder / "index.db"
    engine.close()
    path.write_bytes(b"no database at all" * 300)
    again = engines(word_counts.settings())
    again.units.put(rules("boats at sea", "apples on trees"))
    assert search(again, "apples on trees").results == ()
    again.index_vectors()
    assert search(again, "apples on trees").results[0].id == "u1"
    assert len(list(again.folder.glob("vectors-*"))) == 1


# Verifies: REQ-d00035-D
def test_an_embedder_that_cannot_be_opened_leaves_the_earlier_vectors_in_service(
    engines: Engines,
) -> None:
    old = engines(EmbedSettings())
    old.units.put(rules("apples on trees", "boats at sea"))
    old.index_vectors()
    new = engines(EmbedSettings(kind="folder", folder="/there/is/nothing/here"))
    page = search(new, "apples")
    assert page.results[0].id == "u0"
    assert new.state().state == "changing_embedder"
    assert "cannot be used" in " ".join(page.notes)


# Verifies: REQ-d00035-G
def test_a_service_that_refuses_the_query_costs_the_ranking_by_meaning_only(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(rules("apples on trees", "boats at sea"))
    engine.index_vectors()
    word_counts.fails = True
    page = search(engine, "apples", recipe="default")
    assert [result.id for result in page.results] == ["u0"]
    assert "keywords only" in " ".join(page.notes)


# Verifies: REQ-d00034-F, REQ-d00404-D
def test_what_was_ranked_without_its_meaning_is_ranked_again(
    engines: Engines, word_counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spaces, "REST_SECONDS", 0.0)
    engine = engines(word_counts.settings())
    engine.units.put(rules("apples on trees", "boats at sea"))
    engine.index_vectors()
    question = Question(text="apples in boats", scope=SCOPE)
    word_counts.fails = True
    failed = engine.rank(question)
    assert "keywords only" in " ".join(failed.notes)
    word_counts.fails = False
    again = engine.rank(question)
    assert "keywords only" not in " ".join(again.notes)
    assert again.units != failed.units


# Verifies: REQ-d00034-F, REQ-d00404-D
def test_a_ranking_during_which_the_encoder_ceased_to_answer_answers_no_second_time(
    engines: Engines, word_counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(rules("apples on trees", "boats at sea"))
    engine.index_vectors()
    question = Question(text="apples in boats", scope=SCOPE)
    state = "answers"
    monkeypatch.setattr(engine, "_state", lambda reading: state)

    def rest() -> None:
        nonlocal state
        state = "rests"

    first = engine.rank(question, check=rest).units
    state = "answers"
    assert engine.rank(question).units is not first


# Verifies: REQ-d00404-A, REQ-o00045-C
def test_an_encoder_that_is_too_busy_costs_the_ranking_by_meaning_only(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(rules("apples on trees", "boats at sea"))
    engine.index_vectors()
    word_counts.answers.clear()
    engine.spaces.patience = 0.0
    page = search(engine, "apples", recipe="default")
    assert [result.id for result in page.results] == ["u0"]
    assert dense.TOO_BUSY in page.notes
    word_counts.answers.set()
    engine.spaces.patience = 60.0
    again = search(engine, "apples in boats", recipe="dense")
    assert dense.TOO_BUSY not in again.notes
    assert len(again.results) == 2


# Verifies: REQ-d00305-A
def test_how_near_a_unit_is_to_a_query_is_told_whether_it_found_it_or_not(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    bodies = {"same": "boats", "half": "boats clouds", "other": "clouds"}
    engine.units.put([Unit(id=id, part="rule", title="", body=body) for id, body in bodies.items()])
    assert engine.likeness("boats", bodies) == {}
    engine.index_vectors()
    found = engine.likeness("boats", [*bodies, "gone"])
    assert {id: round(cosine, 1) for id, cosine in found.items()} == {"same": 1.0, "half": 0.7, "other": 0.0}


# Verifies: REQ-d00035-G, REQ-d00404-A
def test_an_encoder_that_fails_or_is_too_busy_costs_the_likeness_only(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(rules("apples on trees", "boats at sea"))
    engine.index_vectors()
    word_counts.answers.clear()
    engine.spaces.patience = 0.0
    assert engine.likeness("apples", ["u0"]) == {}
    word_counts.answers.set()
    engine.spaces.patience = 60.0
    assert engine.likeness("apples on trees", ["u0"]).keys() == {"u0"}
    word_counts.fails = True
    assert engine.likeness("boats", ["u0"]) == {}


# Verifies: REQ-d00402-C
def test_windows_of_quoted_units_have_vectors_and_the_unit_the_mean_of_them(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    body = "\n\n".join(" ".join([word] * 40) for word in ("apples", "boats", "clouds"))
    unit = Unit(id="long", part="rule", title="", body=body, quoted=True)
    engine.units.put([unit, Unit(id="short", part="rule", title="", body="boats", quoted=True)])
    assert engine.window_likeness("boats", ["long", "short"]) == {}
    word_counts.asked.clear()
    engine.index_vectors()
    # The first windows come first, and no text is encoded twice.
    assert [text.split()[0] for text in word_counts.asked] == ["boats", "apples", "boats", "clouds"]
    found = engine.window_likeness("boats", ["long", "short", "gone"])
    assert {id: [round(float(each), 1) for each in likeness] for id, likeness in found.items()} == {
        "long": [0.0, 1.0, 0.0],
        "short": [1.0],
    }
    assert [result.id for result in search(engine, "boats").results] == ["short", "long"]


# Verifies: REQ-d00035-B
def test_a_process_goes_on_after_another_one_took_its_vectors_away(engines: Engines, word_counts: Any) -> None:
    first, second = engines(word_counts.settings("one")), engines(word_counts.settings("two"))
    first.units.put(rules("apples on trees"))
    first.index_vectors()
    second.index_vectors()
    first.units.put(rules("apples on trees", "boats at sea"))
    assert search(first, "boats", recipe="default").results
    first.index_vectors()
    assert search(first, "boats at sea").results[0].id == "u1"


# Verifies: REQ-d00030-C
def test_very_many_deleted_units_do_not_stand_in_the_way(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    units = [Unit(id=f"u{number}", part="rule", title="", body=f"rule {number}") for number in range(10_400)]
    engine.units.put(units)
    spaces = engine.spaces
    embedder = spaces.configured()
    assert embedder is not None
    spaces.register(embedder, complete=True)
    same = [[1.0] + [0.0] * 63] * len(units)
    spaces.space(embedder).vectors.put(list(range(1, len(units) + 1)), same)
    engine.units.delete(unit.id for unit in units[5:])
    assert {result.id for result in search(engine, "rule").results} == {f"u{number}" for number in range(5)}


# Verifies: REQ-d00033-A
def test_another_adjacency_is_another_walk(engine: SearchEngine) -> None:
    engine.units.put(rules("apples", "boats", "chairs"))
    question = Question(text="apples", scope=SCOPE, recipe="linked")
    for target in ("u1", "u2"):
        found = engine.search(question, adjacency=lambda ids, target=target: {"u0": [(target, 1.0)]})
        assert [result.id for result in found.results] == ["u0", target]
    assert [result.id for result in engine.search(question).results] == ["u0"]


# Verifies: REQ-d00031-D, REQ-d00030-D
def test_half_a_character_breaks_neither_a_query_nor_a_field(engine: SearchEngine) -> None:
    engine.units.put([Unit(id="u", part="rule", title="", body="tide", path="a\udcff/b.md", tags=("x\ud800",))])
    assert [result.id for result in search(engine, "tide \udcff", recipe="lexical").results] == ["u"]


# Verifies: REQ-d00030-D
def test_texts_that_differ_only_in_where_the_title_ends_are_different(engine: SearchEngine) -> None:
    engine.units.put([Unit(id="u", part="rule", title="a\0b", body="c")])
    assert engine.units.put([Unit(id="u", part="rule", title="a", body="b\0c")]).changed == 1
    assert engine.units.get("u") == Unit(id="u", part="rule", title="a", body="b\0c")


# Verifies: REQ-d00032-C
def test_a_limit_per_document_below_one_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="max_per_document is 0"):
        Question(text="x", scope=SCOPE, max_per_document=0)


# Verifies: REQ-d00034-A
def test_a_title_of_any_length_leaves_the_rest_reachable(engine: SearchEngine) -> None:
    engine.units.put(
        [Unit(id=f"u{n}", part="rule", title="loan " * (5_000 if n == 1 else 1), body="loan") for n in range(4)]
    )
    found, cursor = [], None
    while True:
        page = search(engine, "loan", recipe="lexical", limit=1, max_tokens=300, cursor=cursor)
        found += [result.id for result in page.results]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(found) == ["u0", "u1", "u2", "u3"]


# Verifies: REQ-d00035-E
def test_a_search_that_succeeds_again_ends_the_damage(
    engines: Engines, word_counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "FOLD_FROM", 1)
    engine, other = engines(word_counts.settings()), engines(word_counts.settings())
    engine.units.put(rules("apples on trees"))
    engine.index_vectors()
    (file,) = engine.folder.glob("vectors-*")
    file.write_bytes(b"")
    fresh = engines(word_counts.settings())
    assert "damaged" in " ".join(search(fresh, "apples", recipe="default").notes)
    assert fresh.is_damaged
    assert other.index_vectors().rebuilt
    assert search(fresh, "apples").results
    assert fresh.state().state == "complete"


# Verifies: REQ-d00200-E
def test_the_space_of_what_was_deleted_is_given_back(engines: Engines, word_counts: Any) -> None:
    engine = engines(word_counts.settings())
    engine.units.put(rules("apples on trees"))
    noise = Random(1)  # what cannot be packed
    many = [Unit(id=f"m{number}", part="rule", title="", body=noise.randbytes(40_000).hex()) for number in range(150)]
    engine.units.put(many)
    engine.units.delete(unit.id for unit in many)
    file = engine.folder / "index.db"
    before = file.stat().st_size
    engine.index_vectors()
    assert file.stat().st_size < before / 4
    assert [result.id for result in search(engine, "apples", recipe="default").results] == ["u0"]
