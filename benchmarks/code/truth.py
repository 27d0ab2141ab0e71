"""Frozen truth: of each drawn symbol, the lines that refer to it, as a language server of that language knows them."""

import gzip
import hashlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import msgspec

from benchmarks.code.drawing import Drawn
from benchmarks.workspace import BenchmarkFailed

FOLDER = Path(__file__).parent / "truth"

FROZEN = {
    "clew": "21943110d3f1f2a4154067057025ac4c51daac465001a6402c6b61b72b6034dc",
    "click": "4ca66fa78b2ab1dbb75f20d9a9528b23ca40ff2bf6065284d3a7153d10a651f4",
    "django": "8e2b7e17f77b061848a72ed98bb3310a12541130512c094bcedfe1fc83a3f868",
    "celery": "1800c3b7ed9405e39620bcb5728598b757515163596baa22201ebc2e14cfbd41",
    "requests": "4cca4d55cffce8a732c3352cc6a096f31de30a40c10547aea65916d3577803aa",
    "werkzeug": "1880513cc164a170cf9cc05631da40341633f20349113334ab89aeea12a424ea",
    "rich": "a6199cab10207a78f9b7fb7480df2d1cf288459488db8a216c3dac67c5ee02a7",
    "sphinx": "63138bf3d6b1aa5984812d0dc9647c92905e148ad32bd1e09fc42d724edaa3c7",
    "pytest": "1460fd2d980788595a522f3fc3098d6e2e8fc6aca06e7f035d6448d529acade4",
    "httpx": "e962169946ce28526b4de63841eef20a158b53da54086aa891b17da3abed400a",
    "rxjs": "c58a83c012433e768bf37ed7f3d8eff0ee7d3425309bff851ffa4bc4e3c9480f",
    "excalidraw": "263c6ba0f46a7ed5386304cec6af12f46ffabfa4564e91fedb7d75c7e1478d87",
    "zod": "6fff99c1fd57fcbcc6e4389f293edd864ea64ec23250a60182777456daf9de81",
    "umami": "c3ad8f70b536a0f52b6199586b302a9f2816c9cc567ab23823d55bd24d510f22",
}
"""The hash of each project's truth."""

Place = tuple[str, int]

Lines = dict[str, list[int]]
"""Numbers of lines by path."""


class Truth(msgspec.Struct, frozen=True):
    symbol: Drawn
    references: Lines
    """Lines that use it, without those of imports."""
    aside: Lines
    """Lines of imports and of definitions: neither right nor wrong as uses."""


class Recorded(msgspec.Struct, frozen=True):
    project: str
    version: str
    server: str
    """The language server that knew the references, with its version."""
    truths: tuple[Truth, ...]


def write(recorded: Recorded, folder: Path) -> str:
    """The hash of what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    data = msgspec.json.encode(recorded)
    # Without a time, so that the same truth gives the same bytes.
    (folder / f"{recorded.project}.json.gz").write_bytes(gzip.compress(data, 9, mtime=0))
    return hashlib.sha256(data).hexdigest()


def read(project: str, frozen: str | None, folder: Path = FOLDER) -> Recorded:
    """`frozen` is the hash that the truth must have; None for a recording that is not frozen."""
    file = folder / f"{project}.json.gz"
    if not file.exists():
        raise BenchmarkFailed(f"No truth about {project} is in {folder.name}.")
    data = gzip.decompress(file.read_bytes())
    present = hashlib.sha256(data).hexdigest()
    if frozen is not None and present != frozen:
        raise BenchmarkFailed(f"{file.name} was changed since it was frozen: its content has the hash {present}.")
    return msgspec.json.decode(data, type=Recorded)


def grouped(places: Iterable[Place]) -> Lines:
    found: defaultdict[str, set[int]] = defaultdict(set)
    for path, line in places:
        found[path].add(line)
    return {path: sorted(lines) for path, lines in sorted(found.items())}


def places(lines: Lines) -> set[Place]:
    return {(path, line) for path, numbers in lines.items() for line in numbers}
