"""Texts in XHTML, as ReqIF has them: to plain text and back, and in one spelling."""

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from clew.errors import FormatError
from clew.exchange.sources import local, xml_of

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

NAMESPACE = "http://www.w3.org/1999/xhtml"
_PREFIX = re.compile(r"<([A-Za-z_][\w.-]*):")
_BLOCKS = frozenset({"div", "p", "ul", "ol", "table", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote"})
_SPACES = re.compile(r"[ \t\r\n]+")
_RUN = re.compile(r"(?m)^ +| {2,}| +$")
_UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _parsed(value: str, name: str) -> "Element":
    prefixes = {*_PREFIX.findall(value), "xhtml"}
    declared = " ".join(f'xmlns:{prefix}="{NAMESPACE}"' for prefix in sorted(prefixes) if prefix != "xml")
    return xml_of(f'<value xmlns="{NAMESPACE}" {declared}>{value}</value>'.encode(), name)


def canonical(value: str, name: str) -> str:
    """XHTML with the prefix `xhtml`, whatever prefix it had, and with nothing in it but elements and texts."""
    root = _parsed(value, name)
    return (escape(root.text or "") + "".join(map(_spelled, root))).strip()


def _spelled(element: "Element") -> str:
    tag = local(element.tag)
    attributes = "".join(f" {local(key)}={quoteattr(value)}" for key, value in element.attrib.items())
    inner = escape(element.text or "") + "".join(map(_spelled, element))
    # An empty object needs a tag of its own at the end: readers of HTML take the rest for its content otherwise.
    body = f">{inner}</xhtml:{tag}>" if inner or tag == "object" else "/>"
    return f"<xhtml:{tag}{attributes}{body}{escape(element.tail or '')}"


def is_sound(value: str) -> bool:
    try:
        return canonical(value, "XHTML") == value
    except FormatError:
        return False


def plain_of(value: str, name: str) -> str:
    """The plain text of XHTML: paragraphs and items on lines of their own."""
    pieces: list[str] = []
    _collect(_parsed(value, name), pieces)
    lines = [line.strip(" ") for line in "".join(pieces).split("\n")]
    return "\n".join(lines).strip("\n").replace("\xa0", " ")


def _collect(element: "Element", pieces: list[str]) -> None:
    tag = local(element.tag)
    if tag == "br":
        pieces.append("\n")
    elif tag == "li":
        _begin_line(pieces)
        pieces.append("- ")
    elif tag in _BLOCKS:
        _begin_line(pieces)
    elif tag in ("td", "th") and pieces and not pieces[-1].endswith("\n"):
        pieces.append(" | ")
    pieces.append(_SPACES.sub(" ", element.text or ""))
    for child in element:
        _collect(child, pieces)
        if local(child.tag) in _BLOCKS or local(child.tag) == "li":
            _begin_line(pieces)
        pieces.append(_SPACES.sub(" ", child.tail or ""))


def _begin_line(pieces: list[str]) -> None:
    written = "".join(pieces[-3:])
    if written.strip(" ") and not written.rstrip(" ").endswith("\n"):
        pieces.append("\n")


def of_plain(text: str) -> str:
    """Plain text as XHTML that says the same, line by line and space by space."""
    kept = _RUN.sub(lambda found: "\xa0" * len(found[0]), _UNSAFE.sub("", text))
    return f"<xhtml:div>{'<xhtml:br/>'.join(escape(line) for line in kept.split(chr(10)))}</xhtml:div>"
