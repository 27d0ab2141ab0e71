"""Operations that change requirements. Each is one transaction that the program req waits for."""

import sys
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument
from clew.formats.register.records import requirement_object
from clew.operation.call import Call
from clew.operation.declare import Option
from clew.operation.one_line import MANY_LINES
from clew.register import results
from clew.register.change.draft import author_of
from clew.register.operations.fields import RegisterOperation, read_input, read_json, register_of
from clew.register.requests import (
    Addition,
    Batch,
    Deletion,
    DeletionWithoutReason,
    ImportedFile,
    LinkChange,
    Splitting,
    Update,
    UpdateWithoutReason,
)


class AddToRegister(
    Addition, RegisterOperation, tool="req_add", title="Add a requirement", writes=True, idempotent=False
):
    """Adds a managed requirement as a draft and returns its id. Call it when the user describes behaviour that req_list
    does not show yet. Bad input is rejected with every broken rule and how to rewrite it, and costs no id; warnings
    come back with the id."""

    def run(self, call: Call) -> results.Added:
        return register_of(call).add(author_of(call), self)


class AddCommand(AddToRegister, verb="req add", summary="a new requirement", writes=True):
    """Adds a requirement from options, from a JSON file, or by asking on a terminal."""

    from_json: Annotated[
        str | None, Meta(description="Take everything from a file, or from -"), Option(metavar="FILE")
    ] = None
    interactive: Annotated[bool, Meta(description="Ask for everything, on a terminal"), Option("-i")] = False

    @classmethod
    def completed(cls, given: dict[str, Any]) -> dict[str, Any]:
        source, interactive = given.pop("from_json", None), given.pop("interactive", False)
        if source is not None:
            return cls._from_file(source)
        if interactive or (sys.stdin.isatty() and not given.keys() & {"title", "statement"}):
            _ask(given)
        missing = [name for name in ("title", "statement", "rationale") if name not in given]
        if missing:
            raise InvalidArgument(
                f"'{missing[0]}' is required.", hint="Pass -t, -s and -r, or --from-json with a file; see --help."
            )
        return given

    @staticmethod
    def _from_file(source: str) -> dict[str, Any]:
        found = read_json(source)
        if not isinstance(found, dict):
            raise InvalidArgument(f"{source}: expected an object.", hint="See `clew req schema add`.")
        return found

    def run(self, call: Call) -> Any:
        made = super().run(call)
        return {**requirement_object(register_of(call).show(made.id)), "warnings": made.warnings}

    def render(self, result: dict[str, Any]) -> str:
        return "\n".join((f"Added {result['id']}.", *(f"warning: {warning}" for warning in result["warnings"])))


def _ask(given: dict[str, Any]) -> None:
    """Ask for the missing arguments. An empty line leaves out an optional one."""
    if not sys.stdin.isatty():
        raise InvalidArgument("There is no terminal to ask on.", hint="Pass -t, -s and -r, or --from-json.")
    try:
        for name in ("title", "statement", "rationale"):
            while not given.get(name):
                given[name] = input(f"{name}: ").strip()
        for name, otherwise in (("kind", "functional"), ("priority", "should")):
            given[name] = given.get(name) or input(f"{name} [{otherwise}]: ").strip() or otherwise
        while criterion := input("acceptance criterion (empty to end): ").strip():
            given.setdefault("acceptance", []).append(criterion)
    except EOFError as error:
        raise InvalidArgument("The answers ended too soon.", hint="Nothing was added.") from error


class UpdateRequirement(
    Update,
    RegisterOperation,
    tool="req_update",
    title="Change a requirement",
    writes=True,
    idempotent=False,
):
    """Changes fields, criteria, tags or the status of a requirement, with a reason for its history. The status moves
    draft, proposed, approved, implemented, verified, or to obsolete; other moves need force. Returns what changed;
    nothing is written where nothing does."""

    def run(self, call: Call) -> results.Updated:
        wanted = msgspec.structs.replace(self, force=True) if call.is_lenient else self
        return register_of(call).update(author_of(call), wanted)

    def render(self, result: results.Updated) -> str:
        if not result.changes:
            return f"{result.id}: nothing changed."
        warnings = (f"warning: {warning}" for warning in result.warnings)
        return "\n".join((f"{result.id}: {'; '.join(result.changes)}", *warnings))


class UpdateCommand(
    UpdateWithoutReason, UpdateRequirement, verb="req update", summary="change a requirement", writes=True
):
    """Changes a requirement. On the command line and in a batch a reason may be missing."""


class DeleteFromRegister(
    Deletion,
    RegisterOperation,
    tool="req_delete",
    title="Retire a requirement",
    writes=True,
    idempotent=False,
    destructive=True,
):
    """Retires a requirement: it becomes obsolete and keeps its links and history. hard=true removes it for good and is
    refused while others link to it. Its id is never given again."""

    def run(self, call: Call) -> results.Deleted:
        return register_of(call).delete(author_of(call), self, again=call.is_lenient)

    def render(self, result: results.Deleted) -> str:
        return f"{result.id}: {'removed' if result.deleted == 'hard' else 'retired'}."


class DeleteCommand(
    DeletionWithoutReason,
    DeleteFromRegister,
    verb="req delete",
    aliases=("retire",),
    summary="retire a requirement, or remove it",
    writes=True,
    destructive=True,
):
    """Retires a requirement. On the command line and in a batch a reason may be missing."""


class LinkRequirements(
    LinkChange,
    RegisterOperation,
    tool="req_link",
    verb="req link",
    title="Link two requirements",
    summary="link two requirements, or take a link away",
    writes=True,
    idempotent=False,
):
    """Makes or removes a link: parent (hierarchy), depends_on (order), refines (a part of something coarser), verifies
    or conflicts. Links that would close a circle, lead to themselves or exist already are refused."""

    def run(self, call: Call) -> results.Linked:
        return register_of(call).link(author_of(call), self)

    def render(self, result: results.Linked) -> str:
        now = "no longer" if result.removed else "now"
        return f"{result.from_} {now} has a {result.kind} link to {result.to}."


class SplitRequirement(
    Splitting,
    RegisterOperation,
    tool="req_split",
    verb="req split",
    title="Split a requirement",
    summary="replace a requirement by several",
    writes=True,
    idempotent=False,
):
    """Puts several requirements in the place of one that asks for too much (REQ-V-0010). Each part gets a statement of
    `into`, inherits the rest and refines the original, which is retired unless keep_original."""

    def run(self, call: Call) -> results.Split:
        return register_of(call).split(author_of(call), self)

    def render(self, result: results.Split) -> str:
        return f"{result.original} is split into {', '.join(result.parts)}."


class ApplyBatch(
    Batch,
    RegisterOperation,
    tool="req_batch",
    title="Many changes at once",
    writes=True,
    idempotent=False,
    destructive=True,
    trim=("results",),
):
    """Applies many mutations as one: all or none. The first that fails is named, and nothing is written. req_schema
    with which=batch describes their form."""

    def run(self, call: Call) -> results.BatchReport:
        return register_of(call).batch(author_of(call), self)

    def render(self, result: results.BatchReport) -> str:
        return f"Applied {result.applied} mutations."


class BatchCommand(ApplyBatch, verb="req batch", summary="many changes at once, all or none", writes=True):
    """Applies the mutations of a file."""

    source: Annotated[
        str,
        Meta(description="Mutations as JSON, or - for standard input"),
        Option(positional=True, metavar="FILE"),
    ]

    @classmethod
    def completed(cls, given: dict[str, Any]) -> dict[str, Any]:
        document = read_json(given["source"])
        found = document if isinstance(document, dict) else {"mutations": document}
        if not isinstance(found.get("mutations"), list):
            raise InvalidArgument("A batch needs a list of mutations.", hint="See `clew req schema batch`.")
        return {**given, "mutations": found["mutations"], "reason": found.get("reason")}


class ImportRequirements(
    ImportedFile,
    RegisterOperation,
    tool="req_import",
    title="Import requirements",
    writes=True,
    idempotent=False,
    trim=("accepted", "rejected"),
):
    """Takes in requirements from a markdown or JSON file of the project; each passes the validator. Valid ones are
    added and the others reported; with strict all or none. dry_run previews."""

    def run(self, call: Call) -> results.RegisterImport:
        register = register_of(call)
        return register.import_text(author_of(call), self, register.read_source(self.source))

    def render(self, result: results.RegisterImport) -> str:
        lines = [f"{each.id or 'would add'}  {each.title}" for each in result.accepted]
        lines += [f"rejected  {each.title}: {'; '.join(each.errors)}" for each in result.rejected]
        return "\n".join(lines)

    def exit_code(self, result: results.RegisterImport) -> int:
        return 0 if result.ok else 1


class ImportCommand(
    ImportRequirements, verb="req import", summary="import requirements from markdown or JSON", writes=True
):
    """Imports from any file, or from standard input."""

    def run(self, call: Call) -> results.RegisterImport:
        return register_of(call).import_text(author_of(call), self, read_input(self.source))


class SetPurpose(RegisterOperation, verb="req purpose", summary="print or set the purpose of the project", writes=True):
    """Prints the purpose of the project, or changes it for a reason."""

    purpose: Annotated[
        str | None, Meta(description="The new purpose; an empty one removes it"), MANY_LINES, Option(positional=True)
    ] = None
    reason: Annotated[
        str | None, Meta(description="Why it changes; kept in the history of the register"), MANY_LINES, Option("-r")
    ] = None

    def run(self, call: Call) -> dict[str, Any]:
        register = register_of(call)
        if self.purpose is None:
            return {"purpose": register.register.purpose}
        if not self.reason:
            raise InvalidArgument("A purpose changes for a reason.", hint="Pass --reason; the register keeps it.")
        purpose = register.set_purpose(author_of(call), self.purpose, self.reason)
        return {"purpose": purpose, "reason": self.reason}

    def render(self, result: dict[str, Any]) -> str:
        return cast("str", result["purpose"] or "No purpose is set.")
