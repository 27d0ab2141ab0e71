"""Operations that ask about managed requirements, under the names and shapes that users of req know."""

from pathlib import Path
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta

from clew import __version__
from clew.formats.register.envelope import FORMAT_TAG
from clew.formats.register.model import Requirement
from clew.formats.register.records import requirement_object
from clew.operation.budget import EVERYTHING
from clew.operation.call import Call
from clew.operation.declare import Option
from clew.register import help as help_pages
from clew.register import help_texts, results
from clew.register.operations import texts
from clew.register.operations.answers import (
    BriefView,
    ExportPage,
    HelpView,
    ListPage,
    NextView,
    Object,
    RequirementView,
    SchemaView,
    ValidationPage,
    VersionView,
    paged,
    shown,
)
from clew.register.operations.fields import Cursor, RegisterOperation, Size, register_of, without
from clew.register.operations.schema import schema
from clew.register.operations.texts import brief_text
from clew.register.reports.queries import rows
from clew.register.reports.validation import ValidationReport, as_text
from clew.register.requests import Id, Limit, ListFilter, RequirementFilter
from clew.text.controls import pretty_json
from clew.workspace.own_program import DISTRIBUTION


class ListRequirements(
    ListFilter,
    RegisterOperation,
    tool="req_list",
    title="List requirements",
    example={"status": "draft"},
):
    """Lists managed requirements by id: title, kind, priority, status and tags. Call it before adding one, to see what
    exists. All filters must fit. Not for details: req_show has those. `count` is all that match; long lists come in
    pages (next_cursor)."""

    limit: Limit = None
    cursor: Cursor = None
    max_tokens: Size = None

    def run(self, call: Call) -> ListPage:
        now = register_of(call).snapshot()
        found = rows(now.register, self)
        return paged(
            *(call, self, now.version, found),
            lambda page, more, cursor: ListPage(len(found), now.register.name, tuple(page), more, cursor),
        )


class WholeList(results.RequirementList, frozen=True, kw_only=True):
    whole: tuple[Object, ...]
    """The requirements as the file has them."""


class ListCommand(ListRequirements, verb="req list", summary="all requirements, or those that fit"):
    """All requirements, or those that fit; as JSON each in full."""

    def run(self, call: Call) -> Any:
        now = register_of(call).snapshot().register
        found = rows(now, self)
        whole = tuple(requirement_object(now.requirements[row.id]) for row in found)
        return WholeList(len(found), now.name, tuple(found), whole=whole)

    def data(self, result: WholeList) -> Any:
        return result.whole

    def render(self, result: WholeList) -> str:
        return texts.listing(result)


class ShowRegisteredRequirement(
    RegisterOperation,
    tool="req_show",
    verb="req show",
    title="One requirement in full",
    summary="one requirement in full",
    example={"id": "REQ-0001"},
):
    """One managed requirement as the file has it: statement, rationale, acceptance criteria, links, history and test
    records. Call it for the why. Of a long history the newest part is given, with totals."""

    id: Id
    max_tokens: Size = None

    def run(self, call: Call) -> RequirementView:
        register = register_of(call)
        requirement = register.show(self.id)
        plain = shown(requirement, EVERYTHING if call.whole else self.max_tokens)
        if requirement.tests and not call.as_data:
            # As data it is what the file holds; people read whether the evidence still holds as well.
            plain["evidence_state"] = register.freshness(requirement)
        return cast("RequirementView", plain)

    def render(self, result: Any) -> str:
        return texts.requirement(result)


class ValidateRegister(RegisterOperation, tool="req_validate", title="Check every requirement"):
    """Runs every rule over the register: errors and warnings with rule code, field, message and how to rewrite. Call it
    before saying that work is done: no errors is a must. Findings come in pages, sorted by id."""

    limit: Limit = None
    cursor: Cursor = None
    max_tokens: Size = None

    def run(self, call: Call) -> ValidationPage:
        register = register_of(call)
        found = register.validate()
        return paged(
            *(call, self, register.snapshot().version, found.findings),
            lambda rows, more, cursor: ValidationPage(found.errors, found.warnings, tuple(rows), more, cursor),
        )


class ValidateCommand(ValidateRegister, verb="req validate", summary="check every requirement; exit code 1 on errors"):
    """Runs every rule, also over what the next commit would hold."""

    staged: Annotated[bool, Meta(description="The content of the next commit")] = False

    def run(self, call: Call) -> Any:
        return register_of(call).validate(staged=self.staged)

    def render(self, result: ValidationReport) -> str:
        return as_text(result)

    def exit_code(self, result: ValidationReport) -> int:
        return 1 if result.errors else 0


class ExportRegister(
    RegisterOperation, tool="req_export", title="Render the register", trim=("text",), example={"format": "csv"}
):
    """The register as markdown, json, csv or html, for people and other programs. Writes no file: long texts come in
    pages, and `clew req export -o FILE` writes them whole."""

    format: Annotated[Literal["markdown", "json", "csv", "html"], Meta(description="What to render"), Option("-f")] = (
        "markdown"
    )
    cursor: Cursor = None
    max_tokens: Size = None

    def run(self, call: Call) -> ExportPage:
        register = register_of(call)
        lines = register.export(self.format).splitlines(keepends=True)
        return paged(
            *(call, self, register.snapshot().version, lines),
            lambda rows, more, cursor: ExportPage(self.format, "".join(rows), more, cursor),
        )

    def text(self, result: ExportPage) -> str:
        return result.text


class ExportCommand(ExportRegister, verb="req export", summary="the register as markdown, JSON, CSV or HTML"):
    """Prints the register, or writes it into a file."""

    output: Annotated[str, Meta(description="Where to; - is standard output"), Option("-o", metavar="FILE")] = "-"

    def run(self, call: Call) -> Any:
        return register_of(call).export(self.format)

    def document(self, result: str) -> str:
        return result

    def output_file(self) -> str | None:
        return None if self.output == "-" else self.output

    def data(self, result: str) -> dict[str, str]:
        return {"format": self.format, **({"text": result} if self.output == "-" else {"wrote": self.output})}

    def render(self, result: str) -> str:
        return result if self.output == "-" else f"Wrote {self.output}."


class ShowHelp(
    RegisterOperation,
    tool="req_help",
    title="Help on the register",
    trim=("body",),
    example={"section": "agents"},
):
    """Texts on working with the register. Without a section the index; begin with `agents` (which tool when),
    `best-practice` (how to write) or `errors` (all rules)."""

    section: Annotated[
        str,
        Meta(max_length=80, description="A name from the index; _index lists them"),
        Option(positional=True, about="a name from the index, or `all`"),
    ] = "_index"

    def run(self, call: Call) -> HelpView:
        found = help_pages.index() if self.section == "_index" else help_pages.section(self.section)
        return cast("HelpView", msgspec.to_builtins(found))


class HelpCommand(ShowHelp, verb="req help", summary="texts on working with the register", needs_config=False):
    """Prints a text, or puts it into a file that agents read."""

    list: Annotated[bool, Meta(description="The names of all sections"), Option("-l")] = False
    install: Annotated[bool, Meta(description="Put the section into a file that agents read")] = False
    path: Annotated[str, Meta(description="That file"), Option(metavar="FILE")] = "AGENTS.md"

    def run(self, call: Call) -> Any:
        is_named = self.section != "_index"
        if self.install:
            return self._install(call.project.config.root, self.section if is_named else "agents")
        if not is_named or self.list:
            return help_pages.index()
        if self.section == "all":
            return [help_pages.section(name) for name in help_texts.SECTIONS]
        found = help_pages.section(self.section)
        return {**msgspec.to_builtins(found), "structured": help_pages.advice()} if found.name == "agents" else found

    def _install(self, root: Path, section: str) -> dict[str, Any]:
        from clew.register.git.agents_block import install
        from clew.register.git.setup import bounds_of

        file = root / self.path
        done = install(file, section, within=bounds_of(root, file))
        return {"path": done.path, "section": done.section, "changed": done.changed}

    def render(self, result: Any) -> str:
        return texts.help_page(result)


class ShowProgress(RegisterOperation, tool="req_status", title="Progress in figures", trim=("verified_but_defective",)):
    """Counts requirements by status, and the share of live ones that is implemented or verified. For the next piece of
    work call req_next; for the start of a session req_brief."""

    def run(self, call: Call) -> results.StatusReport:
        return register_of(call).status()

    def data(self, result: results.StatusReport) -> dict[str, Any]:
        return without(result, "truncated")

    def render(self, result: results.StatusReport) -> str:
        return texts.status(result)


class StatusCommand(ShowProgress, verb="req status", summary="progress in figures"):
    """The figures of all requirements, or of those with a tag."""

    tag: Annotated[tuple[str, ...], Meta(description="Only with this tag")] = ()

    def run(self, call: Call) -> results.StatusReport:
        return register_of(call).status(self.tag)


class NextRequirement(
    RequirementFilter,
    RegisterOperation,
    tool="req_next",
    verb="req next",
    title="Next requirement",
    summary="the next requirement to work on",
):
    """The most urgent unfinished requirement whose dependencies are all done, in full; or found=false with what blocks
    the rest. Filters narrow the choice."""

    max_tokens: Size = None

    def run(self, call: Call) -> NextView:
        found = register_of(call).next(self)
        if isinstance(found, Requirement):
            return cast("NextView", shown(found, EVERYTHING if call.whole else self.max_tokens))
        return cast("NextView", msgspec.to_builtins(found))

    def render(self, result: Any) -> str:
        return texts.next_up(result)

    def exit_code(self, result: Any) -> int:
        return 0 if "id" in result else 1


class ShowRegisterBrief(
    RegisterOperation,
    tool="req_brief",
    verb="req brief",
    title="State of the register",
    summary="the state of the register, and the next steps",
    trim=("implemented_unverified", "drafts", "verified_but_defective"),
):
    """Start a session here: project, progress, what is next and what is loose (implemented but not verified, drafts,
    failed evidence). Under 600 tokens; full=true gives longer lists."""

    full: Annotated[bool, Meta(description="Longer lists")] = False
    json: Annotated[bool, Meta(description="false: text to read"), Option(hidden=True)] = True

    def run(self, call: Call) -> BriefView:
        found = register_of(call).brief(full=self.full)
        values = {name: getattr(found, name) for name in found.__struct_fields__}
        return BriefView(**values, text=None if self.json else brief_text(found))

    def text(self, result: BriefView) -> str:
        return result.text or msgspec.json.encode(result).decode()

    def data(self, result: BriefView) -> dict[str, Any]:
        return without(result, "text", "truncated")

    def render(self, result: BriefView) -> str:
        return brief_text(result)


class ShowSchema(
    RegisterOperation,
    tool="req_schema",
    verb="req schema",
    title="Schema of an input",
    summary="the JSON Schema of an input",
    needs_config=False,
    example={"which": "import"},
):
    """The JSON Schema of one requirement, a batch or an import (req_add, req_batch or req_import take them), with the
    format of the file it belongs to."""

    which: Annotated[
        Literal["add", "batch", "import", "test-map"], Meta(description="Whose input"), Option(positional=True)
    ] = "add"

    def run(self, call: Call) -> SchemaView:
        return cast("SchemaView", schema(self.which))


class ShowVersion(
    RegisterOperation,
    tool="req_version",
    verb="req version",
    title="Versions",
    summary="versions of the program and of the file format",
    needs_config=False,
):
    """The versions of the program, of the file format that it writes and of the protocol that it speaks, to
    pin a combination that is known to work."""

    def run(self, call: Call) -> VersionView:
        from mcp_types import LATEST_PROTOCOL_VERSION

        protocol = call.protocol_version or LATEST_PROTOCOL_VERSION
        return VersionView(FORMAT_TAG, protocol, "req", DISTRIBUTION, __version__)

    def render(self, result: VersionView) -> str:
        return pretty_json(result)
