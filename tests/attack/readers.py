"""Every reader against texts that were made to keep it busy: its time has to grow as the file does, not faster.

A round is one reader and one pattern, read at three sizes in a process of its own, which ends when it has used more
time than any honest reading takes. A reader whose time grows twice as fast as its file is reported. What is so quick at
the first size that even a square of time would not be noticed at the last is not read again.
"""

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.attack.outcome import Outcome
from tests.attack.reader_patterns import COMMON, FORMATS, Pattern

SIZES = (250_000, 500_000, 1_000_000)
LIMIT_SECONDS = 180
"""Of processor time for all sizes; an honest reading takes a few."""
_NOTICEABLE_SECONDS = 0.4
"""What takes less at the largest size says nothing about growth."""
_QUICK_SECONDS = _NOTICEABLE_SECONDS / (SIZES[-1] / SIZES[0]) ** 2
_GROWTH = 2.0
"""Time may grow twice as much as the file; a square grows four times as much from the first size to the last."""
_REPEATED = 2
"""How often what seems to be slow is measured again."""

Read = Callable[[bytes], object]


class Measured(NamedTuple):
    reader: str
    pattern: Pattern
    seconds: tuple[float, ...]
    """Of processor time at each size; shorter where the reader was stopped."""

    def is_quick(self, sizes: tuple[int, ...]) -> bool:
        return sizes[0] == SIZES[0] and len(self.seconds) == 1 and self.seconds[0] < _QUICK_SECONDS

    def problem(self, sizes: tuple[int, ...]) -> str | None:
        if self.is_quick(sizes):
            return None
        if len(self.seconds) < len(sizes):
            return f"{self.reader}: {self.pattern} was stopped at {sizes[len(self.seconds)]:,} bytes"
        first, last = self.seconds[0], self.seconds[-1]
        grown = last / max(first, 1e-6) / (sizes[-1] / sizes[0])
        if last < _NOTICEABLE_SECONDS or grown <= _GROWTH:
            return None
        return (
            f"{self.reader}: {self.pattern} took {first:.2f} s at {sizes[0]:,} and {last:.2f} s at {sizes[-1]:,} bytes"
        )


def all_readers() -> dict[str, tuple[str, Read]]:
    """Every reader by name, with the format whose patterns it gets."""
    from clew.config import load_defaults
    from clew.formats.code.languages import FAMILIES
    from clew.formats.elspais.ids.grammar import IdGrammar
    from clew.formats.elspais.settings import read_settings
    from clew.formats.register.single import read_single
    from clew.graph.build.reading import Reader
    from clew.graph.readers.project import marker_readers, readers_for
    from clew.kb.ingest.citations import Citations

    config = load_defaults(Path(__file__).parents[2] / "examples" / "demo")
    grammar = IdGrammar(config.elspais)
    graph = {reader.name: reader for reader in readers_for(config, grammar)}
    tests, _ = marker_readers(config, grammar, specs=True, register=True)

    def into_graph(reader: Reader, path: str, first: bytes = b"") -> Read:
        """`first` is what makes a file worth reading."""

        def read(data: bytes) -> None:
            records = reader.read(first + data, path)
            reader.diagnose(records)
            reader.contribute(records, path)

        return read

    found: dict[str, tuple[str, Read]] = {
        f"document {kind}": (kind, _document(f"docs/a.{ending}", Citations(grammar)))
        for kind, ending in _DOCUMENTS.items()
    }
    found |= {
        f"document {path}": (kind, _document(path, Citations(grammar)))
        for path, kind in (("man/a.1", "rst"), ("openapi.yaml", "markdown"), ("a.graphql", "python"))
    }
    found["elspais"] = ("elspais", into_graph(graph["elspais"], "spec/a.md"))
    for kind, path in _SPECS.items():
        found[f"openspec {kind}"] = ("openspec", into_graph(graph["specs"], path))
    found["results"] = ("results", into_graph(graph["results"], "results/a.xml"))
    found["reviews"] = ("reviews", into_graph(graph["reviews"], "reviews.txt"))
    found["register"] = ("register", into_graph(graph["register"], "project.req"))
    found["register, trusted"] = ("register", _refusing(lambda data: read_single(data, trusted=True)))
    found["elspais settings"] = ("register", _refusing(read_settings))
    for family in FAMILIES:
        found[f"code {family}"] = ("code", into_graph(tests, f"tests/{_path_of(family)}", b"Verifies: REQ-d00001\n"))
    found |= _outlines()
    return found


def _outlines() -> dict[str, tuple[str, Read]]:
    """What tells functions, classes and imports of source files."""
    from clew.formats.code.components import ENDINGS
    from clew.formats.code.languages import FAMILIES
    from clew.formats.code.outline import decoded, outline_of
    from clew.formats.code.script_config import CONFIGS, read_config

    def of_file(path: str) -> Read:
        return lambda data: outline_of(decoded(data), path)

    found: dict[str, tuple[str, Read]] = {
        f"outline {name}": ("outline", of_file(_path_of(name))) for name, family in FAMILIES.items() if family.blocks
    }
    found |= {f"outline {ending}": ("outline", of_file(f"a{ending}")) for ending in ENDINGS}
    found[CONFIGS[0]] = ("register", lambda data: read_config(data, CONFIGS[0]))
    return found


_DOCUMENTS = {"markdown": "md", "rst": "rst", "html": "html", "python": "py", "notebook": "ipynb", "plain": "txt"}
_SPECS = {
    "spec": "openspec/specs/a/spec.md",
    "delta": "openspec/changes/b/specs/a/spec.md",
    "proposal": "openspec/changes/b/proposal.md",
    "tasks": "openspec/changes/b/tasks.md",
    "metadata": "openspec/changes/b/.openspec.yaml",
    "design": "openspec/changes/b/design.md",
}


def _document(path: str, citations: object) -> Read:
    from clew.kb.ingest.prepare import prepare
    from clew.workspace.files import FileEntry

    return lambda data: prepare(data, FileEntry(path, len(data), 0), citations)


def _refusing(read: Read) -> Read:
    """What refuses a file has read it."""
    from clew.errors import ClewError

    def attempt(data: bytes) -> None:
        try:
            read(data)
        except ClewError:
            return

    return attempt


def _path_of(family: str) -> str:
    from clew.formats.code.languages import _ENDINGS

    return f"a.{_ENDINGS[family].split()[0]}"


def patterns_of(kind: str) -> tuple[Pattern, ...]:
    return (*COMMON, *FORMATS[kind])


def measure(name: str, read: Read, pattern: Pattern, sizes: tuple[int, ...]) -> Measured:
    """Read the pattern at each size in another process, which may use only so much time."""
    into, out = os.pipe()
    child = os.fork()
    if not child:
        os.close(into)
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_SECONDS, LIMIT_SECONDS))
        try:
            _read_all(read, pattern, sizes, out)
        finally:
            os._exit(0)
    os.close(out)
    with os.fdopen(into) as answers:
        lines = answers.read().splitlines()
    os.waitpid(child, 0)
    failed = [line for line in lines if not line[:1].isdigit()]
    if failed:
        raise AssertionError(f"{name}: {pattern} failed with {failed[0]}")
    return Measured(name, pattern, tuple(map(float, lines)))


def _read_all(read: Read, pattern: Pattern, sizes: tuple[int, ...], out: int) -> None:
    for size in sizes:
        data = pattern.text(size)
        started = time.process_time()
        try:
            read(data)
        except Exception as error:
            os.write(out, f"{type(error).__name__}: {str(error)[:200]!r}\n".encode())
            return
        took = time.process_time() - started
        os.write(out, f"{took:.6f}\n".encode())
        if size == SIZES[0] != sizes[-1] and took < _QUICK_SECONDS:
            return


def chosen(rounds: int | None, only: str = "") -> Iterator[tuple[str, Read, Pattern]]:
    """So many rounds, spread evenly over all readers and patterns; every one without a number."""
    every = [
        (name, read, pattern)
        for name, (kind, read) in all_readers().items()
        if only in name
        for pattern in patterns_of(kind)
    ]
    if rounds is None or rounds >= len(every):
        return iter(every)
    return (every[number * len(every) // rounds] for number in range(rounds))


def run(rounds: int | None, *, only: str = "", sizes: tuple[int, ...] = SIZES) -> Outcome:
    failures: list[str] = []
    count = 0
    for name, read, pattern in chosen(rounds, only):
        count += 1
        try:
            # Other work on the machine makes one measurement slow; a reader that is slow by itself is so each time.
            problems = [measure(name, read, pattern, sizes).problem(sizes)]
            if problems[0] is not None:
                problems += [measure(name, read, pattern, sizes).problem(sizes) for _ in range(_REPEATED)]
            problem = None if None in problems else problems[0]
        except AssertionError as error:
            problem = str(error)
        if problem is not None:
            failures.append(problem)
            sys.stderr.write(f"{problem}\n")
    return Outcome(count, tuple(failures))
