"""How two statements stand to each other, what is injected, and that no number comes from nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.memory_client import WHY, Memory, remembering, write_project

from clew.memory.judging.verdict import judge


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour")) as client:
        yield client


# Verifies: REQ-d00333-A, REQ-d00333-C
@pytest.mark.parametrize(
    ("old", "new", "cosine", "kind"),
    [
        ("The gate opens at six.", "The gate does not open at six.", 0.85, "contradicts"),
        ("The gate opens at six.", "The gate does not open at six.", None, "contradicts"),
        ("The gate isn 't open on Sundays.", "The gate is open on Sundays.", 0.9, "contradicts"),
        ("A crane lifts the containers.", "No ferry carries passengers in winter.", 0.4, "unrelated"),
        (
            "The crane lifts containers at the pier.",
            "The crane never lifts passengers off the ferry.",
            0.6,
            "unrelated",
        ),
        ("Tide tables are in local time.", "Tide tables now use UTC instead of local time.", 0.8, "replaces"),
        ("The lamp burns all night.", "The lamp burns all night long.", 0.97, "says_more"),
        ("Lamps are lit by the warden at dusk.", "The warden lights the lamps at dusk.", 0.93, "same"),
    ],
)
def test_a_statement_contradicts_what_it_denies_and_nothing_else(
    old: str, new: str, cosine: float | None, kind: str
) -> None:
    verdict = judge(old, new, cosine)
    assert verdict.kind == kind
    assert (verdict.confidence is None) == (kind == "unrelated" or (cosine is None and kind != "contradicts"))


# Verifies: REQ-d00333-B
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The pump is on during high tide.", "The pump is off during high tide."),
        ("The timeout is 30 seconds.", "The timeout is 60 seconds."),
        ("Two pilots board the ship.", "Three pilots board the ship."),
        ("The valve is open.", "The valve is not open."),
        ("Deny requests before noon.", "Allow requests before noon."),
        ("Logs are kept for 90 days.", "Logs are kept for 12 months."),
        ("A batch has at most 50 crates.", "A batch has at least 50 crates."),
        ("The crane runs firmware 2.4.1.", "The crane runs firmware 2.5.0."),
        ("Customer X is on plan B.", "Customer Y is on plan A."),
        ("Customer X is on plan B.", "Customer X is on plan C."),
        (
            "Coverage counts changed lines, not the whole repository.",
            "Coverage counts the whole repository, not changed lines.",
        ),
        ("The relay fails open.", "The relay fails closed."),
        ("Every pilot has a key.", "Only the first pilot has a key."),
        ("Pilots must wear a vest.", "Pilots may wear a vest."),
        ("`moor()` is called first.", "`sail()` is called first."),
        ("The tug calls the ferry.", "The ferry calls the tug."),
        ("Lamps are kept in Redis.", "Lamps are kept in Postgres."),
        ("Gate 3 opens at 06:00.", "Gate 4 opens at 06:00."),
        ("Rates hold until 2026-01-31.", "Rates hold until 2026-02-28."),
    ],
)
def test_statements_that_differ_in_what_matters_are_no_duplicates(one: str, other: str) -> None:
    for pair in ((one, other), (other, one)):
        verdict = judge(*pair, 0.98)
        assert not verdict.is_joinable, verdict
        assert verdict.reasons[0], verdict


# Verifies: REQ-d00333-E
def test_long_texts_that_differ_behind_what_is_read_are_not_joined() -> None:
    long = "The crane lifts containers at the pier. " * 50
    assert judge(long, long, 1.0).is_joinable
    verdict = judge(f"{long}It fails open.", f"{long}It fails closed.", 0.99)
    assert not verdict.is_joinable
    assert "1,500 characters" in verdict.reasons[0]


# Verifies: REQ-d00333-C, REQ-d00301-C
def test_a_conflict_is_linked_with_the_measured_confidence_and_nothing_is_merged(memory: Memory) -> None:
    one = memory.store("The gate opens at six in the morning.")
    stored = memory("store_memory", content="The gate does not open at six in the morning.", rationale=WHY)
    assert stored["conflicts"] == [one]
    (pair,) = memory("critique_context")["conflicts"]
    assert 0.55 <= pair["confidence"] < 1
    assert memory("get_memetic_status")["node_count"] == 2


# Verifies: REQ-d00334-A
def test_memory_keeps_still_about_other_things(memory: Memory) -> None:
    for text in (
        "Tide tables are read in UTC; local time is only shown.",
        "The crane on the north pier lifts at most forty tonnes.",
        "Invoices of the harbour office are paid monthly by transfer.",
        "The lighthouse lamp was replaced by an electric one.",
    ):
        memory.store(text)
    assert memory("inject_context", query="how much can the crane on the north pier lift")["nodes_retrieved"]
    for foreign in (
        "write a birthday poem for my grandmother",
        "which museum in Vienna is best for children",
        "why do cats purr at night",
        "recommend three novels about the sea in winter",
    ):
        silent = memory("inject_context", query=foreign)
        assert (silent["context"], silent["tokens_used"]) == ("", 0)
        assert silent["reason"]


# Verifies: REQ-d00335-A
def test_what_nothing_is_known_about_has_no_number(memory: Memory) -> None:
    fresh = memory("utl_status")
    assert (fresh["johari_quadrant"], fresh["sufficient_data"]) == ("Unknown", False)
    assert fresh["learning_score"] == 0
    asked = memory("epistemic_action", force=True)
    assert (asked["expected_entropy_reduction"], asked["coherence_before"]) == (None, None)
    plan = memory("generate_search_plan", goal="why do lamps burn at night")
    assert plan["token_estimate"] == 0
    stored = memory("store_memory", content="Lamps burn at night because ships need light.", rationale=WHY)
    reward = stored["steering_reward"]
    weights = memory("utl_status")["lambda_weights"]
    parts = {part["name"]: part["value"] for part in reward["parts"]}
    assert parts["novelty"] == pytest.approx(weights["delta_s"] * reward["novelty"], abs=1e-3)
    assert memory("generate_search_plan", goal="why do lamps burn at night")["token_estimate"] > 0
