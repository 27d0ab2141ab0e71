"""The documents that answers are measured on: Clew's own, and those of libraries that are installed beside it.

Nothing of the libraries is kept in the repository. Their modules and the pages that their packages carry are copied
into a temporary project when the benchmark runs; the lock file pins their versions. A library that is not installed is
named and left out.
"""

import shutil
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import msgspec

from benchmarks.workspace import REPOSITORY

OWN = ("README.md", "docs", "spec")

LIBRARIES = {
    "anyio": ("anyio", "anyio/**/*.py"),
    "attrs": ("attr", "attr/*.py"),
    "click": ("click", "click/*.py"),
    "h11": ("h11", "h11/*.py"),
    "httpx2": ("httpx2", "httpx2/**/*.py"),
    "hypothesis": ("hypothesis", "hypothesis/*.py"),
    "jsonschema": ("jsonschema", "jsonschema/*.py"),
    "msgspec": ("msgspec", "msgspec/*.pyi"),
    "numpy": ("numpy", "numpy/lib/*.py"),
    "packaging": ("packaging", "packaging/*.py"),
    "pluggy": ("pluggy", "pluggy/*.py"),
    "pyjwt": ("jwt", "jwt/*.py"),
    "sortedcontainers": ("sortedcontainers", "sortedcontainers/*.py"),
    "starlette": ("starlette", "starlette/**/*.py"),
    "tomlkit": ("tomlkit", "tomlkit/*.py"),
    "uvicorn": ("uvicorn", "uvicorn/**/*.py"),
}
"""By distribution: its folder among the documents, and which of its modules are read."""

CONFIG = """
[docs]
folders = ["clew", "libraries"]
patterns = ["*.md", "*.rst", "*.txt", "*.py", "*.pyi"]

[requirements]
folders = []

[code]
folders = []

[tests]
folders = []

[search]
background = false
"""

_ENDINGS = {"text/markdown": ".md", "text/x-rst": ".rst"}


class Corpus(msgspec.Struct, frozen=True):
    folder: Path
    present: tuple[str, ...]
    """The libraries with their versions."""
    absent: tuple[str, ...]


def build(folder: Path) -> Corpus:
    """A project that holds all documents, in a folder that is made, or brought up to date."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "clew.toml").write_text(CONFIG, encoding="utf-8")
    for name in OWN:
        source, target = REPOSITORY / name, folder / "clew" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target, dirs_exist_ok=True) if source.is_dir() else shutil.copyfile(source, target)
    present, absent = [], []
    for name, (own, pattern) in LIBRARIES.items():
        try:
            found = distribution(name)
        except PackageNotFoundError:
            absent.append(name)
            continue
        _copy(found, own, pattern, folder / "libraries")
        present.append(f"{name} {found.version}")
    return Corpus(folder, tuple(present), tuple(absent))


def _copy(found: Distribution, own: str, pattern: str, folder: Path) -> None:
    root = Path(str(found.locate_file("")))
    for source in sorted(root.glob(pattern)):
        target = folder / source.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    page, kind = found.metadata.get_payload(), found.metadata.get("Description-Content-Type", "text/x-rst")
    ending = _ENDINGS.get(str(kind).partition(";")[0].strip(), ".txt")
    target = folder / own / f"README{ending}"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(str(page), encoding="utf-8")
