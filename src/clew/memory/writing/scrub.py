"""Secrets are taken out of a text before it is stored; the answer names their kind and place, never their value.

A secret is known by its shape (`secret_kinds.TOKENS`), or by what it is assigned to: `export API_KEY=...`,
`spring.datasource.password: ...`, `"client_secret" : "..."`. What only talks about secrets, such as `token: str` or
`password=os.environ["PW"]`, stays as it is.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from clew.memory.writing.secret_kinds import NAME_MARKS, NAMES, TOKENS


class Redaction(msgspec.Struct, frozen=True):
    kind: str
    start: int
    end: int
    """Characters of the text as it was given."""
    field: str = "content"
    """Which of the given texts it was in: content, rationale, tags[0], metadata.owner, ..."""


class Scrubbed(msgspec.Struct, frozen=True):
    text: str
    found: tuple[Redaction, ...] = ()


_ASSIGNED = re.compile(
    r"""[\w.-]{0,40}            # the rest of the name
        (?:\\?['"`]|\])?\s{0,8} # the quote that ends it
        (?P<sign>=>|:=|={1,3}(?!=)|:(?!:)|\b(?:is|was)\b(?=\s))
        [ \t]{0,8}(?:[|>][ \t]*\n[ \t]{1,16})?""",
    re.VERBOSE,
)
_OPTION = re.compile(r"[\w-]{0,40}[ \t]{1,4}(?=[^\s-])")
_QUOTED = re.compile(r"""(\\?["'`])(?P<value>(?:(?!\1)[^\n]){1,4096})\1""")
_UNQUOTED = re.compile(r"[^\s'\"`<>]+")
_ALONE = re.compile(r"[ \t]*(?:$|\n|#)")
_JUDGED = 256
"""Characters of a value that tell whether it is one; a longer one is taken out whole."""

_CODE = re.compile(
    r"""[({\[$<*%]|::|->|\.\.\.|…|^(?:os|env|self|process|config|settings|args|request|getpass|vault|secrets)\b[.:]|^[/~.]/?\w*/
        |REDACTED|^(?:none|null|true|false|nil|undefined|required|optional|string|str|bytes|int|bool|any)\b
        |^(?:your|my|the|a|an|some|example|changeme|placeholder|xxx)\b|^[A-Z_]*(?:PASSWORD|TOKEN|SECRET|KEY|VALUE)[A-Z_]*$""",
    re.VERBOSE | re.IGNORECASE,
)
"""What stands for a value, but is none: an expression, a type, a placeholder."""
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[A-Za-z]")
_MARKS = re.compile(r"[!#@^&+/=~?|-]")
_SECRET_NAME = re.compile(
    r"(?:^|[_.\-\s]|(?<=[a-z]))(?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|api[_.-]?key|(?:access|private|"
    r"secret|signing|auth|encryption|master|account|shared)[_.-]?key|authorization|bearer)$",
    re.IGNORECASE,
)


def scrub(text: str, field: str = "content") -> Scrubbed:
    """The text with each secret replaced by its kind."""
    found = tuple(_found(text, field))
    if not found:
        return Scrubbed(text)
    parts: list[str] = []
    end = 0
    for each in found:
        parts += [text[end : each.start], f"[REDACTED:{each.kind}]"]
        end = each.end
    return Scrubbed("".join((*parts, text[end:])), found)


def scrub_value(value: Any, field: str, found: list[Redaction]) -> Any:
    """A value of JSON without secrets, in names as well; what was taken out is added to `found`."""
    if isinstance(value, str):
        scrubbed = scrub(value, field)
        found.extend(scrubbed.found)
        return scrubbed.text
    if isinstance(value, dict):
        return {
            scrub_value(name, field, found): _scrub_named(name, inner, f"{field}.{scrub(name).text}", found)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [scrub_value(inner, f"{field}[{at}]", found) for at, inner in enumerate(value)]
    return value


def _scrub_named(name: str, value: Any, field: str, found: list[Redaction]) -> Any:
    """What a name says to be a secret is one, whatever it looks like."""
    if isinstance(value, str) and value.strip() and _SECRET_NAME.search(name):
        found.append(Redaction("named_secret", 0, len(value), field))
        return "[REDACTED:named_secret]"
    return scrub_value(value, field, found)


def _found(text: str, field: str) -> Iterator[Redaction]:
    """Where secrets stand, in order and without overlap; of two that overlap the one that begins first."""
    places = [
        (match.start(), match.end(), kind)
        for kind, marks, pattern in TOKENS
        if any(mark in text for mark in marks)
        for match in pattern.finditer(text)
    ]
    lowered = text.lower()
    if any(mark in lowered for mark in NAME_MARKS):
        places += _assigned(text)
    end = 0
    for start, stop, kind in sorted(places, key=lambda place: (place[0], -place[1])):
        if start >= end:
            yield Redaction(kind, start, stop, field)
            end = stop
        elif stop > end:
            yield Redaction(kind, end, stop, field)
            end = stop


def _assigned(text: str) -> Iterator[tuple[int, int, str]]:
    at = 0
    while (name := NAMES.search(text, at)) is not None:
        at, kind = name.end(), name.lastgroup or ""
        sign = _ASSIGNED.match(text, at)
        is_option = sign is None and text[max(0, name.start() - 40) : name.start()].rpartition(" ")[2].startswith("--")
        if is_option:
            sign = _OPTION.match(text, at)
        if sign is None:
            continue
        quoted = _QUOTED.match(text, sign.end())
        unquoted = None if quoted else _UNQUOTED.match(text, sign.end(), sign.end() + _JUDGED)
        if quoted is not None and _is_secret(kind, quoted["value"][:_JUDGED], quoted=True, prose=False):
            yield quoted.start("value"), quoted.end("value"), kind
            at = quoted.end()
        elif unquoted is not None:
            prose = sign.re is _ASSIGNED and sign["sign"] in (":", "is", "was")
            # In a file of settings nothing else stands on the line.
            prose = prose and not (sign["sign"] == ":" and _ALONE.match(text, unquoted.end()) is not None)
            value = unquoted[0].rstrip(".,;:!?)]}")
            if _is_secret(kind, value, quoted=False, prose=prose):
                whole = _UNQUOTED.match(text, sign.end())
                end = sign.end() + len(value)
                at = end if whole is None or len(unquoted[0]) < _JUDGED else whole.end()
                yield sign.end(), at, kind


def _is_secret(kind: str, value: str, *, quoted: bool, prose: bool) -> bool:
    """Whether what is assigned to such a name is a value."""
    if _CODE.search(value):
        return False
    digit, letter = _DIGIT.search(value) is not None, _LETTER.search(value) is not None
    mixed = digit and (letter or _MARKS.search(value) is not None)
    is_random = mixed and " " not in value and "/" not in value[:2]
    if kind == "password":
        if prose:
            return len(value) >= 5 and (
                mixed or (letter and _MARKS.search(value[1:-1]) is not None and "'" not in value)
            )
        return len(value) >= 4 and (quoted or digit or len(value) >= 6)
    if kind in ("secret", "client_secret", "aws_secret_key", "credential"):
        return is_random and len(value) >= 8
    return is_random and len(value) >= (16 if kind in ("key", "token") else 12)
