"""A record in a transaction of its own: the same as a block that writes one record."""

import threading
from typing import Any

import pytest
from tests.store.factory import StoreFactory

from clew.errors import Conflict, InvalidArgument, StoreError
from clew.store.interface import Store

# Verifies: REQ-o00002-A, REQ-d00483-I


def test_what_is_written_alone_is_there_with_its_event(store: Store) -> None:
    written = store.put("notes", "1", {"text": "ein Köder"}, actor="ada", reason="found")
    again = store.put("notes", "1", None, actor="bob")
    assert (written.version, written.data) == (1, {"text": "ein Köder"})
    assert store.get("notes", "1") == again
    first, second = store.events()
    assert (first.actor, first.reason, first.at) == ("ada", "found", written.updated_at)
    assert (first.operation, first.version, first.before, first.after) == ("put", 1, None, {"text": "ein Köder"})
    assert (second.actor, second.reason, second.before, second.after) == ("bob", "", {"text": "ein Köder"}, None)
    assert first.at <= second.at


def test_an_id_that_is_used_again_goes_on_counting(store: Store) -> None:
    store.put("notes", "1", "one", actor="ada")
    with store.transaction(actor="ada") as transaction:
        transaction.delete("notes", "1")
    assert store.put("notes", "1", "new", actor="ada", if_version=0).version == 3
    assert [event.before for event in store.events()] == [None, "one", None]


def test_another_version_than_was_wanted_writes_nothing(store: Store) -> None:
    with pytest.raises(Conflict) as caught:
        store.put("notes", "1", "lost", actor="ada", if_version=1)
    assert caught.value.data == {"version": 0}
    store.put("notes", "1", "one", actor="ada", if_version=0)
    for wanted in (0, 2):
        with pytest.raises(Conflict) as caught:
            store.put("notes", "1", "lost", actor="ada", if_version=wanted)
        assert caught.value.data == {"version": 1}
    assert store.put("notes", "1", "two", actor="ada", if_version=1).version == 2
    assert [event.after for event in store.events()] == ["one", "two"]


@pytest.mark.parametrize(
    "wrong",
    [{"collection": ""}, {"id": "a\nb"}, {"data": object()}, {"actor": ""}, {"reason": "\0"}, {"if_version": -1}],
)
def test_what_cannot_be_stored_is_refused(store: Store, wrong: dict[str, Any]) -> None:
    given: dict[str, Any] = {"collection": "notes", "id": "1", "data": 1, "actor": "ada"}
    with pytest.raises(InvalidArgument):
        store.put(**(given | wrong))
    assert store.events() == []


def test_a_write_of_one_record_is_refused_while_a_transaction_is_open_in_the_thread(store: Store) -> None:
    with store.transaction(actor="ada") as transaction:
        transaction.put("notes", "1", "one")
        with pytest.raises(StoreError, match="already open in this thread"):
            store.put("notes", "2", "two", actor="ada")
    assert store.put("notes", "2", "two", actor="ada").version == 1


def test_a_write_that_fails_leaves_nothing_and_the_store_goes_on(store_factory: StoreFactory) -> None:
    store = store_factory.open()
    store_factory.refuse_bad()
    with pytest.raises(StoreError, match="out of order"):
        store.put("notes", "bad", 1, actor="ada")
    assert store.get("notes", "bad") is None
    assert store.put("notes", "good", 1, actor="ada").version == 1
    assert [event.id for event in store.events()] == ["good"]


def test_threads_that_write_one_record_lose_no_update(store_factory: StoreFactory) -> None:
    start = threading.Barrier(6, timeout=600)

    def count() -> None:
        with_own = store_factory.open()
        start.wait()
        for _ in range(10):
            while True:
                record = with_own.get("counters", "shared")
                number, version = (record.data, record.version) if record else (0, 0)
                try:
                    with_own.put("counters", "shared", number + 1, actor="counter", if_version=version)
                except Conflict:
                    continue
                break

    threads = [threading.Thread(target=count) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = store_factory.open().events()
    assert [(event.version, event.before, event.after) for event in events] == [
        (number, number - 1 or None, number) for number in range(1, 61)
    ]
    assert sorted(event.at for event in events) == [event.at for event in events]


def test_a_closed_store_writes_nothing_more(store_factory: StoreFactory) -> None:
    store = store_factory.open()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.put("notes", "1", "one", actor="ada")
