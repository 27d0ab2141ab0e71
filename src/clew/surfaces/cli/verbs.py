"""Commands that are operations: options from the fields, the same call that an MCP client makes, a text for people."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import ClewError, ConfigError, InvalidArgument
from clew.operation.as_commands import as_commands
from clew.operation.budget import EVERYTHING
from clew.operation.declare import About, Operation, overrides, result_of
from clew.operation.options import add_options, arguments_of, without_bounds, writes_json
from clew.surfaces.cli.groups import group_of
from clew.surfaces.cli.parsing import CommandParser
from clew.text.terminal import coloured

if TYPE_CHECKING:
    from clew.operation.call import Call
    from clew.project import Project


_MAKES_PROJECT = frozenset({"req init", "req setup"})
"""Commands that make a project where none is."""


def run_verb(operation: type[Operation], words: list[str], *, is_named: bool = False) -> int:
    """Carry out a command with the words after its name. `is_named` says that somebody named the current folder."""
    from clew.surfaces.cli.opening import admit, go_to_place
    from clew.surfaces.cli.output import exit_code_of, print_json
    from clew.text.terminal import columns, links_into, note, wrapped

    args = go_to_place(parser_of(operation).parse_args(words), is_named=is_named)
    as_json = getattr(args, "json", False)
    try:
        admit(args, makes=operation.about.verb in _MAKES_PROJECT, names=group_of(operation.about.verb).options)
        request, result, call = _run(operation, args)
        if overrides(operation, "document") and (file := request.output_file()) is not None:
            _write(request.document(result), Path(file))
    except ClewError as error:
        if not (as_json and group_of(operation.about.verb).has_json_errors):
            error.hint = as_commands(error.hint)
            raise
        from clew.surfaces.mcp.dialects import dialect_of

        print_json(dialect_of(operation.about.toolset)(error))
        return exit_code_of(error)
    if as_json:
        print_json(msgspec.to_builtins(request.data(result)))
    else:
        with links_into(call.root):
            text = request.render(result)
        if _is_prose(request):
            text = wrapped(text, columns())
        if text:
            print(text, end="" if text.endswith("\n") else "\n")
        if (more := _further_pages(request, result, args)) is not None:
            print(coloured(more, "dim"))
    code = request.exit_code(result)
    messages = request.messages(result) if code or not as_json else ()
    for line in dict.fromkeys((*map(note, call.notes), *messages)):
        print(wrapped(as_commands(line), columns(sys.stderr)), file=sys.stderr)
    if call.news is not None:
        print(coloured(call.news, "dim", stream=sys.stderr), file=sys.stderr)
    return code


def _is_prose(request: Operation) -> bool:
    """True if lines may be wrapped: those of a table for programs, or of a diff, may not."""
    return getattr(request, "format", "text") == "text" and not getattr(request, "dry_run", False)


def _further_pages(request: Operation, result: Any, args: argparse.Namespace) -> str | None:
    """The hint how to see the items that did not fit on the page."""
    about = request.about
    if about.pages is None or not hasattr(args, "page") or not getattr(result, "truncated", False):
        return None
    page, shown = args.page or 1, len(getattr(result, about.pages))
    first = (page - 1) * request.limit + 1  # type: ignore[attr-defined]
    total = getattr(result, about.total)
    return f"{first}-{first + shown - 1} of {total}; `--page {page + 1}` shows the next ones"


def _write(document: str | bytes, file: Path) -> None:
    data = document.encode("utf-8", "backslashreplace") if isinstance(document, str) else document
    try:
        file.write_bytes(data)
    except OSError as error:
        raise InvalidArgument(
            f"The file '{file}' cannot be written: {error.strerror}.", hint="Name a file in a folder that exists."
        ) from error


def parser_of(operation: type[Operation]) -> argparse.ArgumentParser:
    """The options of a command: its fields, and what all commands of its group have."""
    from clew.surfaces.cli.opening import add_folder, add_json, add_place

    about = operation.about
    summary = about.summary or about.title
    parser = CommandParser(
        prog=f"clew {about.verb}",
        description=f"{summary[:1].upper()}{summary[1:]}.",
        epilog="example:\n  " + about.epilog.strip().replace("\n", "\n  ") if about.epilog else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser, operation)
    if _has_pages(operation, parser):
        parser.add_argument("--page", type=int, metavar="N", help="which page of the list (default: 1)")
    for option in group_of(about.verb).options:
        parser.add_argument(option.flag, metavar=option.metavar, help=option.about)
    if about.folder != "none":
        add_folder(parser, positional=about.folder == "argument")
    else:
        add_place(parser)
    if writes_json(operation):
        parser.add_argument(
            "--json", action="store_const", dest="format", const="json", help="the same as --format json"
        )
    else:
        add_json(parser)
    return parser


def _has_pages(operation: type[Operation], parser: argparse.ArgumentParser) -> bool:
    """True if the command has a limit of its own, so that a further page can be asked for."""
    flags = parser._option_string_actions
    return operation.about.pages is not None and "--limit" in flags and "--page" not in flags


def _run(operation: type[Operation], args: argparse.Namespace) -> "tuple[Operation, Any, Call]":
    from clew.operation.call import Call, answer, decode_as, perform
    from clew.surfaces.cli.output import end_progress, progress

    about = operation.about
    arguments = operation.completed(arguments_of(operation, args))
    help_text = f"`clew {about.verb} --help` lists the options."
    request = without_bounds(decode_as(operation, arguments, about.verb or "", help_text=help_text))
    given = {each.name: getattr(args, each.name) for each in group_of(about.verb).options}
    options = {name: value for name, value in given.items() if value is not None}
    project = _opened(about, args)
    try:
        # No command calls other tools.
        call = Call(
            project, (), progress=progress(), surface="cli", as_data=getattr(args, "json", False), options=options
        )  # fmt: skip
        call.begin_at = _beginning(request, args)
        if getattr(request, "max_tokens", EVERYTHING) != EVERYTHING:
            data = answer(request, call).data
            result = msgspec.convert(data, result_of(operation))
        else:
            result = perform(request, call)
        call.news, builds = _index_news(about, project)
    finally:
        end_progress()
        if project is not None:
            project.close()
    if builds and project is not None:
        from clew.surfaces.cli.background import start_indexing

        start_indexing(project.config.root)
    return request, result, call


def _index_news(about: About, project: "Project | None") -> tuple[str | None, bool]:
    """A line about the search index for a person, and True if the index has to be built."""
    from clew.surfaces.cli.background import VERBS, index_news

    return index_news(project) if project is not None and about.verb in VERBS else (None, False)


def _beginning(request: Operation, args: argparse.Namespace) -> int | None:
    page: int | None = getattr(args, "page", None)
    if page is None:
        return None
    if page < 1:
        raise InvalidArgument(f"--page is {page}, and pages begin with 1.", hint="Leave it out for the first page.")
    limit: int = request.limit  # type: ignore[attr-defined]
    return (page - 1) * limit


def _opened(about: About, args: argparse.Namespace) -> "Project | None":
    if about.folder == "none":
        return None
    from clew.config import load_defaults
    from clew.project import Project
    from clew.surfaces.cli.opening import open_project

    try:
        return open_project(args.folder, drafts=about.drafts, report_root=group_of(about.verb).tells_folder)
    except ConfigError:
        if about.needs_config:
            raise
        return Project(load_defaults(Path(args.folder)))
