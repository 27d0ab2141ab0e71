"""`clew brief`."""

import argparse
import sys

from clew.surfaces.cli.opening import add_folder, add_json, answer, opened
from clew.surfaces.cli.output import print_json
from clew.why.operations import CLEW_BRIEF

EXAMPLE = "clew brief examples/demo"


def configure(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    parser.add_argument("--max-tokens", type=int, default=1_500, metavar="N", help="size at most (default: 1500)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as project:
        result = answer(project, CLEW_BRIEF, {"max_tokens": args.max_tokens})
    if args.json:
        print_json(result.data)
    else:
        sys.stdout.write(result.text)
    return 0
