"""Commands that are operations: options from the fields, the same call that an MCP client makes, a text for people."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from clew.errors import ClewError, InvalidArgument, NotFound
from clew.operation.call import Call, carry_out, decode_as, perform
from clew.operation.declare import Operation, Toolset, result_of
from clew.operation.listing import Listed, all_verbs
from clew.operation.options import add_options, arguments_of
from clew.operation.registry import tool_of
from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import end_progress, print_json, print_note, progress
from clew.surfaces.mcp.dialects import dialect_of
from clew.surfaces.mcp.tools import TOOLS
from clew.text.shortening import shortened


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
    """Carry out a command; `options` are those of its group."""
    operation = listed.operation
    if "" in listed.aliases and words and not words[0].startswith("-"):
        group = (listed.verb or "").rpartition(" ")[0]
        known = (each.verb or "" for each in verbs_of(group))
        raise InvalidArgument(
            f"There is no command 'clew {group} {shortened(words[0])}'.", hint=f"Commands are: {', '.join(known)}."
        )
    args = _parser(operation).parse_args(words)
    arguments = arguments_of(operation, args)
    try:
        request, result, call = _run(operation, arguments, args, options)
    except ClewError as error:
        if not args.json or operation.about.toolset is not Toolset.REGISTER:
            raise
        print_json(dialect_of(operation.about.toolset)(error))
        return 1 if isinstance(error, NotFound) else 2
    if args.json:
        print_json(msgspec.to_builtins(result))
    elif text := request.render_in(call.project.config.root, result):
        print(text, end="" if text.endswith("\n") else "\n")
    for note in (*call.notes, *request.notes(result)):
        print_note(note)
    return request.exit_code(result)


def _parser(operation: type[Operation]) -> argparse.ArgumentParser:
    about = operation.about
    summary = about.summary or about.title
    parser = argparse.ArgumentParser(
        prog=f"clew {about.verb}",
        description=summary[:1].upper() + summary[1:] + ".",
        epilog=_epilog(about.verb or "", about.aliases, about.epilog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser, operation)
    add_folder(parser, positional=about.folder == "argument")
    add_json(parser)
    return parser


def _epilog(verb: str, aliases: Sequence[str], examples: str) -> str | None:
    """Examples; before them the other commands, where the name of the group alone means this one."""
    parts = [commands_of(verb.rpartition(" ")[0])] if "" in aliases else []
    if examples:
        parts.append("example:\n  " + examples.strip().replace("\n", "\n  "))
    return "\n\n".join(parts) or None


def commands_of(group: str) -> str:
    """The commands of a group, each with its summary."""
    listed = {each.verb or "": each.summary or each.title for each in verbs_of(group)}
    width = max(map(len, listed), default=0) + 2
    return "\n".join(("commands:", *(f"  {verb:<{width}}{summary}" for verb, summary in listed.items())))


def _run(
    operation: type[Operation], arguments: dict[str, Any], args: argparse.Namespace, options: Mapping[str, str]
) -> tuple[Operation, Any, Call]:
    about = operation.about
    request = decode_as(operation, arguments, f"clew {about.verb}")
    with opened(args, drafts=about.drafts, told=about.toolset is not Toolset.REGISTER) as project:
        call = Call(project, TOOLS, progress=progress(), surface="cli", options=options)
        try:
            if getattr(request, "max_tokens", None):
                data = carry_out(tool_of(operation), arguments, call).data
                return request, msgspec.convert(data, result_of(operation)), call
            return request, perform(request, call), call
        finally:
            end_progress()
