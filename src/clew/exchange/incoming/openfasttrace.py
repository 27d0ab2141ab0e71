"""OpenFastTrace: specification items in Markdown, `req~name~1` in backquotes, and in XML (ReqM2).

The id of an item is its type, name and revision, as OpenFastTrace writes it. What it covers is implemented by it. What
a Markdown file says between its items is one more item, of the kind `document`, under the name of the file; a file
without any is none of OpenFastTrace.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clew.exchange.model import REQUIREMENT, Exchange, Item, Relation
from clew.exchange.sources import ImportSource, local

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_ID = re.compile(r"(?:<a id=\"[^\"]*\"></a>)?`?([A-Za-z]\w*~[\w.-]+~\d+)`?\s*")
_REFERENCE = re.compile(r"([A-Za-z]\w*~[\w.-]+~\d+)")
_FIELD = re.compile(r"(Status|Rationale|Comment|Covers|Depends|Needs|Tags|Description)\s*:\s*(.*)", re.IGNORECASE)
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
_UNDERLINE = re.compile(r"(?:=+|-+)\s*")
_LISTED = re.compile(r" {0,3}(?:[*+-]|\d{1,9}[.)])\s|>")
_FENCE = re.compile(r"\s*```")
_FORWARD = re.compile(r"\s*([A-Za-z]\w*)\s*-->\s*([\w, ]+?)\s*:\s*([A-Za-z]\w*~[\w.-]+~\d+)\s*")
_TYPES = {"feat", "req", "dsn", "arch", "constr", "usr", "sys", "swreq", "scn", "story", "rule"}
_XML_READ = frozenset(
    {
        *("id", "version", "shortdesc", "description", "sourcefile", "sourceline"),
        *("needscoverage", "tags", "providescoverage", "dependencies"),
    }
)
_LISTS = ("covers", "depends", "needs", "tags")


def read(source: ImportSource) -> Exchange:
    items: list[Item] = []
    for each in source.each(".md", ".markdown", ".xml", ".oreqm"):
        if each.place.suffix in (".xml", ".oreqm") or each.data().lstrip()[:5] in (b"<?xml", b"<spec"):
            items.extend(_in_xml(each.xml(), each.name))
        else:
            items.extend(_in_markdown(each.text(), each.name))
    return Exchange(items=tuple(items))


def _in_markdown(text: str, name: str) -> Iterator[Item]:
    lines = text.split("\n")
    title, fenced, has_items = "", False, False
    above = ""
    """The line above, where an underline makes a heading of it."""
    listed = False
    """True if the line belongs to an item of a list or to a quotation, of which no underline makes a heading."""
    item: _Collecting | None = None
    prose = _Prose()
    for number, line in enumerate(lines, start=1):
        fenced = fenced is not (_FENCE.match(line) is not None)
        heading = None if fenced else _HEADING.fullmatch(line)
        underlined = bool(above) and _UNDERLINE.fullmatch(line) is not None
        id = None if fenced else _ID.fullmatch(line)
        forward = None if fenced else _FORWARD.fullmatch(line)
        if underlined:
            (item or prose).drop_last()
        if item is not None and (id or heading or underlined or forward):
            yield item.item()
            item = None
        has_items = has_items or id is not None or forward is not None
        before, above = above, ""
        held, listed = listed, False
        if id is not None:
            item = _Collecting(id[1], title, name, number)
            title = ""
            prose.title_taken()
        elif heading is not None or underlined:
            title = heading[2] if heading is not None else before.strip()
            prose.heading(line, before if underlined else None)
        elif forward is not None:
            yield _forwarded(forward, name, number)
        else:
            (item or prose).take(line)
            listed = bool(line.strip()) and (held or _LISTED.match(line) is not None)
            above = "" if fenced or listed or _FENCE.match(line) or not line.strip() else line
    if item is not None:
        yield item.item()
    if has_items and (said := prose.text()):
        yield Item(id=name, kind="document", title=prose.title or name, text=said, path=name, line=1)


def _forwarded(found: re.Match[str], name: str, number: int) -> Item:
    """`arch --> dsn : req~name~1` covers an item and hands its needs on."""
    kind, rest = found[1], found[3].partition("~")[2]
    needs = {"needs": ", ".join(part.strip() for part in found[2].split(","))}
    return _made(f"{kind}~{rest}", "", "", needs, [found[3]], [], name, number)


class _Prose:
    """The text between items. A heading that is the title of an item is not part of it."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._heading = 0
        """The number of last lines that are a heading or blank."""
        self.title = ""

    def take(self, line: str) -> None:
        self._lines.append(line)
        self._heading = self._heading + 1 if self._heading and not line.strip() else 0

    def heading(self, line: str, before: str | None) -> None:
        added = [line] if before is None else [before, line]
        self.title = self.title or added[0].strip("# \t")
        self._lines += ["", *added]
        self._heading = 1 + len(added)

    def drop_last(self) -> None:
        """The line before was a heading."""
        if self._lines:
            self._lines.pop()

    def title_taken(self) -> None:
        if self._heading:
            taken = self._lines[-self._heading + 1].strip("# \t")
            self.title = "" if self.title == taken else self.title
            del self._lines[-self._heading :]
        self._heading = 0

    def text(self) -> str:
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._lines)).strip()


class _Collecting:
    """An item whose lines are being read."""

    def __init__(self, id: str, title: str, path: str, line: int) -> None:
        self._id, self._title, self._path, self._line = id, title, path, line
        self._fields: dict[str, list[str]] = {"description": []}
        self._field = "description"

    def take(self, line: str) -> None:
        found = _FIELD.fullmatch(line.strip())
        if found is not None:
            self._field = found[1].lower()
            line = found[2]
        self._fields.setdefault(self._field, []).append(line)

    def drop_last(self) -> None:
        """The line before was a heading."""
        if self._fields[self._field]:
            self._fields[self._field].pop()

    def item(self) -> Item:
        texts = {name: "\n".join(lines).strip() for name, lines in self._fields.items()}
        covers, depends = (_REFERENCE.findall(texts.get(name, "")) for name in ("covers", "depends"))
        attributes = {
            name: ", ".join(_words(text)) if name in _LISTS else text
            for name, text in texts.items()
            if text and name not in ("description", "covers", "depends")
        }
        return _made(self._id, self._title, texts["description"], attributes, covers, depends, self._path, self._line)


def _words(text: str) -> list[str]:
    return [word for line in text.split("\n") for word in re.split(r"[\s,]+", line.strip(" *-+\t")) if word]


def _made(
    id: str,
    title: str,
    text: str,
    attributes: dict[str, str],
    covers: list[str],
    depends: list[str],
    path: str,
    line: int,
    kept: dict[str, str] | None = None,
) -> Item:
    kind = id.partition("~")[0]
    if "rationale" in attributes:
        attributes["Rationale"] = attributes.pop("rationale")
    return Item(
        id=id,
        kind=REQUIREMENT if kind in _TYPES else kind,
        title=title or id.split("~")[1].replace("_", " ").replace("-", " ").replace(".", " "),
        text=text,
        attributes=attributes,
        relations=(
            *(Relation("implements", target) for target in dict.fromkeys(covers)),
            *(Relation("depends_on", target) for target in dict.fromkeys(depends)),
        ),
        path=path,
        line=line,
        kept=kept or {},
    )


def _in_xml(root: "Element", name: str) -> Iterator[Item]:
    for group in root.iter():
        if local(group.tag) != "specobjects":
            continue
        kind = group.attrib.get("doctype", "req")
        for each in group:
            if local(each.tag) == "specobject":
                yield _of_xml(each, kind, name)


def _of_xml(element: "Element", kind: str, name: str) -> Item:
    parts = {local(child.tag): child for child in element}
    texts = {tag: (child.text or "").strip() for tag, child in parts.items()}
    attributes = {
        tag: texts[tag]
        for tag in (
            "status",
            "rationale",
            "comment",
            "furtherinfo",
            "priority",
            "verifycrit",
            "usecase",
            "creationdate",
        )
        if texts.get(tag)
    }
    for tag, inner in (("needscoverage", "needs"), ("tags", "tags")):
        if tag in parts and (words := [(each.text or "").strip() for each in parts[tag] if (each.text or "").strip()]):
            attributes[inner] = ", ".join(words)
    kept = {
        tag: text
        for tag, child in parts.items()
        if tag not in _XML_READ and tag not in attributes and (text := " ".join("".join(child.itertext()).split()))
    }
    line = int(texts.get("sourceline", "0")) if texts.get("sourceline", "0").isdecimal() else 0
    return _made(
        _xml_id(kind, texts.get("id", ""), texts.get("version", "1")),
        texts.get("shortdesc", ""),
        texts.get("description", ""),
        attributes,
        _linked(parts.get("providescoverage"), "provcov", "linksto", "dstversion"),
        _linked_items(parts.get("dependencies")),
        texts.get("sourcefile", "") or name,
        line,
        kept,
    )


def _xml_id(kind: str, id: str, version: str) -> str:
    return id if _REFERENCE.fullmatch(id) else f"{kind}~{id.removeprefix(f'{kind}~')}~{version or '1'}"


def _linked(element: "Element | None", tag: str, target: str, version: str) -> list[str]:
    found: list[str] = []
    for each in element if element is not None else ():
        if local(each.tag) == tag:
            fields = {local(child.tag): (child.text or "").strip() for child in each}
            kind, _, name = fields.get(target, "").partition(":")
            if name:
                found.append(_xml_id(kind, name, fields.get(version, "1")))
    return found


def _linked_items(element: "Element | None") -> list[str]:
    return [
        (each.text or "").strip()
        for each in (element.iter() if element is not None else ())
        if local(each.tag) in ("dependson", "depends") and (each.text or "").strip()
    ]
