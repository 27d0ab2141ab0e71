"""Random histories: whatever is done to a store, it agrees with a plain dictionary."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from tests.properties import examples
from tests.store.factory import StoreFactory

from clew.errors import Conflict, NotFound
from clew.store.interface import Store, Transaction

# Verifies: REQ-o00002-A+C

HISTORIES = examples(150)
COLLECTIONS = ("notes", "drafts")
IDS = ("a", "B", "é", "a/b", "'; --")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.tuples(st.sampled_from(COLLECTIONS), st.sampled_from(IDS))
OPERATIONS = st.one_of(
    st.tuples(st.just("put"), KEYS, JSON, st.none() | st.integers(0, 4)),
    st.tuples(st.just("delete"), KEYS, st.none(), st.none() | st.integers(0, 4)),
    st.tuples(st.just("restore"), KEYS, st.none(), st.none()),
)

Key = tuple[str, str]
Operation = tuple[str, Key, Any, int | None]


class TakenBack(Exception):
    pass


class Model:
    """What a store is meant to do, on dictionaries."""

    def __init__(self) -> None:
        self.versions: dict[Key, int] = {}
        self.live: dict[Key, Any] = {}
        self.dead: dict[Key, tuple[int, Any]] = {}
        self.events: list[tuple[str, Key, int, Any, Any]] = []

    def copy(self) -> "Model":
        other = Model()
        other.versions, other.live, other.dead = dict(self.versions), dict(self.live), dict(self.dead)
        other.events = list(self.events)
        return other

    def apply(self, operation: str, key: Key, data: Any, if_version: int | None) -> type[Exception] | None:
        """The error that is due, or None once it is done."""
        before = self.live.get(key)
        if operation == "delete" and key not in self.live:
            return NotFound
        if operation == "restore" and key in self.live:
            return Conflict
        if operation == "restore" and key not in self.dead:
            return NotFound
        if if_version is not None and if_version != (self.versions[key] if key in self.live else 0):
            return Conflict
        version = self.versions[key] = self.versions.get(key, 0) + 1
        if operation == "delete":
            self.dead.pop(key, None)
            self.dead[key] = (version, self.live.pop(key))
        else:
            self.live[key] = data if operation == "put" else self.dead.pop(key)[1]
        self.events.append((operation, key, version, before, self.live.get(key)))
        return None


class Histories(RuleBasedStateMachine):
    def __init__(self, factory: StoreFactory) -> None:
        super().__init__()
        self.factory = factory
        self.location = factory.fresh_location()
        self.store: Store = factory.open(self.location)
        self.model = Model()

    def teardown(self) -> None:
        self.store.close()

    @rule(operations=st.lists(OPERATIONS, min_size=1, max_size=5))
    def commit(self, operations: list[Operation]) -> None:
        with self.store.transaction(actor="ada", reason="why") as transaction:
            run(transaction, self.model, operations)

    @rule(operations=st.lists(OPERATIONS, min_size=1, max_size=5))
    def take_back(self, operations: list[Operation]) -> None:
        with suppress(TakenBack), self.store.transaction(actor="ada") as transaction:
            run(transaction, self.model.copy(), operations)
            raise TakenBack

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.factory.open(self.location)

    @invariant()
    def the_store_agrees_with_the_model(self) -> None:
        model = self.model
        for collection in COLLECTIONS:
            mine = sorted(key for key in model.live if key[0] == collection)
            found = [((r.collection, r.id), r.version, r.data) for r in self.store.scan(collection)]
            assert found == [(key, model.versions[key], model.live[key]) for key in mine]
            assert self.store.count(collection) == len(mine)
            buried = [((t.collection, t.id), t.version, t.data) for t in self.store.tombstones(collection)]
            assert buried == [(key, *model.dead[key]) for key in reversed(model.dead) if key[0] == collection]
        events = [(e.operation, (e.collection, e.id), e.version, e.before, e.after) for e in self.store.events()]
        assert events == model.events


def run(transaction: Transaction, model: Model, operations: list[Operation]) -> None:
    for operation, key, data, if_version in operations:
        due = model.apply(operation, key, data, if_version)
        raised: type[Exception] | None = None
        try:
            if operation == "put":
                transaction.put(*key, data, if_version=if_version)
            elif operation == "delete":
                transaction.delete(*key, if_version=if_version)
            else:
                transaction.restore(*key)
        except (Conflict, NotFound) as error:
            raised = type(error)
        assert raised is due
        record = transaction.get(*key)
        assert (record.data if record else None) == model.live.get(key)
        assert (record is not None) == (key in model.live)


@pytest.mark.thorough
def test_every_history_leaves_what_the_model_says(store_factory: StoreFactory) -> None:
    run_state_machine_as_test(
        lambda: Histories(store_factory),
        settings=settings(
            max_examples=HISTORIES,
            stateful_step_count=25,
            derandomize=True,
            database=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
