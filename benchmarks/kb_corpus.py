"""The documents that answers are measured on: Clew's own, and those of libraries that are installed beside it.

Clew's own pages are those of the commit that the frozen questions ask about, taken from git. So the pages can be
rewritten, and figures stay comparable.

Nothing of the libraries is kept in the repository. Their modules and the pages that their packages carry are copied
into a temporary project when the benchmark runs; the lock file pins their versions. A library that is not installed is
named and left out.
"""

import io
import shutil
import subprocess
import tarfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import msgspec

from benchmarks.workspace import REPOSITORY, BenchmarkFailed

OWN = ("README.md", "docs", "spec")
OWN_COMMIT = "7f85ff475bdd6ea374cfa3b8608e2f0966b711af"
"""The commit whose pages the golden questions ask about."""

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

NOTHING_ELSE = """
[requirements]
folders = []

[code]
folders = []

[tests]
folders = []

[search]
background = false
"""
"""The end of a configuration under which only documents are read."""
CONFIG = f"""
[docs]
folders = ["clew", "libraries"]
patterns = ["*.md", "*.rst", "*.txt", "*.py", "*.pyi"]

[kb]
timeout_seconds = 60
{NOTHING_ELSE}"""
"""What is found is measured, however slow the machine is."""

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
    own_pages(folder / "clew")
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


def own_pages(folder: Path) -> None:
    """Write Clew's own documents, as they were at the commit, into a folder."""
    try:
        packed = subprocess.run(
            ["git", "archive", "--format=tar", OWN_COMMIT, *OWN], cwd=REPOSITORY, capture_output=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise BenchmarkFailed(
            f"The golden questions ask about the documents of commit {OWN_COMMIT[:7]}, which git does not give here. "
            "Run the benchmark in a clone with the whole history (`git fetch --unshallow`)."
        ) from error
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


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
