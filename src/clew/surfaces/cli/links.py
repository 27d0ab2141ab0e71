"""`clew links`: links of tests and code to requirements that are missing."""

import argparse
from collections.abc import Mapping
from typing import Any

import msgspec

from clew.errors import InvalidArgument
from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import end_progress, print_json, progress
from clew.text.terminal import coloured
from clew.trace.links.decisions import Decision
from clew.trace.links.results import AppliedLink, SuggestionPage

EXAMPLE = """clew links suggest tests
clew links apply src/clock.py:12 REQ-d00001-A
clew links reject src/clock.py:12 REQ-d00002"""

_STYLES = {"high": "green", "medium": "yellow", "low": "dim"}

_ACTIONS: Mapping[str, tuple[str, str]] = {
    "suggest": (
        "list links that are probably missing, the most likely first",
        "clew links suggest tests --limit 10",
    ),
    "apply": (
        "write a link as a comment above a test, function or class",
        "clew links apply src/clock.py:12 REQ-d00001-A",
    ),
    "reject": (
        "remember that a suggested link is wrong, so that it is not suggested again",
        "clew links reject src/clock.py:12 REQ-d00002\nclew links reject src/clock.py:12 REQ-d00002 --take-back",
    ),
}


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="suggest|apply|reject")
    made: dict[str, argparse.ArgumentParser] = {}
    for name, (summary, example) in _ACTIONS.items():
        made[name] = actions.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            epilog="example:\n  " + example.replace("\n", "\n  "),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    suggest, apply, reject = made["suggest"], made["apply"], made["reject"]
    suggest.add_argument("path", nargs="?", help="a file of tests or code, or a folder (default: the whole project)")
    suggest.add_argument("--limit", type=_count, default=20, metavar="N", help="suggestions at most (default: 20)")
    for action in (apply, reject):
        action.add_argument("place", metavar="FILE:LINE", help="where the test, function or class stands")
        action.add_argument("requirement", metavar="ID", help="a requirement or assertion; d1-A works")
    apply.add_argument("--dry-run", action="store_true", help="show the comment and its place, write nothing")
    apply.add_argument("--if-version", metavar="VERSION", help="refuse unless the file has this version")
    reject.add_argument("--take-back", action="store_true", help="let the link be suggested again")
    for action in made.values():
        add_folder(action, positional=False)
        add_json(action)


def run(args: argparse.Namespace) -> int:
    with opened(args) as project:
        project.ensure_graph(progress())
        if args.action == "suggest":
            with project.lock.reading():
                page = project.links.suggest(args.path, limit=args.limit, patient=True, progress=progress())
            end_progress()
            return _show(page, as_json=args.json)
        end_progress()
        path, line = _place(args.place)
        if args.action == "apply":
            done = project.links.apply(
                path, line, args.requirement, if_version=args.if_version, dry_run=args.dry_run, actor="cli"
            )
        else:
            decision: Decision = "reconsider" if args.take_back else "reject"
            done = project.links.apply(path, line, args.requirement, decision=decision, actor="cli")
    if args.json:
        print_json(done)
    else:
        _print(done)
    return 0


def _count(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 10_000:
        raise argparse.ArgumentTypeError(f"{number} is not from 1 to 10,000")
    return number


def _place(text: str) -> tuple[str, int]:
    path, colon, line = text.rpartition(":")
    if not colon or not path or not line.isdecimal():
        raise InvalidArgument(
            f"'{text}' does not say where.", hint="Write file and line, such as src/clock.py:12; line 0 is the top."
        )
    return path, int(line)


def _show(page: SuggestionPage, *, as_json: bool) -> int:
    if as_json:
        print_json({name: value for name, value in _data(page).items() if name != "next_cursor"})
        return 0 if page.suggestions else 1
    for each in page.suggestions:
        sure = coloured(f"{each.confidence:.2f}", _STYLES[each.confidence_band])
        print(f"{sure}  {each.file}:{each.line}  {each.source_label}")
        print(f"      {coloured(each.assertion_id or each.requirement_id, 'cyan')}  {each.requirement_title}")
        print(coloured(f"      {'; '.join(each.reasons) or each.reason}", "dim"))
    print(_summary(page))
    for note in page.notes:
        print(coloured(note, "dim"))
    return 0 if page.suggestions else 1


def _summary(page: SuggestionPage) -> str:
    looked = f"{page.considered} tests and pieces of code cite no requirement"
    if not page.total:
        return f"Nothing to suggest: {looked}."
    more = f"; {page.total - page.count} more with --limit {page.total}" if page.truncated else ""
    return f"{page.count} of {page.total} suggestions, {looked}{more}."


def _data(page: SuggestionPage) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(page)
    return data


def _print(done: AppliedLink) -> None:
    print(done.message)
    if done.comment:
        print(f"{done.file}:{done.line}: {coloured(done.comment, 'green')}")
