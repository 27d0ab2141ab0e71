"""The requests to the register: its questions and its changes."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.operation.declare import Option
from clew.operation.one_line import MANY_LINES

StatusWord = Literal["draft", "proposed", "approved", "implemented", "verified", "obsolete"]
KindWord = Literal["functional", "non-functional", "constraint", "interface", "business"]
PriorityWord = Literal["must", "should", "could", "wont"]
LinkWord = Literal["parent", "depends_on", "depends-on", "conflicts", "refines", "verifies"]

AnyId = Annotated[str, Meta(min_length=1, max_length=80, description="REQ-0042; req-42 and 42 mean the same")]
Id = Annotated[AnyId, Option(positional=True)]
Folder = Annotated[str, Meta(min_length=1, description="A folder of the project"), Option(metavar="FOLDER")]
Text = Annotated[str, Meta(max_length=20_000), MANY_LINES]
MOST_ITEMS = 200
"""Items of one list, such as the criteria of a requirement: more belong to several requirements."""
MOST_MUTATIONS = 2_000
Texts = Annotated[tuple[Text, ...], Meta(max_length=MOST_ITEMS)]
Words = Annotated[tuple[Annotated[str, Meta(max_length=1_000)], ...], Meta(max_length=MOST_ITEMS)]
Reason = Annotated[str, Meta(min_length=1, max_length=20_000, description="Kept in the history"), MANY_LINES]
Revision = Annotated[str, Meta(min_length=1, max_length=400, description="A branch, tag or commit")]
AsJson = Annotated[bool, Meta(description="false: markdown to read"), Option(hidden=True)]
Limit = Annotated[Annotated[int, Meta(ge=1, le=2000)] | None, Meta(description="Items at most"), Option(hidden=True)]

Title = Annotated[str, Meta(max_length=1_000, description="5 to 120 characters"), Option("-t")]
Statement = Annotated[
    str, Meta(max_length=20_000, description="One sentence with shall, must, should or will"), MANY_LINES, Option("-s")
]
Rationale = Annotated[str, Meta(max_length=20_000, description="Why it is needed"), MANY_LINES, Option("-r")]
Acceptance = Annotated[
    Texts,
    Meta(description="What a test can decide; functional requirements need one"),
    Option("-a", about="a criterion; may be repeated"),
]
Force = Annotated[bool, Meta(description="Allow a change of status that is otherwise refused")]
OptionalReason = Annotated[Text | None, Meta(description="Kept in the history")]


class RequirementFilter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The requirements that pass a filter. All conditions must hold."""

    status: Annotated[StatusWord | None, Meta(description="Only this status")] = None
    kind: Annotated[KindWord | None, Meta(description="Only this kind"), Option("-k")] = None
    priority: Annotated[PriorityWord | None, Meta(description="Only this priority"), Option("-p")] = None
    tag: Annotated[
        Words, Meta(description="All of these tags"), Option(about="only with this tag; may be repeated")
    ] = ()


class ListFilter(RequirementFilter, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The requirements that a list shows."""

    query: Annotated[str | None, Meta(description="Part of the title or the statement, in any case"), Option("-q")] = (
        None
    )
    include_obsolete: Annotated[
        bool,
        Meta(description="Retired ones too"),
        Option("--hide-obsolete", about="leave out retired ones"),
    ] = True


class Addition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new requirement, a draft at first."""

    title: Title
    statement: Statement
    rationale: Rationale
    kind: Annotated[KindWord, Meta(description="The kind"), Option("-k")] = "functional"
    priority: Annotated[PriorityWord, Meta(description="The priority"), Option("-p")] = "should"
    acceptance: Acceptance = ()
    tags: Annotated[
        Words, Meta(description="Words to find it by"), Option("--tag", about="a tag; may be repeated")
    ] = ()
    parent: Annotated[str | None, Meta(description="Id of a parent requirement")] = None


class Update(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Other fields, criteria, tags or another status for a requirement."""

    id: Id
    reason: Reason
    title: Annotated[Title | None, Meta(description="The new title")] = None
    statement: Annotated[Statement | None, Meta(description="The new statement")] = None
    rationale: Annotated[Rationale | None, Meta(description="The new rationale")] = None
    acceptance: Annotated[Texts | None, Meta(description="Replaces the whole list"), Option("-a")] = None
    add_acceptance: Annotated[Texts, Meta(description="Appended; better than replacing")] = ()
    remove_acceptance: Annotated[
        tuple[int, ...], Meta(max_length=MOST_ITEMS, description="Numbers of criteria, from 1"), Option(metavar="N")
    ] = ()
    kind: Annotated[KindWord | None, Meta(description="The new kind"), Option("-k")] = None
    priority: Annotated[PriorityWord | None, Meta(description="The new priority"), Option("-p")] = None
    status: Annotated[StatusWord | None, Meta(description="The next status")] = None
    add_tag: Annotated[Words, Meta(description="Tags more")] = ()
    remove_tag: Annotated[Words, Meta(description="Tags less")] = ()
    force: Force = False


class Deletion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The end of a requirement."""

    id: Id
    reason: Reason
    hard: Annotated[bool, Meta(description="Remove it, which is refused while anything links to it")] = False


class LinkChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A link of two requirements that is made or removed."""

    source: Annotated[AnyId, Option(positional=True, metavar="FROM", about="the source of the link")] = msgspec.field(
        name="from"
    )
    to: Annotated[AnyId, Option(positional=True, metavar="TO", about="the target of the link")]
    kind: Annotated[
        LinkWord,
        Meta(description="The kind of the link"),
        Option("-k", metavar="KIND", about="parent, depends-on, conflicts, refines or verifies"),
    ] = "parent"
    remove: Annotated[bool, Meta(description="Take the link away")] = False


class Splitting(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Several requirements in the place of one."""

    id: Id
    into: Annotated[
        Texts,
        Meta(min_length=2, description="The statement of each part"),
        Option("-s", metavar="STATEMENT", about="once for each part"),
    ]
    reason: Annotated[str | None, Meta(description="Kept in the history"), MANY_LINES] = None
    keep_original: Annotated[bool, Meta(description="Keep the original requirement")] = False


class Batch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Many changes as one."""

    mutations: Annotated[
        tuple[dict[str, Any], ...],
        Meta(
            max_length=MOST_MUTATIONS,
            description="Each with kind: add, update, delete, link or verify; `$n` is what mutation n made",
        ),
        Option(hidden=True),
    ]
    reason: Annotated[
        str | None, Meta(description="For mutations without one of their own"), MANY_LINES, Option(hidden=True)
    ] = None


class ImportedFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of requirements."""

    format: Annotated[Literal["markdown", "json"], Meta(description="The format of the file"), Option("-f")]
    source: Annotated[
        str,
        Meta(min_length=1, description="A file of the project, relative to it"),
        Option(positional=True, about="a file, or - for standard input"),
    ]
    dry_run: Annotated[bool, Meta(description="Only say what would happen")] = False
    strict: Annotated[bool, Meta(description="All or nothing")] = False


class UpdateWithoutReason(Update, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The same without a reason, on the command line and in a batch."""

    reason: OptionalReason = None  # type: ignore[assignment]


class DeletionWithoutReason(Deletion, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The same without a reason, on the command line and in a batch."""

    reason: OptionalReason = None  # type: ignore[assignment]


class SingleTest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The outcome of one test."""

    id: Id
    result: Annotated[Literal["pass", "fail"], Meta(description="The outcome")]
    notes: Annotated[Text, Meta(description="Notes on the test")] = ""


class SavedRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A saved log of tests."""

    from_file: Annotated[
        str,
        Meta(min_length=1, description="The saved log, relative to the project"),
        Option(metavar="FILE", exclusive=True, about="the saved log"),
    ]
    dry_run: Annotated[bool, Meta(description="Say what would be recorded")] = False
    promote: Annotated[bool, Meta(description="Implemented requirements that pass become verified")] = False


class OtherEvidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Evidence by composition or inspection."""

    id: Id
    by: Annotated[Literal["composition", "inspection"], Meta(description="The kind of evidence")]
    notes: Annotated[Text, Meta(min_length=1, description="Notes on the inspection")]
    cites: Annotated[Words, Meta(description="Tests or requirements that support it")] = ()
    promote: Annotated[bool, Meta(description="Make it verified, where it is implemented")] = False
    force: Force = False


class Adoption(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Requirements of something that exists already."""

    reason: Annotated[str, Meta(description="Kept in the history"), MANY_LINES]
    ids: Annotated[
        tuple[AnyId, ...], Meta(description="The requirements to adopt"), Option(positional=True, metavar="ID")
    ] = ()
    all_drafts: Annotated[bool, Meta(description="Every draft")] = False
    to: Annotated[Literal["proposed", "approved", "implemented", "verified"], Meta(description="How far")] = (
        "implemented"
    )
    dry_run: Annotated[bool, Meta(description="Only say what would happen")] = False


class AuditPolicy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The commits of a register, and the rules for them."""

    limit: Annotated[int, Meta(ge=1, le=10_000, description="Commits at most"), Option("-n", metavar="LIMIT")] = 50
    gate: Annotated[
        bool,
        Meta(description="Report commits that break the policy"),
        Option(about="exit code 1 where a commit breaks the policy"),
    ] = False
    require_good_signature: Annotated[bool, Meta(description="Every commit must have a good signature")] = False
    required_signers: Annotated[
        Words,
        Meta(description="Parts of the signer's name, in any case"),
        Option("--require-signer", metavar="NAME", about="who may sign"),
    ] = ()


class ReviewScope(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The change that is reviewed."""

    base: Annotated[Revision, Option(metavar="BASE", about="the base of the comparison; main if it is missing")] = (
        "origin/main"
    )
    path: Folder = "."
    gate: Annotated[
        bool,
        Meta(description="Fail closed: a missing base is an error"),
        Option(about="exit code 1 where the change does not pass"),
    ] = False
    staged: Annotated[bool, Meta(description="The staged state, for the next commit")] = False
    new: Annotated[
        bool, Meta(description="Findings of added and changed requirements only"), Option(exclusive=True)
    ] = False
    all: Annotated[bool, Meta(description="All findings, even with staged"), Option(exclusive=True)] = False
    json: AsJson = True


class MergedFiles(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The files that git has merged."""

    base: Annotated[str, Meta(description="The version both sides go back to (%O)"), Option(positional=True)]
    ours: Annotated[str, Meta(description="Our version, which becomes the merged one (%A)"), Option(positional=True)]
    theirs: Annotated[str, Meta(description="Their version (%B)"), Option(positional=True)]
    path: Annotated[str, Meta(description="The path of the file (%P)"), Option(metavar="PATH")] = "project.req"
