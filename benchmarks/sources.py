"""Code and tests for the generated project, with what a run of the tests leaves behind: results and executed lines."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from xml.sax.saxutils import quoteattr

from benchmarks.prose import Prose

LINKED_SHARE = 0.9
"""Of tests: the others cite nothing."""
BROKEN_SHARE = 0.002
FAILED_SHARE, SKIPPED_SHARE = 0.01, 0.01
EXECUTED_SHARE = 0.85
SCRIPT_SHARE = 0.25
"""Of files: the others are Python."""
FILES_IN_A_FOLDER = 40

RESULTS_FILE = "results/junit.xml"
LINES_FILE = "results/lcov.info"


class Citable(Protocol):
    """A requirement that code and tests may cite."""

    @property
    def id(self) -> str: ...

    @property
    def labels(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Written:
    """Files to be written, by path relative to the project."""

    code: dict[str, str]
    tests: dict[str, str]
    results: dict[str, str]

    def all(self) -> Iterator[tuple[str, str]]:
        for part in (self.code, self.tests, self.results):
            yield from part.items()


def sources(
    requirements: Sequence[Citable],
    rng: random.Random,
    *,
    code_files: int,
    references: int,
    test_files: int,
    tests: int,
) -> Written:
    """As many files as asked for, which together hold exactly so many references and tests."""
    writer = _Writer(requirements, rng)
    code = dict(writer.module(number, count) for number, count in enumerate(_spread(references, code_files)))
    suites = dict(writer.suite(number, count) for number, count in enumerate(_spread(tests, test_files)))
    results = {RESULTS_FILE: writer.junit()} if suites else {}
    if code:
        results[LINES_FILE] = _lcov(code, rng)
    return Written(code, suites, results)


def _spread(total: int, parts: int) -> list[int]:
    return [total * (number + 1) // parts - total * number // parts for number in range(parts)]


class _Writer:
    def __init__(self, requirements: Sequence[Citable], rng: random.Random) -> None:
        self._requirements = requirements
        self._rng = rng
        self._prose = Prose(rng)
        self._cases: dict[str, list[tuple[str, str]]] = {}
        """By test file: class and name of every test, as a report has them."""

    def module(self, number: int, references: int) -> tuple[str, str]:
        folder = f"src/part{number // FILES_IN_A_FOLDER:02}"
        if self._rng.random() < SCRIPT_SHARE:
            return f"{folder}/module{number:04}.ts", self._script(references)
        return f"{folder}/module{number:04}.py", self._python(number, references)

    def suite(self, number: int, tests: int) -> tuple[str, str]:
        folder = f"tests/part{number // FILES_IN_A_FOLDER:02}"
        if self._rng.random() < SCRIPT_SHARE:
            path = f"{folder}/suite{number:04}.test.ts"
            return path, self._script_suite(path, number, tests)
        path = f"{folder}/test_suite{number:04}.py"
        return path, self._python_suite(path, tests)

    def junit(self) -> str:
        total = sum(len(cases) for cases in self._cases.values())
        lines = ['<?xml version="1.0" encoding="utf-8"?>', "<testsuites>", f'<testsuite name="all" tests="{total}">']
        lines.extend(self._case(classname, name) for cases in self._cases.values() for classname, name in cases)
        return "\n".join((*lines, "</testsuite>", "</testsuites>", ""))

    def _case(self, classname: str, name: str) -> str:
        head = f"<testcase classname={quoteattr(classname)} name={quoteattr(name)} time={self._seconds()}"
        chance = self._rng.random()
        if chance < FAILED_SHARE:
            reason = quoteattr(f"AssertionError: {self._prose.title()}")
            return f"{head}><failure message={reason}>{self._prose.paragraph(4)}</failure></testcase>"
        if chance < FAILED_SHARE + SKIPPED_SHARE:
            return f'{head}><skipped type="pytest.skip" message="not here"/></testcase>'
        return f"{head}/>"

    def _seconds(self) -> str:
        return f'"{self._rng.random() / 10:.3f}"'

    def _reference(self) -> str:
        # A few requirements are cited by very many places.
        target = self._requirements[int(len(self._requirements) * self._rng.random() ** 1.5)]
        if self._rng.random() < BROKEN_SHARE:
            return f"{target.id}-Z"
        labels = sorted(self._rng.sample(target.labels, self._rng.choice((0, 1, 1, 1, 2))))
        return f"{target.id}-{'+'.join(labels)}" if labels else target.id

    def _name(self) -> str:
        return "_".join(word.strip(".,;").replace("-", "_") for word in self._prose.title().lower().split())

    def _python(self, number: int, references: int) -> str:
        parts = [f'"""{self._prose.paragraph(1)}"""\n\nimport logging\n\nlog = logging.getLogger(__name__)\n']
        for index in range(references):
            name = f"{self._name()}_{index}"
            parts.append(
                f"\n\n# Implements: {self._reference()}\n"
                f'def {name}(value: int, limit: int = {number}) -> int:\n    """{self._prose.assertion()}"""\n'
                f"    if value > limit:\n        log.warning({self._prose.title()!r})\n        return limit\n"
                f"    total = 0\n    for step in range(value):\n        total += step * {index + 2}\n"
                f"    # {self._prose.paragraph(1)}\n    return total\n"
            )
        return "".join(parts)

    def _script(self, references: int) -> str:
        parts = [f"// {self._prose.paragraph(1)}\n\nimport {{ log }} from '../log';\n"]
        for index in range(references):
            name = _camel(f"{self._name()}_{index}")
            parts.append(
                f"\n/**\n * {self._prose.assertion()}\n * Implements: {self._reference()}\n */\n"
                f"export function {name}(value: number, limit = {index}): number {{\n"
                f"  if (value > limit) {{\n    log(`{self._prose.title()} ${{value}}`);\n    return limit;\n  }}\n"
                f"  let total = 0;\n  for (let step = 0; step < value; step += 1) {{\n    total += step * {index};\n"
                f"  }}\n  return total;\n}}\n"
            )
        return "".join(parts)

    def _python_suite(self, path: str, tests: int) -> str:
        module = path.removesuffix(".py").replace("/", ".")
        cases = self._cases[path] = []
        parts = [f'"""{self._prose.paragraph(1)}"""\n\nimport pytest\n']
        for index in range(tests):
            name = f"test_{self._name()}_{index}"
            cases.append((module, name))
            parts.append(
                f"\n\n{self._citing('#')}def {name}() -> None:\n    value = {index}\n"
                f"    assert value + 1 == {index + 1}, {self._prose.title()!r}\n"
                f"    with pytest.raises(ValueError):\n        raise ValueError({self._prose.title()!r})\n"
            )
        return "".join(parts)

    def _script_suite(self, path: str, number: int, tests: int) -> str:
        group = f"part {number}"
        cases = self._cases[path] = []
        parts = [f"import {{ expect, test, describe }} from 'vitest';\n\ndescribe('{group}', () => {{\n"]
        for index in range(tests):
            title = f"{self._prose.title()} {index}"
            cases.append((path, f"{group} > {title}"))
            parts.append(
                f"  {self._citing('//').rstrip()}\n  test('{title}', () => {{\n    const value = {index};\n"
                f"    expect(value + 1).toBe({index + 1});\n  }});\n\n"
            )
        return "".join((*parts, "});\n"))

    def _citing(self, mark: str) -> str:
        return f"{mark} Verifies: {self._reference()}\n" if self._rng.random() < LINKED_SHARE else ""


def _lcov(code: dict[str, str], rng: random.Random) -> str:
    """Of every line that looks like a statement whether it was executed."""
    lines: list[str] = []
    for path, text in code.items():
        lines.append(f"SF:{path}")
        executed = rng.random() < EXECUTED_SHARE
        for number, line in enumerate(text.splitlines(), start=1):
            if line.startswith("  ") and not line.lstrip().startswith(("#", "//", "*", '"', "}")):
                lines.append(f"DA:{number},{int(executed and rng.random() < EXECUTED_SHARE)}")
        lines.append("end_of_record")
    return "\n".join(lines) + "\n"


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def write(folder: Path, written: Written) -> int:
    """Write the files; returns how many bytes they have."""
    size = 0
    for path, text in written.all():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode()
        target.write_bytes(data)
        size += len(data)
    return size
