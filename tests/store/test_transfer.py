"""Moving whole stores: everything arrives, a second run writes nothing, and other writes are never mixed in."""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from clew.errors import Conflict
from clew.memory.storage.moving import StoreLocation, move
from clew.specs import archive
from clew.store.sqlite.engine import open_sqlite
from clew.store.team import SHARED_COLLECTIONS
from clew.store.transfer import content, copy
from clew.text.database_address import Address
from clew.trace.links import decisions

pytest.importorskip("psycopg")

from clew.store.postgres.engine import open_postgres


def filled(store: Any, number: int = 30) -> None:
    for each in range(number):
        with store.transaction(actor="ada", reason=f"because {each}") as transaction:
            transaction.put("notes", f"n{each % 10}", {"text": f"é {each}", "half": each / 2})
            if each % 7 == 3:
                transaction.delete("notes", f"n{each % 10}")
    with store.transaction(actor="ada") as transaction:
        transaction.put("link_decisions", "d", True)


# Verifies: REQ-d00482-A
def test_a_store_goes_to_the_database_and_back_as_it_was(database: str, tmp_path: Path) -> None:
    with closing(open_sqlite(tmp_path / "here.db")) as here, closing(open_sqlite(tmp_path / "back.db")) as back:
        filled(here)
        here.setting("repository", b"r1")
        here.setting("cursor_key", b"mine")
        before = content(here), here.events()
        with closing(open_postgres(Address(database), "clew_team", create=True)) as there:
            copied = copy(here, there)
            assert copied.content == content(there) == before[0]
            assert copied.events == len(before[1])
            assert [msg.data for msg in there.scan("notes")] == [msg.data for msg in here.scan("notes")]
            assert [each.id for each in there.tombstones("notes")] == [each.id for each in here.tombstones("notes")]
            assert there.found_setting("cursor_key") is None
            assert there.found_setting("repository") == b"r1"
            assert copy(here, there).events == 0
            # What was copied goes on from where it was.
            with there.transaction(actor="bob") as transaction:
                transaction.restore("notes", "n4")
                assert transaction.put("notes", "n1", 1).version == 4
            assert copy(there, back).content == content(there)
            assert copy(there, here).events == 2
        assert content(here) == content(back)
        assert back.events()[: len(before[1])] == before[1]
        assert back.check() == here.check() == []


# Verifies: REQ-d00482-A
def test_only_the_wanted_collections_move(tmp_path: Path) -> None:
    with closing(open_sqlite(tmp_path / "here.db")) as here, closing(open_sqlite(tmp_path / "there.db")) as there:
        filled(here)
        copied = copy(here, there, lambda collection: collection in SHARED_COLLECTIONS)
        assert (copied.content.records, copied.content.events) == (1, 1)
        assert there.scan("notes") == []
    assert {decisions.COLLECTION, archive.COLLECTION, archive.REBASED} == SHARED_COLLECTIONS


# Verifies: REQ-d00482-B
def test_an_interrupted_move_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Exception):
        pass

    def stop(what: str, done: int) -> None:
        if done >= stop_at:
            raise Interrupted

    monkeypatch.setattr("clew.store.transfer.AT_ONCE", 5)
    with closing(open_sqlite(tmp_path / "here.db")) as here:
        filled(here)
        for stop_at in (5, 15, 34):
            with closing(open_sqlite(tmp_path / f"{stop_at}.db")) as there:
                with pytest.raises(Interrupted):
                    copy(here, there, report=stop)
                left = len(here.events()) - len(there.events())
                assert copy(here, there).events == left
                assert content(there) == content(here)


# Verifies: REQ-d00482-B
def test_a_store_with_other_writes_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with closing(open_sqlite(tmp_path / "here.db")) as here, closing(open_sqlite(tmp_path / "there.db")) as there:
        filled(here)
        with there.transaction(actor="bob") as transaction:
            transaction.put("notes", "n1", "another first version")
        before = content(there)
        with pytest.raises(Conflict, match="n1"):
            copy(here, there)
        with pytest.raises(Conflict, match=r"n1|writes that the source"):
            copy(there, here)
        assert content(there) == before


# Verifies: REQ-d00482-B
def test_a_store_in_which_anything_was_written_keeps_the_name_of_its_project(tmp_path: Path) -> None:
    with closing(open_sqlite(tmp_path / "here.db")) as here, closing(open_sqlite(tmp_path / "there.db")) as there:
        filled(here)
        here.setting("repository", b"mine")
        there.setting("repository", b"made with the store")
        assert copy(here, there).events > 0
        assert there.found_setting("repository") == b"mine"
    with closing(open_sqlite(tmp_path / "here.db")) as here, closing(open_sqlite(tmp_path / "other.db")) as other:
        other.setting("repository", b"theirs")
        with other.transaction(actor="bob") as transaction:
            transaction.put("notes", "n1", "theirs")
        # None of the collections that are to be copied, but something.
        with pytest.raises(Conflict, match="repository"):
            copy(here, other, lambda collection: collection in SHARED_COLLECTIONS)
        assert other.found_setting("repository") == b"theirs"
        assert other.scan("link_decisions") == []


# Verifies: REQ-d00482-B
def test_a_move_compares_what_was_decided_and_what_was_remembered_before_it_writes_either(tmp_path: Path) -> None:
    def own(stack: ExitStack) -> StoreLocation:
        project, memory = (stack.enter_context(closing(open_sqlite(tmp_path / name))) for name in ("p.db", "m.db"))
        return StoreLocation("here", project, memory)

    def shared(stack: ExitStack) -> StoreLocation:
        store = stack.enter_context(closing(open_sqlite(tmp_path / "team.db")))
        return StoreLocation("there", store, store, is_team=True)

    with ExitStack() as stack:
        here, there = own(stack), shared(stack)
        filled(here.project)
        filled(here.memory)
        with there.memory.transaction(actor="bob") as transaction:
            transaction.put("notes", "n1", "another first version")
        before = content(there.project)
    with pytest.raises(Conflict, match="Nothing was written"):
        move(own, shared, lambda what, done: None)
    with ExitStack() as stack:
        assert content(shared(stack).project) == before
