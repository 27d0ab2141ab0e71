"""Tests that failed and pass again after an edit: the edit that broke them, and the edit that fixed them.

Whether a run failed is decided by its exit code, or by the reports of test runs that the project reads. The words that
a command prints are never looked at.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from clew.context import Context
from clew.graph.model import NodeKind
from clew.memory.model import Memory

_PARTS = re.compile(r"&&|\|\||[;|\n]")
_RUNNER = re.compile(
    r"(?:^|/)(?:pytest|py\.test|tox|nox|jest|vitest|mocha|ava|ctest|rspec|phpunit|bats|unittest|nextest)$|"
    r"^(?:test|tests|check)(?::[\w:-]+)?$"
)
_STARTER = re.compile(
    r"(?:.*/)?(?:python[\d.]*|uv|poetry|pdm|hatch|npm|npx|pnpm|yarn|bun|deno|go|cargo|make|just|mvn|gradlew?|dotnet|rake|"
    r"bundle|mix|swift)"
)
"""Programs that can run tests."""
FAILED, PASSED = ("failed", "error"), "passed"
_MOST_TESTS = 20


class Mended(msgspec.Struct, frozen=True):
    """A run that failed before and passes now."""

    command: str
    exit: int | None
    edited: tuple[str, ...]
    tests: tuple[str, ...]
    """Tests that failed then and pass now, if a report says so."""


def test_run(command: str) -> str | None:
    """The part of a command that runs tests, without its options: the same for `pytest -q tests/a.py` and `pytest
    tests/a.py`. None for any other command."""
    for part in _PARTS.split(command):
        words = [word for word in part.split() if not word.startswith("-") and "=" not in word]
        if not words:
            continue
        starts = _STARTER.fullmatch(words[0]) is not None
        among = words[:4] if starts else words[:1]
        if any(_RUNNER.search(word) and (starts or word not in ("test", "check")) for word in among):
            return " ".join(words)
    return None


def failing_tests(context: Context) -> tuple[str, ...] | None:
    """The tests that failed as the reports of the project have it; None where there are no reports."""
    if not context.config.results:
        return None
    context.keeper.ensure()
    graph = context.graph
    with context.lock.reading():
        if not graph.evidence.has_results():
            return None
        tests = [node.id for node in graph.memory.nodes_by_kind(NodeKind.TEST)]
        return tuple(id for id in tests if graph.evidence.verdict(id) in FAILED)[:_MOST_TESTS]


def passing_tests(context: Context, tests: Iterable[str]) -> tuple[str, ...]:
    """The tests that pass now, by the reports."""
    graph = context.graph
    with context.lock.reading():
        return tuple(id for id in tests if graph.evidence.verdict(id) == PASSED)


def mended(
    command: str, code: int | None, failing: Sequence[str] | None, earlier: Sequence[Memory], context: Context
) -> Mended | None:
    """The failures that a run mended: runs like it failed before; with the edits since the first of these failures.
    `earlier` are the episodes of the session before it, the latest first."""
    wanted = test_run(command)
    edited: dict[str, None] = {}
    found: Mended | None = None
    for episode in earlier:
        metadata = episode.metadata
        if metadata.get("wrote"):
            edited.update(dict.fromkeys(metadata.get("paths", ())))
        if wanted is None or test_run(str(metadata.get("command", ""))) != wanted:
            continue
        before = tuple(metadata.get("failing", ()))
        tests = passing_tests(context, before) if before and failing is not None else ()
        # Exit codes decide; where the host gives none, the reports do.
        is_red, is_green = bool(metadata.get("exit")), code == 0
        if "exit" not in metadata or code is None:
            is_red, is_green = bool(before), bool(tests) and len(tests) == len(before)
        if not is_red or not is_green:
            break
        found = Mended(wanted, metadata.get("exit"), tuple(edited), tests)
    return found if found is not None and found.edited else None
