"""A writer that is killed: what it was told is written is there, and nothing is there by half."""

import os
import random
import signal
from collections import Counter

import pytest
from tests.properties import examples
from tests.store.factory import StoreFactory, Worker

from clew.store.interface import Store

# Verifies: REQ-d00005-B, REQ-p00002-A, REQ-o00065-A

STORES = examples(20)
KILLS_PER_STORE = 10


def write_and_kill(nursery: Worker, location: str, seed: int) -> dict[str, int]:
    """Kill a writer at a random point of its work; the transactions it was told are written, with their sizes."""
    chance = random.Random(seed)
    further_acknowledgements, further_steps = chance.randrange(6), chance.randrange(9)
    acknowledged: dict[str, int] = {}
    nursery.send(f"{location} {seed}")
    writer = int(nursery.line())

    def listen() -> bool:
        word, *facts = nursery.line().split()
        if word == "acknowledged":
            acknowledged[facts[0]] = int(facts[1])
        return word != "reaped"

    while len(acknowledged) < further_acknowledgements:
        assert listen()
    for _ in range(further_steps):
        assert listen()
    os.kill(writer, signal.SIGKILL)
    while listen():
        pass
    return acknowledged


def assert_whole(store: Store, acknowledged: dict[str, int]) -> None:
    parts = store.scan("parts")
    found = Counter(part.data["name"] for part in parts)
    sizes = {part.data["name"]: part.data["size"] for part in parts}
    assert found == sizes, "a transaction is there by half"
    assert acknowledged.items() <= sizes.items(), "an acknowledged transaction is lost"
    ledger = store.get("ledger", "total")
    assert (ledger.data if ledger else 0) == len(parts)
    assert len(store.events()) == len(parts) + len(sizes)


@pytest.mark.thorough
def test_killed_writers_lose_nothing_acknowledged(store_factory: StoreFactory) -> None:
    nursery = store_factory.worker("nursery")
    for number in range(STORES):
        # Each store is new, so that some writers die while they create it.
        location = store_factory.fresh_location()
        acknowledged: dict[str, int] = {}
        for kill in range(KILLS_PER_STORE):
            acknowledged |= write_and_kill(nursery, location, number * KILLS_PER_STORE + kill)
            store = store_factory.open(location)
            assert_whole(store, acknowledged)
            assert store.check() == []
            store.close()
    nursery.finish()
