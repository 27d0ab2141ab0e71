"""`clew search`."""

import argparse
import sys
from typing import Any

from clew.surfaces.cli.opening import add_folder, add_json, answer, opened
from clew.surfaces.cli.output import print_json
from clew.text.terminal import coloured
from clew.trace.find.query import FIELDS
from clew.trace.operations.read import SEARCH

EXAMPLE = """clew search "overdue OR late"
clew search --regex '^REQ-d' --field id"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help='words, OR, "a phrase", -excluded, =keyword')
    parser.add_argument("--field", choices=FIELDS, default="all", help="where to look (default: all)")
    parser.add_argument("--regex", action="store_true", help="the query is a regular expression")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="results at most (default: 20)")
    parser.add_argument("--cursor", help="next_cursor of the page before")
    add_folder(parser, positional=False)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    arguments = {"query": " ".join(args.query), "field": args.field, "regex": args.regex, "limit": args.limit}
    if args.cursor:
        arguments["cursor"] = args.cursor
    with opened(args) as project:
        data = answer(project, SEARCH, arguments).data
    if args.json:
        print_json(data)
    else:
        _print(data, everything_exact=args.regex or args.field != "all")
    return 0 if data["results"] else 1


def _print(data: dict[str, Any], *, everything_exact: bool) -> None:
    related = False
    for item in data["results"]:
        if not everything_exact and item["score"] < 1 and not related:
            related = True
            print(coloured("related:", "dim"))
        about = coloured(f"{item['level']}, {item['status']}", "dim")
        print(f"{coloured(item['id'], 'cyan')}  {item['title']}  {about}")
    if data["truncated"]:
        print(coloured(f"{len(data['results'])} of {data['total']}; --cursor {data['next_cursor']} shows more", "dim"))
    elif not data["results"]:
        print("Nothing found.")
    for note in data["notes"]:
        print(coloured(f"note: {note}", "dim", stream=sys.stderr), file=sys.stderr)
