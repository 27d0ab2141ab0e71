"""`clew changed`."""

import argparse

from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import end_progress, print_json, progress
from clew.text.terminal import coloured
from clew.trace.reports.changed import Changed, changed

EXAMPLE = """clew changed
clew changed --base main --json"""

_STYLES = {"added": "green", "changed": "yellow", "moved": "cyan", "removed": "red"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--base", metavar="REF", help="compare with where this branch left REF (default: with the last commit)"
    )
    add_folder(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as project:
        project.ensure_graph(progress())
        end_progress()
        with project.lock.reading():
            found = changed(project.graph, project.config, project.grammar, args.base)
    if args.json:
        print_json(found)
    else:
        _print(found)
    return 0


def _print(found: Changed) -> None:
    for item in found.items:
        word = coloured(f"{item.change:<8}", _STYLES[item.change])
        title = item.title.partition("\n")[0]
        print(f"{word} {item.kind:<12} {item.id}  {title}  {coloured(f'{item.path}:{item.line}', 'dim')}")
    counts = ", ".join(
        f"{number} {kind}{'' if number == 1 or kind == 'code' else 's'}" for kind, number in found.counts.items()
    )
    print(counts or "Nothing changed.")
