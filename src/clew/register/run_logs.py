"""Logs of test runs: how the tests went whose names carry the id of a requirement.

Understood are the output of `cargo test` and of `pytest -v`, JUnit XML, and the JSON of pytest's reports. A test
belongs to a requirement when its name holds `req_0042`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from clew.formats.register.ids import format_id, normalise
from clew.formats.results import read_results
from clew.register.operations_evidence import Tally

_CARGO = re.compile(r"^test\s+([\w:]+)(?:\s+-\s+should panic)?\s+\.\.\.\s+(ok|FAILED|ignored)\b", re.MULTILINE)
_PYTEST = re.compile(
    r"^(?:(?P<before>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\s+)?(?P<name>\S+::\S+)"
    r"(?:\s+(?P<after>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b)?",
    re.MULTILINE,
)
_ID = re.compile(r"(?<![A-Za-z0-9])req_([0-9]{4,18})(?![A-Za-z0-9])", re.IGNORECASE)

_PASSED = frozenset({"ok", "PASSED", "passed", "XPASS"})
_FAILED = frozenset({"FAILED", "ERROR", "failed", "error"})


_SAID = (
    re.compile(r"\bFAIL(?:ED|URE)?\b|\bERROR\b|\bfailed\b|✗|✘"),
    re.compile(r"\bok\b|\bPASS(?:ED)?\b|\bpassed\b|✓|✔"),
    re.compile(r"\b(?:skip|skipped|ignored)\b", re.IGNORECASE),
)
"""How a line says that a test failed, passed, or did not run."""


class _Outcome(NamedTuple):
    name: str
    word: str


def read_log(data: bytes, names: Mapping[str, Sequence[str]] | None = None) -> dict[str, Tally]:
    """By id, how its tests went. Empty where no name of a test carries an id. `names` gives ids to tests whose names
    carry none: a line that holds such a name and says how it went counts, whatever printed it."""
    found: dict[str, tuple[dict[str, None], dict[str, None], dict[str, None]]] = {}
    for outcome in _outcomes(data):
        column = 0 if outcome.word in _PASSED else 1 if outcome.word in _FAILED else 2
        for match in _ID.finditer(outcome.name):
            columns = found.setdefault(format_id(int(match[1])), ({}, {}, {}))
            columns[column][_short(outcome.name)] = None
    for name, column in _named(data, names) if names else ():
        for id in names[name] if names else ():
            found.setdefault(normalise(id), ({}, {}, {}))[column][name] = None
    return {id: Tally(*(tuple(column) for column in columns)) for id, columns in found.items()}


def _outcomes(data: bytes) -> Iterator[_Outcome]:
    text = data.decode("utf-8", "replace")
    for match in _CARGO.finditer(text):
        yield _Outcome(match[1], match[2])
    for match in _PYTEST.finditer(text):
        word = match["after"] or match["before"]
        if word:
            yield _Outcome(match["name"], word)
    if data.lstrip()[:1] in (b"<", b"{", b"["):
        for result in read_results(data).outcomes:
            yield _Outcome(result.name, result.status)


def _named(data: bytes, names: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, int]]:
    """The tests that a line names, each with the column that its outcome goes to."""
    longest_first = sorted(names, key=len, reverse=True)
    any_name = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in longest_first))
    for line in data.decode("utf-8", "replace").splitlines():
        found = any_name.findall(line)
        rest = any_name.sub(" ", line) if found else ""
        column = next((column for column, words in enumerate(_SAID) if words.search(rest)), None)
        if column is not None:
            yield from ((name, (1, 0, 2)[column]) for name in found)


def _short(name: str) -> str:
    return name.rpartition("::")[2]
