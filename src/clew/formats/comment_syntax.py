"""Writing a comment in the language of a file: which marks to put around it."""

import re

from clew.formats.languages import Family

_LINE_MARKS = {
    "#": "python shell data yaml toml r nix ruby perl elixir julia nim powershell terraform",
    "//": "script dart groovy c zig java csharp kotlin swift go rust php style fsharp pascal",
    "--": "sql lua haskell dashes",
    "%": "tex erlang prolog",
    ";;": "lisp",
    ";": "config",
    "!": "fortran",
    '"': "vim",
    "'": "basic",
}
_BLOCK_MARKS = {
    "css": ("/*", "*/"),
    "ml": ("(*", "*)"),
    "markup": ("<!--", "-->"),
    "template": ("{#", "#}"),
}
_MARK_OF = {family: mark for mark, families in _LINE_MARKS.items() for family in families.split()}

_SECTION = re.compile(r"<(/?)(script|style)\b[^>]*>", re.IGNORECASE)


def comment(body: str, family: Family, before: str = "") -> str:
    """The body as a comment on a line of its own. `before` is the text above it: a component file speaks several
    languages, one after the other."""
    mark = _MARK_OF.get(family.name)
    if mark is not None:
        return f"{mark} {body}"
    marks = _BLOCK_MARKS.get(family.name)
    if marks is None:
        tags = _SECTION.findall(before)
        in_section = bool(tags) and not tags[-1][0]
        marks = _BLOCK_MARKS["css" if in_section else "markup"]
    return f"{marks[0]} {body} {marks[1]}"
