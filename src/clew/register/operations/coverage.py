"""Operations on which requirements code and tests cite."""

from collections.abc import Sequence
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument
from clew.formats.register.canonical import digest
from clew.formats.register.ids import normalise
from clew.operation.call import Call
from clew.operation.declare import Option
from clew.register.git.remap import RemapReport
from clew.register.operations.answers import Object, paged
from clew.register.operations.fields import Cursor, RegisterOperation, Size, register_of, without
from clew.register.reports import coverage
from clew.register.requests import Folder, Limit
from clew.text.display import counted
from clew.text.terminal import table

_LISTS = ("ghosts", "obsolete_referenced", "orphans", "drafts_unmarked", "test_only", "referenced", "unlinked", "files")
"""The lists of a page in the order in which they fill it: first those that need an answer."""

_ENDINGS_OF_REQ = ("rs", "py", "js", "ts", "tsx", "go", "java", "md", "toml", "c", "cpp", "h")
"""The endings of the files in which req looks for ids by default."""

Row = tuple[str, Any]
"""The list it belongs to, and the item; of a dictionary, key and value."""


class CoveragePage(msgspec.Struct, frozen=True, kw_only=True):
    """The requested lists of requirements and files. Their choice depends on the mode: default, unlinked_files or
    by_file."""

    mode: str
    referenced: dict[str, tuple[str, ...]] = {}
    orphans: tuple[str, ...] = ()
    ghosts: dict[str, tuple[str, ...]] = {}
    obsolete_referenced: dict[str, tuple[str, ...]] = {}
    test_only: tuple[str, ...] = ()
    drafts_unmarked: tuple[str, ...] = ()
    scanned: int = 0
    linked: int = 0
    unlinked: tuple[str, ...] = ()
    files: tuple[Object, ...] = ()
    totals: dict[str, int] = {}
    """The full length of each list."""
    truncated: bool = False
    next_cursor: str | None = None


class ShowCitedRequirements(
    RegisterOperation, tool="req_coverage", title="Requirements and code", example={"by_file": True}
):
    """Lists the requirements that code and tests cite, in comments and names of tests: referenced, orphans (cited
    nowhere), ghosts (ids that do not exist) and retired ones still cited. unlinked_files turns it round; by_file lists
    the ids of each file."""

    path: Folder = "."
    extensions: Annotated[
        tuple[str, ...],
        Meta(description="Only files with these endings; others than code are searched as text"),
        Option("--ext", about="endings of files to look into; may be repeated"),
    ] = ()
    unlinked_files: Annotated[bool, Meta(description="Files that cite no requirement"), Option(exclusive=True)] = False
    by_file: Annotated[bool, Meta(description="For each file, what it cites"), Option(exclusive=True)] = False
    lines: Annotated[bool, Meta(description="file:line instead of file"), Option(hidden=True)] = False
    limit: Limit = None
    cursor: Cursor = None
    max_tokens: Size = None

    def run(self, call: Call) -> CoveragePage:
        plain: Object = msgspec.to_builtins(self._found(call, lines=self.lines))
        lists = {name: plain[name] for name in _LISTS if name in plain}
        figures = {name: value for name, value in plain.items() if name not in lists}
        figures["totals"] = {name: len(items) for name, items in lists.items()}

        def make(rows: Sequence[Row], more: bool, cursor: str | None) -> CoveragePage:
            return CoveragePage(**figures, **_gathered(rows, lists), truncated=more, next_cursor=cursor)

        page = paged(call, self, digest(msgspec.json.encode(plain)), _rows(lists), make)
        # A list that the mode does not have is left out; one that is empty is not.
        kept = {*figures, *lists, "truncated", "next_cursor"}
        shown = {name: value for name, value in msgspec.to_builtins(page).items() if name in kept}
        return cast("CoveragePage", shown)

    def _found(self, call: Call, *, lines: bool) -> msgspec.Struct:
        register = register_of(call)
        if not (self.unlinked_files or self.by_file):
            return register.coverage(self.path, self._endings(call), lines=lines)
        mentions = register.mentions(self.path, self._endings(call))
        return coverage.unlinked_files(mentions) if self.unlinked_files else coverage.by_file(mentions)

    def _endings(self, call: Call) -> tuple[str, ...]:
        return self.extensions or (_ENDINGS_OF_REQ if call.is_lenient else ())


class CoverageCommand(ShowCitedRequirements, verb="req coverage", summary="the requirements that the files mention"):
    """Lists the requirements that the files mention; rewrites ids in the files on request."""

    by_req: Annotated[bool, Meta(description="For each requirement where it is cited"), Option(exclusive=True)] = False
    remap: Annotated[
        tuple[str, ...],
        Meta(description="Rewrite an id in the files; `merge` means those of the other side that a merge gave new ids"),
        Option(metavar="OLD=NEW", exclusive=True),
    ] = ()
    apply: Annotated[bool, Meta(description="Write what --remap would change")] = False
    strict: Annotated[bool, Meta(description="Exit code 1 on orphans, ghosts and retired ids")] = False
    allow: Annotated[tuple[str, ...], Meta(description="An orphan that is allowed"), Option(metavar="ID")] = ()

    def run(self, call: Call) -> Any:
        if self.apply and not self.remap:
            raise InvalidArgument(
                "--apply has no effect without --remap.", hint="Pass --remap REQ-0003=REQ-0007 as well."
            )
        if self.remap:
            return register_of(call).remap(self.remap, self.path, apply=self.apply)
        found = self._found(call, lines=True)
        return coverage.by_requirement(found) if self.by_req and isinstance(found, coverage.Coverage) else found

    def data(self, result: Any) -> Any:
        """The answer in the form of req's command line: places by id, a list of files, or figures; without the mode."""
        if isinstance(result, coverage.ByRequirement):
            return result.requirements
        if isinstance(result, coverage.ByFile):
            return result.files
        if isinstance(result, coverage.Coverage):
            plain = without(result, "mode", "scanned")
            drafts = set(result.drafts_unmarked)
            return {**plain, "orphans": [id for id in result.orphans if id not in drafts]}
        return without(result, "mode") if isinstance(result, coverage.UnlinkedFiles) else result

    def render(self, result: Any) -> str:
        return _text(result)

    def exit_code(self, result: Any) -> int:
        if not self.strict or not isinstance(result, coverage.Coverage):
            return 0
        allowed = {normalise(id) for id in self.allow} | set(result.drafts_unmarked)
        return 1 if set(result.orphans) - allowed or result.ghosts or result.obsolete_referenced else 0


def _rows(lists: dict[str, Any]) -> list[Row]:
    return [
        (name, item) for name, items in lists.items() for item in (items.items() if isinstance(items, dict) else items)
    ]


def _gathered(rows: Sequence[Row], lists: dict[str, Any]) -> Object:
    """The lists of a page, from its rows."""
    shown: Object = {name: {} if isinstance(items, dict) else [] for name, items in lists.items()}
    for name, item in rows:
        if isinstance(lists[name], dict):
            shown[name][item[0]] = item[1]
        else:
            shown[name].append(item)
    return shown


def _text(found: Any) -> str:
    if isinstance(found, RemapReport):
        rows = [(f"{each.file}:{each.line}", each.old, "->", each.new) for each in found.changes]
        done = "rewritten" if found.applied else "to rewrite; --apply does it"
        undecided = [f"{place}: both sides have this line; see which requirement is meant" for place in found.undecided]
        return "\n".join(filter(None, (table(rows), *undecided, f"{counted(len(rows), 'place')} {done}")))
    if isinstance(found, coverage.ByRequirement):
        return table((id, " ".join(places)) for id, places in found.requirements.items())
    if isinstance(found, coverage.UnlinkedFiles):
        return "\n".join((*found.unlinked, f"{found.linked} of {found.scanned} files cite a requirement"))
    if isinstance(found, coverage.ByFile):
        return table((row.file, " ".join(row.req_ids)) for row in found.files)
    lines = [f"{len(found.referenced)} referenced, {len(found.orphans)} orphans, {len(found.ghosts)} ghosts"]
    lines += [f"orphan  {id}" for id in found.orphans]
    lines += [f"ghost   {id}  {', '.join(places)}" for id, places in found.ghosts.items()]
    lines += [f"retired {id}  {', '.join(places)}" for id, places in found.obsolete_referenced.items()]
    return "\n".join(lines)
