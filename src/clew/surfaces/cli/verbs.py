"""Commands that are operations: options from the fields, the same call that an MCP client makes, a text for people."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import ClewError, ConfigError, NotFound
from clew.operation.declare import About, Freshness, Operation, Toolset, result_of
from clew.operation.listing import Listed, all_verbs
from clew.operation.options import add_options, arguments_of
from clew.surfaces.cli.groups import options_of

if TYPE_CHECKING:
    from clew.project import Project


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
    return (listed for verb, listed in all_verbs().items() if verb.startswith(f"{group} ") and verb == listed.verb)


def run_verb(listed: Listed, words: list[str], options: Mapping[str, str]) -> int:
    """Carry out a command; `options` are those that its group was given before the command."""
    from clew.surfaces.cli.output import print_json

    operation = listed.operation
    args = _parser(operation, options).parse_args(words)
    try:
        request, result = _run(operation, args)
    except ClewError as error:
        if not args.json or operation.about.toolset is not Toolset.REGISTER:
            raise
        from clew.surfaces.mcp.dialects import dialect_of

        print_json(dialect_of(operation.about.toolset)(error))
        return 1 if isinstance(error, NotFound) else 2
    if args.json:
        print_json(msgspec.to_builtins(request.data(result)))
    elif text := request.render(result):
        print(text, end="" if text.endswith("\n") else "\n")
    return request.exit_code(result)


def _parser(operation: type[Operation], options: Mapping[str, str]) -> argparse.ArgumentParser:
    from clew.surfaces.cli.opening import add_folder, add_json

    about = operation.about
    summary = about.summary or about.title
    parser = argparse.ArgumentParser(
        prog=f"clew {about.verb}",
        description=summary[:1].upper() + summary[1:] + ".",
        epilog="example:\n  " + about.epilog.strip().replace("\n", "\n  ") if about.epilog else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser, operation)
    for option in options_of(about.verb):
        parser.add_argument(option.flag, metavar=option.metavar, help=option.about)
    add_folder(parser, positional=about.folder == "argument")
    add_json(parser)
    parser.set_defaults(**options)
    return parser


def _run(operation: type[Operation], args: argparse.Namespace) -> tuple[Operation, Any]:
    from clew.operation.call import Call, carry_out, decode_as, perform
    from clew.operation.registry import tool_of
    from clew.surfaces.cli.output import end_progress, progress
    from clew.surfaces.mcp.tools import TOOLS

    about = operation.about
    arguments = operation.completed(arguments_of(operation, args))
    command = f"clew {about.verb}"
    request = decode_as(operation, arguments, command, help_text=f"`{command} --help` lists the options.")
    given = {each.name: getattr(args, each.name) for each in options_of(about.verb)}
    options = {name: value for name, value in given.items() if value is not None}
    project = _opened(about, args)
    try:
        call = Call(
            project, TOOLS, progress=progress(), surface="cli", as_data=args.json, options=options
        )  # fmt: skip
        if getattr(request, "max_tokens", None):
            data = carry_out(tool_of(operation), arguments, call).data
            return request, msgspec.convert(data, result_of(operation))
        return request, perform(request, call)
    finally:
        end_progress()
        project.close()


def _opened(about: About, args: argparse.Namespace) -> "Project":
    from clew.config import load_defaults
    from clew.project import Project
    from clew.surfaces.cli.opening import open_project

    try:
        return open_project(args.folder, drafts=about.drafts, told=about.needs is not Freshness.NONE)
    except ConfigError:
        if about.needs_config:
            raise
        return Project(load_defaults(Path(args.folder)))
