"""A sample of the units of an index in a file."""

from contextlib import closing
from pathlib import Path

import pytest

from clew.search.index import UnitIndex
from clew.search.units import Filters, Scope, Unit, compile_condition
from clew.store.sql.conditions import Condition


def filled(path: Path, count: int) -> UnitIndex:
    index = UnitIndex(path)
    index.put(
        Unit(
            id=f"unit{number}", part="rule" if number % 100 else "memory", title="", body="x", tags=(f"t{number % 7}",)
        )
        for number in range(count)
    )
    return index


# Verifies: REQ-d00411-A
@pytest.mark.parametrize(
    ("parts", "filters"),
    [
        (("rule",), Filters()),
        (("memory",), Filters()),
        (("rule", "memory"), Filters(tags=("t3",))),
        (("none",), Filters()),
    ],
)
@pytest.mark.parametrize("count", [1, 10, 500])
def test_a_sample_is_the_first_by_the_hash_of_the_id(
    tmp_path: Path, parts: tuple[str, ...], filters: Filters, count: int
) -> None:
    condition = compile_condition(Scope(parts=parts), filters)
    with closing(filled(tmp_path / "index.db", 1_000)) as index, index.asked() as reading:
        every = f"SELECT number FROM indexed_units AS units WHERE {condition.sql} ORDER BY hash, id"
        expected = [number for (number,) in reading.connection.execute(every, condition.parameters)]
        assert reading.sample(condition, count) == expected[:count]


# Verifies: REQ-d00411-A
def test_a_sample_of_many_units_takes_no_more_work_than_one_of_few(tmp_path: Path) -> None:
    condition = compile_condition(Scope(parts=("rule",)), Filters())
    few, many = (work(tmp_path / f"{count}.db", count, condition) for count in (500, 5_000))
    assert many < 1.2 * few


def work(path: Path, count: int, condition: Condition) -> int:
    """How many hundreds of its instructions SQLite takes for a sample."""
    steps: list[int] = []
    with closing(filled(path, count)) as index, index.asked() as reading:
        reading.connection.set_progress_handler(lambda: steps.append(1), 100)
        assert len(reading.sample(condition, 10)) == 10
        reading.connection.set_progress_handler(None, 0)
    return len(steps)
