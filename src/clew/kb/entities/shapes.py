"""What a word is, by its shape alone."""

import re

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
"""What operating systems call them. Other words of capital letters that begin like them are just words."""
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
    """What a word set in code is; None where its shape does not tell. Where the text around it is about settings, a
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
