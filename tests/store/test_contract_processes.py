"""Many processes on one store."""

from tests.store.factory import StoreFactory, Worker

from clew.store.interface import Store

# Verifies: REQ-d00005-A


def race(workers: list[Worker]) -> list[str]:
    """Let them go when all are ready; the last line of each."""
    for worker in workers:
        assert worker.line() == "ready"
    for worker in workers:
        worker.send()
    return [worker.finish().strip() for worker in workers]


def test_eight_processes_write_a_hundred_records_each_and_all_are_there(store_factory: StoreFactory) -> None:
    race([store_factory.worker("put_many", f"writer{number}", "100") for number in range(8)])
    store = store_factory.open()
    assert store.count("notes") == 800
    expected = {f"writer{number}-{index}" for number in range(8) for index in range(100)}
    assert {record.id for record in store.scan("notes")} == expected
    events = store.events()
    assert len(events) == 800
    assert len({event.seq for event in events}) == 800
    assert store.check() == []


def test_reading_and_writing_in_one_transaction_loses_no_update(store_factory: StoreFactory) -> None:
    race([store_factory.worker("increment", "50") for _ in range(4)])
    counter = store_factory.open().get("counters", "shared")
    assert counter is not None
    assert (counter.data, counter.version) == (200, 200)


def test_processes_that_create_one_store_at_once_all_succeed(store_factory: StoreFactory) -> None:
    versions = race([store_factory.worker("create") for _ in range(8)])
    store: Store = store_factory.open()
    assert versions == [str(store.describe()["schema_version"])] * 8
    assert store.check() == []


def test_one_process_alone_creates_a_record_that_must_be_new(store_factory: StoreFactory) -> None:
    outcomes = race([store_factory.worker("claim", f"claimant{number}") for number in range(4)])
    assert sorted(outcomes) == ["lost", "lost", "lost", "won"]
    (event,) = store_factory.open().events()
    assert event.actor == f"claimant{outcomes.index('won')}"


def test_all_processes_get_the_setting_of_the_first(store_factory: StoreFactory) -> None:
    values = race([store_factory.worker("setting", f"key of {number}") for number in range(4)])
    assert len(set(values)) == 1
    assert store_factory.open().setting("key", b"too late") == values[0].encode()


# Verifies: REQ-o00002-A
def test_who_keeps_what_was_read_learns_of_every_write(store_factory: StoreFactory) -> None:
    store = store_factory.open()
    marks = [store.mark()]
    assert store.mark() == marks[0]

    def note() -> None:
        marks.append(store.mark())
        # A store that cannot tell says so, and then everything is read again.
        assert marks[-1] is None or marks[-1] not in marks[:-1]

    store.put("notes", "1", 1, actor="ada")
    note()
    store.put("notes", "1", 2, actor="ada")
    note()
    store_factory.open().put("notes", "1", 3, actor="bob")
    note()
    race([store_factory.worker("put_many", "carl", "1")])
    note()
    with store.transaction(actor="ada") as transaction:
        transaction.delete("notes", "1")
    note()
    assert (store.mark() is None) == (marks[0] is None)
