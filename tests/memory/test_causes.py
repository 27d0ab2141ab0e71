"""Causes that notes state become links with the sentences as evidence, and chains of them are followed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.memory_client import Memory, remembering, write_project

from clew.memory.judging.causes import causes_in
from clew.memory.model import MemoryLinkKind

CHAIN = (
    "Slow ETA computation leads to consumer rebalances.",
    "Duplicate processing of parcels happens because of consumer rebalances.",
    "Since there is duplicate processing of parcels, customers get two notifications.",
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour")) as client:
        yield client


# Verifies: REQ-d00303-H
@pytest.mark.parametrize(
    ("text", "cause", "effect"),
    [
        ("Cold caches lead to slow starts.", "Cold caches", "slow starts"),
        ("Slow starts are caused by cold caches.", "cold caches", "Slow starts"),
        ("Because the cache is cold, the start is slow.", "the cache is cold", "the start is slow"),
        ("The gateway retries, so payments are booked twice.", "The gateway retries", "payments are booked twice"),
        ("We cut the batch so that the lock is short.", "We cut the batch", "the lock is short"),
        ("The disk was full. As a result, writes failed.", "The disk was full", "writes failed"),
        ("The reason for the outage was a full disk.", "a full disk", "the outage"),
    ],
)
def test_a_stated_cause_is_read_in_both_directions(text: str, cause: str, effect: str) -> None:
    (found,) = causes_in(text)
    assert (found.cause, found.effect) == (cause, effect)


# Verifies: REQ-d00303-H
@pytest.mark.parametrize(
    "text",
    [
        "The index has been slow since March.",
        "When the disk is full, writes fail.",
        "Labels are printed after the weight check.",
        "The start is at six.",
    ],
)
def test_order_in_time_and_conditions_are_no_causes(text: str) -> None:
    assert causes_in(text) == ()


# Verifies: REQ-d00303-H
@pytest.mark.parametrize("backwards", [False, True])
def test_chains_of_stated_causes_are_linked_with_their_quotes_and_followed(memory: Memory, backwards: bool) -> None:
    ids = [memory.store(text) for text in (CHAIN[::-1] if backwards else CHAIN)]
    ids = ids[::-1] if backwards else ids
    memory.store("Parcels are weighed before the label is printed.")
    path = memory("find_causal_path", source_id=ids[0], target_id=ids[2])
    assert (path["path_found"], [hop["node_id"] for hop in path["path"]]) == (True, ids)
    assert ids[2] in [effect["node_id"] for effect in memory("query_causal", action=ids[0])["effects"]]
    index = memory.project.memory.home.index
    links = index.links(ids, (MemoryLinkKind.CAUSES,), inward=False)
    assert {(link.source, link.target) for link in links} == {(ids[0], ids[1]), (ids[1], ids[2])}
    assert all(
        f"“{CHAIN[at]}”" in link.origin
        for at, link in enumerate(sorted(links, key=lambda each: ids.index(each.source)))
    )


# Verifies: REQ-d00303-H
def test_a_circle_is_shown_up_to_the_memory_that_comes_again(memory: Memory) -> None:
    ids = [memory.store(text) for text in CHAIN]
    closing = memory.store(
        "Two notifications for customers lead to slow ETA computation.", link_to=[ids[0]], link_type="causes"
    )
    other = memory.store("Fog is rare in summer.")
    memory("annotate_node", node_id=ids[2], annotations={"related_concepts": [f"causes:{closing}"]})
    path = memory("find_causal_path", source_id=ids[0], target_id=other)
    assert (path["path_found"], path["cycle_detected"]) == (False, True)
    assert [hop["node_id"] for hop in path["path"]] == [*ids, closing, ids[0]]


# Verifies: REQ-d00303-H
@pytest.mark.parametrize(
    "text",
    [
        "The lock is needed because the cache is shared, the cache is shared because the lock is needed.",
        "Slow builds lead to large batches. Large batches lead to risky releases. Risky releases lead to slow builds.",
    ],
)
def test_claims_that_rest_on_each_other_are_seen(memory: Memory, text: str) -> None:
    found = memory("check_adversarial", content=text, checks=["circular_logic"])
    (sign,) = found["findings"]
    assert sign["detected"]
    assert not memory("check_adversarial", content=CHAIN[0], checks=["circular_logic"])["findings"][0]["detected"]


# Verifies: REQ-d00303-H
def test_what_contradicts_a_memory_is_none_of_its_ancestors(memory: Memory) -> None:
    one = memory.store("All timestamps are stored as timestamptz in UTC; clients convert them for the portal.")
    memory.store("Timestamps are not stored in UTC.")
    cone = memory("entailment_query", node_id=one)
    assert (cone["ancestors"], cone["descendants"]) == ([], [])


# Verifies: REQ-d00303-H
def test_of_a_text_with_many_causes_the_first_ones_are_read() -> None:
    many = " ".join(f"Event {at} leads to delay {at}." for at in range(5_000))
    assert 1 <= len(causes_in(many)) <= 12
