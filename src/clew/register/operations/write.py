"""Toolset register: what changes managed requirements. Every call is one transaction that the program req waits for."""

from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.formats.register.model import ActorKind, Kind, LinkKind, Outcome, Priority, Status
from clew.operation.call import Call
from clew.operation.registry import Freshness, NoArguments, Request, Tool, Toolset
from clew.register import results
from clew.register.change.changes import Amendment, NewRequirement
from clew.register.change.occasion import Occasion, occasion
from clew.register.change.transaction import MigrationReport
from clew.register.operations.read import Id, KindWord, PriorityWord, StatusWord, register_of
from clew.register.operations.views import RunView
from clew.register.words import LINK_KINDS, parse

Text = Annotated[str, Meta(max_length=20_000)]
Texts = tuple[Text, ...]
Title = Annotated[str, Meta(max_length=1_000, description="5 to 120 characters")]
Statement = Annotated[str, Meta(max_length=20_000, description="One sentence with shall, must, should or will")]
Rationale = Annotated[str, Meta(max_length=20_000, description="Why it is needed")]
Acceptance = Annotated[Texts, Meta(description="What a test can decide; functional requirements need one")]
Reason = Annotated[str, Meta(min_length=1, max_length=20_000, description="Kept in the history")]
Force = Annotated[bool, Meta(description="Allow a move that the life of a requirement does not have")]
LinkWord = Literal["parent", "depends_on", "depends-on", "conflicts", "refines", "verifies"]
Source = Annotated[str, Meta(min_length=1, description="A file of the project, relative to it")]


class AddRequest(Request, frozen=True, kw_only=True):
    title: Title
    statement: Statement
    rationale: Rationale
    kind: Annotated[KindWord, Meta(description="What kind of requirement")] = "functional"
    priority: Annotated[PriorityWord, Meta(description="How much it is needed")] = "should"
    acceptance: Acceptance = ()
    tags: Annotated[tuple[str, ...], Meta(description="Words to find it by")] = ()
    parent: Annotated[str | None, Meta(description="A requirement that it stands below")] = None


class UpdateRequest(Request, frozen=True, kw_only=True):
    id: Id
    reason: Reason
    title: Annotated[Title | None, Meta(description="The new title")] = None
    statement: Annotated[Statement | None, Meta(description="The new statement")] = None
    rationale: Annotated[Rationale | None, Meta(description="The new rationale")] = None
    acceptance: Annotated[Texts | None, Meta(description="Replaces the whole list")] = None
    add_acceptance: Annotated[Texts, Meta(description="Appended; better than replacing")] = ()
    remove_acceptance: Annotated[tuple[int, ...], Meta(description="Numbers of criteria, from 1")] = ()
    kind: Annotated[KindWord | None, Meta(description="The new kind")] = None
    priority: Annotated[PriorityWord | None, Meta(description="The new priority")] = None
    status: Annotated[StatusWord | None, Meta(description="The next status")] = None
    add_tag: Annotated[tuple[str, ...], Meta(description="Tags more")] = ()
    remove_tag: Annotated[tuple[str, ...], Meta(description="Tags less")] = ()
    force: Force = False


class DeleteRequest(Request, frozen=True, kw_only=True):
    id: Id
    reason: Reason
    hard: Annotated[bool, Meta(description="Remove it, which is refused while anything links to it")] = False


class LinkRequest(Request, frozen=True, kw_only=True):
    source: Id = msgspec.field(name="from")
    to: Id
    kind: Annotated[LinkWord, Meta(description="What the link means")] = "parent"
    remove: Annotated[bool, Meta(description="Take the link away")] = False


class SplitRequest(Request, frozen=True, kw_only=True):
    id: Id
    into: Annotated[Texts, Meta(min_length=2, description="The statement of each part")]
    reason: Annotated[str | None, Meta(description="Kept in the history")] = None
    keep_original: Annotated[bool, Meta(description="Do not retire what is split")] = False


class BatchRequest(Request, frozen=True, kw_only=True):
    mutations: Annotated[
        tuple[dict[str, Any], ...],
        Meta(description="Each with kind: add, update, delete, link or verify; `$n` is what mutation n made"),
    ]
    reason: Annotated[str | None, Meta(description="For mutations without one of their own")] = None


class ImportRequest(Request, frozen=True, kw_only=True):
    format: Annotated[Literal["markdown", "json"], Meta(description="What the file is written in")]
    source: Source
    dry_run: Annotated[bool, Meta(description="Say what would happen")] = False
    strict: Annotated[bool, Meta(description="All or nothing")] = False


class TestRecordRequest(Request, frozen=True, kw_only=True):
    __test__ = False  # keeps pytest from collecting the class itself

    id: Id
    result: Annotated[Literal["pass", "fail"], Meta(description="How it went")]
    notes: Annotated[Text, Meta(description="What was tested, and how")] = ""


class TestRunRequest(Request, frozen=True, kw_only=True):
    __test__ = False

    from_file: Annotated[str, Meta(min_length=1, description="The saved log, relative to the project")]
    dry_run: Annotated[bool, Meta(description="Say what would be recorded")] = False
    promote: Annotated[bool, Meta(description="Implemented requirements that pass become verified")] = False


class VerifyRequest(Request, frozen=True, kw_only=True):
    id: Id
    by: Annotated[Literal["composition", "inspection"], Meta(description="The kind of evidence")]
    notes: Annotated[Text, Meta(min_length=1, description="What was looked at, and what was seen")]
    cites: Annotated[tuple[str, ...], Meta(description="Tests or requirements that support it")] = ()
    promote: Annotated[bool, Meta(description="Make it verified, where it is implemented")] = False
    force: Force = False


def _now() -> Occasion:
    return occasion("MCP", otherwise=ActorKind.AGENT)


def run_add(call: Call, request: AddRequest) -> results.Added:
    new = NewRequirement(
        title=request.title,
        statement=request.statement,
        rationale=request.rationale,
        kind=parse(request.kind, Kind, "kind"),
        priority=parse(request.priority, Priority, "priority"),
        acceptance=request.acceptance,
        tags=request.tags,
        parent=request.parent,
    )
    return register_of(call).add(_now(), new)


def run_update(call: Call, request: UpdateRequest) -> results.Updated:
    amendment = Amendment(
        title=request.title,
        statement=request.statement,
        rationale=request.rationale,
        acceptance=request.acceptance,
        add_acceptance=request.add_acceptance,
        remove_acceptance=request.remove_acceptance,
        kind=parse(request.kind, Kind, "kind") if request.kind else None,
        priority=parse(request.priority, Priority, "priority") if request.priority else None,
        status=parse(request.status, Status, "status") if request.status else None,
        add_tag=request.add_tag,
        remove_tag=request.remove_tag,
    )
    return register_of(call).update(_now(), request.id, amendment, request.reason, force=request.force)


def run_link(call: Call, request: LinkRequest) -> results.Linked:
    kind = parse(request.kind, LinkKind, "link kind", LINK_KINDS)
    return register_of(call).link(_now(), request.source, request.to, kind, remove=request.remove)


def run_split(call: Call, request: SplitRequest) -> results.Split:
    return register_of(call).split(
        _now(), request.id, request.into, request.reason, keep_original=request.keep_original
    )


def run_import(call: Call, request: ImportRequest) -> results.ImportReport:
    service = register_of(call)
    text = service.read_source(request.source).decode("utf-8", "replace")
    return service.import_text(_now(), text, request.format, dry_run=request.dry_run, strict=request.strict)


def run_test_record(call: Call, request: TestRecordRequest) -> results.Recorded:
    outcome = parse(request.result, Outcome, "result")
    return register_of(call).record_test(_now(), request.id, outcome, request.notes)


def run_test_run(call: Call, request: TestRunRequest) -> dict[str, Any]:
    service = register_of(call)
    log = service.read_source(request.from_file)
    done = service.record_run(_now(), log, promote=request.promote, dry_run=request.dry_run)
    found: dict[str, Any] = {"matched": 0, "message": results.NO_MATCH} if done is None else msgspec.to_builtins(done)
    return found


def run_verify(call: Call, request: VerifyRequest) -> results.Verified:
    return register_of(call).verify(
        *(_now(), request.id, request.by, request.notes),
        cites=request.cites,
        promote=request.promote,
        force=request.force,
    )


_tool = partial(Tool, toolset=Toolset.REGISTER, needs=Freshness.NONE, read_only=False, idempotent=False)
"""Neither reads nor needs the graph: the register is a file of its own."""

REQ_ADD = _tool(
    name="req_add",
    title="Add a requirement",
    description=(
        "Adds a managed requirement as a draft and returns its id. Call it when the user describes behaviour that "
        "req_list does not show yet. Bad input is rejected with every broken rule and how to rewrite it, and costs "
        "no id; warnings come back with the id."
    ),
    request=AddRequest,
    result=results.Added,
    run=run_add,
    default=True,
)
REQ_UPDATE = _tool(
    name="req_update",
    title="Change a requirement",
    description=(
        "Changes fields, criteria, tags or the status of a requirement, with a reason for its history. The status "
        "moves draft, proposed, approved, implemented, verified, or to obsolete; other moves need force. Returns "
        "what changed; nothing is written where nothing does."
    ),
    request=UpdateRequest,
    result=results.Updated,
    run=run_update,
    default=True,
)
REQ_DELETE = _tool(
    name="req_delete",
    title="Retire a requirement",
    description=(
        "Retires a requirement: it becomes obsolete and keeps its links and history. hard=true removes it for good "
        "and is refused while others link to it. Its id is never given again."
    ),
    request=DeleteRequest,
    result=results.Deleted,
    run=lambda call, request: register_of(call).delete(_now(), request.id, request.reason, hard=request.hard),
    destructive=True,
)
REQ_LINK = _tool(
    name="req_link",
    title="Link two requirements",
    description=(
        "Makes or removes a link: parent (hierarchy), depends_on (order), refines (a part of something coarser), "
        "verifies or conflicts. Links that would close a circle, lead to themselves or exist already are refused."
    ),
    request=LinkRequest,
    result=results.Linked,
    run=run_link,
)
REQ_SPLIT = _tool(
    name="req_split",
    title="Split a requirement",
    description=(
        "Puts several requirements in the place of one that asks for too much (REQ-V-0010). Each part gets a "
        "statement of `into`, inherits the rest and refines the original, which is retired unless keep_original."
    ),
    request=SplitRequest,
    result=results.Split,
    run=run_split,
)
REQ_BATCH = _tool(
    name="req_batch",
    title="Many changes at once",
    description=(
        "Applies many mutations as one: all or none. The first that fails is named, and nothing is written. "
        "req_schema with which=batch describes their form."
    ),
    request=BatchRequest,
    result=results.BatchReport,
    run=lambda call, request: register_of(call).batch(_now(), request.mutations, request.reason),
    destructive=True,
    trim=("results",),
)
REQ_IMPORT = _tool(
    name="req_import",
    title="Import requirements",
    description=(
        "Takes in requirements from a markdown or JSON file of the project; each passes the validator. Valid ones "
        "are added and the others told, or with strict all or none. dry_run previews."
    ),
    request=ImportRequest,
    result=results.ImportReport,
    run=run_import,
    trim=("accepted", "rejected"),
)
REQ_TEST_RECORD = _tool(
    name="req_test_record",
    title="Record a test",
    description=(
        "Attaches the outcome of a test that you ran to a requirement, with the commit and the files that carry its "
        "id. For logs of test runs call req_test_run."
    ),
    request=TestRecordRequest,
    result=results.Recorded,
    run=run_test_record,
)
REQ_TEST_RUN = _tool(
    name="req_test_run",
    title="Record a test run",
    description=(
        "Reads a saved log (cargo test, pytest -v, JUnit XML, pytest JSON) and attaches a record to each requirement "
        "whose id a test's name holds (req_0042_...). promote=true verifies what is implemented and passes. Runs "
        "nothing."
    ),
    request=TestRunRequest,
    result=RunView,
    run=run_test_run,
    trim=("results", "promoted", "not_promoted"),
)
REQ_VERIFY = _tool(
    name="req_verify",
    title="Record other evidence",
    description=(
        "Records that a requirement holds by composition (tests of others cover it; cite them) or inspection "
        "(somebody looked). promote=true makes it verified where it is implemented."
    ),
    request=VerifyRequest,
    result=results.Verified,
    run=run_verify,
)
REQ_MIGRATE = _tool(
    name="req_migrate",
    title="Bring the file up to date",
    description=(
        "Brings a register of an older format to that of today and keeps a backup beside it. On a current file it "
        "does nothing and says so."
    ),
    request=NoArguments,
    result=MigrationReport,
    run=lambda call, request: register_of(call).migrate(),
    idempotent=True,
)

TOOLS = (
    *(REQ_ADD, REQ_UPDATE, REQ_DELETE, REQ_LINK, REQ_SPLIT, REQ_BATCH, REQ_IMPORT, REQ_TEST_RECORD, REQ_TEST_RUN),
    *(REQ_VERIFY, REQ_MIGRATE),
)
