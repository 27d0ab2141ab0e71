"""The command `clew fix`: hashes and formatting of requirements, mended in their files."""

from collections.abc import Iterable
from typing import Annotated, Any

import msgspec

from clew.errors import InvalidArgument
from clew.graph.model import Node, NodeKind, Source
from clew.operation.call import Call
from clew.operation.declare import Freshness, Operation, Option, Toolset
from clew.operation.one_line import MANY_LINES
from clew.text.terminal import coloured
from clew.trace.files.fixing import Fixes, FixRequest, plan_fixes
from clew.trace.operations.changes import meant
from clew.trace.read.assertions import owner_of
from clew.workspace.find import selects


class FixReport(msgspec.Struct, frozen=True):
    planned: Fixes
    diff: str


class FixRequirements(
    Operation,
    verb="fix",
    toolset=Toolset.TRACE,
    summary="write stale and missing hashes, repair formatting",
    epilog="clew fix --dry-run\nclew fix REQ-d00001 spec/dev-tides.md --hashes --format",
    needs=Freshness.NONE,
    writes=True,
):
    """Write the hashes that are stale or missing, and mend End markers and the spelling of ids."""

    what: Annotated[
        tuple[str, ...], Option(positional=True, about="ids or files to fix (default: all requirements)")
    ] = ()
    hashes: Annotated[bool, Option(about="write the hashes that are stale or missing (the default)")] = False
    message: Annotated[
        str | None,
        MANY_LINES,
        Option("-m", metavar="TEXT", about="why the hashes change, for the changelogs that need an entry"),
    ] = None
    format: Annotated[bool, Option(about="repair End markers and the spelling of ids and references")] = False
    dry_run: Annotated[bool, Option(about="print the difference, write nothing")] = False

    def run(self, call: Call) -> FixReport:
        project, config = call.project, call.project.config
        project.ensure_graph(call.progress)
        with project.context.lock.reading():
            paths, wanted = self._asked(call)
        planned = plan_fixes(config.root, paths, project.context.grammar, wanted, max_bytes=config.max_file_bytes)
        return FixReport(planned, project.files.write(planned.edits, "fix", dry_run=self.dry_run))

    def _asked(self, call: Call) -> tuple[list[str], FixRequest]:
        """The files to check, and the repairs to make in them."""
        if self.what:
            sources = [source for text in self.what for source in _places(call, text)]
        else:
            sources = _in_spec_files(call, call.project.graph.nodes_by_kind(NodeKind.REQUIREMENT))
        places = {(source.path, source.line) for source in sources} if self.what else None
        wanted = FixRequest(
            hashes=self.hashes or not self.format,
            formatting=self.format,
            places=places,
            enter=call.project.files.entering(self.message) if self.message else None,
        )
        return sorted({source.path for source in sources}), wanted

    def data(self, result: FixReport) -> Any:
        return {
            "fixes": result.planned.fixes,
            "left": result.planned.left,
            "files": [edit.path for edit in result.planned.edits],
            "diff": result.diff,
            "dry_run": self.dry_run,
        }

    def render(self, result: FixReport) -> str:
        fixes = result.planned.fixes
        if not fixes:
            return "Nothing to fix."
        if self.dry_run:
            return result.diff
        return "\n".join(
            f"{fix.path}:{fix.line}: {coloured(fix.requirement_id, 'cyan')}: {', '.join(fix.what)}" for fix in fixes
        )

    def messages(self, result: FixReport) -> tuple[str, ...]:
        return tuple(
            f"{left.path}:{left.line}: {left.requirement_id} was left alone: {left.why}" for left in result.planned.left
        )

    def exit_code(self, result: FixReport) -> int:
        return 1 if result.planned.left else 0


def _places(call: Call, text: str) -> list[Source]:
    """The places of the requirements for an id, for the id of an assertion, or for a file."""
    graph, subject = call.project.graph, meant(call, text)
    nodes = [node for id in subject.ids if (node := graph.get_node(id)) is not None]
    owners = [owner_of(graph, node) if node.kind is NodeKind.ASSERTION else node for node in nodes]
    found = _in_spec_files(call, (node for node in owners if node is not None))
    if not found:
        raise InvalidArgument(
            f"'{subject.name}' is not a requirement of a spec file, and holds none.",
            hint="Only those have hashes and End markers. Pass an id such as REQ-d00001, or a spec file.",
        )
    return found


def _in_spec_files(call: Call, nodes: Iterable[Node]) -> list[Source]:
    """The places of the requirements that are in spec files."""
    config = call.project.config
    sources = [node.source for node in nodes if node.kind is NodeKind.REQUIREMENT and node.source is not None]
    paths = {path for path in {source.path for source in sources} if selects(config.root, config.requirements, path)}
    return [source for source in sources if source.path in paths]
