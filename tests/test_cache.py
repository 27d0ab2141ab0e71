"""The bounded cache that all parts of Clew share."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from clew.cache import Cache, RowCache


def test_what_was_used_last_stays() -> None:
    cache: Cache[str, int] = Cache(2)
    cache.put_many({"a": 1, "b": 2})
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert cache.get_many("abc") == {"a": 1, "c": 3}
    assert len(cache) == 2


def test_a_size_can_be_a_sum_and_what_is_larger_than_all_of_it_is_not_kept() -> None:
    cache: Cache[str, str] = Cache(10, size_of=len)
    cache.put_many({"a": "12345", "b": "12345", "c": "1"})
    assert cache.get_many("abc") == {"b": "12345", "c": "1"}
    cache.put("d", "12345678901")
    assert cache.get("d") is None
    assert cache.get_or_make("d", lambda: "12345678901") == "12345678901"
    assert cache.get_many("abc") == {"b": "12345", "c": "1"}


def test_what_is_not_used_for_a_while_is_forgotten() -> None:
    now = [0.0]
    cache: Cache[str, int] = Cache(9, idle_seconds=10, clock=lambda: now[0])
    cache.put_many({"a": 1, "b": 2})
    now[0] = 9
    assert cache.get("a") == 1
    now[0] = 18
    assert cache.get_many("ab") == {"a": 1}
    assert cache.pop("a") == 1
    assert cache.pop("a") is None


def test_threads_that_make_a_value_at_once_all_get_one_value() -> None:
    cache: Cache[int, object] = Cache(8)
    with ThreadPoolExecutor(8) as pool:
        for key in range(50):
            assert len(set(pool.map(lambda _, key=key: cache.get_or_make(key, object), range(8)))) == 1
    assert len(cache) == 8


def test_rows_are_found_by_their_numbers_and_one_takes_the_place_of_another() -> None:
    np = pytest.importorskip("numpy")
    rows = RowCache(10, 2, "f2")
    assert rows.get_many([0, 3])[0] == []
    rows.put_many([3, 4, 12, 24], np.arange(8).reshape(4, 2))
    # 24 would take the place of 4, which came with it; 12 and 2 have one place.
    assert rows.get_many([12, 24, 3, 4, 13])[0] == [12, 3, 4]
    rows.put_many([2], np.array([[8, 9]]))
    known, found = rows.get_many([12, 4, 2])
    assert (known, found.tolist()) == ([4, 2], [[2, 3], [8, 9]])
    found[:] = 0
    assert rows.get_many([2])[1].tolist() == [[8, 9]]
    assert rows.get_many([])[0] == []
