"""Records, events and tombstones: what every engine must do with them."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from clew.errors import Conflict, InvalidArgument, NotFound
from clew.store.interface import Damaged, Record, Store

# Verifies: REQ-o00002-B+C+D


def put(store: Store, id: str, data: Any, *, collection: str = "notes", if_version: int | None = None) -> Record:
    with store.transaction(actor="ada", reason="because") as transaction:
        return transaction.put(collection, id, data, if_version=if_version)


def delete(store: Store, id: str, *, collection: str = "notes") -> None:
    with store.transaction(actor="bob", reason="obsolete") as transaction:
        transaction.delete(collection, id)


def restore(store: Store, id: str, *, collection: str = "notes") -> Record:
    with store.transaction(actor="eve") as transaction:
        return transaction.restore(collection, id)


def ids(records: list[Record]) -> list[str]:
    return [record.id for record in records]


def test_a_record_is_read_back_as_it_was_written(store: Store) -> None:
    data = {"text": "ünï 🎈 \u0000 \n", "list": [1, 2.5, None, True, {}], "big": 2**70, "": [[]]}
    written = put(store, "n1", data)
    assert written == Record("notes", "n1", 1, data, written.updated_at)
    assert store.get("notes", "n1") == written


@pytest.mark.parametrize("data", [None, False, 0, "", [], {}, 1.5, "null"])
def test_any_json_value_can_be_a_record(store: Store, data: Any) -> None:
    put(store, "n1", data)
    record = store.get("notes", "n1")
    assert record is not None
    assert record.data == data
    assert type(record.data) is type(data)


def test_what_a_write_returns_is_plain_json_like_every_later_read(store: Store) -> None:
    class Point(msgspec.Struct):
        x: int
        tags: tuple[str, ...]

    written = put(store, "n1", Point(1, ("a", "b")))
    assert written.data == {"x": 1, "tags": ["a", "b"]}
    assert store.get("notes", "n1") == written


def test_many_records_are_read_at_once_in_the_order_of_their_ids(store: Store) -> None:
    odd = "a'b\"c\\ \U0001f388"
    for id in ("one", "two", odd, "gone"):
        put(store, id, {"is": id})
    put(store, "two", "elsewhere", collection="others")
    delete(store, "gone")
    found = store.get_many("notes", [odd, "gone", "two", "never", "two"])
    assert list(found) == [odd, "two"]
    assert [found[id] for id in found] == [store.get("notes", odd), store.get("notes", "two")]
    assert store.get_many("notes", []) == {}
    many = [f"n{number}" for number in range(2_000)]
    with store.transaction(actor="ada") as transaction:
        for id in many:
            transaction.put("notes", id, 1)
    assert list(store.get_many("notes", many)) == many
    # Who asks to be told of damage gets the same from a store that is whole.
    damaged: Damaged = {}
    assert list(store.get_many("notes", many, damaged=damaged)) == many
    assert store.scan("notes", limit=3, damaged=damaged) == store.scan("notes", limit=3)
    assert damaged == {}
    with pytest.raises(InvalidArgument):
        store.get_many("notes", ["one", ""])


def test_an_unknown_record_is_none_and_an_unknown_collection_is_empty(store: Store) -> None:
    assert store.get("notes", "nothing") is None
    assert store.scan("notes") == []
    assert store.count("notes") == 0
    assert store.events() == []
    assert store.tombstones("notes") == []


def test_the_same_id_in_two_collections_is_two_records(store: Store) -> None:
    put(store, "x", 1, collection="a")
    put(store, "x", 2, collection="b")
    delete(store, "x", collection="a")
    assert store.get("a", "x") is None
    assert [record.data for record in store.scan("b")] == [2]


def test_a_scan_is_in_code_point_order_and_can_be_continued(store: Store) -> None:
    names = ["b", "B", "a", "é", "z", "Z", "10", "9", "🎈", "a b", "a/b", "\uffee"]
    for name in names:
        put(store, name, name)
    ordered = sorted(names)
    assert ids(store.scan("notes")) == ordered
    assert ids(store.scan("notes", limit=4)) == ordered[:4]
    assert ids(store.scan("notes", after=ordered[3], limit=4)) == ordered[4:8]
    assert ids(store.scan("notes", after=ordered[-1])) == []
    assert store.scan("notes", limit=0) == []
    assert store.count("notes") == len(names)


def test_a_version_counts_every_write_deletion_and_restoration(store: Store) -> None:
    assert put(store, "n1", "a").version == 1
    assert put(store, "n1", "b").version == 2
    delete(store, "n1")
    assert restore(store, "n1").version == 4
    delete(store, "n1")
    assert put(store, "n1", "c").version == 6
    assert [event.version for event in store.events()] == [1, 2, 3, 4, 5, 6]


def test_if_version_admits_only_the_present_version(store: Store) -> None:
    put(store, "n1", "a", if_version=0)
    put(store, "n1", "b", if_version=1)
    for stale in (0, 1, 3):
        with pytest.raises(Conflict, match="n1 has version 2") as caught:
            put(store, "n1", "lost", if_version=stale)
        assert caught.value.data == {"version": 2}
    with pytest.raises(Conflict, match="notes/n2"):
        put(store, "n2", "lost", if_version=1)
    record = store.get("notes", "n1")
    assert record is not None
    assert record.data == "b"
    assert len(store.events()) == 2


def test_if_version_guards_deletions_too(store: Store) -> None:
    put(store, "n1", "a")
    put(store, "n1", "b")
    with pytest.raises(Conflict), store.transaction(actor="ada") as transaction:
        transaction.delete("notes", "n1", if_version=1)
    assert store.count("notes") == 1
    with store.transaction(actor="ada") as transaction:
        transaction.delete("notes", "n1", if_version=2)
    assert store.count("notes") == 0


def test_a_deleted_record_counts_as_absent_for_if_version(store: Store) -> None:
    put(store, "n1", "a")
    delete(store, "n1")
    with pytest.raises(Conflict):
        put(store, "n1", "b", if_version=2)
    assert put(store, "n1", "b", if_version=0).version == 3


def test_a_deleted_record_is_hidden_from_every_read(store: Store) -> None:
    put(store, "keep", 1)
    put(store, "gone", 2)
    delete(store, "gone")
    assert store.get("notes", "gone") is None
    assert ids(store.scan("notes")) == ["keep"]
    assert store.count("notes") == 1
    with store.transaction(actor="ada") as transaction:
        assert transaction.get("notes", "gone") is None


def test_a_deletion_leaves_a_tombstone_with_the_last_value(store: Store) -> None:
    put(store, "n1", "first")
    put(store, "n1", "last")
    with store.transaction(actor="bob", reason="obsolete") as transaction:
        buried = transaction.delete("notes", "n1")
    assert (buried.version, buried.data, buried.actor, buried.reason) == (3, "last", "bob", "obsolete")
    assert store.tombstones("notes") == [buried]
    assert store.tombstones("elsewhere") == []


def test_tombstones_come_latest_first(store: Store) -> None:
    for name in ("a", "b", "c"):
        put(store, name, name)
    for name in ("b", "c", "a"):
        delete(store, name)
    assert [tombstone.id for tombstone in store.tombstones("notes")] == ["a", "c", "b"]
    assert [tombstone.id for tombstone in store.tombstones("notes", limit=1)] == ["a"]


def test_restoring_brings_back_the_value_and_removes_the_tombstone(store: Store) -> None:
    put(store, "n1", {"kept": True})
    delete(store, "n1")
    restored = restore(store, "n1")
    assert restored.data == {"kept": True}
    assert store.get("notes", "n1") == restored
    assert store.tombstones("notes") == []


def test_restoring_brings_back_what_was_deleted_last(store: Store) -> None:
    put(store, "n1", "older")
    delete(store, "n1")
    put(store, "n1", "newer")
    delete(store, "n1")
    assert [tombstone.data for tombstone in store.tombstones("notes")] == ["newer"]
    assert restore(store, "n1").data == "newer"


def test_restoring_into_an_id_in_use_is_a_conflict_and_loses_neither(store: Store) -> None:
    put(store, "n1", "old")
    delete(store, "n1")
    put(store, "n1", "new")
    with pytest.raises(Conflict, match="notes/n1"):
        restore(store, "n1")
    record = store.get("notes", "n1")
    assert record is not None
    assert record.data == "new"
    assert [tombstone.data for tombstone in store.tombstones("notes")] == ["old"]


def test_deleting_and_restoring_what_is_not_there_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound, match="notes/nothing"):
        delete(store, "nothing")
    with pytest.raises(NotFound, match="notes/nothing"):
        restore(store, "nothing")
    put(store, "n1", 1)
    delete(store, "n1")
    with pytest.raises(NotFound, match="notes/n1"):
        delete(store, "n1")


def test_every_write_appends_an_event_with_both_images(store: Store) -> None:
    put(store, "n1", "a")
    put(store, "n1", "b")
    delete(store, "n1")
    restore(store, "n1")
    seen = [(e.operation, e.actor, e.reason, e.version, e.before, e.after) for e in store.events()]
    assert seen == [
        ("put", "ada", "because", 1, None, "a"),
        ("put", "ada", "because", 2, "a", "b"),
        ("delete", "bob", "obsolete", 3, "b", None),
        ("restore", "eve", "", 4, None, "b"),
    ]


def test_events_can_be_narrowed_and_continued(store: Store) -> None:
    for collection, name in (("a", "x"), ("b", "x"), ("a", "y"), ("a", "x")):
        put(store, name, 0, collection=collection)
    everything = store.events()
    assert [event.seq for event in everything] == sorted({event.seq for event in everything})
    assert [(e.collection, e.id) for e in store.events(collection="a")] == [("a", "x"), ("a", "y"), ("a", "x")]
    assert [(e.collection, e.id) for e in store.events(id="x")] == [("a", "x"), ("b", "x"), ("a", "x")]
    assert [e.version for e in store.events(collection="a", id="x")] == [1, 2]
    assert [e.id for e in store.events(collection="a", id=("y", "x"))] == ["x", "y", "x"]
    assert [e.id for e in store.events(collection="a", id=("y", "x"), latest_first=True, limit=2)] == ["x", "y"]
    assert store.events(id=("none",)) == store.events(id=()) == []
    assert store.events(after=everything[1].seq) == everything[2:]
    assert store.events(after=everything[1].seq, limit=1) == everything[2:3]


def test_events_once_written_never_change(store: Store) -> None:
    put(store, "n1", "a")
    earlier = store.events()
    put(store, "n1", "b")
    delete(store, "n1")
    restore(store, "n1")
    assert store.events()[: len(earlier)] == earlier


def test_times_are_utc_with_microseconds_and_shared_within_a_transaction(store: Store) -> None:
    with store.transaction(actor="ada") as transaction:
        one, two = transaction.put("notes", "1", 1), transaction.put("notes", "2", 2)
    assert one.updated_at == two.updated_at == store.events()[0].at
    moment = datetime.fromisoformat(one.updated_at)
    assert moment.utcoffset() == timedelta(0)
    assert len(one.updated_at) == len("2026-01-01T00:00:00.000000Z")


NOT_JSON = [
    object(),
    {"deep": [object()]},
    {(1, 2): 3},
    float("nan"),
    [1, None, {"x": float("inf")}],
    "half a pair: \ud800",
]


@pytest.mark.parametrize("data", NOT_JSON, ids=range(len(NOT_JSON)))
def test_a_value_that_is_not_json_is_refused_by_name_and_writes_nothing(store: Store, data: Any) -> None:
    put(store, "n1", "kept")
    with pytest.raises(InvalidArgument, match="notes/n1"):
        put(store, "n1", data)
    record = store.get("notes", "n1")
    assert record is not None
    assert (record.version, record.data) == (1, "kept")
    assert len(store.events()) == 1


def test_a_value_nested_without_end_is_refused(store: Store) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(InvalidArgument, match="notes/n1"):
        put(store, "n1", endless)


BAD_NAMES: list[Any] = ["", "x" * 513, "a\x00b", "a\nb", "\x7f", "\x9f", "\udc80", None, 7, b"x"]


@pytest.mark.parametrize("name", BAD_NAMES, ids=range(len(BAD_NAMES)))
def test_a_bad_id_or_collection_is_refused_everywhere(store: Store, name: Any) -> None:
    with store.transaction(actor="ada") as transaction:
        for refused in (
            lambda: transaction.put(name, "id", 1),
            lambda: transaction.put("notes", name, 1),
            lambda: transaction.delete("notes", name),
            lambda: transaction.restore(name, "id"),
            lambda: transaction.get("notes", name),
        ):
            with pytest.raises(InvalidArgument):
                refused()
    for refused in (
        lambda: store.get(name, "id"),
        lambda: store.get("notes", name),
        lambda: store.scan(name),
        lambda: store.count(name),
        lambda: store.tombstones(name),
        lambda: store.start_job(name),
        lambda: store.setting(name, b""),
    ):
        with pytest.raises(InvalidArgument):
            refused()
    with pytest.raises(InvalidArgument), store.transaction(actor=name):
        pass
    assert store.events() == []


def test_names_of_512_characters_of_any_script_are_fine(store: Store) -> None:
    name = "é🎈" * 256
    assert put(store, name, 1, collection=name) == store.get(name, name)


@pytest.mark.parametrize("number", [-1, 1.5, "1", True, 2**63])
def test_a_bad_number_is_refused(store: Store, number: Any) -> None:
    put(store, "n1", 1)
    for refused in (
        lambda: store.scan("notes", limit=number),
        lambda: store.events(after=number),
        lambda: store.events(limit=number),
        lambda: store.tombstones("notes", limit=number),
        lambda: store.jobs(limit=number),
        lambda: store.start_job("index", total=number),
        lambda: put(store, "n1", 2, if_version=number),
    ):
        with pytest.raises(InvalidArgument):
            refused()
    assert len(store.events()) == 1


@pytest.mark.parametrize("text", ["\x00", "\ud800", None, 7])
def test_a_reason_that_cannot_be_stored_is_refused(store: Store, text: Any) -> None:
    with pytest.raises(InvalidArgument, match="reason"), store.transaction(actor="ada", reason=text):
        pass


def test_hostile_text_is_only_text(store: Store) -> None:
    name = "'; DROP TABLE records; --"
    put(store, name, name, collection=name)
    assert ids(store.scan(name)) == [name]
    assert store.count("%") == 0
