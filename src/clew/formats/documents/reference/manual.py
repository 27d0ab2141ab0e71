"""Pages of the manual (troff with the macros of man or mdoc) to what a person would read of them.

Macros that open sections are headings, those that make words bold or slanted are their words, and what only arranges
the page is left out. Requests that troff would compute (conditions, definitions, includes) are never carried out.
"""

import re

from clew.formats.documents.model import BlockKind
from clew.formats.documents.page import Page
from clew.text.lines import TextLines

_MACRO = re.compile(r"[.'][ \t]*([A-Za-z]{1,3})(?![A-Za-z])[ \t]*(.*)")
_WORD = re.compile(r'"((?:[^"]|"")*)"?|([^ \t]+)')
_FONT = re.compile(r"\\[fm](?:\[[^\]\n]{0,40}\]|\(..|.)|\\s[+-]?\d|\\[ud]")
_SIGN = re.compile(r"\\(?:\((..)|\[([^\]\n]{1,40})\]|(.))")
_SIGNS = {
    "aq": "'",
    "dq": '"',
    "lq": "“",
    "rq": "”",
    "oq": "‘",
    "cq": "’",
    "em": "—",
    "en": "–",
    "bu": "•",
    "co": "©",
    "hy": "-",
    "ha": "^",
    "ti": "~",
    "rs": "\\",
    "ga": "`",
    "la": "<",
    "ra": ">",
    "->": "→",
    "<-": "←",
}
_LETTERS = {"-": "-", "e": "\\", " ": " ", "~": " ", "0": " ", "t": "\t", "'": "'", "`": "`", ".": "."}
_FONTS_NAMES = """
    B I R SM SB Nm Ar Pa Em Sy Li Cm Va Vt Fn Ft Fa Ev Xr Dv Er In Ic Op Oo Ns Lk Mt
"""
_FONTS = frozenset(_FONTS_NAMES.split())
_JOINED_NAMES = """
    BR BI IB IR RB RI
"""
_JOINED = frozenset(_JOINED_NAMES.split())
_QUOTED = {"Dq": "“{}”", "Sq": "‘{}’", "Qq": '"{}"', "Ql": "`{}`", "Pq": "({})", "Bq": "[{}]", "Aq": "<{}>"}
_PARAGRAPHS_NAMES = """
    PP P LP Pp HP RS RE El sp
"""
_PARAGRAPHS = frozenset(_PARAGRAPHS_NAMES.split())
_CODE_BEGINS, _CODE_ENDS = frozenset(("nf", "EX")), frozenset(("fi", "EE"))


class _Manual:
    def __init__(self) -> None:
        self.page = Page()
        self._lines: list[str] = []
        self._first = self._last = 1
        self._kind = BlockKind.PROSE
        self._wants_tag = False
        """True if the next line is the term that an item explains."""

    def read(self, lines: TextLines) -> None:
        ignored = False
        for number, line in enumerate(lines.bare, start=1):
            if ignored:
                ignored = not line.startswith("..")
            elif line[:1] not in (".", "'"):
                self._text(line, number)
            elif (found := _MACRO.match(line)) is not None:
                ignored = found[1] in ("de", "ig", "am")
                self._macro(found[1], found[2], number)
        self._end()

    def _macro(self, name: str, rest: str, number: int) -> None:
        if name in ("TH", "Dt"):
            words = _words(rest)
            self._heading(1, f"{words[0]}({words[1]})" if len(words) > 1 else "".join(words), number)
        elif name in ("SH", "Sh", "SS", "Ss"):
            self._heading(2 if name in ("SH", "Sh") else 3, " ".join(_words(rest)), number)
        elif name in _PARAGRAPHS:
            self._end()
        elif name in ("TP", "TQ"):
            self._begin(BlockKind.ITEM)
            self._wants_tag = True
        elif name == "IP":
            self._begin(BlockKind.ITEM)
            self._text_of(" ".join(_words(rest)[:1]), number, tag=True)
        elif name == "It":
            self._begin(BlockKind.ITEM)
            self._text_of(_spoken(rest), number, tag=True)
        elif name in _CODE_BEGINS or name == "Bd":
            self._begin(BlockKind.CODE)
        elif name in _CODE_ENDS or name == "Ed":
            self._end()
        elif name == "Nd":
            self._text_of(f"— {_spoken(rest)}", number)
        elif name in _JOINED:
            self._text_of("".join(_words(rest)), number)
        elif name in _FONTS or name in _QUOTED or name == "Fl":
            self._text_of(_spoken(f"{name} {rest}"), number)

    def _heading(self, level: int, title: str, number: int) -> None:
        self._end()
        self.page.add(BlockKind.HEADING, title, number, number, level=level, title=title)

    def _text(self, line: str, number: int) -> None:
        if line.strip():
            self._text_of(_plain(line), number)
        elif self._kind is not BlockKind.CODE:
            self._end()

    def _text_of(self, text: str, number: int, *, tag: bool = False) -> None:
        if not text.strip():
            return
        if not self._lines:
            self._first = number
        self._last = number
        # The term stands on a line of its own, as on a terminal.
        self._lines.append(f"{text.strip()}\n" if tag or self._wants_tag else text)
        self._wants_tag = False

    def _begin(self, kind: BlockKind) -> None:
        self._end()
        self._kind = kind

    def _end(self) -> None:
        text = "\n".join(self._lines) if self._kind is BlockKind.CODE else " ".join(self._lines).replace("\n ", "\n")
        self.page.add(self._kind, text, self._first, self._last)
        self._lines, self._kind, self._wants_tag = [], BlockKind.PROSE, False


def read_manual(text: str) -> Page:
    """A page of the manual. Takes time linear in its length."""
    manual = _Manual()
    manual.read(TextLines(text))
    return manual.page


def _words(rest: str) -> list[str]:
    found = (match[1].replace('""', '"') if match[1] is not None else match[2] for match in _WORD.finditer(rest))
    return [_plain(each) for each in found if not each.startswith('\\"')]


def _spoken(rest: str) -> str:
    """The words of a line of mdoc, whose macros may stand inside it."""
    said: list[str] = []
    minus, shape = False, ""
    for word in _words(rest):
        if word == "Fl":
            minus = True
        elif word in _QUOTED:
            shape = shape or _QUOTED[word]
        elif word not in _FONTS:
            said.append(f"-{word}" if minus else word)
            minus = False
    text = " ".join(said)
    return shape.format(text) if shape else text


def _plain(text: str) -> str:
    """A text without the escapes of troff."""
    if "\\" not in text:
        return text
    return _SIGN.sub(_sign, _FONT.sub("", text.partition('\\"')[0]))


def _sign(found: re.Match[str]) -> str:
    if found[3] is not None:
        return _LETTERS.get(found[3], "")
    return _SIGNS.get(found[1] or found[2], "")
