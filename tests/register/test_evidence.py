"""Test records, promotion, and whether evidence still holds."""

import hashlib
from collections.abc import Callable

import msgspec
import pytest
from tests.register.edits import record_run, record_test, update, verify

from clew.errors import Refused
from clew.formats.register.model import EvidenceKind, RecordedOutcome, Requirement, Status
from clew.register.change.draft import Draft
from clew.register.change.evidence import NO_GIT, LinkedFiles, RunTally
from clew.register.reports.staleness import EvidenceState, WorkTreeState, content_hash, linked_files, report, state_of

Make = Callable[..., Requirement]

COMMIT, HEAD = "1" * 40, "2" * 40


def test_a_record_keeps_commit_outcome_and_files(draft: Draft, make: Make) -> None:
    make()
    done = record_test(draft, "1", RecordedOutcome.PASS, "by hand", COMMIT, LinkedFiles(("./src/a.rs",), "abc"))
    made = draft.requirements["REQ-0001"]
    assert (done.commit, done.id, done.outcome) == (COMMIT, "REQ-0001", "pass")
    assert (made.tests[0].linked_files, made.tests[0].content_hash) == (("./src/a.rs",), "abc")
    assert made.history[-1].action == "test pass recorded against commit 111111111"
    assert made.history[-1].reason == "by hand"


# Verifies: REQ-d00086-B
def test_evidence_promotes_only_what_is_implemented(draft: Draft, make: Make) -> None:
    make()
    make(status=Status.IMPLEMENTED)
    make(status=Status.VERIFIED)
    with pytest.raises(Refused, match="only implemented requirements"):
        verify(draft, "1", EvidenceKind.INSPECTION, "read", COMMIT, promote=True)
    assert draft.requirements["REQ-0001"].tests == ()

    done = verify(draft, "2", EvidenceKind.COMPOSITION, "read", COMMIT, cites=("REQ-0001", "t"), promote=True)
    assert done.promoted
    assert draft.requirements["REQ-0002"].tests[0].notes == "cites: REQ-0001, t — read"
    assert [each.action for each in draft.requirements["REQ-0002"].history][-2:] == [
        "composition evidence recorded against commit 111111111",
        "status promoted to verified (composition evidence)",
    ]
    assert not verify(draft, "3", EvidenceKind.INSPECTION, "read", NO_GIT, promote=True).promoted
    assert verify(draft, "1", EvidenceKind.INSPECTION, "read", COMMIT, promote=True, force=True).promoted


# Verifies: REQ-d00086-A+B
def test_a_run_records_what_ran_and_promotes_what_may_be_promoted(draft: Draft, make: Make) -> None:
    for state in (Status.IMPLEMENTED, Status.IMPLEMENTED, Status.IMPLEMENTED, Status.DRAFT):
        make(status=state)
    tallies = {
        "REQ-0001": RunTally(passed=("req_0001_a",), ignored=("req_0001_b",)),
        "REQ-0002": RunTally(passed=("a",), failed=("b",)),
        "REQ-0003": RunTally(ignored=("a",)),
        "REQ-0004": RunTally(passed=("a",)),
        "REQ-0009": RunTally(passed=("a",)),
    }
    dry = record_run(draft, tallies, COMMIT, promote=True, dry_run=True)
    assert (dry.promoted, draft.requirements["REQ-0001"].tests) == ((), ())

    done = record_run(draft, tallies, COMMIT, promote=True)

    assert [(row.req_id, row.exists, row.outcome) for row in done.results] == [
        ("REQ-0001", True, "pass"),
        ("REQ-0002", True, "fail"),
        ("REQ-0003", True, "none"),
        ("REQ-0004", True, "pass"),
        ("REQ-0009", False, "pass"),
    ]
    assert done.promoted == ("REQ-0001", "REQ-0004")
    assert done.not_promoted == ()
    assert draft.requirements["REQ-0003"].tests == ()
    assert draft.requirements["REQ-0003"].status is Status.IMPLEMENTED
    assert draft.requirements["REQ-0004"].tests[0].outcome is RecordedOutcome.PASS
    assert draft.requirements["REQ-0001"].tests[0].notes == "1 pass / 0 fail / 1 ignored — req_0001_a"


# Verifies: REQ-d00086-B
def test_a_file_that_knows_dossiers_asks_for_one(draft: Draft, make: Make) -> None:
    make(status=Status.IMPLEMENTED)
    later = Draft(msgspec.structs.replace(draft.finished(), schema_rev=1), draft.author)
    with pytest.raises(Refused, match="dossier"):
        verify(later, "1", EvidenceKind.INSPECTION, "read", COMMIT, promote=True)
    with pytest.raises(Refused, match="dossier"):
        update(later, "1", "why", status=Status.VERIFIED)
    done = record_run(later, {"REQ-0001": RunTally(passed=("a",))}, COMMIT, promote=True)
    assert done.not_promoted == ("REQ-0001: it needs a dossier that passed",)
    update(later, "1", "agreed", add_tag=("validation-exempt",))
    assert verify(later, "1", EvidenceKind.INSPECTION, "read", COMMIT, promote=True).promoted


FILES = {"src/a.rs": b"one", "src/b.rs": b"two"}


def project(
    files: dict[str, bytes] = FILES, changed: frozenset[str] | None = frozenset(), head: str | None = HEAD
) -> WorkTreeState:
    return WorkTreeState(head, {"REQ-0001": ("src/a.rs", "src/b.rs")}, files.get, lambda commit: changed)


# Verifies: REQ-d00086-C
def test_the_checksum_of_files_is_that_of_req() -> None:
    expected = hashlib.sha256(b"./src/a.rs\0one\n./src/b.rs\0two\n").hexdigest()
    made = linked_files(["src/b.rs", "src/a.rs"], FILES.get)
    assert made == LinkedFiles(("./src/a.rs", "./src/b.rs"), expected)
    assert linked_files([], FILES.get) is None


# Verifies: REQ-d00086-C
@pytest.mark.parametrize("paths", [("./src/a.rs", "./src/b.rs"), (".\\src\\a.rs", ".\\src\\b.rs")])
def test_a_record_with_a_checksum_is_stale_when_a_file_changed(
    draft: Draft, make: Make, paths: tuple[str, ...]
) -> None:
    make()
    record_test(draft, "1", RecordedOutcome.PASS, "", COMMIT, LinkedFiles(paths, content_hash(paths, FILES.get)))
    requirement = draft.requirements["REQ-0001"]

    fresh = state_of(requirement, project(changed=frozenset({"src/a.rs"})))
    assert (fresh.state, fresh.record_commit) == (EvidenceState.FRESH, "111111111")
    touched = FILES | {"src/b.rs": b"other"}
    assert state_of(requirement, project(touched, frozenset({"src/b.rs"}))).changed_files == ("src/b.rs",)
    assert state_of(requirement, project(touched, None)).changed_files == ("src/a.rs", "src/b.rs")
    assert state_of(requirement, project(touched, None, head=None)).state is EvidenceState.STALE
    # Git saw no change: then the record speaks of what was never committed, or on Windows of other line ends.
    expected = EvidenceState.DRIFTED if "\\" in paths[0] else EvidenceState.STALE
    assert state_of(requirement, project(touched, frozenset())).state is expected


# Verifies: REQ-d00086-C
def test_other_line_ends_are_no_other_content(draft: Draft, make: Make) -> None:
    make()
    unix, windows = {"src/a.rs": b"one\ntwo\n", "src/b.rs": b""}, {"src/a.rs": b"one\r\ntwo\r\n", "src/b.rs": b""}
    for made, now in ((unix, windows), (windows, unix)):
        record_test(draft, "1", RecordedOutcome.PASS, "", COMMIT, linked_files(made, made.get))
        assert state_of(draft.requirements["REQ-0001"], project(now, None)).state is EvidenceState.FRESH


# Verifies: REQ-d00086-C
@pytest.mark.parametrize(
    ("commit", "head", "changed", "expected"),
    [
        (HEAD, HEAD, frozenset(), EvidenceState.FRESH),
        (COMMIT, HEAD, frozenset({"README.md"}), EvidenceState.DRIFTED),
        (COMMIT, HEAD, frozenset({"src/a.rs"}), EvidenceState.STALE),
        (COMMIT, HEAD, None, EvidenceState.UNKNOWN),
        (COMMIT, None, None, EvidenceState.UNKNOWN),
    ],
)
def test_an_older_record_is_compared_by_commit(
    draft: Draft, make: Make, commit: str, head: str | None, changed: frozenset[str] | None, expected: EvidenceState
) -> None:
    make()
    make()
    record_test(draft, "1", RecordedOutcome.PASS, "", commit)

    found = report(draft.requirements.values(), project(changed=changed, head=head))

    assert [row.state for row in found.rows] == [expected, EvidenceState.NO_RECORDS]
    assert found.rows[1].record_commit == "—"
    assert found.summary.no_records == 1
    only = report(draft.requirements.values(), project(changed=changed, head=head), only_stale=True)
    assert len(only.rows) == (expected is EvidenceState.STALE)
