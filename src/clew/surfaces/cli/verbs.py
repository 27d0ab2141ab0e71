"""Commands that are operations: options from the fields, the same call that an MCP client makes, a text for people."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import msgspec

from clew.errors import ClewError, InvalidArgument, NotFound
from clew.operation.call import Call, carry_out, decode, perform
from clew.operation.declare import About, Operation, Toolset, result_of
from clew.operation.listing import Listed, all_verbs
from clew.operation.options import add_options, arguments_of, writes_json
from clew.operation.registry import tool_of
from clew.project import Project
from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import end_progress, print_json, progress
from clew.surfaces.mcp.dialects import dialect_of
from clew.surfaces.mcp.tools import TOOLS


def find_verb(words: Sequence[str]) -> tuple[Listed, list[str]] | None:
    """The operation whose command these words begin with, and the words after it."""
    verbs = all_verbs()
    for length in range(min(3, len(words)), 0, -1):
        found = verbs.get(" ".join(words[:length]))
        if found is not None:
            return found, list(words[length:])
    return None


def verbs_of(group: str) -> Iterator[Listed]:
    """The commands of a group such as `req`, in the order of the listing."""
    return (listed for verb, listed in all_verbs().items() if verb.startswith(f"{group} "))


def run_verb(listed: Listed, words: list[str], options: Mapping[str, str]) -> int:
    """Carry out a command; `options` are those of its group."""
    operation = listed.operation
    args = _parser(operation).parse_args(words)
    arguments, as_json = arguments_of(operation, args), getattr(args, "json", False)
    try:
        request, result = _run(operation, arguments, args, options)
    except ClewError as error:
        if not as_json or operation.about.toolset is not Toolset.REGISTER:
            raise
        print_json(dialect_of(operation.about.toolset)(error))
        return 1 if isinstance(error, NotFound) else 2
    if (file := getattr(request, "output", None)) is not None:
        _write(request.document(result), Path(file))
    if as_json:
        print_json(request.data(result))
    elif text := request.render(result):
        print(text, end="" if text.endswith("\n") else "\n")
    code = request.exit_code(result)
    if (code or not as_json) and (said := request.remarks(result)):
        print(said, file=sys.stderr)
    return code


def _write(document: str, file: Path) -> None:
    try:
        file.write_text(document, encoding="utf-8", newline="", errors="backslashreplace")
    except OSError as error:
        raise InvalidArgument(
            f"The file '{file}' cannot be written: {error.strerror}.", hint="Name a file in a folder that exists."
        ) from error


def explain_group(group: str, summary: str, words: list[str]) -> None:
    """Print the help of a group of commands, or what is wrong with words that are none of them, and end."""
    members = {(each.verb or "").removeprefix(f"{group} "): each for each in verbs_of(group)}
    examples = (each.operation.about.epilog.partition("\n")[0] for each in members.values())
    parser = _explained(group, summary, "\n".join(filter(None, examples)))
    commands = parser.add_subparsers(required=True, dest="command", metavar="|".join(members))
    for name, each in members.items():
        commands.add_parser(name, help=each.summary or each.title)
    parser.parse_args(words)


def _parser(operation: type[Operation]) -> argparse.ArgumentParser:
    about = operation.about
    parser = _explained(about.verb or "", about.summary or about.title, about.epilog)
    add_options(parser, operation)
    if about.folder != "none":
        add_folder(parser, positional=about.folder == "argument")
    if writes_json(operation):
        parser.add_argument(
            "--json", action="store_const", dest="format", const="json", help="the same as --format json"
        )
    else:
        add_json(parser)
    return parser


def _explained(verb: str, summary: str, examples: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=f"clew {verb}",
        description=summary[:1].upper() + summary[1:] + ".",
        epilog="example:\n  " + examples.strip().replace("\n", "\n  ") if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _run(
    operation: type[Operation], arguments: dict[str, Any], args: argparse.Namespace, options: Mapping[str, str]
) -> tuple[Operation, Any]:
    about = operation.about
    request: Any = decode(tool_of(operation), arguments)
    with _project(about, args) as project:
        call = Call(project, TOOLS, progress=progress(), surface="cli", options=options)
        try:
            if getattr(request, "max_tokens", None):
                data = carry_out(tool_of(operation), arguments, call).data
                return request, msgspec.convert(data, result_of(operation))
            return request, perform(request, call)
        finally:
            end_progress()


def _project(about: About, args: argparse.Namespace) -> AbstractContextManager[Project | None]:
    if about.folder == "none":
        return nullcontext()
    return opened(args, drafts=about.drafts, told=about.toolset is not Toolset.REGISTER)
