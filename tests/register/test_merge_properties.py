"""Whatever two branches did, their merge loses nothing."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st
from tests.register.edits import delete, link, update

from clew.errors import ClewError
from clew.formats.register.model import LinkKind, Priority, Register
from clew.formats.register.single import read_single, write_single
from clew.register.change.changes import add
from clew.register.change.draft import Author, Draft, timestamp
from clew.register.change.transaction import new_register
from clew.register.git.merge import merge
from clew.register.git.merge_ids import origin
from clew.register.operations.edit import AddToRegister

ids = st.integers(1, 5).map(str)
words = st.sampled_from(["Lock the account", "Tell the owner", "Fold the invoice"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), words),
        st.tuples(st.just("title"), ids, words),
        st.tuples(st.just("priority"), ids, st.sampled_from(Priority)),
        st.tuples(st.just("delete"), ids, st.booleans()),
        st.tuples(st.just("link"), ids, ids),
    ),
    max_size=6,
)


def done(register: Register, did: list[tuple], start: int) -> Register:  # type: ignore[type-arg]
    """The register after these steps; what is refused is left out."""
    for second, (name, *given_) in enumerate(did, start=start):
        draft = Draft(register, Author(timestamp(second * 1_000_000_000), "ann"))
        with suppress(ClewError):
            _step(draft, name, *given_)
            register = draft.finished()
    return register


def _step(draft: Draft, name: str, *given_: object) -> None:
    match name, *given_:
        case "add", str(title):
            statement = f"The {title} shall be done within two seconds."
            add(draft, AddToRegister(title=title, statement=statement, rationale="Why not.", acceptance=("Seen",)))
        case "title", str(id), str(title):
            update(draft, id, None, title=title)
        case "priority", str(id), Priority() as priority:
            update(draft, id, None, priority=priority)
        case "delete", str(id), bool(hard):
            delete(draft, id, "why", hard=hard)
        case "link", str(start), str(end):
            link(draft, start, end, LinkKind.DEPENDS_ON)


# Verifies: REQ-d00230-A+B
@given(steps, steps, steps, steps)
def test_two_merges_of_any_two_branches_lose_nothing(first: list, ours_: list, theirs_: list, later: list) -> None:  # type: ignore[type-arg]
    base = done(new_register("demo", Author(timestamp(0), "ann")), [("add", "Begin here"), *first], 100)
    ours, theirs = done(base, ours_, 200), done(base, theirs_, 300)
    merged = merge(base, ours, theirs, Author(timestamp(400 * 1_000_000_000), "ann")).register
    check(base, ours, theirs, merged)
    further = done(theirs, later, 500)
    again = merge(theirs, merged, further, Author(timestamp(600 * 1_000_000_000), "ann")).register
    check(theirs, merged, further, again)


def check(base: Register, ours: Register, theirs: Register, merged: Register) -> None:
    assert read_single(write_single(merged)).requirements == merged.requirements
    found = {origin(each): each for each in merged.requirements.values()}
    assert len(found) == len(merged.requirements)
    before = {origin(each): each for each in base.requirements.values()}
    for side, other in ((ours, theirs), (theirs, ours)):
        others = {origin(each) for each in other.requirements.values()}
        for each in side.requirements.values():
            removed = origin(each) in before and origin(each) not in others
            if origin(each) not in found:
                assert removed
                continue
            assert all(entry in found[origin(each)].history for entry in each.history)
    for id, each in ours.requirements.items():
        assert id not in merged.requirements or origin(merged.requirements[id]) == origin(each)
    assert merged.next_id >= max(ours.next_id, theirs.next_id)
