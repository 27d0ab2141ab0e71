"""Batches, imports and exports."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.register.edits import link

from clew.errors import InvalidArgument, NotFound, Refused, Rejected, WouldCycle
from clew.formats.register.model import LinkKind, Priority, Register, Requirement, RequirementKind, Status
from clew.register.change.batch import apply_batch
from clew.register.change.candidates import candidates, read_markdown
from clew.register.change.draft import Author, Draft
from clew.register.change.imports import import_all
from clew.register.change.transaction import new_register
from clew.register.operations.edit import AddToRegister
from clew.register.operations.schema import schema
from clew.register.reports.export import export

New = Callable[..., AddToRegister]
Make = Callable[..., Requirement]

LATER = Author("2027-01-01T00:00:00Z", "bob")
ADD = {
    "kind": "add",
    "title": "Lock the account",
    "statement": "The system shall lock the account after five failed logins.",
    "rationale": "Guessing has to stop.",
    "acceptance": ["The sixth login is refused"],
}


# Verifies: REQ-d00087-B
def test_a_batch_applies_everything_and_may_refer_to_what_it_made(draft: Draft) -> None:
    report = apply_batch(
        draft,
        [
            ADD,
            {**ADD, "parent": "$1", "req_kind": "non-functional", "priority": "must"},
            {"kind": "link", "from": "$2", "to": "$1", "link_kind": "depends_on"},
            {"kind": "update", "id": "$1", "status": "approved", "reason": "own"},
            {"kind": "update", "id": "req-1", "status": "implemented"},
            {"kind": "verify", "id": "1", "by": "inspection", "notes": "read it", "promote": True},
            {"kind": "delete", "id": "$2"},
        ],
        "planning",
        lambda: "c" * 40,
    )
    assert (report.ok, report.applied) == (True, 7)
    assert [each["op"] for each in report.results] == ["add", "add", "link", "update", "update", "verify", "delete"]
    assert report.results[2] == {
        "op": "link",
        "from": "REQ-0002",
        "kind": "depends-on",
        "removed": False,
        "to": "REQ-0001",
    }
    assert report.results[5] == {
        "op": "verify",
        "commit": "c" * 40,
        "id": "REQ-0001",
        "kind": "inspection",
        "promoted": True,
    }
    assert report.results[6] == {"op": "delete", "id": "REQ-0002", "mode": "soft"}
    first, second = draft.requirements.values()
    assert [each.reason for each in first.history][:3] == ["planning", "own", "planning"]
    assert (second.kind, second.priority) == (RequirementKind.NON_FUNCTIONAL, Priority.MUST)


# Verifies: REQ-d00087-A
def test_one_bad_mutation_among_a_hundred_is_named(draft: Draft) -> None:
    mutations: list[Any] = [dict(ADD) for _ in range(100)]
    mutations[71]["statement"] = "Nothing is required of anybody here."
    with pytest.raises(Rejected) as caught:
        apply_batch(draft, mutations)
    assert caught.value.message.startswith("batch rolled back at mutation #72: rejected: [statement]")
    assert caught.value.data["mutation"] == 72
    assert "Nothing of the batch was written" in caught.value.hint


# Verifies: REQ-d00087-A
@pytest.mark.parametrize(
    ("mutation", "fault"),
    [
        ({"kind": "explode"}, InvalidArgument),
        ({"title": "no kind"}, InvalidArgument),
        ("add", InvalidArgument),
        ({**ADD, "colour": "red"}, InvalidArgument),
        ({**ADD, "priority": "urgent"}, InvalidArgument),
        ({**ADD, "parent": "$9"}, InvalidArgument),
        ({"kind": "update", "id": "$2", "title": "x"}, InvalidArgument),
        ({"kind": "update", "id": "1", "status": "verified"}, Refused),
        ({"kind": "link", "from": "1", "to": "1"}, InvalidArgument),
        ({"kind": "delete", "id": "77"}, NotFound),
    ],
)
def test_a_mutation_of_the_wrong_form_rolls_everything_back(
    mutation: Any, fault: type[Exception], draft: Draft
) -> None:
    with pytest.raises(fault, match="batch rolled back at mutation #2"):
        apply_batch(draft, [ADD, mutation])


def test_an_empty_batch_changes_nothing(draft: Draft) -> None:
    assert apply_batch(draft, []).applied == 0
    assert draft.finished() is draft.register


MARKDOWN = """# Wishes

Some words before.

## Lock the account

The system shall lock the account
after five failed logins.

A remark that is no part of the statement.

Rationale: Guessing has to stop,
whoever guesses.

Acceptance:
- The sixth login is refused
  even with the right password
- The owner gets a mail

Tags: auth, login

### Without a rationale

The system shall do this all the same.

## REQ-0007: Known elsewhere

```
## not a heading
```
"""


def test_markdown_is_read_by_headings_and_labels() -> None:
    first, second, third = read_markdown(MARKDOWN)
    assert first.title == "Lock the account"
    assert first.statement == "The system shall lock the account after five failed logins."
    assert first.rationale == "Guessing has to stop, whoever guesses."
    assert first.acceptance == ("The sixth login is refused even with the right password", "The owner gets a mail")
    assert first.tags == ("auth", "login")
    assert (second.title, second.rationale) == ("Without a rationale", "")
    assert (third.id, third.title) == ("REQ-0007", "Known elsewhere")


# Verifies: REQ-d00087-C
def test_an_import_takes_what_is_valid_and_tells_what_is_not(draft: Draft) -> None:
    report = import_all(draft, candidates(MARKDOWN, "markdown"))
    assert not report.ok
    assert [(each.id, each.title) for each in report.accepted] == [("REQ-0001", "Lock the account")]
    assert [each.title for each in report.rejected] == ["Without a rationale", "Known elsewhere"]
    assert report.rejected[0].errors[0].startswith("[rationale]")
    assert draft.requirements["REQ-0001"].history[0].action == "imported"


# Verifies: REQ-d00087-C
def test_a_strict_import_stops_at_the_first_fault(draft: Draft) -> None:
    with pytest.raises(Rejected, match="The import stopped at 'Without a rationale'"):
        import_all(draft, candidates(MARKDOWN, "markdown"), strict=True)


# Verifies: REQ-d00087-C
def test_a_dry_run_promises_no_ids(draft: Draft) -> None:
    report = import_all(draft, candidates(MARKDOWN, "markdown"), dry_run=True)
    assert [(each.id, each.would_allocate) for each in report.accepted] == [(None, "next")]


@pytest.mark.parametrize(
    ("text", "form", "says"),
    [
        ("", "markdown", "no headings"),
        ("only prose", "markdown", "no headings"),
        ("", "json", "not valid JSON"),
        ("[]", "json", "no requirements"),
        ("3", "json", "neither a list"),
        ('{"requirements": 3}', "json", "neither a list"),
        ('[{"statement": "x"}]', "json", "Item 1"),
        ("[" * 100_000, "json", "not valid JSON"),
        ("x", "yaml", "Unknown format"),
    ],
)
def test_what_holds_no_requirements_is_refused(text: str, form: str, says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        candidates(text, form)


# Verifies: REQ-d00087-C
def test_an_unknown_kind_is_rejected_and_not_guessed(draft: Draft) -> None:
    raw = {key: value for key, value in ADD.items() if key != "kind"}
    report = import_all(draft, candidates(json.dumps([{**raw, "kind": "wish"}, raw]), "json"))
    assert [each.errors for each in report.rejected] == [("Unknown kind: 'wish'.",)]
    assert len(report.accepted) == 1


def test_a_huge_import_is_taken_whole(draft: Draft) -> None:
    raw = {key: value for key, value in ADD.items() if key != "kind"}
    report = import_all(draft, candidates(json.dumps([raw] * 3000), "json"))
    assert (len(report.accepted), report.accepted[-1].id) == (3000, "REQ-3000")


@pytest.fixture
def filled(draft: Draft, make: Make) -> Register:
    make(tags=("a", "b"), priority=Priority.MUST)
    make(
        title='Say "no", politely',
        kind=RequirementKind.INTERFACE,
        acceptance=(),
        statement="It must say no,\neven to <b>everybody</b>.",
    )
    make(title="Keep – or lose – the “rest” of it", acceptance=("# heading like text here", "Rationale: not a label"))
    link(draft, "2", "1", LinkKind.PARENT)
    link(draft, "3", "2", LinkKind.DEPENDS_ON)
    return draft.finished()


# Verifies: REQ-d00087-D
@pytest.mark.parametrize("form", ["markdown", "json"])
def test_what_was_exported_can_be_imported(filled: Register, form: str) -> None:
    fresh = Draft(
        msgspec.structs.replace(new_register("other", Author("2027-01-01T00:00:00Z", "bob")), next_id=50),
        Author("t", "b"),
    )
    report = import_all(fresh, candidates(export(filled, form), form))
    assert report.ok

    def essence(register: dict[str, Requirement]) -> list[tuple[Any, ...]]:
        return [
            (
                *(each.title, " ".join(each.statement.split()), each.rationale, each.acceptance, each.tags),
                *(each.kind, each.priority),
                [(made.kind, int(made.target[4:])) for made in each.links],
            )
            for each in register.values()
        ]

    moved = [(*rest, [(kind, number - 49) for kind, number in links]) for *rest, links in essence(fresh.requirements)]
    assert moved == essence(dict(filled.requirements))
    assert all(each.status is Status.DRAFT for each in fresh.requirements.values())


# Verifies: REQ-d00087-E
@pytest.mark.parametrize("form", ["markdown", "json", "csv", "html"])
def test_the_same_register_exports_the_same_text(filled: Register, form: str) -> None:
    assert export(filled, form) == export(filled, form)
    assert "REQ-0003" in export(filled, form)


def test_csv_has_a_row_for_each_requirement(filled: Register) -> None:
    rows = list(csv.DictReader(io.StringIO(export(filled, "csv"))))
    assert rows[0]["tags"] == "a|b"
    assert rows[1]["title"] == 'Say "no", politely'
    assert export(filled, "csv").startswith("id,title,kind,priority,status,tags,statement\nREQ-0001,Lock the account,")


def test_html_escapes_what_people_write(filled: Register) -> None:
    page = export(filled, "html")
    assert "&lt;b&gt;everybody&lt;/b&gt;" in page
    assert "<b>" not in page
    assert '<a href="#REQ-0001">REQ-0001</a>' in page


def test_json_is_the_payload_with_full_history(filled: Register) -> None:
    plain = json.loads(export(filled, "json"))
    assert "_integrity" not in plain
    assert plain["requirements"]["REQ-0002"]["history"][0]["action"] == "created"
    assert plain["requirements"]["REQ-0002"]["kind"] == "Interface"


def test_an_unknown_export_is_refused(filled: Register) -> None:
    with pytest.raises(InvalidArgument, match="Unknown format: 'pdf'"):
        export(filled, "pdf")


def test_a_circle_in_an_import_is_refused(draft: Draft, filled: Register) -> None:
    plain = json.loads(export(filled, "json"))
    plain["requirements"]["REQ-0001"]["links"] = [{"kind": "Parent", "target": "REQ-0002"}]
    with pytest.raises(WouldCycle):
        import_all(Draft(new_register("o", Author("t", "b")), Author("t", "b")), candidates(json.dumps(plain), "json"))


@pytest.mark.parametrize("which", ["add", "batch", "import", "test-map"])
def test_schemas_name_the_format(which: str) -> None:
    import jsonschema

    found = schema(which)
    assert found["$id"] == f"urn:req-cli:schema:req-v3:{which}"
    assert found["_format"] == "req-v3"
    jsonschema.Draft202012Validator.check_schema(found)
    example: Any = {"add": {**ADD, "kind": "functional"}, "batch": {"mutations": [ADD]}, "import": [], "test-map": {}}
    jsonschema.validate(example[which], found)


def test_an_unknown_schema_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="There is no schema"):
        schema("everything")
