"""The command `clew changed`: what differs from a commit, who uses it, and which tests to run."""

# Implements: REQ-d00782

from collections.abc import Iterator
from typing import Annotated, Literal

from clew.operation.call import Call
from clew.operation.declare import Operation, Option, Toolset
from clew.text.display import counted
from clew.text.terminal import coloured, note
from clew.trace.reports.changed import ChangedImpact, ChangeReport, as_markdown, changed, others_changed, with_impact
from clew.trace.reports.suspect import suspects
from clew.why.changes.changed_code import ChangedSymbol, shown_changes, symbol_changes
from clew.why.changes.tests_to_run import TestsToRun, tests_to_run

_CHANGES = {"added": "green", "changed": "yellow", "moved": "cyan", "removed": "red"}
_SECONDS = 10.0
"""Time for the tests of all symbols together."""
_MOST_TESTS = 200
_SHOWN_TESTS = 12


class ChangesShown(ChangeReport, frozen=True, kw_only=True):
    """With changed code, whether it cites a requirement or not."""

    symbols: tuple[ChangedSymbol, ...] = ()
    """Functions, classes, constants and others whose own text differs."""
    tests: TestsToRun = TestsToRun()
    """The tests to run."""
    notes: tuple[str, ...] = ()


class ShowChanged(
    Operation,
    verb="changed",
    toolset=Toolset.TRACE,
    summary="changes since the last commit, or since the branch began, with their users and the tests to run",
    epilog="clew changed\nclew changed --base main --json",
    folder="argument",
):
    """Requirements, assertions, tests and code that differ from a commit, the users of changed code, and commands that
    run the tests."""

    base: Annotated[
        str | None,
        Option(metavar="REF", about="compare with where this branch left REF (default: with the last commit)"),
    ] = None
    format: Annotated[
        Literal["text", "markdown"], Option(about="markdown adds what each change concerns, for a pull request")
    ] = "text"

    def run(self, call: Call) -> ChangesShown | ChangedImpact:
        project = call.project
        report = changed(project.graph, project.config, project.context.grammar, self.base)
        changes, notes = symbol_changes(project, report.commit, call.check)
        symbols = tuple(shown_changes(project, changes, call.check))
        filed = [each.filed for each in changes if each.filed is not None]
        tests = tests_to_run(project, filed, limit=_MOST_TESTS, check=call.check, seconds=_SECONDS)
        found = ChangesShown(
            **{name: getattr(report, name) for name in report.__struct_fields__},
            symbols=symbols,
            tests=tests,
            notes=(*notes, *tests.notes),
        )
        if self.format == "text":
            return found
        return with_impact(project.graph, found, suspects(project.graph, project.store))

    def render(self, result: ChangesShown | ChangedImpact) -> str:
        if isinstance(result, ChangedImpact):
            return "\n".join((as_markdown(result), *_code_as_markdown(result.changed)))
        return "\n".join((*_changed(result), *_code(result)))

    def messages(self, result: ChangesShown | ChangedImpact) -> tuple[str, ...]:
        return tuple(map(note, result.notes)) if isinstance(result, ChangesShown) else ()


def _changed(found: ChangeReport) -> Iterator[str]:
    for item in found.items:
        word = coloured(f"{item.change:<8}", _CHANGES[item.change])
        title = item.title.partition("\n")[0]
        yield f"{word} {item.kind:<12} {item.id}  {title}  {coloured(f'{item.path}:{item.line}', 'dim')}"
        if item.broken:
            yield f"{'':<21} cites {coloured(', '.join(item.broken), 'red')}: not there"
        if item.lost:
            yield f"{'':<21} no longer cites {', '.join(item.lost)}"
    counts = ", ".join(
        f"{number} {kind}{'' if number == 1 or kind == 'code' else 's'}" for kind, number in found.counts.items()
    )
    for path in found.not_compared:
        yield coloured(f"not compared, because git has a filter for it: {path}", "yellow")
    compared = "HEAD" if found.base is None else found.base
    yield counts or f"No requirement, assertion, test or citing code changed since {compared}."
    if others := others_changed(found):
        yield coloured(others, "dim")
    elif not counts:
        yield "`clew changed --base REF` compares with another commit."


def _code(found: ChangesShown) -> Iterator[str]:
    for each in found.symbols:
        word = coloured(f"{each.change:<8}", _CHANGES[each.change])
        yield f"{word} {each.kind:<12} {each.name}  {coloured(f'{each.path}:{each.line}', 'dim')}"
        if each.uses:
            still = "still imported by" if each.change == "removed" else f"{counted(each.uses, 'use')}:"
            more = f" and {each.uses - len(each.used_by)} more" if each.uses > len(each.used_by) else ""
            yield f"{'':<21} {still} {', '.join(each.used_by)}{more}"
    yield from tests_as_lines(found.tests, bool(found.symbols))


def tests_as_lines(tests: TestsToRun, is_code: bool) -> Iterator[str]:
    """The tests to run, and the commands for them."""
    if tests.total:
        yield coloured(f"tests to run ({tests.total})", "dim")
        for test in tests.tests[:_SHOWN_TESTS]:
            away = f", {counted(test.distance, 'call')} away" if test.distance else ""
            how = "changed" if test.reason == "changed" else f"{test.reason} ({test.of}{away})"
            yield f"  {test.name or 'all of it'}  {how}  {coloured(f'{test.path}:{test.line}', 'dim')}"
        if tests.total > _SHOWN_TESTS:
            yield coloured(f"  {tests.total - _SHOWN_TESTS} more, which the commands run too", "dim")
        yield from (f"  $ {command}" for command in tests.commands)
    elif is_code:
        yield "No test that reaches this code was found."


def _code_as_markdown(report: ChangeReport) -> Iterator[str]:
    if not isinstance(report, ChangesShown) or not report.symbols:
        return
    yield f"\n{counted(len(report.symbols), 'definition')} changed in code.\n"
    yield "| change | definition | uses |\n|---|---|---|"
    for each in report.symbols[:_MOST_TESTS]:
        name = each.name.replace("`", "'").replace("|", "\\|")
        yield f"| {each.change} | `{name}` | {each.uses} |"
    if report.tests.commands:
        yield f"\nTests to run ({report.tests.total}):\n\n```sh"
        yield from report.tests.commands
        yield "```"
