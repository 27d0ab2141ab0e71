"""`clew specs`."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clew.errors import InvalidArgument
from clew.project import Project
from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import end_progress, print_json, progress
from clew.text.counting import counted
from clew.text.terminal import coloured

if TYPE_CHECKING:
    from clew.specs.results import ChangeSummary, IssueReport, SpecSummary, Validation
    from clew.specs.service import SpecsService

EXAMPLE = """clew specs
clew specs show auth
clew specs search "locked out after three attempts"
clew specs validate --strict"""

ACTIONS = ("overview", "list", "show", "search", "validate", "index")
EVERYTHING = 1_000_000
_FOUND = 10
_BAR = 10
_SIGNS = (("+", "added"), ("~", "modified"), ("-", "removed"), ("→", "renamed"))


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="overview", help="default: overview")
    parser.add_argument("what", nargs="*", help="show: a spec, then a requirement; search: words; validate: a spec")
    parser.add_argument("--strict", action="store_true", help="validate: warnings count as errors")
    parser.add_argument("--rules", choices=("all", "openspec", "spox"), default="all", help="validate: whose rules")
    parser.add_argument("--changes", action="store_true", help="search: open changes as well")
    parser.add_argument("--limit", type=int, metavar="N", help=f"list: at most; search: at most (default: {_FOUND})")
    add_folder(parser, positional=False)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    if args.limit is not None and args.limit < 0:
        raise InvalidArgument(f"--limit is {args.limit}; it counts items.", hint="Pass 0 or more.")
    with opened(args) as project, looking(project) as specs:
        return _ACTIONS[args.action](specs, args)


@contextmanager
def looking(project: Project) -> "Iterator[SpecsService]":
    """The specs as they are in the files now. What people read is not cut to the budget of a tool's answer."""
    project.ensure_graph(progress())
    end_progress()
    with project.lock.reading():
        yield project.specs


def _overview(specs: "SpecsService", args: argparse.Namespace) -> int:
    """The dashboard: what there is, what is open, what needs attention."""
    found = specs.dashboard()
    if args.json:
        print_json(found)
        return 0
    if not found.specs and not found.changes:
        print("There are no specs: no folder `openspec` or `specs` holds any. `clew change new add-login` begins one.")
        return 0
    counts = f"{counted(len(found.specs), 'spec')}, {counted(found.requirements, 'requirement')}"
    print(coloured(f"{counts}, {counted(found.scenarios, 'scenario')}, {found.tested} of them tested", "bold"))
    _print_specs(found.specs)
    if found.changes:
        print(coloured(f"\n{counted(len(found.changes), 'open change')}", "bold"))
        print_changes(found.changes, frozenset(found.invalid_changes))
    if found.conflicts:
        number = counted(len(found.conflicts), "conflict")
        print(coloured(f"\n{number}; `clew change conflicts` explains", "red"))
    return 0


def _list(specs: "SpecsService", args: argparse.Namespace) -> int:
    found = specs.list_specs(limit=EVERYTHING if args.limit is None else args.limit)
    if args.json:
        print_json(found)
        return 0
    _print_specs(found.specs)
    if found.truncated:
        print(coloured(f"{found.count} of {found.total}", "dim"))
    return 0


def _show(specs: "SpecsService", args: argparse.Namespace) -> int:
    if not args.what:
        raise InvalidArgument("`clew specs show` needs the id of a spec.", hint="`clew specs list` shows them.")
    spec_id, *words = args.what
    requirement = " ".join(words) or None
    found = specs.requirements(
        spec_id, requirement=requirement, detail="full" if requirement else "outline", limit=EVERYTHING
    )
    if args.json:
        print_json(found)
        return 0
    print(coloured(f"{found.spec_id}: {found.title}", "bold") + coloured(f"  {found.path}", "dim"))
    if found.purpose:
        print(found.purpose)
    for each in found.requirements:
        print(f"\n{coloured(each.slug, 'cyan')}  {each.name}")
        if requirement:
            print(each.text)
            continue
        for scenario in each.scenarios or ():
            print(f"  #{scenario.slug}  {coloured(scenario.name, 'dim')}")
    for section in found.sections or ():
        print(f"\n{coloured(f'line {section.line}', 'dim')}  {section.heading}")
    return 0


def _search(specs: "SpecsService", args: argparse.Namespace) -> int:
    query = " ".join(args.what).strip()
    if not query:
        raise InvalidArgument(
            "`clew specs search` needs words.", hint='Say what to look for: clew specs search "login".'
        )
    found = specs.index.search(
        specs.library,
        query,
        top_k=_FOUND if args.limit is None else min(args.limit, 500),
        with_changes=args.changes,
        auto_build=True,
    )
    if args.json:
        print_json(found)
        return 0 if found.results else 1
    for hit in found.results:
        names = "  ".join(filter(None, (hit.change_id, hit.requirement, hit.scenario)))
        print(f"{coloured(hit.reference, 'cyan')}  {names}  {coloured(f'{hit.path}:{hit.line}', 'dim')}")
        print(f"  {hit.snippet}")
    if not found.results:
        print("Nothing found.")
    for note in found.notes:
        print(coloured(note, "dim"))
    return 0 if found.results else 1


def _validate(specs: "SpecsService", args: argparse.Namespace) -> int:
    spec_id = args.what[0] if args.what else None
    return print_validation(specs.validate_specs(spec_id, args.rules, strict=args.strict), as_json=args.json)


def _index(specs: "SpecsService", args: argparse.Namespace) -> int:
    found = specs.index.rebuild(specs.library)
    if args.json:
        print_json(found)
    else:
        print(f"{counted(found.specs_indexed, 'spec')} indexed, {counted(found.units_indexed, 'text')}.")
    return 0


_ACTIONS = {
    "overview": _overview,
    "list": _list,
    "show": _show,
    "search": _search,
    "validate": _validate,
    "index": _index,
}


def _print_specs(specs: "Sequence[SpecSummary]") -> None:
    for spec in specs:
        problems = coloured(f"  {counted(spec.problems, 'problem')}", "yellow") if spec.problems else ""
        counts = f"{counted(spec.requirements, 'requirement')}, {counted(spec.scenarios, 'scenario')}"
        print(f"- {coloured(spec.id, 'cyan')}  {coloured(counts, 'dim')}{problems}")


def print_changes(changes: "Sequence[ChangeSummary]", invalid: frozenset[str] = frozenset()) -> None:
    for change in changes:
        progress = change.task_progress
        done = progress.completed * _BAR // progress.total if progress.total else 0
        bar = f"{'█' * done}{'░' * (_BAR - done)} " if progress.total else ""
        operations = " ".join(f"{sign}{number}" for sign, key in _SIGNS if (number := getattr(change, key)))
        parts = (f"{bar}{progress.completed}/{progress.total} tasks", coloured(operations, "dim"))
        fault = coloured("not valid", "red") if change.id in invalid else ""
        print("  ".join(filter(None, (f"- {coloured(change.id, 'cyan')}", *parts, fault))))


def print_validation(found: "Validation", *, as_json: bool) -> int:
    if as_json:
        print_json(found)
        return 0 if found.valid else 1
    _print_issues(found.errors, "error", "red")
    _print_issues(found.warnings, "warning", "yellow")
    _print_issues(found.infos, "info", "dim")
    print(found.summary)
    return 0 if found.valid else 1


def _print_issues(issues: "Sequence[IssueReport]", word: str, style: str) -> None:
    for issue in issues:
        place = f"{issue.file}:{issue.line}" if issue.line else issue.file
        print(f"{place}: {coloured(word, style)} {issue.code}: {issue.description}")
