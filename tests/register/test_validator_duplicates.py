"""Requirements that say much the same."""

import random
from itertools import combinations
from typing import Any

import msgspec

from clew.formats.register.model import Requirement, Status
from clew.register.change.changes import add
from clew.register.change.draft import Author, Draft
from clew.register.change.transaction import RegisterFile
from clew.register.operations.edit import AddToRegister, DeleteFromRegister
from clew.register.reports.mentions import MentionScanner
from clew.register.rules.duplicates import THRESHOLD, DuplicateIndex, said, text_of
from clew.register.rules.validator import validate_register
from clew.register.service import RegisterService
from clew.search.lexical.similar import alike, similarity


def requirements(draft: Draft, statements: list[str]) -> list[Requirement]:
    for statement in statements:
        given: dict[str, Any] = {
            "title": "Plain title",
            "rationale": "It is needed.",
            "acceptance": ("It can be seen",),
        }
        add(draft, AddToRegister(statement=statement, **given))
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
    assert DuplicateIndex().duplicates([first, second]) == [(first, second, 1.0)]

    draft.put(msgspec.structs.replace(second, status=Status.OBSOLETE))

    assert validate_register(draft.finished()) == []


def some_alike(draft: Draft) -> list[Requirement]:
    """A hundred statements, and a hundred that differ from them in a few words."""
    chance = random.Random(7)
    words = [f"{one}o{two}u{three}" for one in "bdfgk" for two in "lmnrt" for three in "bdgkpv"]
    texts = [chance.sample(words, 12) for _ in range(100)]
    texts += [
        [*chance.sample(text, 12 - number % 4), *chance.sample(words, number % 4)] for number, text in enumerate(texts)
    ]
    return requirements(draft, [f"The system shall keep {' '.join(text)}" for text in texts])


# Verifies: REQ-d00084-D
def test_the_index_finds_what_comparing_every_pair_finds(draft: Draft) -> None:
    made = some_alike(draft)

    found = {(twin.first.id, twin.second.id) for twin in DuplicateIndex().duplicates(made)}

    pairs = combinations(made, 2)
    expected = {
        (one.id, two.id) for one, two in pairs if similarity(said(text_of(one)), said(text_of(two))) >= THRESHOLD
    }
    assert len(expected) > 50
    assert found == expected


# Verifies: REQ-d00232-A
def test_an_index_that_is_kept_answers_like_a_new_one(draft: Draft) -> None:
    made = some_alike(draft)
    kept = DuplicateIndex()
    kept.duplicates(made)
    reworded = msgspec.structs.replace(made[0], statement=made[-1].statement)
    later = [reworded, *made[2:150]]

    for asked in (later, made):
        found, expected = (
            {(twin.first.id, twin.second.id, twin.similarity) for twin in index.duplicates(asked)}
            for index in (kept, DuplicateIndex())
        )
        assert found == expected


# Verifies: REQ-d00232-A
def test_among_texts_of_few_words_nothing_is_missed(draft: Draft) -> None:
    chance = random.Random(3)
    words = [f"{one}o{two}" for one in "bdfgk" for two in "lmnrt"]
    made = requirements(draft, [f"The system shall keep {' '.join(chance.sample(words, 9))}" for _ in range(300)])

    found = {(twin.first.id, twin.second.id) for twin in DuplicateIndex().duplicates(made)}

    expected = {
        (a.id, b.id) for a, b in combinations(made, 2) if similarity(said(text_of(a)), said(text_of(b))) >= THRESHOLD
    }
    assert len(expected) > 50
    assert found == expected


# Verifies: REQ-d00084-D
def test_twice_the_requirements_take_about_twice_the_comparisons() -> None:
    chance = random.Random(11)
    words = [f"word{number}" for number in range(3000)]

    def looked_up(count: int) -> int:
        """How often a comparison asks for the size of a set."""
        counted = 0

        class Counting(dict[int, frozenset[str]]):
            def __getitem__(self, key: int) -> frozenset[str]:
                nonlocal counted
                counted += 1
                return super().__getitem__(key)

        terms = Counting({number: frozenset(chance.sample(words, 12)) for number in range(count)})
        list(alike(terms, THRESHOLD))
        return counted

    assert looked_up(2000) == 2 * looked_up(1000)


# Verifies: REQ-d00232-B
def test_words_are_those_of_the_search_engine(draft: Draft) -> None:
    requirements(
        draft,
        [
            "The API shall zürückweisen geänderte Schlüssel für Kunden in der Übersicht.",
            "The API shall zürückweisen geänderte Schlüssel für Kunde in der Übersicht.",
            "It shall 登录失败五次后系统锁定账户并通知管理员 now and then.",
            "It shall 登录失败五次后系统锁定账户并通知管理者 now and then.",
            "It shall 每天凌晨备份所有数据库到远程服务器 now and then.",
        ],
    )

    found = [each for each in validate_register(draft.finished()) if each.rule_code == "REQ-V-0020"]

    assert [(each.id, each.message.partition(":")[0].split()[-1]) for each in found] == [
        ("REQ-0001", "REQ-0002"),
        ("REQ-0003", "REQ-0004"),
    ]


# Verifies: REQ-d00232-C
def test_a_new_requirement_is_told_what_it_resembles(file: RegisterFile) -> None:
    service = RegisterService(file.place.parent, file.place, scanner=_no_scanner)
    statement = "The gateway shall encrypt stored passwords with a salted hash."
    given: dict[str, Any] = {"rationale": "It is needed.", "acceptance": ("It can be seen",)}
    new = AddToRegister(title="Encrypt passwords", statement=statement, **given)

    def at(day: str) -> Author:
        return Author(f"2026-{day}T12:00:00Z", "ann")

    assert service.add(at("01-01"), new).warnings == ()
    (alike,) = service.add(at("01-02"), new).warnings
    assert "100 % the same as REQ-0001: both speak of" in alike
    for id in ("1", "2"):
        service.delete(at("02-01"), DeleteFromRegister(id=id, reason="not wanted"))
    (retired,) = service.add(at("03-30"), new).warnings
    assert "REQ-0002, which was retired on 2026-02-01" in retired
    service.delete(at("03-30"), DeleteFromRegister(id="3", reason="again", hard=True))
    assert service.add(at("06-01"), new).warnings == ()
    other = msgspec.structs.replace(new, title="Fold invoices", statement="The printer shall fold every invoice twice.")
    assert service.add(at("06-02"), other).warnings == ()


def _no_scanner() -> MentionScanner:
    raise AssertionError("no code is asked about")


# Verifies: REQ-d00084-D
def test_hundreds_of_clones_give_one_finding_each(draft: Draft) -> None:
    requirements(draft, [f"The gateway shall store item {number} in the archive." for number in range(600)])

    found = [each for each in validate_register(draft.finished()) if each.rule_code == "REQ-V-0020"]

    assert len(found) == 599
    assert found[0].message.endswith("and more.")
    assert all(len(each.message) < 600 for each in found)
