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
_GRADLE_FILES, _GRADLE_SETTINGS = ("build.gradle", "build.gradle.kts"), ("settings.gradle", "settings.gradle.kts")
_RUNNERS = {"vitest": "npx vitest run", "jest": "npx jest", "mocha": "npx mocha", "ava": "npx ava"}
"""By the name of the package."""


class NamedTest(NamedTuple):
    path: str
    name: str
    """The test in its file, as Class.name; empty for the whole file."""


ReadText = Callable[[str], str | None]
"""Text of a file of the project; None where there is none."""


class RunnerCommand(NamedTuple):
    text: str
    paths: tuple[str, ...]
    """The files whose tests it runs."""


class RunnerCommands(NamedTuple):
    commands: tuple[str, ...]
    """For the project's folder."""
    without: tuple[str, ...]
    """Files whose runner is not known: their tests are run by none of the commands."""


def commands_for(tests: Iterable[NamedTest], read: ReadText) -> RunnerCommands:
    by_kind: dict[str, list[NamedTest]] = {}
    wanted = list(dict.fromkeys(tests))
    for test in wanted:
        kind = next((kind for ending, kind in _KINDS.items() if test.path.endswith(ending)), "")
        by_kind.setdefault(kind, []).append(test)
    made = {"python": _python, "script": _scripts, "go": _go, "rust": _rust, "java": _java, "ruby": _ruby}
    commands = [command for kind, found in by_kind.items() if kind for command in made[kind](found, read)]
    run = {path for command in commands for path in command.paths}
    return RunnerCommands(
        tuple(command.text for command in commands), tuple(path for path in _files(wanted) if path not in run)
    )


_KINDS = {
    ".py": "python",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".kt": "java",
    ".rb": "ruby",
    **dict.fromkeys(_SCRIPTS, "script"),
}


def _python(tests: list[NamedTest], read: ReadText) -> Iterator[RunnerCommand]:
    if _has_pytest(tests, read):
        ids = [f"{path}::{name.replace('.', '::')}" if name else path for path, name in tests]
        yield RunnerCommand(
            _joined("python -m pytest", ids if len(ids) <= MOST_TESTS else _files(tests)), _paths(tests)
        )
        return
    names = [".".join(filter(None, (_module(path), name))) for path, name in tests]
    modules = [_module(path) for path in _files(tests)]
    yield RunnerCommand(_joined("python -m unittest", names if len(names) <= MOST_TESTS else modules), _paths(tests))


def _has_pytest(tests: list[NamedTest], read: ReadText) -> bool:
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


def _scripts(tests: list[NamedTest], read: ReadText) -> Iterator[RunnerCommand]:
    by_command: dict[tuple[str, str], list[str]] = {}
    for path in _files(tests):
        folder, runner = _runner(path, read)
        if runner:
            by_command.setdefault((folder, runner), []).append(path)
    for (folder, runner), paths in by_command.items():
        inner = [posixpath.relpath(path, folder or ".") for path in paths]
        yield RunnerCommand(_within(folder, _joined(runner, inner)), tuple(paths))


def _runner(path: str, read: ReadText) -> tuple[str, str]:
    """The folder of the nearest package that names a test runner, and the command of that runner."""
    for folder in _above(path):
        text = read(posixpath.join(folder, "package.json"))
        if text is not None:
            for name, command in _RUNNERS.items():
                if f'"{name}"' in text or name in _test_script(text):
                    return folder, command
            if "node --test" in _test_script(text):
                return folder, "node --test"
    return "", ""


def _test_script(text: str) -> str:
    try:
        return str(json.loads(text)["scripts"]["test"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _go(tests: list[NamedTest], read: ReadText) -> Iterator[RunnerCommand]:
    for folder, inside in _by_folder(tests).items():
        module = _nearest(inside[0].path, ("go.mod",), read)
        package = posixpath.relpath(folder or ".", module or ".")
        where = shlex.quote(f"./{package}" if package != "." else ".")
        names = dict.fromkeys(test.name.rpartition(".")[2] for test in inside)
        measured = [name for name in names if name.startswith("Benchmark")]
        others = [name for name in names if name not in measured]
        named = f" -run {_one_of(others)}" if all(names) else ""
        # `-run` alone leaves benchmarks out; once is enough to see one fail.
        named += f" -bench {_one_of(measured)} -benchtime 1x" if measured else ""
        yield RunnerCommand(_within(module, f"go test {where}{named}"), _paths(inside))


def _one_of(names: list[str]) -> str:
    return shlex.quote(f"^({'|'.join(names)})$" if names else "^$")


def _rust(tests: list[NamedTest], read: ReadText) -> Iterator[RunnerCommand]:
    by_crate: dict[str, list[NamedTest]] = {}
    for test in tests:
        by_crate.setdefault(_nearest(test.path, ("Cargo.toml",), read), []).append(test)
    for crate, inside in by_crate.items():
        names = dict.fromkeys(test.name.rpartition(".")[2] for test in inside if test.name)
        if not names or len(names) > MOST_TESTS or not all(test.name for test in inside):
            yield RunnerCommand(_within(crate, "cargo test"), _paths(inside))
            continue
        for name in names:
            yield RunnerCommand(_within(crate, f"cargo test {shlex.quote(name)}"), _paths(inside))


def _java(tests: list[NamedTest], read: ReadText) -> Iterator[RunnerCommand]:
    by_module: dict[str, list[NamedTest]] = {}
    for test in tests:
        by_module.setdefault(_nearest(test.path, ("pom.xml", *_GRADLE_FILES), read), []).append(test)
    for module, inside in by_module.items():
        classes = dict.fromkeys(posixpath.splitext(posixpath.basename(test.path))[0] for test in inside)
        is_part = module and _has(("pom.xml", *_GRADLE_FILES, *_GRADLE_SETTINGS), "", read)
        if read(posixpath.join(module, "pom.xml")) is not None:
            wanted = f"-Dtest={','.join(classes)}"
            part = f"mvn -pl {shlex.quote(module)} -am test {wanted} -Dsurefire.failIfNoSpecifiedTests=false"
            yield RunnerCommand(part if is_part else _within(module, f"mvn test {wanted}"), _paths(inside))
        elif _has(_GRADLE_FILES, module, read):
            named = [f"--tests={name}" for name in classes]
            task = f":{module.replace('/', ':')}:test" if is_part else "test"
            gradle = "./gradlew" if _has(("gradlew",), "" if is_part else module, read) else "gradle"
            command = _joined(f"{gradle} {shlex.quote(task)}", named)
            yield RunnerCommand(command if is_part else _within(module, command), _paths(inside))


def _ruby(tests: list[NamedTest], read: ReadText) -> Iterator[RunnerCommand]:
    specs = [path for path in _files(tests) if path.endswith("_spec.rb")]
    others = [path for path in _files(tests) if not path.endswith("_spec.rb")]
    if specs:
        yield RunnerCommand(_joined("bundle exec rspec", specs), tuple(specs))
    yield from (RunnerCommand(f"bundle exec ruby -Itest {shlex.quote(path)}", (path,)) for path in others)


def _above(path: str) -> Iterator[str]:
    """The folders above a file, the nearest first, that of the project last."""
    folder = posixpath.dirname(path)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


def _nearest(path: str, names: Iterable[str], read: ReadText) -> str:
    """The nearest folder above a file that has a file of one of some names; the project's own where none has."""
    wanted = tuple(names)
    return next((folder for folder in _above(path) if _has(wanted, folder, read)), "")


def _has(names: Iterable[str], folder: str, read: ReadText) -> bool:
    return any(read(posixpath.join(folder, name)) is not None for name in names)


def _within(folder: str, command: str) -> str:
    return f"(cd {shlex.quote(folder)} && {command})" if folder else command


def _by_folder(tests: list[NamedTest]) -> dict[str, list[NamedTest]]:
    found: dict[str, list[NamedTest]] = {}
    for test in tests:
        found.setdefault(posixpath.dirname(test.path), []).append(test)
    return found


def _paths(tests: list[NamedTest]) -> tuple[str, ...]:
    return tuple(_files(tests))


def _files(tests: list[NamedTest]) -> list[str]:
    return list(dict.fromkeys(path for path, _ in tests))


def _joined(command: str, words: Iterable[str]) -> str:
    return " ".join((command, *map(shlex.quote, words)))
