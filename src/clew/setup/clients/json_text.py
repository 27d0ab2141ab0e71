"""Editing a JSON file as text, so that every other byte stays as it is.

Reading and writing the whole document would lose duplicate keys, the spelling of numbers, the layout and comments. Only
the standard library's own decoder decides what is JSON. Comments and trailing commas, which editors write into their
settings, are blank to it: places are found in a text of the same length without them, and the text itself is changed
there.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from clew.errors import FormatError

_SPACE = re.compile(r"[ \t\r\n]*")
_FIRST_MEMBER = re.compile(r"[ \t\r\n]*\{[ \t\r\n]*\n([ \t]*)[^ \t\r\n]")


_TOKENS = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//[^\r\n]*|/\*.*?\*/|,(?=(?:[ \t\r\n]++|//[^\r\n]*+|(?>/\*.*?\*/))*+[}\]])', re.DOTALL
)
"""Strings, which are kept, then comments and trailing commas."""
_TO_END = re.compile(r"[ \t]*(,?)[ \t]*(?://[^\r\n]*|/\*[^\n]*?\*/[ \t]*(?=\r?\n))")
"""The rest of a line that ends in a comment."""


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is not a JSON number")


_BLANK = re.compile(r"[^\r\n]")
_DECODER = json.JSONDecoder(parse_constant=_no_number)


class _Member(msgspec.Struct, frozen=True):
    key: str
    start: int
    """The position of the key's opening quote."""
    value: int
    end: int


class _Layout(msgspec.Struct, frozen=True):
    newline: str
    unit: str
    """The indentation of one level; empty for a document on one line."""


def read_object(text: str) -> dict[str, Any]:
    try:
        value = _DECODER.decode(_plain(text))
    except RecursionError:
        raise FormatError("it is nested too deeply") from None
    except ValueError as error:
        raise FormatError(f"it is not JSON ({error})") from None
    if not isinstance(value, dict):
        raise FormatError("it is not a JSON object")
    return value


def has_comments(text: str) -> bool:
    """True if somebody wrote something that a reader of JSON does not see."""
    return any(not found[0].startswith(('"', ",")) for found in _TOKENS.finditer(text))


def document(parent: str, name: str, entry: Mapping[str, Any]) -> str:
    """A new file with this one entry."""
    return text_of({parent: {name: entry}})


def text_of(value: Mapping[str, Any]) -> str:
    """A new file with this in it."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def with_member(text: str, parent: str, name: str, entry: Mapping[str, Any] | Sequence[Any]) -> str:
    """The text with `entry` at `parent.name`, in place of an entry that is there."""
    return _in_place(text, lambda plain: _with_member(plain, parent, name, entry))


def _with_member(text: str, parent: str, name: str, entry: Mapping[str, Any] | Sequence[Any]) -> str:
    before = read_object(text)
    layout = _layout(text)
    brace = _skip(text, 0)
    outer = _members(text, brace)
    holder = _only(outer, parent)
    if holder is None:
        after = _inserted(text, brace, outer, parent, {name: entry}, layout)
    elif not isinstance(before[parent], dict):
        raise FormatError(f"its '{parent}' is not an object")
    else:
        inner = _members(text, holder.value)
        present = _only(inner, name)
        if present is None:
            after = _inserted(text, holder.value, inner, name, entry, layout)
        else:
            rendered = _rendered(entry, layout, _indent_of(text, present.start))
            after = text[: present.value] + rendered + text[present.end :]
    if read_object(after) != {**before, parent: {**before.get(parent, {}), name: entry}}:
        raise FormatError(f"its '{parent}' cannot be extended without rewriting it")
    return after


def with_item(text: str, parent: str, name: str, item: Mapping[str, Any]) -> str:
    """The text with `item` at the end of the list `parent.name`."""
    return _in_place(text, lambda plain: _with_item(plain, parent, name, item))


def _with_item(text: str, parent: str, name: str, item: Mapping[str, Any]) -> str:
    before = read_object(text)
    held = before.get(parent, {})
    present = held.get(name, []) if isinstance(held, dict) else held
    if not isinstance(held, dict) or not isinstance(present, list):
        raise FormatError(f"its '{parent}' is not an object of lists")
    if name not in held:
        return _with_member(text, parent, name, [item])
    bracket = _value_at(text, (parent, name))
    after = _appended(text, bracket, item, _layout(text))
    if read_object(after) != {**before, parent: {**held, name: [*present, dict(item)]}}:
        raise FormatError(f"its '{parent}' cannot be extended without rewriting it")
    return after


def without(text: str, path: Sequence[str | int]) -> str:
    """The text without the member or item at a path, and without the comma that divided it from its neighbour."""
    return _in_place(text, lambda plain: _without(plain, path))


def _without(text: str, path: Sequence[str | int]) -> str:
    opening = _value_at(text, path[:-1])
    inner = _children(text, opening)
    last = path[-1]
    place = last if isinstance(last, int) else [child.key for child in inner].index(last)
    child = inner[place]
    if place > 0:
        return text[: inner[place - 1].end] + text[child.end :]
    if len(inner) > 1:
        return text[: child.start] + text[inner[1].start :]
    close = _skip(text, child.end)
    return text[: opening + 1] + text[close:]


def _plain(text: str) -> str:
    """A text of the same length, with blanks in place of comments and trailing commas."""
    return _TOKENS.sub(lambda found: found[0] if found[0].startswith('"') else _BLANK.sub(" ", found[0]), text)


def _in_place(text: str, change: Callable[[str], str]) -> str:
    """The text with a change that was made on its plain form: one stretch is replaced by another."""
    plain = _plain(text)
    after = change(plain)
    if plain == text:
        return after
    start = _same_letters(plain, after)
    most = min(len(plain), len(after)) - start
    same = _same_letters(plain[::-1][:most], after[::-1][:most])
    new, end = after[start : len(after) - same], len(plain) - same
    made = text[:start] + _with_comments(text, start, end, new) + text[end:]
    if start == end and new.startswith(",") and (rest := _TO_END.match(text, start)) is not None:
        # A comment behind the last member stays behind it.
        comma = "" if rest[1] else ","
        made = text[:start] + comma + text[start : rest.end()] + new[1:] + text[rest.end() :]
    if read_object(made) != read_object(after):
        raise FormatError("it holds comments in places where it cannot be changed")
    return made


def _same_letters(one: str, other: str) -> int:
    """The number of letters with which both begin."""
    differing = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))


def _with_comments(text: str, start: int, end: int, new: str) -> str:
    """What replaces a stretch of the text, with the comments in it that belong to what stays."""
    stretch = text[start:end]
    if not new and (rest := _TO_END.match(text, start, end)) is not None:
        return rest[0].replace(",", "", 1)
    if stretch.strip() and not _plain(stretch).strip():
        indent = _indent_of(text, start)
        return f"{stretch.rstrip()}\n{indent}{new}"
    return new


def _value_at(text: str, path: Sequence[str | int]) -> int:
    """The position of the value at a path, which must exist in the text."""
    position = _skip(text, 0)
    for step in path:
        inner = _children(text, position)
        found = inner[step] if isinstance(step, int) else _only(inner, step)
        if found is None:
            raise FormatError(f"it has no '{step}'")
        position = found.value
    return position


def _children(text: str, opening: int) -> list[_Member]:
    """The members of the object, or the items of the list, that begins here."""
    if text[opening] == "{":
        return _members(text, opening)
    items = []
    position = _skip(text, opening + 1)
    while text[position] != "]":
        _, end = _DECODER.raw_decode(text, position)
        items.append(_Member("", position, position, end))
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return items


def _appended(text: str, bracket: int, item: Mapping[str, Any], layout: _Layout) -> str:
    """A new last item of the list that begins at a bracket."""
    items = _children(text, bracket)
    if not items:
        close = text.index("]", bracket)
        outer = _indent_of(text, bracket)
        if not layout.unit:
            return text[: bracket + 1] + _rendered(item, layout, "") + text[close:]
        inner = outer + layout.unit
        rendered = _rendered(item, layout, inner)
        return f"{text[: bracket + 1]}{layout.newline}{inner}{rendered}{layout.newline}{outer}{text[close:]}"
    broken = "\n" in text[bracket : items[0].start]
    indent = _indent_of(text, items[0].start)
    lead = f",{layout.newline}{indent}" if broken else ", "
    rendered = _rendered(item, layout if broken else _Layout("", ""), indent)
    return text[: items[-1].end] + lead + rendered + text[items[-1].end :]


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _members(text: str, brace: int) -> list[_Member]:
    """The positions of the members of the object that begins at a brace, in valid JSON."""
    members = []
    position = _skip(text, brace + 1)
    while text[position] != "}":
        key, after_key = _DECODER.raw_decode(text, position)
        value = _skip(text, _skip(text, after_key) + 1)
        _, end = _DECODER.raw_decode(text, value)
        members.append(_Member(key, position, value, end))
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return members


def _only(members: list[_Member], key: str) -> _Member | None:
    found = [member for member in members if member.key == key]
    if len(found) > 1:
        raise FormatError(f"it holds the key '{key}' {len(found)} times, and readers differ on which one counts")
    return found[0] if found else None


def _layout(text: str) -> _Layout:
    """The indentation of the first member of the document is the unit."""
    first = _FIRST_MEMBER.match(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    if first is None:
        return _Layout(newline, "")
    return _Layout(newline, "  " if text[first.end() - 1] == "}" else first[1] or "  ")


def _indent_of(text: str, position: int) -> str:
    """The white space at the beginning of a member's line; of its neighbour if several share one line."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _inserted(
    text: str, brace: int, members: list[_Member], key: str, value: Mapping[str, Any] | Sequence[Any], layout: _Layout
) -> str:
    """A new last member of the object that begins at a brace."""
    if members:
        last = members[-1]
        broken = "\n" in text[brace : members[0].start]
        indent = _indent_of(text, members[0].start)
        lead = f",{layout.newline}{indent}" if broken else ", "
        addition = f"{json.dumps(key)}: {_rendered(value, layout if broken else _Layout('', ''), indent)}"
        return text[: last.end] + lead + addition + text[last.end :]
    close = text.index("}", brace)
    outer = _indent_of(text, brace)
    is_document = not text[:brace].strip()
    if not layout.unit and not is_document:
        return f"{text[: brace + 1]}{json.dumps(key)}: {_rendered(value, layout, '')}{text[close:]}"
    unit = layout.unit or "  "
    spread = _Layout(layout.newline, unit)
    addition = f"{json.dumps(key)}: {_rendered(value, spread, outer + unit)}"
    return f"{text[: brace + 1]}{layout.newline}{outer}{unit}{addition}{layout.newline}{outer}{text[close:]}"


def _rendered(value: Mapping[str, Any] | Sequence[Any], layout: _Layout, indent: str) -> str:
    if not layout.unit:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, indent=layout.unit, ensure_ascii=False).split("\n")
    return f"{layout.newline}{indent}".join(lines)
