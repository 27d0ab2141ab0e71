"""The commands `clew specs` and `clew change`. People see everything: what they read is not cut to a tool's budget."""

from typing import Annotated, Any

from msgspec import Meta

from clew.operation.budget import EVERYTHING
from clew.operation.call import Call
from clew.operation.declare import Freshness, Operation, Option, Toolset
from clew.specs import operations, render, results
from clew.specs.operations import ChangeId, SomeChange

_PAGE = ("limit", "cursor")


class ShowDashboard(
    Operation,
    verb="specs overview",
    aliases=("",),
    toolset=Toolset.SPECS,
    summary="the dashboard: what there is, what is open, what needs attention",
    epilog="clew specs",
):
    """What there is, what is open, and what needs attention."""

    def run(self, call: Call) -> results.Dashboard:
        return call.project.specs.dashboard()

    def render(self, result: results.Dashboard) -> str:
        return render.dashboard(result)


class ListAllSpecs(
    operations.ListSpecs,
    verb="specs list",
    toolset=Toolset.SPECS,
    summary="all specs, with how many requirements and scenarios each has",
    epilog="clew specs list --limit 10",
    hidden=("cursor",),
):
    limit: Annotated[int, Meta(ge=0), Option(metavar="N", about="specs at most (default: all)")] = EVERYTHING

    def render(self, result: results.SpecList) -> str:
        return render.spec_list(result)


class ShowSpec(
    operations.GetSpecRequirements,
    verb="specs show",
    toolset=Toolset.SPECS,
    summary="a spec in outline, or one of its requirements in full",
    epilog="clew specs show passage-windows\nclew specs show passage-windows Margin under the keel",
    hidden=("detail", *_PAGE),
):
    @classmethod
    def completed(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {**given, "detail": "full" if given.get("requirement") else "outline"}

    def render(self, result: results.SpecRequirements) -> str:
        return render.spec_requirements(result, with_text=self.requirement is not None)


class FindInSpecs(
    operations.SearchSpecs,
    verb="specs search",
    toolset=Toolset.SPECS,
    summary="find purposes, requirements and scenarios",
    epilog='clew specs search "not enough water"',
    hidden=("spec_prefix", "auto_build"),
):
    top_k: Annotated[
        int, Meta(ge=0), Option("--limit", metavar="N", about="results at most, up to 500 (default: 10)")
    ] = 10
    auto_build: bool = True

    def render(self, result: results.SpecHits) -> str:
        return render.spec_hits(result)

    def exit_code(self, result: results.SpecHits) -> int:
        return 0 if result.results else 1


class CheckSpecs(
    operations.ValidateSpec,
    verb="specs validate",
    toolset=Toolset.SPECS,
    summary="hold specs to the rules",
    epilog="clew specs validate --strict",
    hidden=_PAGE,
):
    def render(self, result: results.Validation) -> str:
        return render.validation(result)

    def exit_code(self, result: results.Validation) -> int:
        return 0 if result.valid else 1


class ListAllChanges(
    operations.ListChanges,
    verb="change list",
    aliases=("",),
    toolset=Toolset.SPECS,
    summary="the open changes with their progress",
    epilog="clew change",
    hidden=_PAGE,
):
    def render(self, result: results.ChangeList) -> str:
        return render.change_list(result)


class ShowChangeStatus(
    Operation,
    verb="change status",
    toolset=Toolset.SPECS,
    summary="progress, validity and conflicts of a change",
    epilog="clew change status add-neap-warning",
):
    """The status of one change; without an id the list of all."""

    change_id: SomeChange = None

    def run(self, call: Call) -> results.ChangeStatus | results.ChangeList:
        specs = call.project.specs
        if self.change_id is None:
            return specs.list_changes(limit=EVERYTHING)
        return specs.change_status(self.change_id)

    def render(self, result: results.ChangeStatus | results.ChangeList) -> str:
        return render.change_list(result) if isinstance(result, results.ChangeList) else render.change_status(result)

    def exit_code(self, result: results.ChangeStatus | results.ChangeList) -> int:
        if isinstance(result, results.ChangeList):
            return 0
        return 0 if result.validation.valid and not result.conflicts else 1


class ShowChange(
    operations.GetChange,
    verb="change show",
    toolset=Toolset.SPECS,
    summary="why, what, tasks and deltas of a change",
    epilog="clew change show add-neap-warning --full",
    hidden=("section", "spec_id", "requirement"),
):
    def render(self, result: results.ChangeDetail) -> str:
        return render.change_detail(result)


class CheckChanges(
    operations.ValidateChange,
    verb="change validate",
    toolset=Toolset.SPECS,
    summary="hold changes to the rules and against the specs",
    epilog="clew change validate add-neap-warning --strict",
    hidden=_PAGE,
):
    def render(self, result: results.Validation) -> str:
        return render.validation(result)

    def exit_code(self, result: results.Validation) -> int:
        return 0 if result.valid else 1


class ShowConflicts(
    operations.ChangeConflicts,
    verb="change conflicts",
    toolset=Toolset.SPECS,
    summary="what open changes do to each other and to the specs",
    epilog="clew change conflicts",
    hidden=_PAGE,
):
    def render(self, result: results.ConflictList) -> str:
        return render.conflict_list(result)

    def exit_code(self, result: results.ConflictList) -> int:
        return 1 if result.conflicts or result.circular else 0


class BeginChange(
    Operation,
    verb="change new",
    toolset=Toolset.SPECS,
    summary="begin a change: a proposal and tasks to fill in",
    epilog="clew change new add-login --title 'Log in'",
    needs=Freshness.NONE,
    writes=True,
):
    """Write the files with which a change begins."""

    change_id: ChangeId
    title: Annotated[str, Meta(description="The title of the proposal")] = ""

    def run(self, call: Call) -> results.ChangeBegun:
        return results.ChangeBegun(self.change_id, call.project.specs.new_change(self.change_id, self.title))

    def render(self, result: results.ChangeBegun) -> str:
        return "\n".join(result.files)


class ArchiveNow(
    operations.ArchiveChange,
    verb="change archive",
    toolset=Toolset.SPECS,
    summary="apply a change to the specs and move it into the archive",
    epilog="clew change archive add-neap-warning --dry-run",
    needs=Freshness.NONE,
    writes=True,
    destructive=True,
    hidden=("confirm", "move"),
):
    """Whoever types the command confirms it."""

    dry_run: Annotated[bool, Meta(description="Print the difference, write nothing")] = False
    confirm: bool = True
    skip_specs: Annotated[bool, Meta(description="Only move the folder")] = False

    def run(self, call: Call) -> results.ArchiveReport:
        return call.project.specs.archive(self, actor="command line", skip_specs=self.skip_specs)

    def render(self, result: results.ArchiveReport) -> str:
        return render.archive_report(result)


class ApplyNow(
    ArchiveNow,
    verb="change apply",
    toolset=Toolset.SPECS,
    summary="apply a change to the specs and leave its folder in place",
    epilog="clew change apply add-neap-warning --dry-run",
    needs=Freshness.NONE,
    writes=True,
    destructive=True,
    hidden=("confirm", "move"),
):
    """The same without moving the folder."""

    move: bool = False
