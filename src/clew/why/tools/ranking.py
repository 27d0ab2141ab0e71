"""Tools ranked by what a task says: words of names and descriptions, and other words for the same deed.

A tool's name and title say what it does, the first sentence of its description when to use it, and the rest what else
there is. So a word counts by where it stands, and a word of the same meaning counts a little less than the word itself.
"""

# Implements: REQ-d00851

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from clew.operation.declare import Toolset
from clew.operation.listing import ListedOperation
from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem
from clew.why.tools.phrases import PHRASES

_K1 = 1.2
_B = 0.5
_NAME, _TITLE, _PHRASE, _FIRST, _REST, _ARGUMENTS = 3.0, 3.0, 4.0, 2.0, 0.7, 0.3
_SAME_MEANING = 0.6
_RARELY = 0.6
"""The worth of a tool that is hardly ever meant: one that another system's older clients call, and one that measures
the memory."""
_CHANGING = 0.93
"""The worth of a tool that changes something: whoever means one says what is to be done."""
_NEEDLESS = frozenset(("i", "me", "my", "we", "our", "us", "you", "want", "need", "please", "tool", "project", "thing"))
_DEEDS = """
    undo revert rollback takes back taken
    delete remove drop erase discard
    create add new begin start
    change edit update modify alter set
    show get read view display see detail full
    list all every which index
    find search look discover
    remember store memory note
    decide decision memory remember
    restore reversal recover bring
    forget delete prune
    link cite reference connection relate
    snapshot safety branch backup
    document documentation doc manual guide
    check validate valid verify rule
    collide conflict clash contradict
    progress status percent count share
    write save
    rename call name
    test verify coverage cover prove
    history lineage event happened
    overview summary brief start
    refresh reread reload rescan
    doubt critique contradict
    next urgent prioritise
    split divide several
    merge combine duplicate same
    record attach outcome result
    export markdown csv format
    proposal change
    recent last lately
    depend break impact use
    rewrite transform ai model
    term glossary definition define
    broken fix missing exist
    comment code implement
"""


class ToolMatch(msgspec.Struct, frozen=True):
    tool: ListedOperation
    score: float


def find_tools(query: str, tools: Sequence[ListedOperation]) -> list[ToolMatch]:
    """The tools that match the query, best first; ties in the order of the list."""
    meanings = _same_meaning()
    asked = list(dict.fromkeys(_words(query)))
    found = [tool for tool in tools if not tool.reaches_others and tool.name != "tools_search"]
    profiles = [_profile(tool) for tool in found]
    average = sum(sum(profile.values()) for profile in profiles) / (len(profiles) or 1)
    holders = Counter(word for profile in profiles for word in profile)
    hits = []
    for tool, profile in zip(found, profiles, strict=True):
        length = sum(profile.values()) / average
        worths = [_worth(word, profile, meanings, holders, len(found), length) for word in asked]
        score = sum(worths) * _prior(tool)
        if score > 0:
            hits.append(ToolMatch(tool, round(score, 3)))
    hits.sort(key=lambda hit: -hit.score)
    return hits


def _worth(
    word: str,
    profile: Mapping[str, float],
    meanings: Mapping[str, frozenset[str]],
    holders: Mapping[str, int],
    total: int,
    length: float,
) -> float:
    """The worth of a word of the query for a tool: the word itself, or the best of those that mean the same."""
    ways = ((word, 1.0), *((other, _SAME_MEANING) for other in meanings.get(word, ())))
    return max(
        share * _rarity(holders[each], total) * _saturated(profile[each], length) if each in profile else 0.0
        for each, share in ways
    )


def _rarity(holding: int, total: int) -> float:
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def _saturated(count: float, length: float) -> float:
    """The worth of `count` occurrences in a text of `length` times the average; each adds less than the last."""
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length))


def _prior(tool: ListedOperation) -> float:
    is_rare = tool.module.startswith("clew.compat.") or tool.toolset is Toolset.COGNITION
    return (_RARELY if is_rare else 1.0) * (1.0 if tool.read_only else _CHANGING)


def _profile(tool: ListedOperation) -> Counter[str]:
    first, _, rest = tool.description.partition(". ")
    profile: Counter[str] = Counter()
    for text, weight in (
        (tool.name, _NAME),
        (tool.title, _TITLE),
        (PHRASES.get(tool.original or tool.name, ""), _PHRASE),
        (first, _FIRST),
        (rest, _REST),
        (f"{tool.toolset.value} {' '.join(tool.input_schema.get('properties', ()))}", _ARGUMENTS),
    ):
        for word in set(_words(text)):
            profile[word] += weight  # type: ignore[assignment]
    return profile


_WORD = re.compile(r"[a-z0-9]+")
_ID = re.compile(r"\b[A-Z]{2,}-[a-z]?\d+\b(?:-[A-Z0-9]+\b)?")
_REGISTER = re.compile(r"\bproject\.req\b")


def _words(text: str) -> Iterable[str]:
    kinds = _REGISTER.sub("register", _ID.sub("requirement", text)).lower()
    return (stem(word) for word in _WORD.findall(kinds) if word not in STOP_WORDS and word not in _NEEDLESS)


def _same_meaning() -> Mapping[str, frozenset[str]]:
    """The words that mean the same deed, by their stems."""
    found: dict[str, set[str]] = {}
    for line in _DEEDS.strip().splitlines():
        group = {stem(word) for word in line.split()}
        for word in group:
            found.setdefault(word, set()).update(group - {word})
    return {word: frozenset(others) for word, others in found.items()}
