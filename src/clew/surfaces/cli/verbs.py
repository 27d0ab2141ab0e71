"""Commands that are operations: options from the fields, the same call as over MCP, a text for people."""

import argparse
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from clew.errors import ClewError, ConfigError, InvalidArgument
from clew.operation.as_commands import as_commands
from clew.operation.budget import EVERYTHING
from clew.operation.declare import About, Operation, overrides, result_of
from clew.operation.options import add_options, arguments_of, without_bounds, writes_json
from clew.surfaces.cli.asking import SWITCH
from clew.surfaces.cli.groups import group_of
from clew.surfaces.cli.parsing import CommandParser
from clew.text.terminal import coloured

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from clew.operation.call import Call, Progress
    from clew.project import Project


_MAKES_PROJECT = frozenset({"req init", "req setup"})
"""Commands that make a project where none is."""


class ProjectSource(Protocol):
    """Opens the project for a command, and says what the command may do besides."""

    @property
    def folder(self) -> Path | None:
        """The folder in which the command was given; None for the current one."""

    def admit(self) -> None:
        """Refused where the folder is not to be read."""

    def opened(self) -> "AbstractContextManager[Project | None]":
        """The project, as long as the block lasts."""

    def progress(self) -> "Progress":
        """A function that shows how far reading is."""

    def began(self, call: "Call") -> None:
        """The call is about to be carried out."""

    def start_indexing(self, root: Path) -> None:
        """Have the search index built."""


class OwnProject:
    """The project of a command, opened for it alone."""

    folder = None

    def __init__(self, about: About, args: argparse.Namespace) -> None:
        self._about = about
        self._args = args

    def admit(self) -> None:
        from clew.surfaces.cli.opening import admit

        verb = self._about.verb
        admit(self._args, makes=verb in _MAKES_PROJECT, names=group_of(verb).options)

    @contextmanager
    def opened(self) -> "Iterator[Project | None]":
        project = _opened(self._about, self._args)
        try:
            yield project
        finally:
            if project is not None:
                project.close()

    def progress(self) -> "Progress":
        from clew.surfaces.cli.output import progress

        return progress()

    def began(self, call: "Call") -> None:
        """Nothing: only ending the process cancels the call."""

    def start_indexing(self, root: Path) -> None:
        from clew.surfaces.cli.background import start_indexing

        start_indexing(root)


def run_verb(operation: type[Operation], words: list[str], *, is_named: bool = False) -> int:
    """Carry out a command with the words after its name. `is_named` says that the user named the current folder."""
    from clew.surfaces.cli.opening import go_to_place

    args = go_to_place(parser_of(operation).parse_args(words), is_named=is_named)
    return answer_verb(operation, args, OwnProject(operation.about, args))


def answer_verb(operation: type[Operation], args: argparse.Namespace, source: ProjectSource) -> int:
    """Carry out a command, and print its answer."""
    from clew.surfaces.cli.output import exit_code_of, print_json
    from clew.text.terminal import columns, errors, links_into, note, output, wrapped

    as_json = getattr(args, "json", False)
    try:
        source.admit()
        request, result, call = _run(operation, args, source)
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
            print(text, file=output(), end="" if text.endswith("\n") else "\n")
        if (more := _further_pages(request, result, args)) is not None:
            print(coloured(more, "dim"), file=output())
    code = request.exit_code(result)
    messages = request.messages(result) if code or not as_json else ()
    for line in dict.fromkeys((*map(note, call.notes), *messages)):
        print(wrapped(as_commands(line), columns(errors())), file=errors())
    if call.news is not None:
        print(coloured(call.news, "dim", stream=errors()), file=errors())
    return code


def _is_prose(request: Operation) -> bool:
    """True if long lines may be wrapped: not in tables for programs, nor in diffs."""
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
    if about.served:
        parser.add_argument(SWITCH, action="store_true", help="read the project here, also where a server runs")
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


def _run(operation: type[Operation], args: argparse.Namespace, source: ProjectSource) -> "tuple[Operation, Any, Call]":
    from clew.operation.call import Call, answer, decode_as, perform
    from clew.surfaces.cli.output import end_progress

    about = operation.about
    arguments = operation.completed(arguments_of(operation, args))
    help_text = f"`clew {about.verb} --help` lists the options."
    request = without_bounds(decode_as(operation, arguments, about.verb or "", help_text=help_text))
    given = {each.name: getattr(args, each.name) for each in group_of(about.verb).options}
    options = {name: value for name, value in given.items() if value is not None}
    with source.opened() as project:
        try:
            # No command calls other tools.
            call = Call(
                *(project, ()), progress=source.progress(), surface="cli", as_data=getattr(args, "json", False),
                options=options, folder=source.folder,
            )  # fmt: skip
            source.began(call)
            call.begin_at = _beginning(request, args)
            if getattr(request, "max_tokens", EVERYTHING) != EVERYTHING:
                data = answer(request, call).data
                result = msgspec.convert(data, result_of(operation))
            else:
                result = perform(request, call)
            call.news, builds = _index_news(about, project)
        finally:
            end_progress()
    if builds and project is not None:
        source.start_indexing(project.config.root)
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
