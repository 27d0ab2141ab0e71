"""`why` on a long history and a large source tree: reading 100,000 commits, a warm answer, 10,000 source files.

Everything is generated in a temporary folder. Processor time counts that of git as well.
"""

import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.figures import Figure, Result, milliseconds
from benchmarks.workspace import Workspace
from clew.graph.code.keeper import CodeKeeper
from clew.operation.call import Call
from clew.operation.listing import all_tools
from clew.project import Project
from clew.why.thread import thread

COMMITS, SOURCES, TOUCHES = 100_000, 10_000, 2_000
ROUNDS = 10


def measure(space: Workspace, *, quick: bool) -> Result:
    commits, sources = (COMMITS // 10, SOURCES // 10) if quick else (COMMITS, SOURCES)
    with tempfile.TemporaryDirectory(prefix="clew-why-") as folder:
        root = Path(folder, "history")
        write_history(root, commits)
        figures = [*_history(root, commits, quick=quick), *_code(Path(folder, "code"), sources, quick=quick)]
    return Result(f"Why: {commits:,} commits, {sources:,} source files", tuple(figures))


def write_history(root: Path, commits: int) -> None:
    """Commits over 200 files, of which one is touched 2,000 times."""
    subprocess.run(("git", "init", "-q", "-b", "main", str(root)), check=True)
    every = max(commits // TOUCHES, 1)
    with subprocess.Popen(("git", "fast-import", "--quiet"), cwd=root, stdin=subprocess.PIPE) as importer:
        assert importer.stdin is not None
        for number in range(commits):
            importer.stdin.write(_commit(number, every))
        importer.stdin.close()
    for words in (("symbolic-ref", "HEAD", "refs/heads/main"), ("reset", "-q", "--hard")):
        subprocess.run(("git", *words), cwd=root, check=True)


def _commit(number: int, every: int) -> bytes:
    message = f"Change {number}\n\nThe reason for change {number}, see #{number % 900}.".encode()
    who = b"committer Person %d <p%d@example.invalid> %d +0000" % (number % 9, number % 9, 1_500_000_000 + number * 60)
    rows = [b"commit refs/heads/main\nmark :%d\n%s\ndata %d\n%s\n" % (number + 1, who, len(message), message)]
    if number:
        rows.append(b"from :%d\n" % number)
    name, lines = b"src/part%d/file%d.py" % (number % 20, number % 200), 40
    if number % every == 0:
        name, lines = b"src/hot.py", 200
    content = b"".join(
        b"value_%d = %d\n" % (line, number // lines * lines + line if line <= number % lines else line)
        for line in range(lines)
    )
    rows.append(b"M 100644 inline %s\ndata %d\n%s\n" % (name, len(content), content))
    return b"".join(rows)


def _history(root: Path, commits: int, *, quick: bool) -> list[Figure]:
    project = Project.open(root)
    try:
        project.ensure_graph()
        wall, cpu = _timed(lambda: project.history.complete())
        call = Call(project, all_tools())
        first, _ = _timed(lambda: thread(call, "src/hot.py:120"))
        warm = [_timed(lambda: thread(call, "src/hot.py:120")) for _ in range(ROUNDS)]
    finally:
        project.close()
    limit = 60.0 * commits / COMMITS
    return [
        Figure("history read, processor time", "s", (cpu,), limit, (cpu,)),
        Figure("history read", "s", (wall,), None, (cpu,)),
        Figure("first answer about a line, 2,000 commits on its file", "ms", milliseconds((first,))),
        Figure(
            "warm answer about it",
            "ms",
            milliseconds(wall for wall, _ in warm),
            300,
            milliseconds(cpu for _, cpu in warm),
        ),
    ]


def _code(root: Path, sources: int, *, quick: bool) -> list[Figure]:
    for number in range(sources):
        folder = root / f"package{number % 100}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"module{number}.py").write_text(_source(number), encoding="utf-8")
    keeper = CodeKeeper(root, lambda: root.with_name("outlines"), 10_000_000)
    try:
        wall, cpu = _timed(lambda: keeper.ensure(600.0))
        place = root / "package1" / "module1.py"
        edits = []
        for number in range(ROUNDS):
            place.write_text(_source(1) + f"\n\ndef edited_{number}():\n    return {number}\n", encoding="utf-8")
            edits.append(_timed(lambda number=number: _seen(keeper, f"edited_{number}")))  # type: ignore[misc]
    finally:
        keeper.close()
    return [
        Figure("source files read, processor time", "s", (cpu,), 30.0 * sources / SOURCES, (cpu,)),
        Figure("source files read", "s", (wall,), None, (cpu,)),
        Figure(
            "an edited file is seen",
            "ms",
            milliseconds(wall for wall, _ in edits),
            100,
            milliseconds(c for _, c in edits),
        ),
    ]


def _seen(keeper: CodeKeeper, name: str) -> None:
    keeper.ensure()
    assert keeper.file.named(name)


def _source(number: int) -> str:
    functions = "\n\n".join(
        f'def compute_{number}_{each}(value, scale=1):\n    """Compute part {each} of {number}."""\n'
        f"    total = value * scale + {each}\n    for step in range({each}):\n        total += step\n    return total\n"
        for each in range(8)
    )
    return (
        f'"""Module {number}."""\n\nimport os\nfrom package{number % 100} import module{number // 2}\n\n\n{functions}'
    )


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the clock, and of processors, child processes included."""
    began, before = time.perf_counter(), _cpu()
    work()
    return time.perf_counter() - began, _cpu() - before


def _cpu() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)
