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
    "clew": "823bcf21f9aa495cb3b09f2d528b6bd07039e61382427b315385737abf548d87",
    "click": "eb421f9080ed1b225a774da82e159761fc4bbc95a66d8378f76e08eb28e29e02",
    "django": "7cd63e82306613b3ba0b0aa012dd950b747ee0805aecd302683dfb0bcb3f1ad3",
    "celery": "6fb413f339d223eb558932c388df74b20a82fa2234efa1127e9fbd6ba1f7402f",
    "requests": "3fff7e8611a6570013fe1c320ab9064e796424e97ef1d040b944c53588e2d08e",
    "werkzeug": "c056ea4ed6ce3c1a37cea603d4b76cbb9a0ae34dcddf3141d340b004f8539f5c",
    "rich": "b5eadbf292aff8abf72c6b6e21b4721badb2ba4d2112cca82dc6b1afe64fa606",
    "sphinx": "0b8cfd2f19fe575dcea662602265be3bf3e57bc484cc2f9860a7b89223a485c9",
    "pytest": "bd85aef989d39c3f4e98ba4b427515d68908428418d25af8958b5eab99d15854",
    "httpx": "3d911ecccbabbb5d134f5cd59b52a8cec8ef9b56dd797761f2342ce5af69385a",
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
    packages: tuple[str, ...] = ()
    """What was installed beside the project."""


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
