"""`clew trace`: the traceability matrix."""

import argparse
import sys
from pathlib import Path

from clew.surfaces.cli.matrix import FORMATS, shape_of, written
from clew.surfaces.cli.opening import add_folder, opened
from clew.surfaces.cli.output import end_progress, progress
from clew.surfaces.cli.writing import deliver
from clew.trace.coverage import aggregates

EXAMPLE = """clew trace --output matrix.html
clew trace REQ-p00001 --format csv
clew trace --gaps --level dev"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="only this requirement and what stands below it")
    parser.add_argument("--format", choices=FORMATS, help="default: by the file's ending, else markdown")
    parser.add_argument("--json", action="store_const", dest="format", const="json", help="the same as --format json")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write it to a file")
    parser.add_argument("--level", default="", metavar="NAME", help="only requirements of this level")
    parser.add_argument("--status", default="", metavar="NAME", help="only requirements of this status")
    parser.add_argument("--gaps", action="store_true", help="only requirements that are not fully tested")
    add_folder(parser, positional=False)


def run(args: argparse.Namespace) -> int:
    shape = args.format or shape_of(args.output)
    with opened(args) as project:
        project.ensure_graph(progress())
        end_progress()
        with project.lock.reading():
            find = project.trace.find
            chosen = find.requirements(root_id=args.id, level=args.level, status=args.status, gaps_only=args.gaps)
            matrix = project.trace.matrix(chosen)
            levels = ", ".join(aggregates.count_by_level(project.graph).all)
    deliver(written(matrix, shape), args.output)
    if matrix.rows or args.gaps:
        return 0
    print(f"clew: no requirement fits. Levels here: {levels or 'none'}.", file=sys.stderr)
    return 1
