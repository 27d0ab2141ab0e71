"""Scratch space: bounded, apart for each session, and right under threads."""

import logging
import threading
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.errors import InvalidArgument, OverBudget
from clew.kb.answer.scratch import NewPassage, ScratchLimits, ScratchStore
from clew.kb.ingest.records import DocumentRecord

DOCUMENT = DocumentRecord(
    path="docs/a.md",
    title="A",
    format="markdown",
    tag="a",
    environment="dev",
    repository="r",
    front_matter={},
    content_hash="",
    size=0,
    mtime_ns=0,
    updated_at="2026-01-01T00:00:00.000Z",
    problems=(),
)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def passage(section: str, text: str = "text", version: str = "1") -> NewPassage:
    return NewPassage(
        section_id=section,
        version=version,
        title=section,
        text=text,
        anchor=(0, 1),
        line=1,
        end_line=1,
        document=DOCUMENT,
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> ScratchStore:
    return ScratchStore(monotonic=clock, wall=clock)


def reason(get: Callable[[], object]) -> str:
    with pytest.raises(InvalidArgument) as refused:
        get()
    return str(refused.value.data["reason"])


def got(store: ScratchStore, owner: str | None, id: str) -> str:
    """The text, or why there is none."""
    try:
        return store.get(owner, id).text
    except InvalidArgument as error:
        return str(error.data["reason"])


# Verifies: REQ-d00175-A
def test_a_passage_lives_for_a_fixed_time_from_its_writing(store: ScratchStore, clock: Clock) -> None:
    session = store.session("one")
    kept = store.put(session, passage("s"))
    assert kept.created_at == "1970-01-01T00:16:40.000Z"
    clock.now += 1_799
    assert store.get("one", kept.id).text == "text"
    clock.now += 1
    assert reason(lambda: store.get("one", kept.id)) == "passage_expired"
    again = store.put(session, passage("s"))
    clock.now += 1_000
    assert store.put(session, passage("s")).id == again.id
    clock.now += 1_700
    assert store.get("one", again.id).id == again.id
    assert store.state().expired == 1


# Verifies: REQ-d00175-A
def test_the_same_text_keeps_its_id_in_a_session_and_another_text_gets_another(store: ScratchStore) -> None:
    one, other = store.session("one"), store.session("other")
    first = store.put(one, passage("s"))
    assert store.put(one, passage("s")).id == first.id
    assert store.put(one, passage("s", "edited", version="2")).id != first.id
    assert store.get("one", first.id).text == "text"
    assert store.put(other, passage("s")).id != first.id
    assert (store.state().written, store.state().reused, store.state().passages) == (3, 1, 3)


# Verifies: REQ-d00175-C
def test_ids_are_random_and_a_session_is_named_by_one_of_its_own(store: ScratchStore) -> None:
    handles = {store.session(f"transport-{number}") for number in range(50)} | {store.session(None) for _ in range(50)}
    guarded = {store.session(f"transport-{number}") for number in range(50)}
    ids = {handle: store.put(handle, passage("same")).id for handle in handles}
    assert len(handles) == len(set(ids.values())) == 100
    for handle, id in ids.items():
        # 128 bits in characters of 6 bits each; 96 where a session is asked for besides.
        assert (len(handle), len(id)) == (22, 16 if handle in guarded else 22)
    for id in (*ids, *ids.values()):
        assert set(id) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        assert "transport" not in id
    assert store.session("transport-1") == store.session("transport-1")


# Verifies: REQ-d00175-C
def test_nobody_else_reads_a_passage_or_learns_that_it_was_there(store: ScratchStore, clock: Clock) -> None:
    session = store.session("one")
    kept = store.put(session, passage("s"))
    shared = store.put(store.session(None), passage("s"))
    for owner in ("other", "", None):
        assert reason(lambda owner=owner: store.get(owner, kept.id)) == "passage_not_found"
        assert reason(lambda owner=owner: store.get(owner, kept.id, handle=session)) == "passage_not_found"
    assert reason(lambda: store.get("one", shared.id)) == "passage_not_found"
    assert reason(lambda: store.get("one", kept.id, handle=shared.session)) == "passage_not_found"
    assert store.get(None, shared.id, handle=shared.session).text == "text"
    clock.now += 2_000
    assert reason(lambda: store.get("other", kept.id)) == "passage_not_found"
    assert reason(lambda: store.get("one", kept.id)) == "passage_expired"
    assert reason(lambda: store.get("one", "never was")) == "passage_not_found"


# Verifies: REQ-d00266-C+D
def test_without_a_session_a_passage_is_bound_to_its_token_and_gone_after_an_hour(clock: Clock) -> None:
    store = ScratchStore(ScratchLimits(ttl_seconds=36_000), monotonic=clock, wall=clock)
    kept = store.put(store.session(None, "token"), passage("s"))
    owned = store.put(store.session("one", "token"), passage("s"))
    for credential in ("", "another"):
        with pytest.raises(InvalidArgument, match="passage"):
            store.get(None, kept.id, credential=credential)
    for _ in range(59):
        clock.now += 60
        assert store.get(None, kept.id, credential="token").text == "text"
    clock.now += 60
    with pytest.raises(InvalidArgument, match="passage"):
        store.get(None, kept.id, credential="token")
    assert store.get("one", owned.id, credential="token").text == "text"


# Verifies: REQ-d00175-B
def test_what_was_not_read_for_longest_makes_room(clock: Clock) -> None:
    room = 3 * (1_000 + 1_024)
    store = ScratchStore(ScratchLimits(total_bytes=2 * room, session_bytes=room), monotonic=clock, wall=clock)
    one, other = store.session("one"), store.session("other")
    first, second, third = (store.put(one, passage(name, "x" * 1_000)) for name in "abc")
    store.get("one", first.id)
    fourth = store.put(one, passage("d", "x" * 1_000))
    assert reason(lambda: store.get("one", second.id)) == "passage_expired"
    for name in "efg":
        store.put(other, passage(name, "x" * 1_000))
    assert [store.get("one", kept.id).id for kept in (third, first, fourth)] == [third.id, first.id, fourth.id]
    newest = store.put(store.session("third"), passage("h", "x" * 1_000))
    assert store.get("third", newest.id).id == newest.id
    state = store.state()
    assert (state.passages, state.evicted, state.bytes) == (6, 2, 2 * room)
    with pytest.raises(OverBudget) as refused:
        store.put(one, passage("huge", "x" * room))
    assert refused.value.data["reason"] == "scratch_full"
    assert store.state().passages == 6


# Verifies: REQ-d00175-D
def test_frequent_evictions_are_warned_of_once_a_minute(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    store = ScratchStore(ScratchLimits(total_bytes=5_000, session_bytes=5_000), monotonic=clock, wall=clock)
    session = store.session("one")
    with caplog.at_level(logging.WARNING):
        for number in range(100):
            store.put(session, passage(f"{number}", "secret" * 100))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "scratch space is full" in caplog.text
    assert "secret" not in caplog.text
    clock.now += 61
    with caplog.at_level(logging.WARNING):
        for number in range(100):
            store.put(session, passage(f"again {number}", "x" * 600))
    assert len(caplog.records) == 2


def test_sessions_are_bounded_and_those_without_an_owner_push_out_only_their_like(store: ScratchStore) -> None:
    first, lone = store.session("first"), store.session(None)
    kept, shared = store.put(first, passage("s")), store.put(lone, passage("s"))
    for _ in range(4_096):
        store.session(None)
    assert store.get("first", kept.id).id == kept.id
    assert reason(lambda: store.get(None, shared.id)) == "passage_not_found"
    for number in range(4_096):
        store.session(f"{number}")
    assert reason(lambda: store.get("first", kept.id)) == "passage_not_found"
    assert (store.state().sessions, store.state().passages, store.state().bytes) == (8_192, 0, 0)
    assert store.session("first") != first
    assert reason(lambda: store.put(first, passage("s"))) == "session_expired"


# Verifies: REQ-d00175-D
def test_threads_use_it_at_once_and_nothing_is_miscounted() -> None:
    store = ScratchStore(ScratchLimits(total_bytes=200_000, session_bytes=60_000))
    failures: list[str] = []
    start = threading.Barrier(8)

    def work(name: str) -> None:
        start.wait()
        for number in range(300):
            kept = store.put(store.session(name), passage(f"{number % 40}", f"{name} {'x' * (number % 7) * 100}"))
            try:
                text = store.get(name, kept.id).text
            except InvalidArgument:
                continue
            if not text.startswith(f"{name} "):
                failures.append(text)

    threads = [threading.Thread(target=work, args=(f"session-{number % 4}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    state = store.state()
    assert state.bytes <= 200_000
    assert state.written + state.reused == 8 * 300
    assert state.read + state.refused == 8 * 300
    assert state.passages == state.written - state.expired - state.evicted


# Verifies: REQ-d00175-B+C
@settings(max_examples=examples(150))
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["put", "get", "wait"]),
            st.sampled_from(["a", "b", None]),
            st.integers(0, 9),
            st.integers(0, 3_000),
        ),
        max_size=60,
    )
)
def test_whatever_happens_the_bounds_hold_and_sessions_stay_apart(
    steps: list[tuple[str, str | None, int, int]],
) -> None:
    clock = Clock()
    limits = ScratchLimits(total_bytes=20_000, session_bytes=9_000)
    store = ScratchStore(limits, monotonic=clock, wall=clock)
    handles = {owner: store.session(owner) for owner in ("a", "b", None)}
    written: dict[str, tuple[str | None, str, float]] = {}
    for step, owner, number, amount in steps:
        if step == "wait":
            clock.now += amount
        elif step == "put":
            text = f"{owner} {'x' * amount}"
            kept = store.put(handles[owner], passage(f"{number}", text, version=f"{amount}"))
            written[kept.id] = (owner, text, clock.now)
        elif written:
            id = sorted(written)[number % len(written)]
            true_owner, text, at = written[id]
            found = got(store, owner, id)
            if owner != true_owner:
                assert found == "passage_not_found"
            elif clock.now < at + 1_800:
                assert found in (text, "passage_expired")
            else:
                assert found == "passage_expired"
        assert store.state().bytes <= limits.total_bytes
