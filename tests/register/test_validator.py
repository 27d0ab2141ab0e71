"""Each rule of the validator, by what breaks it and what does not."""

import sys
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from clew.formats.register.model import (
    ActorKind,
    EvidenceKind,
    HistoryEntry,
    LinkKind,
    Priority,
    RecordedOutcome,
    Register,
    Requirement,
    RequirementKind,
    RequirementLink,
    Status,
    TestRecord,
)
from clew.register.change.draft import Author
from clew.register.change.transaction import new_register
from clew.register.reports.lint import judge_from
from clew.register.rules.codes import RULES, RuleViolation
from clew.register.rules.validator import validate_register, validate_requirement

NOW = "2026-06-01T12:00:00Z"


def requirement(number: int = 1, **parts: Any) -> Requirement:
    given: dict[str, Any] = {
        "id": f"REQ-{number:04d}",
        "title": "Lock the account",
        "statement": "The system shall lock the account after five failed logins.",
        "rationale": "Guessing has to stop.",
        "acceptance": ("The sixth login is refused",),
        "kind": RequirementKind.FUNCTIONAL,
        "priority": Priority.MUST,
        "status": Status.DRAFT,
        "tags": (),
        "links": (),
        "created": NOW,
        "updated": NOW,
        "history": (HistoryEntry(at=NOW, actor="ann", actor_kind=ActorKind.HUMAN, action="created", reason=None),),
        "tests": (),
    }
    return Requirement(**(given | parts))


def register(*requirements: Requirement, **parts: Any) -> Register:
    whole = new_register("demo", Author(NOW, "ann"))
    return msgspec.structs.replace(whole, requirements={each.id: each for each in requirements}, **parts)


def record(outcome: RecordedOutcome = RecordedOutcome.PASS, kind: EvidenceKind = EvidenceKind.AUTOMATED) -> TestRecord:
    return TestRecord(at=NOW, actor="ann", commit="c", outcome=outcome, notes="", kind=kind)


def codes(found: list[RuleViolation]) -> list[str]:
    return [each.rule_code.removeprefix("REQ-V-") for each in found]


SHALL = "The system shall "
CASES: list[tuple[str, dict[str, Any]]] = [
    ("0001", {"title": "  "}),
    ("0002", {"title": "Lock"}),
    ("0003", {"title": "L" * 121}),
    ("0004", {"title": "Lock the account."}),
    ("0005", {"statement": " \n"}),
    ("0006", {"statement": "It shall lock accounts"}),
    ("0007", {"statement": SHALL + "lock " * 80}),
    ("0008", {"statement": "The system locks the account at once."}),
    ("0009", {"statement": SHALL + "give a fast answer to everybody."}),
    ("0010", {"statement": SHALL + "lock the account; it informs the owner."}),
    ("0010", {"statement": SHALL + "lock the account when the owner will not answer."}),
    ("0010", {"statement": SHALL + "lock and log and report each failure."}),
    ("0011", {"statement": SHALL + "lock the account after which failure?"}),
    ("0012", {"rationale": " "}),
    ("0013", {"rationale": "Because so"}),
    ("0014", {"acceptance": ()}),
    ("0015", {"acceptance": ("It locks",)}),
    ("0022", {"statement": SHALL + "perhaps lock what might be an account."}),
]


# Verifies: REQ-d00084-A
@pytest.mark.parametrize(("code", "parts"), CASES, ids=[f"{code}-{n}" for n, (code, _) in enumerate(CASES)])
def test_each_rule_for_one_requirement_fires_alone_and_explains_itself(code: str, parts: dict[str, Any]) -> None:
    found = validate_requirement(requirement(**parts))

    assert codes(found) == [code]
    rule = RULES[code]
    assert (found[0].severity, found[0].field) == (rule.severity, rule.field)
    assert found[0].message
    assert found[0].hint


def test_a_good_requirement_has_no_finding() -> None:
    assert validate_requirement(requirement()) == []
    assert validate_register(register(requirement())) == []


# Verifies: REQ-d00084-A
def test_the_table_of_rules_is_complete() -> None:
    assert list(RULES) == [f"{number:04d}" for number in range(1, 35)]
    assert all(rule.summary and rule.hint for rule in RULES.values())


# Verifies: REQ-d00084-B
@pytest.mark.parametrize(
    "statement",
    [
        "serve breakfast to someone at seven.",
        "run `fast; and robust` as it is written.",
        "open https://example.org/fast;some/path on request.",
        "offer the fast-forward button of the player.",
        "list must-priority items before should-priority items.",
        "store the name, the address, and the number.",
        "name its many-to-many tables.",
    ],
)
def test_words_inside_of_others_and_of_code_are_not_meant(statement: str) -> None:
    assert validate_requirement(requirement(statement=SHALL + statement)) == []


# Verifies: REQ-d00084-B
def test_a_modal_verb_in_an_address_or_in_code_requires_nothing() -> None:
    for statement in ("See https://shall.example/must for the whole story.", "The word `shall` is not a promise here."):
        assert codes(validate_requirement(requirement(statement=statement))) == ["0008"]


# Verifies: REQ-d00084-C
def test_vague_and_compound_findings_name_what_they_found() -> None:
    statement = SHALL + "be Easy  to use; it must answer fast and fast."
    found = validate_requirement(requirement(statement=statement))

    assert codes(found) == ["0009", "0009", "0010"]
    assert "'easy to use'" in found[0].message
    assert "time limit" in found[1].hint
    assert "semicolon joins 2 parts" in found[2].message
    two = validate_requirement(requirement(statement=SHALL + "lock the account until the owner must confirm."))
    assert "'shall lock the account ...'" in two[0].message
    assert "'must confirm'" in two[0].message


def test_characters_of_a_title_are_counted_not_bytes() -> None:
    assert codes(validate_requirement(requirement(title="🔒🔒🔒🔒"))) == ["0002"]
    assert validate_requirement(requirement(title="🔒" * 120)) == []


# Verifies: REQ-d00084-E
def test_an_obsolete_requirement_has_errors_but_no_warnings() -> None:
    retired = requirement(status=Status.OBSOLETE, title="Lock it.", acceptance=(), rationale="So it is.")
    assert codes(validate_register(register(retired))) == ["0014"]


# Verifies: REQ-d00084-A
def test_rules_that_need_the_register() -> None:
    def link(kind: LinkKind, target: str) -> RequirementLink:
        return RequirementLink(kind=kind, target=target)

    verifies = (link(LinkKind.VERIFIES, "REQ-0001"),)
    cases: list[tuple[list[str], Requirement]] = [
        (["0016"], requirement(2, links=(link(LinkKind.PARENT, "REQ-0099"),))),
        (["0017"], requirement(2, links=(link(LinkKind.CONFLICTS, "REQ-0002"),))),
        (["0014", "0018"], requirement(2, status=Status.APPROVED, acceptance=())),
        (["0019"], requirement(2, status=Status.IMPLEMENTED, links=verifies)),
        ([], requirement(2, status=Status.IMPLEMENTED, links=verifies, tests=(record(),))),
        (["0024"], requirement(2, status=Status.VERIFIED, tests=(record(), record(RecordedOutcome.FAIL)))),
        ([], requirement(2, status=Status.VERIFIED, tests=(record(RecordedOutcome.FAIL), record()))),
    ]
    other = requirement(1, title="Print an invoice", statement="Each invoice shall be printed on plain paper.")
    for expected, each in cases:
        assert codes(validate_register(register(other, each))) == expected


# Verifies: REQ-d00084-A
def test_dossiers_are_asked_for_only_where_the_file_knows_them() -> None:
    verified = requirement(status=Status.VERIFIED, tests=(record(),))
    exempt = msgspec.structs.replace(verified, tags=("validation-exempt",))
    passed = msgspec.structs.replace(verified, validation={"verdict": "Pass"})

    assert codes(validate_register(register(verified))) == []
    assert codes(validate_register(register(verified, schema_rev=1))) == ["0032"]
    assert codes(validate_register(register(exempt, schema_rev=1))) == []
    assert codes(validate_register(register(passed, schema_rev=1))) == []


def chain(kind: LinkKind, *pairs: tuple[int, int]) -> Register:
    topics = ("lamp", "boat", "tree", "coin", "song", "wall")
    parts = {
        number: requirement(
            number,
            title=f"Care for the {topic}",
            statement=f"The keeper shall paint one {topic} in colour {number}{number}{number} today.",
            links=tuple(RequirementLink(kind=kind, target=f"REQ-{end:04d}") for start, end in pairs if start == number),
        )
        for number, topic in enumerate(topics, start=1)
    }
    return register(*parts.values())


# Verifies: REQ-d00084-F
@pytest.mark.parametrize("kind", [LinkKind.PARENT, LinkKind.DEPENDS_ON, LinkKind.REFINES, LinkKind.VERIFIES])
def test_a_circle_is_found_through_second_links_too(kind: LinkKind) -> None:
    found = validate_register(chain(kind, (1, 6), (1, 2), (2, 6), (2, 3), (3, 1), (4, 5), (5, 4)))

    assert codes(found) == ["0021", "0021"]
    assert [each.id for each in found] == ["REQ-0001", "REQ-0004"]
    assert "REQ-0001 -> REQ-0002 -> REQ-0003 -> REQ-0001" in found[0].message


# Verifies: REQ-d00084-F
def test_conflicts_have_no_direction() -> None:
    assert validate_register(chain(LinkKind.CONFLICTS, (1, 2), (2, 1))) == []


HAZARD = {"id": "HAZ-0001", "title": "Fire", "harm": "burns", "status": "Assessed", "links": []} | {
    "consequence": "C_D",
    "frequency": "F_B",
    "avoidance": "P_B",
    "probability": "W2",
}
FUNCTION = {
    "id": "SF-0001",
    "title": "Stop",
    "status": "Allocated",
    "links": [{"kind": "Mitigates", "target": "HAZ-0001"}],
}
SAFE = {
    "id": "SR-0001",
    "title": "Cut the power",
    "statement": "The relay shall cut the power within one second.",
    "rationale": "Heat needs power.",
    "acceptance": ["Power is off after a second"],
    "priority": "Must",
    "status": "Verified",
    "tags": [],
    "links": [{"kind": "Realizes", "target": "SF-0001"}],
    "created": NOW,
    "updated": NOW,
    "history": [],
    "tests": [{"at": NOW, "actor": "a", "commit": "", "outcome": "Pass", "notes": "", "kind": "Automated"}],
}
INSPECTED = [{**SAFE["tests"][0], "kind": "Inspection"}]  # type: ignore[dict-item]


# Verifies: REQ-d00084-A
@pytest.mark.parametrize(
    ("expected", "hazard", "function", "safe", "revision"),
    [
        ([], {}, {}, {}, None),
        (["0025"], {"harm": " "}, {}, {}, None),
        (["0026"], {"probability": None}, {}, {}, None),
        (["0027"], {"status": "Mitigated"}, {"status": "Obsolete"}, {"status": "Draft"}, None),
        (["0028"], {}, {"links": [{"kind": "Mitigates", "target": "HAZ-0009"}]}, {}, None),
        (["0028"], {}, {}, {"links": [{"kind": "Realizes", "target": "SF-0009"}]}, None),
        (["0029"], {}, {"links": []}, {}, None),
        (["0030"], {}, {}, {"tests": []}, None),
        (["0031"], {}, {}, {"tests": INSPECTED}, None),
        ([], {"consequence": "C_B"}, {}, {"tests": INSPECTED}, None),
        (["0033"], {}, {}, {}, 1),
        (["0034"], {}, {}, {"validation": {"verdict": "Pass"}}, 1),
        ([], {}, {}, {"validation": {"verdict": "Pass", "human_confirmation": {"by": "ann"}}}, 1),
        (["0008"], {}, {}, {"statement": "The relay cuts the power within one second."}, None),
        ([], {"harm": "", "status": "Obsolete"}, {}, {}, None),
    ],
)
def test_rules_of_the_safety_case(
    expected: list[str],
    hazard: dict[str, Any],
    function: dict[str, Any],
    safe: dict[str, Any],
    revision: int | None,
) -> None:
    found = validate_register(
        register(
            hazards={"HAZ-0001": HAZARD | hazard},
            safety_functions={"SF-0001": FUNCTION | function},
            safety_requirements={"SR-0001": SAFE | safe},
            schema_rev=revision,
        )
    )
    assert codes(found) == expected


# Verifies: REQ-d00084-A
def test_an_exception_turns_the_gate_of_levels_into_a_warning() -> None:
    tests = [{**INSPECTED[0], "sil_gate_exception": True}]
    whole = register(
        hazards={"HAZ-0001": HAZARD},
        safety_functions={"SF-0001": FUNCTION},
        safety_requirements={"SR-0001": SAFE | {"tests": tests}},
    )
    assert [(each.rule_code, each.is_error) for each in validate_register(whole)] == [("REQ-V-0031", False)]


def judge(answer: str) -> Callable[..., Any]:
    command = f'"{sys.executable}" -c "import sys; sys.stdin.read(); {answer}"'
    found = judge_from({"REQ_VALIDATE_LLM_CMD": command, "REQ_VALIDATE_LLM_CONCURRENCY": "2"})
    assert found is not None
    return found


# Verifies: REQ-d00084-A
def test_an_external_judge_is_asked_about_every_live_requirement() -> None:
    retired = requirement(2, status=Status.OBSOLETE)
    objects = judge("print(chr(123) + chr(34) + 'ok' + chr(34) + ': false' + chr(125))")

    found = validate_register(register(requirement(1), retired), objects)

    assert [(each.id, each.rule_code) for each in found] == [("REQ-0001", "REQ-V-0023")]


@pytest.mark.parametrize(("answer", "says"), [("print(1)", "other than a verdict"), ("sys.exit(3)", "exit code 3")])
def test_a_judge_that_fails_says_so(answer: str, says: str) -> None:
    found = validate_register(register(requirement(1)), judge(answer))
    assert says in found[0].message


def test_without_a_command_there_is_no_judge() -> None:
    assert judge_from({}) is None
