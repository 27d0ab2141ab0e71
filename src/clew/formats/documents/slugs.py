"""The names of headings."""

import re
import unicodedata

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
