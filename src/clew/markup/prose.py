"""Prose as HTML: headings, paragraphs, lists, tables, fenced code, and in a line code, bold, italics and links.

A reading view, not a renderer of all of Markdown: what is not recognised stays the text that it is. Everything is
escaped piece by piece, HTML in the text included, and a link leads to a document of the project or to http and https.
"""

import re
from collections.abc import Callable, Iterator

from markupsafe import Markup, escape

from clew.text.controls import printable
from clew.text.markdown import FenceRule

Address = Callable[[str], str | None]
"""Gives the target of a link in the text; None for a link that stays text."""

_FENCES = FenceRule(re.compile(r" {0,3}(`{3,}|~{3,})"), closes_indented=False)
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_ITEM = re.compile(r"(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)")
_RULE = re.compile(r" {0,3}([-*_])(?:\s*\1){2,}\s*$")
_TABLE_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_INLINE = re.compile(
    r"(?P<code>`+)(?P<coded>.+?)(?P=code)(?!`)"
    r"|\*\*(?P<bold>\S(?:.*?\S)?)\*\*"
    r"|(?<![\w*])\*(?P<italic>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|!?\[(?P<text>[^\]\n]{0,300})\]\((?P<to>[^\s()<>]{1,500})(?:\s+\"[^\"]*\")?\)"
    r"|(?P<box>^\[[ xX]\](?=\s))"
)
_DEEPEST = 6
_LONGEST = 4_000
"""A longer paragraph stays plain text: a hostile one could make the search for marks take long."""


def _nowhere(_: str) -> None:
    return None


def prose(text: str, address: Address = _nowhere, top: int = 3) -> Markup:
    """The text as HTML. The highest heading becomes one of the level `top`."""
    return Markup("\n").join(_blocks(printable(text).splitlines(), address, top))


def _blocks(lines: list[str], address: Address, top: int) -> Iterator[Markup]:
    highest = min(_levels(lines), default=1)
    place = 0
    while place < len(lines):
        line = lines[place]
        if not line.strip():
            place += 1
        elif (end := _FENCES.closing(lines, place)) is not None:
            yield Markup("<pre><code>{}</code></pre>").format("\n".join(lines[place + 1 : end]))
            place = end + 1
        elif heading := _HEADING.match(line):
            level = min(top + len(heading[1]) - highest, _DEEPEST)
            yield Markup("<h{0}>{1}</h{0}>").format(level, inline(heading[2], address))
            place += 1
        elif _RULE.match(line):
            yield Markup("<hr>")
            place += 1
        elif "|" in line and place + 1 < len(lines) and _TABLE_RULE.match(lines[place + 1]):
            end = _end(lines, place + 2, lambda each: "|" in each)
            yield _table(line, lines[place + 2 : end], address)
            place = end
        elif _ITEM.match(line):
            end = _end(lines, place + 1, _goes_on)
            yield _list(lines[place:end], address)
            place = end
        else:
            end = _end(lines, place + 1, _is_paragraph)
            yield Markup("<p>{}</p>").format(inline(" ".join(each.strip() for each in lines[place:end]), address))
            place = end


def _levels(lines: list[str]) -> Iterator[int]:
    """The levels of the headings; lines in code blocks do not count."""
    place = 0
    while place < len(lines):
        if (end := _FENCES.closing(lines, place)) is not None:
            place = end
        elif heading := _HEADING.match(lines[place]):
            yield len(heading[1])
        place += 1


def _end(lines: list[str], start: int, belongs: Callable[[str], bool]) -> int:
    return next((place for place in range(start, len(lines)) if not belongs(lines[place])), len(lines))


def _is_paragraph(line: str) -> bool:
    return bool(line.strip()) and not (_FENCES.opened(line) or _HEADING.match(line) or _ITEM.match(line))


def _goes_on(line: str) -> bool:
    return bool(_ITEM.match(line)) or (line.startswith((" ", "\t")) and bool(line.strip()))


def _list(lines: list[str], address: Address) -> Markup:
    """Items of one list, with items that are indented further one level deeper; a line without a mark belongs to the
    item before it."""
    items: list[tuple[int, str]] = []
    numbered = bool((first := _ITEM.match(lines[0])) and first[2])
    for line in lines:
        if found := _ITEM.match(line):
            items.append((len(found[1].expandtabs(4)), found[3]))
        elif items:
            items[-1] = (items[-1][0], f"{items[-1][1]} {line.strip()}")
    least = items[0][0]
    whole = Markup("<ol>{}</ol>") if numbered else Markup("<ul>{}</ul>")
    return whole.format(Markup("").join(_item(inline(text, address), deeper=indent > least) for indent, text in items))


def _item(text: Markup, *, deeper: bool) -> Markup:
    return (Markup('<li class="deeper">{}</li>') if deeper else Markup("<li>{}</li>")).format(text)


def _table(head: str, rows: list[str], address: Address) -> Markup:
    heads = Markup("").join(Markup("<th>{}</th>").format(inline(cell, address)) for cell in _cells(head))
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(
            Markup("").join(Markup("<td>{}</td>").format(inline(cell, address)) for cell in _cells(row))
        )
        for row in rows
    )
    return Markup(
        '<div class="wide" tabindex="0" role="region" aria-label="Table"><table><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>"
    ).format(heads, body)


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def inline(text: str, address: Address = _nowhere) -> Markup:
    """One line of prose."""
    if len(text) > _LONGEST:
        return escape(text)
    parts: list[Markup] = []
    last = 0
    for found in _INLINE.finditer(text):
        parts.append(escape(text[last : found.start()]))
        parts.append(_piece(found, address))
        last = found.end()
    parts.append(escape(text[last:]))
    return Markup("").join(parts)


def _piece(found: re.Match[str], address: Address) -> Markup:
    if found["coded"] is not None:
        return Markup("<code>{}</code>").format(found["coded"].strip())
    if found["bold"] is not None:
        return Markup("<strong>{}</strong>").format(inline(found["bold"], address))
    if found["italic"] is not None:
        return Markup("<em>{}</em>").format(found["italic"])
    if found["box"] is not None:
        return Markup("{}").format("☐" if found["box"][1] == " " else "☑")
    to = found["to"]
    where = to if to.startswith(("http://", "https://")) else address(to)
    if where is None or found[0].startswith("!"):
        return Markup("{}").format(found["text"] or to)
    return Markup('<a href="{}" rel="noreferrer">{}</a>').format(where, inline(found["text"]) or to)
