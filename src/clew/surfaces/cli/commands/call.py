"""`clew call TOOL JSON`."""

import argparse
import sys

import msgspec

from clew.errors import InvalidArgument, UnknownTool
from clew.operation.call import Call, carry_out
from clew.operation.listing import all_tools
from clew.operation.names import by_any_spelling
from clew.surfaces.cli.opening import add_folder, open_project
from clew.surfaces.cli.output import end_progress, print_json, progress

EXAMPLE = """clew call get_requirement '{"req_id": "REQ-d00001"}'"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tool", help="the tool's name; `clew tools --toolsets all` lists them")
    parser.add_argument(
        "arguments", nargs="?", default="{}", help="its arguments as a JSON object, or - for standard input"
    )
    add_folder(parser, positional=False)


def run(args: argparse.Namespace) -> int:
    tool = by_any_spelling(all_tools()).get(args.tool)
    if tool is None:
        raise UnknownTool(f"There is no tool '{args.tool}'.", hint="`clew tools --toolsets all` lists them.")
    text = sys.stdin.read() if args.arguments == "-" else args.arguments
    try:
        arguments = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise InvalidArgument(
            f"The arguments are not JSON: {error}.",
            hint=f"""For example: clew call {args.tool} '{{"name": "value"}}'""",
        ) from error
    project = open_project(args.folder, drafts=True)
    try:
        call = Call(project, all_tools(), progress=progress(), says_once=True)
        answer = carry_out(tool, arguments, call)
    finally:
        end_progress()
        project.close()
    print_json(answer.data)
    return 0
