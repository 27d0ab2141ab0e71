"""Commands that are operations: options from the fields, the same call that an MCP client makes, a text for people."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import ClewError, ConfigError, InvalidArgument, NotFound
from clew.operation.declare import About, Operation, Toolset, overrides, result_of
from clew.operation.listing import Listed, all_verbs
from clew.operation.options import add_options, arguments_of, writes_json
from clew.surfaces.cli.groups import options_of
from clew.text.shortening import shortened

if TYPE_CHECKING:
    from clew.operation.call import Call
    from clew.project import Project


def find_verb(words: Sequence[str]) -> tuple[Listed, list[str]] | None:
    """The operation whose command these words begin with, and the words after it."""
    verbs = all_verbs()
    words = _action_first(words, verbs)
    for length in range(min(3, len(words)), 0, -1):
        found = verbs.get(" ".join(words[:length]))
        if found is not None:
            return found, list(words[length:])
    return None


def _action_first(words: Sequence[str], verbs: Mapping[str, Listed]) -> Sequence[str]:
    """`clew kb -C folder search` is `clew kb search -C folder`."""
    place = 1
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in ("-C", "--folder") else 1
    if place == 1 or place >= len(words) or f"{words[0]} {words[place]}" not in verbs:
        return words
    return [words[0], words[place], *words[1:place], *words[place + 1 :]]


def verbs_of(group: str) -> Iterator[Listed]:
    """The commands of a group such as `req`, in the order of the listing."""
    return (listed for verb, listed in all_verbs().items() if verb == listed.verb and verb.startswith(f"{group} "))


def run_verb(listed: Listed, words: list[str], options: Mapping[str, str]) -> int:
    """Carry out a command; `options` are those that its group was given before the command."""
    from clew.surfaces.cli.output import print_json
    from clew.text.terminal import links_into, note

    operation = listed.operation
    if "" in listed.aliases and words and not words[0].startswith("-"):
        group = (listed.verb or "").rpartition(" ")[0]
        known = (each.verb or "" for each in verbs_of(group))
        raise InvalidArgument(
            f"There is no command 'clew {group} {shortened(words[0])}'.", hint=f"Commands are: {', '.join(known)}."
        )
    args = parser_of(operation, options).parse_args(words)
    as_json = getattr(args, "json", False)
    try:
        request, result, call = _run(operation, args)
        if overrides(operation, "document") and (file := request.output_file()) is not None:
            _write(request.document(result), Path(file))
    except ClewError as error:
        if not as_json or operation.about.toolset is not Toolset.REGISTER:
            raise
        from clew.surfaces.mcp.dialects import dialect_of

        print_json(dialect_of(operation.about.toolset)(error))
        return 1 if isinstance(error, NotFound) else 2
    if as_json:
        print_json(msgspec.to_builtins(request.data(result)))
    else:
        with links_into(call.root):
            text = request.render(result)
        if text:
            print(text, end="" if text.endswith("\n") else "\n")
    code = request.exit_code(result)
    messages = request.messages(result) if code or not as_json else ()
    for line in (*map(note, call.notes), *messages):
        print(line, file=sys.stderr)
    return code


def _write(document: str, file: Path) -> None:
    try:
        file.write_text(document, encoding="utf-8", newline="", errors="backslashreplace")
    except OSError as error:
        raise InvalidArgument(
            f"The file '{file}' cannot be written: {error.strerror}.", hint="Name a file in a folder that exists."
        ) from error


def parser_of(operation: type[Operation], options: Mapping[str, str]) -> argparse.ArgumentParser:
    """The options of a command; `options` are those that its group was given before the command."""
    from clew.surfaces.cli.opening import add_folder, add_json

    about = operation.about
    parser = _explained(about.verb or "", about.summary or about.title, _epilog(about.verb or "", about))
    add_options(parser, operation)
    for option in options_of(about.verb):
        parser.add_argument(option.flag, metavar=option.metavar, help=option.about)
    if about.folder != "none":
        add_folder(parser, positional=about.folder == "argument")
    if writes_json(operation):
        parser.add_argument(
            "--json", action="store_const", dest="format", const="json", help="the same as --format json"
        )
    else:
        add_json(parser)
    parser.set_defaults(**options)
    return parser


def _epilog(verb: str, about: About) -> str:
    """Examples; before them the other commands, where the name of the group alone means this one."""
    parts = [commands_of(verb.rpartition(" ")[0])] if "" in about.aliases else []
    if about.epilog:
        parts.append("example:\n  " + about.epilog.strip().replace("\n", "\n  "))
    return "\n\n".join(parts)


def commands_of(group: str) -> str:
    """The commands of a group, each with its summary."""
    listed = {each.verb or "": each.summary or each.title for each in verbs_of(group)}
    width = max(map(len, listed), default=0) + 2
    return "\n".join(("commands:", *(f"  {verb:<{width}}{summary}" for verb, summary in listed.items())))


def _explained(verb: str, summary: str, examples: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=f"clew {verb}",
        description=summary[:1].upper() + summary[1:] + ".",
        epilog=examples or None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _run(operation: type[Operation], args: argparse.Namespace) -> "tuple[Operation, Any, Call]":
    from clew.operation.call import Call, answer, decode_as, perform
    from clew.surfaces.cli.output import end_progress, progress

    about = operation.about
    arguments = operation.completed(arguments_of(operation, args))
    help_text = f"`clew {about.verb} --help` lists the options."
    request = decode_as(operation, arguments, about.verb or "", help_text=help_text)
    given = {each.name: getattr(args, each.name) for each in options_of(about.verb)}
    options = {name: value for name, value in given.items() if value is not None}
    project = _opened(about, args)
    try:
        # No command calls other tools.
        call = Call(
            project, (), progress=progress(), surface="cli", as_data=getattr(args, "json", False), options=options
        )  # fmt: skip
        if getattr(request, "max_tokens", None):
            data = answer(request, call).data
            return request, msgspec.convert(data, result_of(operation)), call
        return request, perform(request, call), call
    finally:
        end_progress()
        if project is not None:
            project.close()


def _opened(about: About, args: argparse.Namespace) -> "Project | None":
    if about.folder == "none":
        return None
    from clew.config import load_defaults
    from clew.project import Project
    from clew.surfaces.cli.opening import open_project

    try:
        return open_project(args.folder, drafts=about.drafts, told=about.toolset is not Toolset.REGISTER)
    except ConfigError:
        if about.needs_config:
            raise
        return Project(load_defaults(Path(args.folder)))
