"""Comparison of lines before and after a commit: what the commit did to them where it decided nothing.

Each comparison is strict: where a doubt is left, the commit counts as one that decided, because a chain that goes past
the deciding commit is wrong, and one that ends early is only short.
"""

# Implements: REQ-d00361

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from clew.why.story.tokens import LineToken, code_only, tokens_of, unformatted
from clew.workspace.git.difference import ChangedBlock

_IMPORT = re.compile(r"\s*(?:from\s+[\w.]+\s+import\b|import\b|use\s|#include\b|require\b|export\s+\*|\}\s*from\b)")
_DEFINES = (
    r"\b(?:def|class|function|func|fn|const|let|var|type|struct|interface|enum|trait|static|val|mod)\s+"
    r"(?:\([^)]*\)\s*)?{0}\b"
    r"|\b(?:def|function|func|fn)\b[^(]*\([^)]*\b{0}\b"
    r"|^\s*{0}\s*(?::[^=]+)?=[^=]"
    r"|^\s*{0}\s*:\s*\w"
)
"""Definition of a name: by a keyword, as a parameter, by an assignment, by an annotation."""
_TYPE_SIGNS = frozenset(("[", "]", ".", "|", ",", "...", "(", ")", "&", "<", ">", "?"))
_WORD = re.compile(r"[^\W_]+")
_PLACES = re.compile(r"%[sdr]|\{[^{}]*\}")
_VALUES = re.compile(r"\{([^{}]*)\}")
_NUMBERED = re.compile(r"\{\d")
"""Places that are filled in another order than they stand in."""
_SPOKEN = re.compile(r"[^\W_]+|\0r?|[^\w\s\"]")
_DECLARES = re.compile(r"\s*(?:var|let|const)\b")
_PREFIXED = re.compile(r'^[a-z]{1,2}"')
_WORDS = """
    True False None true false null undefined and or not in is if else elif for while return yield raise throw new try
    except catch finally with as import from lambda async await del delete break continue pass global nonlocal int str
    float bool bytes list dict set tuple min max any all sum len sorted this self super
"""
_RESERVED = frozenset(_WORDS.split())
"""Words that no commit renames."""
_MOST_LINES = 400
"""Longer blocks are compared line by line no more."""
_MOST_PAIRS = 10_000
"""Of more pairs of lines only equal ones are found."""
_SIGNS = re.compile(r"[^\w\s]")
_TELLING_NAME = 5
_FEWEST_SPELLED = 5
"""Lines with exchanged names that a commit has at least, where it spelled names in another way."""
_TELLING = 10
"""Letters and digits that a line has at least for being recognized elsewhere."""
MOVED_WEIGHT = 32
"""Letters and digits that lines have at least for being moved rather than written again."""
SINGLE_WEIGHT = 20
"""Those of a line that stands nowhere else in its file before and after."""
_FEWEST_IN_COMMON = 5
"""Tokens that a line broken in another way has at least, to be recognized inside the old lines."""


class LineBefore(msgspec.Struct, frozen=True):
    """A line before a commit that did something to it and decided nothing."""

    action: str
    lines: tuple[int, ...]
    """Numbers of the old file: a formatter makes one line of several."""


Before = dict[int, LineBefore]
"""The former lines of lines of the new file. A line that the commit decided, or added, is not in it."""


def passed(wanted: Sequence[int], block: ChangedBlock, evidence: Sequence[ChangedBlock], path: str) -> Before:
    """The wanted lines, numbers of the new file, which are in `block`, before the commit. In `evidence`, names that
    were renamed have their definitions."""
    if not block.old or len(block.old) > _MOST_LINES:
        return {}
    found = _whole(wanted, block, evidence, path) if len(block.new) <= _MOST_LINES else {}
    return found | _line_by_line([line for line in wanted if line not in found], block, evidence, path)


def by_place(wanted: Sequence[int], block: ChangedBlock) -> Before:
    """The old lines at the same place, behind a commit of which the project says that it only formatted."""
    last = block.old_first + len(block.old) - 1
    return {
        line: LineBefore("reformatted it", (min(block.old_first + line - block.new_first, last),)) for line in wanted
    }


def _whole(wanted: Sequence[int], block: ChangedBlock, blocks: Sequence[ChangedBlock], path: str) -> Before:
    compared = _compared(tokens_of(block.old, path), tokens_of(block.new, path), blocks, path)
    if compared is None:
        return {}
    action, pairs = compared
    rows: dict[int, dict[int, None]] = {}
    for old, new in pairs:
        rows.setdefault(block.new_first + new.line, {})[old.line] = None
    return {line: LineBefore(action, _numbers(block, rows[line])) for line in wanted if line in rows}


def _numbers(block: ChangedBlock, rows: Iterable[int]) -> tuple[int, ...]:
    """The numbers of old lines; of lines that became one, not those of brackets alone."""
    found = sorted(set(rows))
    telling = [row for row in found if is_telling(block.old[row])]
    return tuple(block.old_first + row for row in telling or found)


def _line_by_line(wanted: Sequence[int], block: ChangedBlock, blocks: Sequence[ChangedBlock], path: str) -> Before:
    """The same for each wanted line by itself, where the lines around it were changed in another way. A line that
    became two is none of them."""
    if not wanted:
        return {}
    old, new = ([tokens_of((line,), path) for line in lines] for lines in (block.old, block.new))
    places = [_places_by_text(rows, path) for rows in (old, new)]
    whole = None
    if len(old) * len(new) <= _MOST_PAIRS:
        whole = _undeclared(tokens_of(block.old, path), path), _undeclared(tokens_of(block.new, path), path)
    found: Before = {}
    for line in wanted:
        place = line - block.new_first
        text = _text_of(new[place], path)
        if not is_telling(block.new[place]) or len(places[1][text]) > 1:
            continue
        # Of many pairs only equal ones are looked for.
        among = range(len(old)) if whole is not None else places[0].get(text, ())
        one = _same_line(new[place], [(row, old[row]) for row in among], blocks, path)
        if one is None and whole is not None:
            one = _inside(*whole, place, block.new[place])
        if one is not None:
            found[line] = LineBefore(one[0], _numbers(block, one[1]))
    return found


def _text_of(tokens: Sequence[LineToken], path: str) -> tuple[str, ...]:
    return tuple(each.text for each in unformatted(tokens, path))


def _places_by_text(rows: Sequence[Sequence[LineToken]], path: str) -> dict[tuple[str, ...], list[int]]:
    found: dict[tuple[str, ...], list[int]] = {}
    for place, tokens in enumerate(rows):
        found.setdefault(_text_of(tokens, path), []).append(place)
    return found


def _same_line(
    new: Sequence[LineToken], rows: Sequence[tuple[int, Sequence[LineToken]]], blocks: Sequence[ChangedBlock], path: str
) -> tuple[str, list[int]] | None:
    """The only one of the rows that says the same."""
    if len(new) < _FEWEST_IN_COMMON and weight_of("".join(each.text for each in new)) < _TELLING:
        return None
    found = [(row, one[0]) for row, old in rows if (one := _compared(old, new, blocks, path)) is not None]
    return (found[0][1], [found[0][0]]) if len(found) == 1 else None


def _inside(old: Sequence[LineToken], new: Sequence[LineToken], place: int, text: str) -> tuple[str, list[int]] | None:
    """A line whose tokens are in the old lines in one place, broken in another way: what is before and behind them has
    to be the same."""
    own = [number for number, each in enumerate(new) if each.line == place]
    if len(own) < _FEWEST_IN_COMMON:
        return None
    wanted = [new[number].text for number in own]
    texts = [each.text for each in old]
    starts = [start for start in range(len(texts) - len(wanted) + 1) if texts[start : start + len(wanted)] == wanted]
    if len(starts) != 1:
        return None
    start, end = starts[0], starts[0] + len(wanted)
    before = texts[start - 1] if start else ""
    behind = texts[end] if end < len(texts) else ""
    new_before = new[own[0] - 1].text if own[0] else ""
    new_behind = new[own[-1] + 1].text if own[-1] + 1 < len(new) else ""
    # One declaration that became several has a comma where each has a beginning and an end of its own.
    is_divided = _DECLARES.match(text) is not None and before in ("", ",") and behind in ("", ",")
    if not is_divided and (before, behind) != (new_before, new_behind):
        return None
    return "reformatted it", sorted({each.line for each in old[start:end]})


def _undeclared(tokens: Sequence[LineToken], path: str) -> list[LineToken]:
    """The tokens of lines without the words of declarations: one declaration may become several."""
    return [each for each in unformatted(tokens, path) if each.text not in ("var", "let", "const")]


def moved_within(
    wanted: Sequence[int], block: ChangedBlock, blocks: Sequence[ChangedBlock], is_single: Callable[[str], bool]
) -> Before:
    """The wanted lines that the commit removed in one place of the file, of which `blocks` are all changes, and wrote
    in another: those of a passage, and a line by itself only where it is long and stands nowhere else in the file
    before and after, as `is_single` tells. An import may stand anywhere."""
    removed, added = (
        _rows((each.old_first, each.old) for each in blocks),
        _rows((each.new_first, each.new) for each in blocks),
    )
    old = {number: text for text, numbers in removed.items() for number in numbers}
    new = {number: text for text, numbers in added.items() for number in numbers}
    found: Before = {}
    for line in wanted:
        text = new[line]
        if line in found or not is_telling(text) or len(removed.get(text, ())) != 1 or len(added[text]) != 1:
            continue
        passage = _passage(line, removed[text][0], new, old)
        telling = [each for each in passage if is_telling(new[each])]
        is_import = _IMPORT.match(text) is not None
        weight = sum(weight_of(new[each]) for each in telling)
        is_moved = weight >= MOVED_WEIGHT if len(telling) > 1 else weight >= SINGLE_WEIGHT and is_single(text)
        if is_import or is_moved:
            action = "sorted the imports" if is_import else "moved it inside the file"
            found |= {each: LineBefore(action, (passage[each],)) for each in wanted if each in passage}
    return found


def _rows(parts: Iterable[tuple[int, Sequence[str]]]) -> dict[str, list[int]]:
    """The numbers of lines by their text."""
    found: dict[str, list[int]] = {}
    for first, lines in parts:
        for number, line in enumerate(lines, first):
            found.setdefault(line.strip(), []).append(number)
    return found


def _passage(line: int, before: int, new: Mapping[int, str], old: Mapping[int, str]) -> dict[int, int]:
    """The lines around one that were around it before as well, with their former numbers."""
    found = {line: before}
    for step in (-1, 1):
        at = step
        while line + at in new and new[line + at] == old.get(before + at):
            found[line + at] = before + at
            at += step
    return found


def is_telling(line: str) -> bool:
    """True for a line with a word: brackets and blanks are decided by nobody."""
    return any(each.isalnum() for each in line)


def weight_of(line: str) -> int:
    """The number of letters and digits."""
    return sum(each.isalnum() for each in line)


Pairs = list[tuple[LineToken, LineToken]]


def _compared(
    old: Sequence[LineToken], new: Sequence[LineToken], blocks: Sequence[ChangedBlock], path: str
) -> tuple[str, Pairs] | None:
    if not new:
        return None
    for strip, action in ((unformatted, "reformatted it"), (_bare, "changed its comment")):
        first, second = strip(old, path), strip(new, path)
        if second and [each.text for each in first] == [each.text for each in second]:
            return action, list(zip(first, second, strict=True))
    first, second = _bare(old, path), _bare(new, path)
    if (pairs := _with_types(first, second)) is not None:
        return "added types", pairs
    if (pairs := _with_types(second, first)) is not None:
        return "removed types", [(before, after) for after, before in pairs]
    return _renamed(first, second, blocks) or _rewritten(first, second)


def _rewritten(old: Sequence[LineToken], new: Sequence[LineToken]) -> tuple[str, Pairs] | None:
    """A text put together in another notation: the same words in other signs, such as an f-string for `.format()`."""
    is_text = any(each.text.startswith('f"') or each.text in ("`", "format") for each in new)
    is_put_together = any(each.text in ("format", "%") for each in old)
    if not (is_text and is_put_together) or _NUMBERED.search("".join(each.text for each in (*old, *new))):
        return None
    if _spoken(old) != _spoken(new) or _names(old) != _names(new):
        return None
    rows = {each.line: each for each in reversed(old)}
    of_new = {each.line: each for each in reversed(new)}
    if len(rows) == len(of_new):
        pairs = [(rows[before], of_new[after]) for before, after in zip(sorted(rows), sorted(of_new), strict=True)]
    else:
        pairs = [(first, second) for second in of_new.values() for first in rows.values()]
    return "wrote its text in another notation", pairs


def _spoken(tokens: Sequence[LineToken]) -> list[str]:
    """The words of texts, with a mark for each place where a value is put."""
    texts = (_PLACES.sub(_mark, _PREFIXED.sub('"', each.text)) for each in tokens if each.text.endswith('"'))
    return [word for text in texts for word in _SPOKEN.findall(text)]


def _mark(match: re.Match[str]) -> str:
    return " \0r " if match[0].endswith(("r", "!r}")) else " \0 "


def _names(tokens: Sequence[LineToken]) -> list[str]:
    """The words outside of texts and those of the values inside of them, in their order."""
    found: list[str] = []
    for each in tokens:
        if each.text.endswith('"'):
            inside = _VALUES.findall(each.text) if each.text.startswith(('f"', 'rf"', 'fr"')) else []
            found += [word for value in inside for word in _WORD.findall(value.removesuffix("!r").removesuffix("!s"))]
        elif each.text not in ("format", "str"):
            found += _WORD.findall(each.text)
    return found


def _bare(tokens: Sequence[LineToken], path: str) -> list[LineToken]:
    return unformatted(code_only(tokens), path)


def _with_types(old: Sequence[LineToken], new: Sequence[LineToken]) -> Pairs | None:
    """The pairs of equal tokens, where the new ones have nothing more than annotations."""
    pairs: Pairs = []
    place = added = 0
    while place < len(new):
        is_same = len(pairs) < len(old) and old[len(pairs)].text == new[place].text
        if is_same:
            pairs.append((old[len(pairs)], new[place]))
            place += 1
            continue
        # In other brackets a colon makes a pair of a table, or a part of a list.
        if new[place].text not in (":", "->") or not place or _innermost(new[:place]) in ("[", "{"):
            return None
        expected = old[len(pairs)].text if len(pairs) < len(old) else ""
        end = _type_end(new, place + 1, expected)
        if end is None:
            return None
        added += 1
        place = end
    return pairs if added and len(pairs) == len(old) else None


def _innermost(tokens: Sequence[LineToken]) -> str:
    """The last bracket that is open behind tokens; empty where none is."""
    opened: list[str] = []
    for each in tokens:
        if each.text in ("(", "[", "{"):
            opened.append(each.text)
        elif each.text in (")", "]", "}") and opened:
            opened.pop()
    return opened[-1] if opened else ""


def _type_end(tokens: Sequence[LineToken], start: int, expected: str) -> int | None:
    """The place behind a type, where what was there before goes on."""
    depth = 0
    for place in range(start, len(tokens)):
        each = tokens[place]
        if depth == 0 and place > start and each.text == expected:
            return place
        if each.text in ("[", "(", "<"):
            depth += 1
        elif each.text in ("]", ")", ">"):
            depth -= 1
            if depth < 0:
                return None
        elif not (each.is_word or each.text in _TYPE_SIGNS or each.text.endswith('"')):
            return None
    return len(tokens) if not expected and depth == 0 and len(tokens) > start else None


def _renamed(
    old: Sequence[LineToken], new: Sequence[LineToken], blocks: Sequence[ChangedBlock]
) -> tuple[str, Pairs] | None:
    """The renaming of names that the commit itself renamed where they are defined."""
    if len(old) != len(new) or len(new) < _FEWEST_IN_COMMON:
        return None
    names: dict[str, str] = {}
    for before, after in zip(old, new, strict=True):
        if before.text == after.text:
            continue
        if not (before.is_word and after.is_word) or names.setdefault(before.text, after.text) != after.text:
            return None
    if (
        not names
        or len(names) > 3
        or len(set(names.values())) < len(names)
        or _RESERVED & (names.keys() | set(names.values()))
    ):
        return None
    if not all(_is_renaming(before, after, blocks) for before, after in names.items()):
        return None
    first, second = next(iter(names.items()))
    return f"renamed it ({first} to {second})", list(zip(old, new, strict=True))


def _is_renaming(before: str, after: str, blocks: Sequence[ChangedBlock]) -> bool:
    """True if the commit removed a definition of the one name and added one of the other, or spelled the name in
    another way wherever it is."""
    if _is_spelling(before, after, blocks):
        return True
    removed = re.compile(_DEFINES.format(re.escape(before)))
    added = re.compile(_DEFINES.format(re.escape(after)))
    is_removed = any(removed.search(line) for each in blocks for line in each.old)
    is_added = any(added.search(line) for each in blocks for line in each.new)
    kept = re.compile(rf"\b{re.escape(before)}\b")
    return is_removed and is_added and not any(kept.search(line) for each in blocks for line in each.new)


def _is_spelling(before: str, after: str, blocks: Sequence[ChangedBlock]) -> bool:
    """True for names that end with the same words, of which a commit exchanged several."""
    first, second = ([part for part in name.lower().split("_") if part] for name in (before, after))
    shared = min(len(first), len(second), max(len(first), len(second)) - 1) or 1
    if first[-shared:] != second[-shared:] or len("".join(first[-shared:])) < _TELLING_NAME:
        return False
    kept = re.compile(rf"\b{re.escape(before)}\b")
    if any(kept.search(line) for each in blocks for line in each.new):
        return False
    return shared > 1 or _exchanged(blocks) >= _FEWEST_SPELLED


def _exchanged(blocks: Sequence[ChangedBlock]) -> int:
    """The number of lines that differ from the one before by names alone."""
    count = 0
    for each in blocks:
        for old, new in zip(each.old, each.new, strict=False):
            count += old != new and _SIGNS.findall(old) == _SIGNS.findall(new)
    return count
