"""Requirements that say much the same."""

import random
from itertools import combinations
from typing import Any

import msgspec

from clew.formats.register.model import Requirement, Status
from clew.register.draft import Draft
from clew.register.operations import NewRequirement, add
from clew.register.validator import validate_register
from clew.register.validator_duplicates import THRESHOLD, candidates, content_stems, find_twins, similarity


def requirements(draft: Draft, statements: list[str]) -> list[Requirement]:
    for statement in statements:
        given: dict[str, Any] = {
            "title": "Plain title",
            "rationale": "It is needed.",
            "acceptance": ("It can be seen",),
        }
        add(draft, NewRequirement(statement=statement, **given))
    return list(draft.requirements.values())


# Verifies: REQ-d00084-C
def test_a_duplicate_is_told_on_the_smaller_id_with_what_is_shared(draft: Draft) -> None:
    requirements(
        draft,
        [
            "The gateway shall encrypt stored passwords with a salted hash.",
            "The printer shall fold every invoice three times.",
            "The gateway shall be encrypting the stored password with salted hashes.",
        ],
    )

    found = [each for each in validate_register(draft.finished()) if each.rule_code == "REQ-V-0020"]

    assert [each.id for each in found] == ["REQ-0001"]
    assert "100 % the same as REQ-0003" in found[0].message
    assert "password" in found[0].message


# Verifies: REQ-d00084-E
def test_an_obsolete_requirement_is_no_duplicate(draft: Draft) -> None:
    first, second = requirements(draft, ["The gateway shall encrypt stored passwords."] * 2)
    stems = {each.id: content_stems(each) for each in (first, second)}
    assert list(find_twins(stems)) == [(first.id, second.id, 1.0)]

    draft.put(msgspec.structs.replace(second, status=Status.OBSOLETE))

    assert validate_register(draft.finished()) == []


# Verifies: REQ-d00084-D
def test_the_index_finds_what_comparing_every_pair_finds(draft: Draft) -> None:
    chance = random.Random(7)
    words = [f"word{number}" for number in range(150)]
    texts = [chance.sample(words, 12) for _ in range(100)]
    texts += [
        [*chance.sample(text, 12 - number % 4), *chance.sample(words, number % 4)] for number, text in enumerate(texts)
    ]
    statements = [f"The system shall keep {' '.join(text)}" for text in texts]
    stems = {each.id: content_stems(each) for each in requirements(draft, statements)}

    found = {(twin.first, twin.second) for twin in find_twins(stems)}

    expected = {
        pair for pair in combinations(sorted(stems), 2) if similarity(stems[pair[0]], stems[pair[1]]) >= THRESHOLD
    }
    assert expected
    assert found == expected


# Verifies: REQ-d00084-D
def test_few_of_all_pairs_are_compared() -> None:
    chance = random.Random(11)
    words = [f"word{number}" for number in range(3000)]
    stems = {f"REQ-{number:04d}": frozenset(chance.sample(words, 12)) for number in range(2000)}

    compared = sum(len(others) for _, others in candidates(stems))

    assert compared < 2000 * 1999 / 2 / 20


# Verifies: REQ-d00084-D
def test_hundreds_of_clones_give_one_finding_each(draft: Draft) -> None:
    requirements(draft, [f"The gateway shall store item {number} in the archive." for number in range(600)])

    found = [each for each in validate_register(draft.finished()) if each.rule_code == "REQ-V-0020"]

    assert len(found) == 599
    assert all(len(each.message) < 600 for each in found)
