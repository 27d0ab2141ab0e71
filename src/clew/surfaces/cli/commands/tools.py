"""`clew tools`."""

import argparse
import sys
from collections.abc import Collection
from pathlib import Path

from clew.config import formats_of, load
from clew.operation.defaults import ALL_FORMATS
from clew.operation.listing import all_tools
from clew.operation.names import NameStyle
from clew.operation.toolsets import Choice, check_toolsets, choose
from clew.surfaces.cli.output import print_json
from clew.text.terminal import coloured, columns, wrapped
from clew.workspace.holding import RequirementFormat
from clew.workspace.root import marked

EXAMPLE = """clew tools --toolsets all
clew tools --profile elspais --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    add_choice(parser)
    parser.add_argument("--json", action="store_true", help="print names, descriptions and schemas as JSON")
    parser.add_argument("--write-docs", type=Path, metavar="FOLDER", help="write the reference pages into a folder")


def add_choice(parser: argparse.ArgumentParser) -> None:
    """The options by which tools are chosen, for `clew tools` and `clew serve` alike."""
    parser.add_argument("--toolsets", metavar="A,B", help="toolsets to list: default, all, core, trace, ...")
    parser.add_argument("--tools", metavar="A,B", help="single tools to list")
    parser.add_argument("--exclude-tools", metavar="A,B", help="tools that are not listed and cannot be called")
    parser.add_argument("--read-only", action="store_true", help="only tools that change nothing")
    parser.add_argument("--profile", metavar="NAME", help="exactly one system's tools, such as elspais")


def choice_of(
    args: argparse.Namespace,
    configured: tuple[str, ...] | None = None,
    *,
    read_only: bool = False,
    names: NameStyle = NameStyle.PORTABLE,
    formats: Collection[RequirementFormat] = ALL_FORMATS,
) -> Choice:
    toolsets = _split(args.toolsets) if args.toolsets else configured
    return Choice(
        toolsets=None if toolsets is None else check_toolsets(toolsets),
        tools=_split(args.tools),
        exclude=_split(args.exclude_tools),
        read_only=args.read_only or read_only,
        profile=args.profile,
        names=names,
        formats=formats,
    )


def _split(value: str | None) -> tuple[str, ...]:
    return tuple(item.strip() for item in (value or "").split(",") if item.strip())


def _formats_here() -> Collection[RequirementFormat]:
    """The formats in the project of the current folder; all of them outside of one."""
    folder = marked(".")
    return ALL_FORMATS if folder is None else formats_of(load(Path(folder)))


def run(args: argparse.Namespace) -> int:
    listing = choose(all_tools(), choice_of(args, formats=_formats_here()))
    if not listing.shown:
        print("No tool is listed: this part of Clew has none yet, or all were excluded.", file=sys.stderr)
    if args.write_docs is not None:
        from clew.operation.prepare import write_pages

        for path in write_pages(all_tools(), args.write_docs):
            print(path)
    elif args.json:
        print_json(
            [
                {
                    "name": tool.name,
                    "toolset": tool.toolset.value,
                    "title": tool.title,
                    "description": tool.description,
                    "read_only": tool.read_only,
                    "input_schema": tool.input_schema,
                    "output_schema": tool.output_schema,
                }
                for tool in listing.shown
            ]
        )
    else:
        width = columns()
        for tool in listing.shown:
            row = f"{coloured(tool.name, 'cyan')}  {coloured(tool.toolset.value, 'dim')}  {tool.title}"
            print(wrapped(row, width))
    return 0
