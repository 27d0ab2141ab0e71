"""Blocks gathered into sections, each with a name that lasts; and how names are made from headings."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from clew.formats.documents.model import Block, BlockKind, Section

LONGEST_TITLE = 500
"""Every piece of a section carries its title, so a longer one is cut: nobody reads it."""
PREAMBLE = "preamble"
LONGEST_ANCHOR = 200

LONGEST = 80

_WORD = re.compile(r"[^\W_]+")
_MARKUP = re.compile(r"`+|\*\*|__|(?<![\w*])\*|\*(?![\w*])|(?<!\w)_|_(?!\w)")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\])")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_NOT_IN_LABEL = re.compile(r"[^\w\- ]")


def slug(title: str) -> str:
    """The title in lower case, letters and digits joined by hyphens; `section` where it has none. Accents go, letters
    of other scripts stay."""
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", title) if not unicodedata.combining(sign))
    words = "-".join(_WORD.findall(unicodedata.normalize("NFC", plain.casefold())))
    return words[:LONGEST].strip("-") or "section"


def rendered_label(title: str) -> str:
    """The label under which code hosts render a heading: punctuation goes, each space is a hyphen."""
    return _NOT_IN_LABEL.sub("", title.strip().lower()).replace(" ", "-")


def plain_title(written: str) -> str:
    """A heading as people read it: without emphasis, code marks, links and tags."""
    text = _TAG.sub("", _LINK.sub(r"\1", written))
    return " ".join(_MARKUP.sub("", text).split())


def outline(blocks: Sequence[Block], title: str) -> tuple[Section, ...]:
    """The sections of a document: one for each heading, and one for what is before the first."""
    groups = list(_groups(blocks))
    headings = [group[0] for group in groups if group[0].kind is BlockKind.HEADING]
    # Not whether it is above all others: a heading that comes later would rename what is above it.
    title_heading = headings[0] if headings else None
    sections: list[Section] = []
    names = _Names()
    open_sections: list[int] = []
    for group in groups:
        head = group[0]
        is_heading = head.kind is BlockKind.HEADING
        level = head.level if is_heading else 0
        while open_sections and sections[open_sections[-1]].level >= level:
            open_sections.pop()
        parent = open_sections[-1] if open_sections else -1
        above = () if parent < 0 or head is title_heading else _names_above(sections[parent], title_heading)
        anchor = (head.labels or (slug(head.title),))[0] if is_heading else PREAMBLE
        anchor = names.unused(above, anchor[:LONGEST_ANCHOR])
        own_title = head.title if is_heading else title
        sections.append(
            Section(
                title=(own_title or title)[:LONGEST_TITLE],
                level=level,
                anchor=anchor,
                path=(*above, anchor),
                labels=_labels(anchor, head) if is_heading else (),
                start=head.start,
                end=group[-1].end,
                line=head.line,
                end_line=group[-1].end_line,
                blocks=tuple(group),
                parent=parent,
            )
        )
        if is_heading:
            open_sections.append(len(sections) - 1)
    return tuple(sections)


def first_title(blocks: Sequence[Block]) -> str:
    """The title that a document gives itself: its first heading."""
    return next((block.title for block in blocks if block.kind is BlockKind.HEADING), "")


def _groups(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    group: list[Block] = []
    for block in blocks:
        if block.kind is BlockKind.HEADING and group:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _names_above(parent: Section, title_heading: Block | None) -> tuple[str, ...]:
    return () if parent.blocks[0] is title_heading else parent.path


class _Names:
    """Anchors that are taken, and the number of requests for each."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, ...], int] = {}

    def unused(self, above: tuple[str, ...], anchor: str) -> str:
        """The anchor, or with the lowest number that makes it unique among its siblings."""
        # A slash separates the parts of a path, and a tilde the number of a piece.
        anchor = anchor.replace("/", "-").replace("~", "-") or "section"
        asked = self._asked.get((*above, anchor), 0) + 1
        unique = anchor
        while asked > 1 and (*above, unique := f"{anchor}-{asked}") in self._asked:
            asked += 1
        self._asked[(*above, anchor)] = asked
        self._asked.setdefault((*above, unique), 1)
        return unique


def _labels(anchor: str, heading: Block) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*heading.labels, anchor, rendered_label(heading.title))))
