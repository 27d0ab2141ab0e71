"""`make bench-page`: how fast the page searches 100,000 sections and 100,000 memories, and how large its views stay.

The library and the memory are those that the other benchmarks ask (`kb_scale.py`, `memory_speed.py`). Each is served,
every view is asked for over HTTP as a browser does, with questions that were not asked before; the time has everything
in it, the embedding of the question included.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import urlencode

from benchmarks import table
from benchmarks.figures import Figure, Result
from benchmarks.http_calls import serving
from benchmarks.page import MOST_BYTES, read_page, timed
from benchmarks.search_speed import questions
from benchmarks.workspace import CLEW, run

SEARCH_MS = 300.0
ROUNDS, WARM_UP = 40, 3
SEARCHES = {
    "sections": ("/documents", "/search", "/search?fragment=1"),
    "memories": ("/memory", "/search", "/search?fragment=1"),
}
LISTS = {"sections": ("/", "/documents", "/documents?page=20"), "memories": ("/", "/memory", "/activity")}
FILLED_BY = {"sections": "benchmarks.probes.fill_kb", "memories": "benchmarks.probes.fill_memory"}


def measure(kind: str, count: int, folder: Path, rounds: int) -> Result:
    if not (folder / "clew.toml").is_file():
        run(sys.executable, "-m", FILLED_BY[kind], folder, str(count), patience=3_600)
    with serving((CLEW, "serve", folder, "--transport", "http", "--port", "0")) as (pid, url):
        base = url.removesuffix("/mcp")
        _settle(base)
        return Result(f"The page on {count:,} {kind}", tuple(_figures(kind, base, pid, rounds)))


def _settle(base: str) -> None:
    """Wait until the first answers, which open and read what is there, are given."""
    for address in ("/", "/search?q=tide", "/documents?q=tide", "/memory?q=tide"):
        read_page(base, address)


def _figures(kind: str, base: str, pid: int, rounds: int) -> Iterator[Figure]:
    asked = iter(questions((rounds + WARM_UP) * len(SEARCHES[kind])))
    for path in SEARCHES[kind]:
        answers = [timed(base, _searched(path, next(asked)), pid) for _ in range(rounds + WARM_UP)][WARM_UP:]
        work = Figure("", "ms", tuple(cpu for _, cpu, _ in answers))
        yield Figure(f"{path}, a search", "ms", tuple(ms for ms, _, _ in answers), cpu=work.samples)
        # Of the processor: how long a search takes on the clock says more about what else the machine does.
        yield Figure(f"{path}, 19 of 20 searches, of a processor", "ms", (work.slow,), SEARCH_MS)
        yield Figure(f"{path}, size of a search", "bytes", tuple(float(size) for _, _, size in answers), MOST_BYTES)
    for address in LISTS[kind]:
        answers = [timed(base, address, pid) for _ in range(5)]
        yield Figure(
            f"{address}, answered", "ms", tuple(ms for ms, _, _ in answers), cpu=tuple(cpu for _, cpu, _ in answers)
        )
        yield Figure(f"{address}, size", "bytes", tuple(float(size) for _, _, size in answers), MOST_BYTES)


def _searched(path: str, question: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}{urlencode({'q': question})}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page_scale", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sections", type=int, default=100_000, help="sections of documents (0: leave them out)")
    parser.add_argument("--memories", type=int, default=100_000, help="memories (0: leave them out)")
    parser.add_argument("--kept", type=Path, metavar="FOLDER", help="keep what is generated here, and use it again")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"searches of each kind (default: {ROUNDS})")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clew-bench-") if args.kept is None else nullcontext(args.kept) as folder:
        results = [
            measure(kind, count, Path(folder, kind), args.rounds)
            for kind, count in (("sections", args.sections), ("memories", args.memories))
            if count
        ]
    print(", ".join(f"{name} {value}" for name, value in table.machine().items()), table.render(results), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
