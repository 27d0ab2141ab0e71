"""Commands that run given tests, as a shell takes them: one way for each test runner, chosen by the project's files."""

# Implements: REQ-d00782

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

MOST_TESTS = 25
"""Tests that one command names; beyond, it names their files."""
_PYTEST_FILES = ("conftest.py", "pytest.ini", ".pytest.ini", "tests/conftest.py", "test/conftest.py")
_PYTEST_SECTION = re.compile(r"^\[(?:tool\.pytest\b|tool:pytest\b|pytest\])", re.MULTILINE)
_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte")
_RUNNERS = {"vitest": "npx vitest run", "jest": "npx jest", "mocha": "npx mocha", "ava": "npx ava"}
"""By the name of the package."""


class NamedTest(NamedTuple):
    path: str
    name: str
    """The test in its file, as Class.name; empty for the whole file."""


Reading = Callable[[str], str | None]
"""Text of a file of the project; None where there is none."""


def has_runner(path: str) -> bool:
    """True if tests in files with this ending have a command."""
    return path.endswith(tuple(_KINDS))


def commands_for(tests: Iterable[NamedTest], read: Reading) -> tuple[str, ...]:
    """Commands for the project's folder; a file whose runner is not known is in none."""
    by_kind: dict[str, list[NamedTest]] = {}
    for test in dict.fromkeys(tests):
        kind = next((kind for ending, kind in _KINDS.items() if test.path.endswith(ending)), "")
        by_kind.setdefault(kind, []).append(test)
    made = {"python": _python, "script": _scripts, "go": _go, "rust": _rust, "java": _java, "ruby": _ruby}
    return tuple(command for kind, found in by_kind.items() if kind for command in made[kind](found, read))


_KINDS = {
    ".py": "python",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".kt": "java",
    ".rb": "ruby",
    **dict.fromkeys(_SCRIPTS, "script"),
}


def _python(tests: list[NamedTest], read: Reading) -> Iterator[str]:
    if _has_pytest(tests, read):
        ids = [f"{path}::{name.replace('.', '::')}" if name else path for path, name in tests]
        yield _joined("python -m pytest", ids if len(ids) <= MOST_TESTS else _files(tests))
        return
    names = [".".join(filter(None, (_module(path), name))) for path, name in tests]
    modules = [_module(path) for path in _files(tests)]
    yield _joined("python -m unittest", names if len(names) <= MOST_TESTS else modules)


def _has_pytest(tests: list[NamedTest], read: Reading) -> bool:
    if any(read(name) is not None for name in _PYTEST_FILES):
        return True
    settings = (read(name) or "" for name in ("pyproject.toml", "setup.cfg", "tox.ini"))
    if any(_PYTEST_SECTION.search(text) for text in settings):
        return True
    texts = [read(path) or "" for path in _files(tests)[:MOST_TESTS]]
    # Functions outside of classes are no tests for unittest.
    return any("import pytest" in text for text in texts) or any("." not in name for _, name in tests if name)


def _module(path: str) -> str:
    return posixpath.splitext(path)[0].removesuffix("/__init__").replace("/", ".")


def _scripts(tests: list[NamedTest], read: Reading) -> Iterator[str]:
    by_command: dict[tuple[str, str], list[str]] = {}
    for path in _files(tests):
        folder, runner = _runner(path, read)
        if runner:
            by_command.setdefault((folder, runner), []).append(posixpath.relpath(path, folder or "."))
    for (folder, runner), paths in by_command.items():
        command = _joined(runner, paths)
        yield f"(cd {shlex.quote(folder)} && {command})" if folder else command


def _runner(path: str, read: Reading) -> tuple[str, str]:
    """The folder of the nearest package that names a test runner, and the command of that runner."""
    folder = posixpath.dirname(path)
    while True:
        text = read(f"{folder}/package.json" if folder else "package.json")
        if text is not None:
            for name, command in _RUNNERS.items():
                if f'"{name}"' in text or name in _test_script(text):
                    return folder, command
            if "node --test" in _test_script(text):
                return folder, "node --test"
        if not folder:
            return "", ""
        folder = posixpath.dirname(folder)


def _test_script(text: str) -> str:
    try:
        return str(json.loads(text)["scripts"]["test"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _go(tests: list[NamedTest], read: Reading) -> Iterator[str]:
    by_folder: dict[str, list[str]] = {}
    for path, name in tests:
        by_folder.setdefault(posixpath.dirname(path), []).append(name)
    for folder, names in by_folder.items():
        package = shlex.quote(f"./{folder}" if folder else ".")
        wanted = "|".join(dict.fromkeys(name.rpartition(".")[2] for name in names if name))
        yield f"go test {package} -run {shlex.quote(f'^({wanted})$')}" if all(names) else f"go test {package}"


def _rust(tests: list[NamedTest], read: Reading) -> Iterator[str]:
    names = dict.fromkeys(name.rpartition(".")[2] for _, name in tests if name)
    if not names or len(names) > MOST_TESTS:
        yield "cargo test"
        return
    yield from (f"cargo test {shlex.quote(name)}" for name in names)


def _java(tests: list[NamedTest], read: Reading) -> Iterator[str]:
    classes = dict.fromkeys(posixpath.splitext(posixpath.basename(path))[0] for path, _ in tests)
    if read("pom.xml") is not None:
        yield f"mvn test -Dtest={','.join(classes)}"
    elif read("build.gradle") is not None or read("build.gradle.kts") is not None:
        yield _joined("./gradlew test", [f"--tests={name}" for name in classes])


def _ruby(tests: list[NamedTest], read: Reading) -> Iterator[str]:
    specs = [path for path in _files(tests) if path.endswith("_spec.rb")]
    others = [path for path in _files(tests) if not path.endswith("_spec.rb")]
    if specs:
        yield _joined("bundle exec rspec", specs)
    yield from (f"bundle exec ruby -Itest {shlex.quote(path)}" for path in others)


def _files(tests: list[NamedTest]) -> list[str]:
    return list(dict.fromkeys(path for path, _ in tests))


def _joined(command: str, words: Iterable[str]) -> str:
    return " ".join((command, *map(shlex.quote, words)))
