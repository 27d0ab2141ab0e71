"""Transactions: all or nothing, one at a time, visible when they end."""

import threading
from typing import Any

import pytest
from tests.store.factory import StoreFactory

from clew.errors import BadInput, ClewError, Conflict, NotFound, StoreError
from clew.store.interface import Store, Transaction

# Verifies: REQ-o00002-A


class Interrupted(BaseException):
    """Not even an Exception: what a signal or a cancelled task raises."""


def test_a_transaction_with_several_writes_is_seen_as_one(store_factory: StoreFactory) -> None:
    store, onlooker = store_factory.open(), store_factory.open()
    with store.transaction(actor="ada") as transaction:
        transaction.put("notes", "1", "one")
        transaction.put("notes", "2", "two")
        for reader in (store, onlooker):
            assert reader.scan("notes") == []
            assert reader.events() == []
    for reader in (store, onlooker):
        assert [record.data for record in reader.scan("notes")] == ["one", "two"]
        assert len(reader.events()) == 2


def test_a_transaction_sees_its_own_writes(store: Store) -> None:
    with store.transaction(actor="ada") as transaction:
        written = transaction.put("notes", "1", "one")
        assert transaction.get("notes", "1") == written
        transaction.delete("notes", "1")
        assert transaction.get("notes", "1") is None
        assert transaction.restore("notes", "1").data == "one"
    record = store.get("notes", "1")
    assert record is not None
    assert record.version == 3


@pytest.mark.parametrize("error", [ValueError("mine"), Interrupted(), NotFound("mine")])
def test_an_exception_takes_everything_back(store: Store, error: BaseException) -> None:
    with store.transaction(actor="ada") as transaction:
        transaction.put("notes", "kept", 1)
        transaction.put("notes", "deleted", 1)
        transaction.delete("notes", "deleted")
    before = store.scan("notes"), store.events(), store.tombstones("notes")

    def fail() -> None:
        with store.transaction(actor="ada") as transaction:
            transaction.put("notes", "new", 1)
            transaction.put("notes", "kept", 2)
            transaction.delete("notes", "kept")
            transaction.restore("notes", "deleted")
            raise error

    with pytest.raises(type(error)) as caught:
        fail()
    assert caught.value is error
    assert (store.scan("notes"), store.events(), store.tombstones("notes")) == before
    with store.transaction(actor="ada") as transaction:
        transaction.put("notes", "next", 1)


def test_a_refused_call_writes_nothing_and_the_block_may_go_on(store: Store) -> None:
    with store.transaction(actor="ada") as transaction:
        transaction.put("notes", "1", "one")
        with pytest.raises(Conflict):
            transaction.put("notes", "1", "lost", if_version=7)
        with pytest.raises(NotFound):
            transaction.delete("notes", "nothing")
        with pytest.raises(BadInput):
            transaction.put("notes", "2", object())
        transaction.put("notes", "3", "three")
    assert [record.data for record in store.scan("notes")] == ["one", "three"]
    assert len(store.events()) == 2


def test_a_failed_write_that_the_block_swallows_is_not_committed(store_factory: StoreFactory) -> None:
    store = store_factory.open()
    store_factory.refuse_bad()

    def swallow() -> None:
        with store.transaction(actor="ada") as transaction:
            transaction.put("notes", "good", 1)
            with pytest.raises(StoreError, match="out of order"):
                transaction.put("notes", "bad", 1)
            for after in (lambda: transaction.put("notes", "late", 1), lambda: transaction.get("notes", "good")):
                with pytest.raises(StoreError, match="has failed"):
                    after()

    with pytest.raises(StoreError, match="was rolled back"):
        swallow()
    assert store.scan("notes") == []
    assert store.events() == []


def test_every_write_outside_the_open_transaction_is_refused_at_once(store: Store) -> None:
    job = store.start_job("index")

    def nested() -> None:
        with store.transaction(actor="bob"):
            pass

    with store.transaction(actor="ada") as transaction:
        transaction.put("notes", "1", "one")
        for refused in (
            nested,
            lambda: store.start_job("index"),
            lambda: store.advance_job(job.id, done=1),
            lambda: store.finish_job(job.id),
            lambda: store.cancel_job(job.id),
            lambda: store.setting("key", b"1"),
        ):
            with pytest.raises(StoreError, match="already open in this thread"):
                refused()
    assert store.count("notes") == 1
    assert store.jobs() == [job]


def test_a_transaction_ends_with_its_block(store: Store) -> None:
    with store.transaction(actor="ada") as transaction:
        pass
    with pytest.raises(ValueError, match="mine"), store.transaction(actor="ada") as undone:
        raise ValueError("mine")
    for ended in (transaction, undone):
        for use in (lambda t: t.put("notes", "1", 1), lambda t: t.get("notes", "1")):
            with pytest.raises(StoreError, match="has ended"):
                use(ended)
    assert store.events() == []


def in_thread(work: Any) -> list[ClewError]:
    """The errors Clew raised in it."""
    errors: list[ClewError] = []

    def run() -> None:
        try:
            work()
        except ClewError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return errors


def test_a_transaction_cannot_be_used_from_another_thread(store: Store) -> None:
    def misuse(transaction: Transaction) -> None:
        transaction.put("notes", "stray", 1)

    with store.transaction(actor="ada") as transaction:
        (error,) = in_thread(lambda: misuse(transaction))
        transaction.put("notes", "own", 1)
    assert "belongs to the thread" in error.message
    assert [record.id for record in store.scan("notes")] == ["own"]


def test_many_threads_share_one_store(store: Store) -> None:
    start = threading.Barrier(8)

    def work(name: int) -> None:
        start.wait()
        for index in range(25):
            with store.transaction(actor=f"thread {name}") as transaction:
                transaction.put("notes", f"{name}-{index}", index)
                counter = transaction.get("counters", "shared")
                transaction.put("counters", "shared", counter.data + 1 if counter else 1)
            assert store.get("notes", f"{name}-{index}") is not None
            store.scan("notes", limit=5)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.count("notes") == 200
    counter = store.get("counters", "shared")
    assert counter is not None
    assert counter.data == 200
    assert len({event.seq for event in store.events()}) == 400


def test_a_closed_store_says_so(store_factory: StoreFactory) -> None:
    store = store_factory.open()
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.get("notes", "1")
    with pytest.raises(StoreError, match="closed"), store.transaction(actor="ada"):
        pass


def test_closing_does_not_break_the_transaction_under_way(store_factory: StoreFactory) -> None:
    store = store_factory.open()
    with store.transaction(actor="ada") as transaction:
        transaction.put("notes", "1", "one")
        in_thread(store.close)
        transaction.put("notes", "2", "two")
    assert store_factory.open().count("notes") == 2


def test_what_was_written_is_there_when_the_store_is_opened_again(store_factory: StoreFactory) -> None:
    store = store_factory.open()
    with store.transaction(actor="ada") as transaction:
        transaction.put("notes", "1", "one")
        transaction.put("notes", "2", "two")
        transaction.delete("notes", "2")
    before = store.scan("notes"), store.events(), store.tombstones("notes")
    store.close()
    again = store_factory.open()
    assert (again.scan("notes"), again.events(), again.tombstones("notes")) == before


def test_a_store_describes_itself_and_is_whole(store: Store) -> None:
    with store.transaction(actor="ada") as transaction:
        transaction.put("notes", "1", "one")
        transaction.put("notes", "2", "two")
        transaction.delete("notes", "2")
    store.start_job("index")
    facts = store.describe()
    assert facts["location"]
    assert facts["schema_version"] > 0
    assert facts["read_only"] is False
    assert facts["bytes"] > 0
    counted = {name: facts[name] for name in ("records", "events", "tombstones", "jobs")}
    assert counted == {"records": 1, "events": 3, "tombstones": 1, "jobs": 1}
    assert store.check() == []
