"""Secrets that are known by the name they are assigned to: `export API_KEY=...`, `spring.datasource.password: ...`,
`"client_secret" : "..."`. A text that only talks about a secret, such as `token: str` or `password=os.environ["PW"]`,
does not count.

Only imported for a text that holds a part of such a name: a hook starts with every prompt, and most prompts do not.
"""

import re
from collections.abc import Iterator

from clew.memory.texts.secret_kinds import NAMES

_NAME = re.compile(NAMES, re.IGNORECASE)
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
"""Text in the place of a value that is not a secret: an expression, a type, a placeholder."""
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[A-Za-z]")
_MARKS = re.compile(r"[!#@^&+/=~?|-]")
SECRET_NAME = re.compile(
    r"(?:^|[_.\-\s]|(?<=[a-z]))(?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|api[_.-]?key|(?:access|private|"
    r"secret|signing|auth|encryption|master|account|shared)[_.-]?key|authorization|bearer)$",
    re.IGNORECASE,
)
"""A name that says of its value that it is a secret."""


def assigned(text: str) -> Iterator[tuple[int, int, str]]:
    """The spans of such values, each with its kind."""
    at = 0
    while (name := _NAME.search(text, at)) is not None:
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
            # In a file of settings nothing else is on the line.
            prose = prose and not (sign["sign"] == ":" and _ALONE.match(text, unquoted.end()) is not None)
            value = unquoted[0].rstrip(".,;:!?)]}")
            if _is_secret(kind, value, quoted=False, prose=prose):
                whole = _UNQUOTED.match(text, sign.end())
                end = sign.end() + len(value)
                at = end if whole is None or len(unquoted[0]) < _JUDGED else whole.end()
                yield sign.end(), at, kind


def _is_secret(kind: str, value: str, *, quoted: bool, prose: bool) -> bool:
    """True if the text assigned to such a name is a value."""
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
