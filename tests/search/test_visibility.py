"""Which units a search may see, brought up to date by what changed."""

import random

from tests.search.conftest import Engines

from clew.search.dense.visibility import Visibility
from clew.search.embedded import WRITES_NOTED
from clew.search.units import Filters, Scope, Unit, compile_condition


def unit(number: int, draw: random.Random) -> Unit:
    text = draw.choice(("tide", "lamp", "rope")) + str(draw.randrange(3))
    return Unit(
        id=f"u{number}", part=draw.choice(("note", "rule")), title="", body=text, tags=(draw.choice("ab"),),
        agent=draw.choice(("", "planner")),
    )  # fmt: skip


# Verifies: REQ-d00030-C
def test_after_any_writes_a_mask_is_the_same_as_one_that_is_made_anew(engines: Engines) -> None:
    draw = random.Random(15)
    engine, visible = engines(), Visibility()
    conditions = [
        compile_condition(Scope(parts=("note",)), Filters()),
        compile_condition(Scope(parts=("note", "rule"), agents=("",)), Filters(tags=("a",))),
        compile_condition(Scope(parts=("note", "rule")), Filters()),
    ]
    for step in range(80):
        if draw.random() < 0.3:
            engine.units.delete(f"u{draw.randrange(60)}" for _ in range(3))
        else:
            engine.units.put(unit(draw.randrange(60), draw) for _ in range(draw.choice((1, 2, 40))))
        # Somebody who looks only now and then has several writes to catch up with.
        if step % 3 and step > 5:
            continue
        with engine.units.asked() as reading:
            for condition in conditions:
                kept = visible.mask(reading, condition).nonzero()[0].tolist()
                assert kept == Visibility().mask(reading, condition).nonzero()[0].tolist()
            assert visible.is_everything(reading, conditions[2])
            counted = reading.connection.execute(
                "SELECT part, count(*) FROM indexed_units GROUP BY part ORDER BY part"
            ).fetchall()
            assert reading.parts() == dict(counted)


# Verifies: REQ-d00030-C
def test_who_was_away_for_too_many_writes_looks_at_everything(engines: Engines) -> None:
    engine = engines()
    engine.units.put([Unit(id="first", part="note", title="", body="tide")])
    with engine.units.asked() as reading:
        _, version = reading.writes()
    for number in range(WRITES_NOTED + 1):
        engine.units.put([Unit(id=f"u{number}", part="note", title="", body=f"tide {number}")])
    with engine.units.asked() as reading:
        assert reading.touched_since(version, 1_000) is None
        assert len(reading.touched_since(version + 2, 1_000) or ()) == WRITES_NOTED - 1
        assert reading.touched_since(version + 2, 5) is None
