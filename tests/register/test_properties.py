"""Whatever happens to a register, its file loads, verifies and is written again the same, and the past stays."""

from typing import Any

import hypothesis.strategies as st
import msgspec
from hypothesis import given
from tests.register.edits import delete, link, record_run, record_test, split, verify

from clew.errors import ClewError
from clew.formats.register.directory import read_directory, write_directory
from clew.formats.register.model import (
    LINK_KINDS,
    EvidenceKind,
    Priority,
    RecordedOutcome,
    Register,
    RegisterLayout,
    RequirementKind,
    Status,
)
from clew.formats.register.single import read_single, write_single
from clew.register.change import changes as operations
from clew.register.change.batch import apply_batch
from clew.register.change.candidates import candidates
from clew.register.change.draft import Author, Draft
from clew.register.change.evidence import LinkedFiles, RunTally
from clew.register.change.imports import import_all
from clew.register.change.transaction import as_written, check_succession, new_register
from clew.register.operations.edit import AddToRegister, UpdateCommand
from clew.register.operations.read import ListRequirements
from clew.register.reports.export import EXPORTS, export
from clew.register.reports.queries import brief, listing, next_up, status
from clew.register.rules.validator import validate_register

NOW = Author("2026-06-01T12:00:00Z", "ann")

ids = st.integers(0, 9).map(str) | st.sampled_from(["REQ-0001", "req-2", "REQ-0099", "", "$1"])
words = st.text(max_size=12) | st.sampled_from(["# x", "- y", "\u2028", '"', "\x01", "🔒"])
statements = words.map(lambda word: f"The system shall keep the thing called {word} for ever.")
texts = statements | words
titles = words.map(lambda word: f"Keep {word}")
lists = st.lists(words.map(lambda word: f"It is seen {word}"), max_size=3).map(tuple)
tags = st.lists(st.sampled_from("abc"), max_size=2).map(tuple)
link_kinds = st.sampled_from(LINK_KINDS)

adds = st.builds(
    AddToRegister,
    title=titles,
    statement=texts,
    rationale=texts,
    kind=st.sampled_from(RequirementKind),
    priority=st.sampled_from(Priority),
    acceptance=lists,
    tags=tags,
    parent=st.none() | ids,
)
updates = st.builds(
    UpdateCommand,
    id=ids,
    reason=st.none() | words,
    title=st.none() | titles,
    statement=st.none() | texts,
    acceptance=st.none() | lists,
    add_acceptance=lists,
    remove_acceptance=st.lists(st.integers(-1, 3), max_size=2).map(tuple),
    status=st.none() | st.sampled_from(Status),
    add_tag=tags,
    remove_tag=tags,
)


def _batch(draft: Draft, id: str) -> Any:
    """Its second mutation always fails."""
    return apply_batch(draft, [{"kind": "delete", "id": id}, {"kind": "delete", "id": "88"}])


def _import(draft: Draft, form: str) -> Any:
    return import_all(draft, candidates(export(draft.finished(), form), form))


steps = st.one_of(
    st.tuples(st.just(operations.add), adds),
    st.tuples(st.just(operations.add), adds),
    st.tuples(st.just(operations.update), updates),
    st.tuples(st.just(lambda draft, id, hard: delete(draft, id, "why", hard=hard)), ids, st.booleans()),
    st.tuples(
        st.just(lambda draft, one, two, kind, gone: link(draft, one, two, kind, remove=gone)),
        *(ids, ids, link_kinds, st.booleans()),
    ),
    st.tuples(st.just(split), ids, st.lists(statements, max_size=3)),
    st.tuples(st.just(record_test), ids, st.sampled_from(RecordedOutcome), words, st.just("c" * 40)),
    st.tuples(
        st.just(lambda draft, id, promote: verify(draft, id, EvidenceKind.INSPECTION, "seen", "", promote=promote)),
        *(ids, st.booleans()),
    ),
    st.tuples(
        st.just(lambda draft, id: record_run(draft, {id: RunTally(passed=("t",))}, "c", promote=True)),
        st.sampled_from(["REQ-0001", "REQ-0002"]),
    ),
    st.tuples(st.just(_batch), ids),
    st.tuples(st.just(_import), st.sampled_from(["markdown", "json"])),
)


def carried_out(register: Register, step: tuple[Any, ...]) -> Register:
    """The register after a step; one that fails must change nothing."""
    call, *arguments = step
    draft = Draft(register, NOW)
    try:
        call(draft, *arguments)
    except ClewError:
        return register
    return draft.finished()


# Verifies: REQ-o00031-A+D, REQ-d00085-F
@given(st.lists(steps, max_size=25))
def test_any_sequence_of_operations_leaves_a_sound_file(sequence: list[tuple[Any, ...]]) -> None:
    register = new_register("demo", NOW)
    given_ids: set[str] = set()
    for step in sequence:
        after = carried_out(register, step)
        check_succession(register, after)
        fresh = after.requirements.keys() - register.requirements.keys()
        assert not fresh & given_ids, "an id was given twice"
        given_ids |= fresh
        for id, requirement in register.requirements.items():
            if id in after.requirements:
                later = after.requirements[id]
                assert later.history[: len(requirement.history)] == requirement.history
                assert later is requirement or len(later.history) > len(requirement.history)
        register = after

    data = write_single(register)
    assert read_single(data) == as_written(register)
    assert write_single(read_single(data)) == data
    folder = write_directory(msgspec.structs.replace(register, layout=RegisterLayout.DIRECTORY))
    assert read_directory(folder).requirements == register.requirements
    broken = [each for each in validate_register(register) if each.is_error and each.rule_code > "REQ-V-0015"]
    assert broken == [], "no operation makes a broken or circular link"


@given(st.lists(adds, max_size=8), st.sampled_from(list(EXPORTS)))
def test_every_register_can_be_asked_everything(news: list[AddToRegister], form: str) -> None:
    register = new_register("demo", NOW)
    for new in news:
        register = carried_out(register, (operations.add, new))

    assert listing(register, ListRequirements()).count == status(register).total == len(register.requirements)
    assert brief(register).project == "demo"
    assert next_up(register)
    assert isinstance(export(register, form), str)


def test_a_record_with_files_survives_the_file(draft: Draft, new: Any) -> None:
    operations.add(draft, new())
    record_test(draft, "1", RecordedOutcome.FAIL, "", "c", LinkedFiles(("./a", "./b"), "d" * 64))
    register = draft.finished()
    assert read_single(write_single(register)) == as_written(register)
