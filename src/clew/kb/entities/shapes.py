"""Kinds of words, by their shape alone.

Lines that are meant for a shell: the commands, flags and variables in them.
"""

import re
from collections.abc import Iterator

from clew.kb.entities.model import EntityKind

_ENDINGS = """
    bash bat c cc cfg cmake conf cpp cs css csv dart db env go gradle h hpp htm html ini ipynb java jpg js json jsonl
    jsx kt lock log lua md mdx mjs pdf php pl png ps1 py pyi pyx rb req rs rst scala sh sql sqlite svg swift tf toml ts
    tsv tsx txt vue whl xml yaml yml zip zsh
"""
_ENDING = "|".join(_ENDINGS.split())
_NUMBERED_ERRORS = """
    EACCES EADDRINUSE EADDRNOTAVAIL EAGAIN EALREADY EBADF EBUSY ECHILD ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK
    EEXIST EFAULT EFBIG EHOSTUNREACH EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR ELOOP EMFILE EMLINK EMSGSIZE
    ENAMETOOLONG ENETDOWN ENETUNREACH ENFILE ENOBUFS ENODEV ENOENT ENOEXEC ENOMEM ENOSPC ENOSYS ENOTCONN ENOTDIR
    ENOTEMPTY ENOTSOCK ENOTSUP EOPNOTSUPP EOVERFLOW EPERM EPIPE EPROTO ERANGE EROFS ESPIPE ESRCH ESTALE ETIMEDOUT
    ETXTBSY EXDEV
"""
"""Names of errors in operating systems. Other words of capital letters that begin like them are just words."""
_ERRNO = "|".join(_NUMBERED_ERRORS.split())
_NAMES = frozenset(
    {"Dockerfile", "Makefile", "Jenkinsfile", "LICENSE", "README", "CHANGELOG", ".gitignore", ".env", ".dockerignore"}
)

FLAG = re.compile(r"(?<![\w/.-])--[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*(?![\w-])")
VARIABLE = re.compile(r"(?<![\w-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w(-])")
VARIABLE_USE = re.compile(r"\$\{?([A-Z][A-Z0-9_]{2,})\b")
FILE = re.compile(rf"(?<![\w@:/.~-])(?:(?:~|\.{{0,2}})/)?(?:[\w.-]+/)*[\w-][\w.-]*\.(?:{_ENDING})(?![\w-]|\.\w|/)")
FOLDER = re.compile(r"(?:\.{1,2}/)?(?:[\w.-]+/)+")
ERROR = re.compile(
    rf"(?<![\w.-])(?:[A-Z][A-Za-z0-9]*(?:Error|Exception|Warning|Fault)|ERR_[A-Z0-9_]+|E[0-9]{{3,5}}|{_ERRNO})(?![\w(-])"
)
VERSION = re.compile(
    r"(?<![\w.-])(?:v[0-9]+(?:\.[0-9]+)*|[0-9]+\.[0-9]+\.[0-9]+(?:\.[0-9]+)?)(?:[-.]?(?:rc|alpha|beta|dev|a|b)[.-]?[0-9]*)?"
    r"(?![\w-]|\.[0-9])"
)
NAMED_VERSION = re.compile(
    r"\b([A-Z][A-Za-z+#]{2,}|[Vv]ersions?|[Rr]eleases?) ([0-9]+\.[0-9]+(?:\.[0-9]+)*)(?![\w%-]|\.[0-9])"
)
PINNED = re.compile(r"==\s*([0-9]+(?:\.[0-9]+)+)(?![\w-]|\.[0-9])")
_SAID_VERSION = re.compile(
    r"(?i:\b(?:upgrad|migrat|downgrad)\w* (?:from|to) )([0-9]+(?:\.[0-9]+)+)(?![\w-]|\.[0-9])"
    r"|(?<![\w.-])([0-9]+(?:\.[0-9]+)+)(?= or (?:newer|later|above|higher|older|earlier)\b)"
)
_NO_VERSION = frozenset(
    {"Section", "Table", "Figure", "Chapter", "Part", "Appendix", "Page", "Line", "Step", "Equation"}
)

_CALL = re.compile(r"[A-Za-z_][\w]*(?:(?:\.|::)[A-Za-z_]\w*)*\((?:[^()]{0,60})\)")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+")
_CAMEL = re.compile(r"[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z]+(?:[A-Z][a-z0-9]+)+")
_SNAKE = re.compile(r"_{0,2}[a-z][a-z0-9]*(?:_[a-z0-9]+)+_{0,2}")
_KEY = re.compile(r"[a-z][\w-]*(?:\.[a-z][\w-]*)+")
_ASSIGNED = re.compile(r"([A-Za-z_][\w.-]*)\s*=\s*\S.*")


def kind_of_code(word: str, *, about_settings: bool) -> EntityKind | None:
    """The kind of a word set in code; None if its shape does not tell. Where the text around it is about settings, a
    dotted name is a key of them."""
    if FLAG.match(word) or re.fullmatch(r"-[A-Za-z]", word):
        return EntityKind.FLAG
    if VARIABLE.fullmatch(word):
        return EntityKind.VARIABLE
    if FILE.fullmatch(word) or FOLDER.fullmatch(word) or word in _NAMES:
        return EntityKind.FILE
    if ERROR.fullmatch(word):
        return EntityKind.ERROR
    if VERSION.fullmatch(word):
        return EntityKind.VERSION
    if _CALL.fullmatch(word):
        return EntityKind.SYMBOL
    if about_settings and (_KEY.fullmatch(word) or _SNAKE.fullmatch(word)):
        return EntityKind.KEY
    if _DOTTED.fullmatch(word) or _CAMEL.fullmatch(word) or _SNAKE.fullmatch(word):
        return EntityKind.SYMBOL
    return None


def is_call(code: str) -> bool:
    return _CALL.fullmatch(code) is not None


def called(word: str) -> str:
    """A symbol without the arguments it is called with."""
    return word.partition("(")[0]


def assigned_key(word: str) -> str | None:
    """The key of `key = value`, as texts about settings write it."""
    match = _ASSIGNED.fullmatch(word)
    return match[1] if match is not None else None


def pinned_versions(code: str) -> list[str]:
    """The versions that code asks for, as `name==1.2`."""
    return [match[1] for match in PINNED.finditer(code)]


def versions(text: str) -> list[str]:
    """The versions that a text names: `v2.1`, `1.4.2`, and the number in `Python 3.11` and in `3.11 or newer`."""
    found = [match[0] for match in VERSION.finditer(text)]
    for match in NAMED_VERSION.finditer(text):
        if match[1] not in _NO_VERSION and match[2] not in found:
            found.append(match[2])
    found += [name for match in _SAID_VERSION.finditer(text) if (name := match[1] or match[2]) not in found]
    return found


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
    """The lines of a code block that a user types: those after a prompt, or all lines in a language of shells."""
    lines = code.splitlines()
    prompted = [line for line in lines if re.match(r"\s*\$\s+\S", line)]
    if prompted or language in PROMPTED:
        yield from (_PROMPT.sub("", line, count=1) for line in prompted)
    elif language in SHELLS:
        yield from (line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#"))


def in_shell_line(line: str) -> Iterator[tuple[EntityKind, str]]:
    """The entities in one line for a shell."""
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


def is_shell_call(words: list[str]) -> bool:
    """True if words begin like the call of a program with an option: `program --flag`, `program -lt`."""
    return len(words) > 1 and _OPTION.fullmatch(words[1]) is not None and command_of(words[:1]) is not None


def is_command(words: list[str]) -> bool:
    """True if words look like a program with a subcommand, in small letters throughout."""
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
