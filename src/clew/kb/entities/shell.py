"""Lines that are meant for a shell: the commands, flags and variables in them."""

import re
from collections.abc import Iterator

from clew.kb.entities.model import EntityKind
from clew.kb.entities.shapes import FLAG, VARIABLE_USE

SHELLS = frozenset(
    {"console", "sh", "bash", "shell", "shell-session", "zsh", "fish", "terminal", "powershell", "ps1", "bat"}
)
PROMPTED = frozenset({"console", "shell-session", "terminal"})

_PROMPT = re.compile(r"\s*(?:\$|>|PS>|%)\s+(?=\S)")
_BREAK = re.compile(r"\s*(?:&&|\|\||;|\|)\s*")
_ASSIGNMENT = re.compile(r"([A-Z][A-Z0-9_]{1,})=(\S*)")
_PROGRAM = re.compile(r"(?:\.{0,2}/)?[A-Za-z][\w.+/-]*")
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9-]*")
_SHORT_FLAG = re.compile(r"-[A-Za-z]")
_OPTION = re.compile(r"-[A-Za-z]{1,4}|--[a-z][a-z0-9-]*(?:=\S*)?")
_PASSED_OVER = frozenset({"sudo", "env", "time", "exec", "nohup", "command"})
_WITHOUT_COMMANDS = """
    cat cd chmod chown cp curl echo export find grep ln ls mkdir mv printf rm rmdir sed set source tail test touch wget
    which
"""
_ALONE = frozenset(_WITHOUT_COMMANDS.split())
"""Programs whose next word is an argument, not a command of theirs."""


def shell_lines(code: str, language: str) -> Iterator[str]:
    """The lines of a code block that are typed: those after a prompt, or all where the language is a shell's."""
    lines = code.splitlines()
    prompted = [line for line in lines if re.match(r"\s*\$\s+\S", line)]
    if prompted or language in PROMPTED:
        yield from (_PROMPT.sub("", line, count=1) for line in prompted)
    elif language in SHELLS:
        yield from (line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#"))


def in_shell_line(line: str) -> Iterator[tuple[EntityKind, str]]:
    """What one line for a shell names."""
    line = line.partition(" #")[0]
    for match in VARIABLE_USE.finditer(line):
        yield EntityKind.VARIABLE, match[1]
    for part in _BREAK.split(line):
        yield from _in_part(part.split())


def command_of(words: list[str]) -> str | None:
    """The name of a command: its program and, where it has some, the command of that program."""
    if not words or not _PROGRAM.fullmatch(words[0]):
        return None
    program = words[0].rpartition("/")[2] if words[0].startswith(("./", "/", "../")) else words[0]
    if words[1:2] == ["-m"] and len(words) > 2:
        return f"{program} -m {words[2]}"
    name = [program]
    if program not in _ALONE:
        name += [word for word in words[1:2] if _SUBCOMMAND.fullmatch(word)]
    return " ".join(name)


def is_call(words: list[str]) -> bool:
    """Whether words begin like the call of a program with an option: `program --flag`, `program -lt`."""
    return len(words) > 1 and _OPTION.fullmatch(words[1]) is not None and command_of(words[:1]) is not None


def is_command(words: list[str]) -> bool:
    """Whether words look like a program with a command of its own, in small letters throughout."""
    return len(words) > 1 and words[0].islower() and _SUBCOMMAND.fullmatch(words[1]) is not None


def _in_part(words: list[str]) -> Iterator[tuple[EntityKind, str]]:
    exports = words[:1] == ["export"]
    while words and (words[0] in _PASSED_OVER or _ASSIGNMENT.fullmatch(words[0])):
        if (assigned := _ASSIGNMENT.fullmatch(words[0])) is not None:
            yield EntityKind.VARIABLE, assigned[1]
        words = words[1:]
    if exports:
        for word in words[1:]:
            if (assigned := _ASSIGNMENT.fullmatch(word)) is not None:
                yield EntityKind.VARIABLE, assigned[1]
        return
    name = command_of(words)
    if name is not None:
        yield EntityKind.COMMAND, name
    for word in words[1:]:
        if (assigned := _ASSIGNMENT.fullmatch(word)) is not None:
            yield EntityKind.VARIABLE, assigned[1]
        bare = word.strip("[]").partition("=")[0]
        if FLAG.fullmatch(bare) or (_SHORT_FLAG.fullmatch(bare) and bare != "-m"):
            yield EntityKind.FLAG, bare
