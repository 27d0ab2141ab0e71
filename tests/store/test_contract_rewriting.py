"""Purging: what was taken out is in no value, no event and no byte of the store."""

from typing import Any

import pytest
from tests.store.factory import StoreFactory

from clew.errors import NotFound
from clew.store.interface import Store

# Verifies: REQ-d00320-A

SECRET = "the lamp key is 4711-kestrel"


def without(secret: str) -> Any:
    def edit(collection: str, id: str, value: Any) -> Any:
        return None if secret in str(value) else value

    return edit


def write(store: Store, id: str, data: Any, reason: str = "because") -> None:
    with store.transaction(actor="ada", reason=reason) as transaction:
        transaction.put("notes", id, data)


def test_what_is_taken_out_is_in_no_value_and_no_event(store: Store) -> None:
    write(store, "kept", {"text": "a lamp"})
    write(store, "changed", {"text": SECRET})
    write(store, "changed", {"text": "a lamp"}, reason=SECRET)
    write(store, "gone", {"text": SECRET})
    with store.transaction(actor="ada") as transaction:
        transaction.put("notes", "deleted", {"text": SECRET})
        transaction.delete("notes", "deleted")
    job = store.start_job("index")
    store.advance_job(job.id, done=1, message=SECRET)
    before = store.events()
    assert store.rewrite(without(SECRET)) > 0
    events = store.events()
    assert [(each.seq, each.at, each.id, each.operation) for each in events] == [
        (each.seq, each.at, each.id, each.operation) for each in before
    ]
    assert SECRET not in str((events, store.jobs(), store.tombstones("notes"), store.scan("notes")))
    assert [record.id for record in store.scan("notes")] == ["changed", "kept"]
    assert events[0].after == {"text": "a lamp"}
    with store.transaction(actor="ada") as transaction:
        with pytest.raises(NotFound):
            transaction.restore("notes", "deleted")
        assert transaction.put("notes", "gone", {"text": "new"}).version == 2
    assert store.check() == []


def test_nothing_is_taken_out_where_nothing_fits(store: Store) -> None:
    write(store, "n1", None)
    with store.transaction(actor="ada") as transaction:
        transaction.delete("notes", "n1")
    before = (store.events(), store.tombstones("notes"))
    assert store.rewrite(without(SECRET)) == 0
    assert (store.events(), store.tombstones("notes")) == before


# Verifies: REQ-d00351-A
def test_what_was_deleted_is_erased_by_its_id_and_what_is_there_stays(store: Store) -> None:
    for id in ("gone", "again", "there"):
        write(store, id, {"text": SECRET})
    with store.transaction(actor="ada", reason="obsolete") as transaction:
        transaction.delete("notes", "gone")
        transaction.delete("notes", "again")
        transaction.put("notes", "again", {"text": "a lamp"})
    assert store.erase("notes", ("gone", "again", "there", "unknown", "gone")) == ["gone"]
    told = {event.id: (event.before, event.after) for event in store.events() if event.id != "gone"}
    assert told == {"again": (None, {"text": "a lamp"}), "there": (None, {"text": SECRET})}
    erased = [event for event in store.events() if event.id == "gone"]
    assert [(event.operation, event.reason, event.before, event.after) for event in erased] == [
        ("put", "because", None, None),
        ("delete", "obsolete", None, None),
    ]
    with store.transaction(actor="ada") as transaction:
        with pytest.raises(NotFound):
            transaction.restore("notes", "gone")
        assert transaction.put("notes", "gone", {"text": "new"}).version == 3
    assert store.check() == []


def test_no_byte_is_left_after_compaction(store_factory: StoreFactory) -> None:
    store = store_factory.open()
    for number in range(200):
        write(store, f"n{number}", {"text": f"{SECRET} {number}" * 30})
    store.rewrite(without(SECRET))
    store.compact()
    files = {path: path.read_bytes() for path in store_factory.files()}
    assert files
    assert not [path for path, data in files.items() if SECRET.encode() in data]
