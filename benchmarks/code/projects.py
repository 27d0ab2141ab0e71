"""Projects whose symbols are asked about: source archives of package indexes, and repositories at a commit.

Archives are fetched when the benchmark runs, checked against the hashes below and kept in a cache folder. Nothing of
them is in the repository: the truth about them is names of symbols, paths and numbers of lines.
"""

import hashlib
import io
import json
import os
import subprocess
import tarfile
import urllib.request
from pathlib import Path
from typing import Literal

import msgspec

from benchmarks.kb_registry import Pages, archive
from benchmarks.workspace import REPOSITORY, BenchmarkFailed, run

CACHE = Path("~/.cache/clew-bench").expanduser()

Origin = Literal["pypi", "npm", "here", "clone"]


class Source(msgspec.Struct, frozen=True):
    """Where the files of a project come from, and which of them define the symbols that are drawn."""

    name: str
    language: Literal["python", "typescript"]
    origin: Origin
    version: str
    """Of the package; of a repository the commit."""
    sha256: str
    """Of the archive; empty for a repository, whose commit is one."""
    defining: str
    """The folder of the product's own code: tests are asked for uses, never drawn from."""
    held_out: bool
    """Nothing is tuned on it: its misses are not printed."""
    package: str = ""
    """Its name in the index, where that is another."""
    config: str = "tsconfig.json"
    """The settings of the compiler, of a TypeScript project; written where the archive has none."""
    without: tuple[str, ...] = ()
    """Folders that are left out: what was compiled from the sources."""


SOURCES = (
    Source("clew", "python", "here", "b9984579b9085307b974be4bf88ac5abc1d76e73", "", "src/clew", False),
    Source(
        "click",
        "python",
        "pypi",
        "8.5.1",
        "9bbfada76703fd1d784b83eea012e3e8c6a001a876543ef104fa56aaaeb072b4",
        "src/click",
        False,
    ),
    Source(
        "django",
        "python",
        "pypi",
        "6.1.3",
        "b5d2d9e35295065d13b1927b3f19a59bd119f737aa6299def14ccca1ae3c8c0d",
        "django",
        False,
    ),
    Source(
        "celery",
        "python",
        "pypi",
        "5.7.0",
        "6a5dfcf6662287204f009a02002b9e66c83d4105e47ebabdc7079108772fc6f0",
        "celery",
        False,
    ),
    Source(
        "requests",
        "python",
        "pypi",
        "2.34.2",
        "f288924cae4e29463698d6d60bc6a4da69c89185ad1e0bcc4104f584e960b9ed",
        "src/requests",
        False,
    ),
    Source(
        "werkzeug",
        "python",
        "pypi",
        "3.1.9",
        "55ca7c70a75689be937aa27f8ff4b018f06ff4838fc73045560bf0f5a1291060",
        "src/werkzeug",
        True,
    ),
    Source(
        "rich",
        "python",
        "pypi",
        "15.0.0",
        "edd07a4824c6b40189fb7ac9bc4c52536e9780fbbfbddf6f1e2502c31b068c36",
        "rich",
        True,
    ),
    Source(
        "sphinx",
        "python",
        "pypi",
        "9.2.0",
        "90470459f3cab15d9dfed146c71cf77694b0445df17b2e0e69059cb9f7fc9ee4",
        "sphinx",
        True,
    ),
    Source(
        "pytest",
        "python",
        "pypi",
        "9.2.0",
        "97c4f3b1f3c7414aa36465e09b8220f1d03627993bd51b1282e193753c80557b",
        "src",
        True,
    ),
    Source(
        "httpx",
        "python",
        "pypi",
        "0.28.1",
        "75e98c5f16b0f35b567856f597f06ff2270a374470a5c2392242528e3e3e42fc",
        "httpx",
        True,
    ),
    Source(
        "rxjs",
        "typescript",
        "npm",
        "7.8.2",
        "2312f8ffd9726ffd7bd53ea12c5f13663d09a3dc3326f448c70b88f5ef6fac82",
        "src",
        False,
        config="src/tsconfig.base.json",
        without=("dist",),
    ),
    Source("excalidraw", "typescript", "clone", "4872083c044491b6d5c96ae134a75464f96d6831", "", "packages", False),
    Source(
        "zod",
        "typescript",
        "npm",
        "4.6.7",
        "84efd155bed93270286e793fc951be270b536cbd5b0eeb111f0fa3967201d698",
        "src",
        True,
        without=("v3", "v4", "v4-mini", "mini", "locales"),
    ),
    Source("umami", "typescript", "clone", "c0ea3aefbee7a3429ee2f824b06dc4a9dbe0b7e1", "", "src", True),
)

COMPILER = {
    "compilerOptions": {"target": "es2022", "module": "esnext", "moduleResolution": "bundler", "strict": True},
    "include": ["**/*"],
}


def unpacked(source: Source, target: Path, clones: Path | None = None) -> Path:
    """The files of a project in a folder, as they were when the truth was recorded."""
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(_packed(source, clones))) as packed:
        packed.extractall(target, members=_wanted(packed, source), filter="data")
    if source.language == "typescript" and not (target / source.config).exists():
        (target / source.config).write_text(json.dumps(COMPILER), encoding="utf-8")
    return target


def committed(root: Path) -> None:
    """A repository of the files, as they are where somebody works on them: folders that tools make are read only where
    git keeps what is in them."""
    run("git", "init", "--quiet", cwd=root)
    run("git", "add", "--all", "--force", cwd=root)
    run("git", "commit", "--quiet", "--message=As published", cwd=root)


def _wanted(packed: tarfile.TarFile, source: Source) -> list[tarfile.TarInfo]:
    """Archives of packages have one folder around everything; of a repository none was asked for."""
    members = []
    for member in packed.getmembers():
        inside = member.name if source.origin in ("here", "clone") else member.name.partition("/")[2]
        if inside and (member.isfile() or member.isdir()) and inside.partition("/")[0] not in source.without:
            members.append(member.replace(name=inside))
    return members


def _packed(source: Source, clones: Path | None) -> bytes:
    match source.origin:
        case "pypi":
            return archive(Pages(source.name, source.version, source.sha256, "", ()), CACHE)
        case "npm":
            return _from_npm(source)
        case "here":
            return _from_git(source, REPOSITORY)
        case "clone":
            if clones is None or not (place := clones / source.name).exists():
                raise BenchmarkFailed(
                    f"{source.name} is a repository: give a folder with a clone of it, --clones FOLDER."
                )
            return _from_git(source, place)


def _from_git(source: Source, repository: Path) -> bytes:
    # Of a clone the code alone: large files of other kinds are absent from partial clones.
    only = () if source.origin == "here" else ("*.ts", "*.tsx", "*.js", "*.json")
    command = ("git", "-C", str(repository), "archive", "--format=tar", source.version, "--", *only)
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise BenchmarkFailed(f"{repository.name} has no commit {source.version}: fetch its history.")
    return done.stdout


def _from_npm(source: Source) -> bytes:
    package = source.package or source.name
    file = f"{package.rpartition('/')[2]}-{source.version}.tgz"
    kept = CACHE / file
    if not kept.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        address = f"https://registry.npmjs.org/{package}/-/{file}"
        try:
            with urllib.request.urlopen(address, timeout=120) as answer:
                data = answer.read()
        except OSError as error:
            raise BenchmarkFailed(f"{address} cannot be fetched: {error}.") from error
        partial = kept.with_suffix(f".{os.getpid()}")
        partial.write_bytes(data)
        partial.replace(kept)
    data = kept.read_bytes()
    if (found := hashlib.sha256(data).hexdigest()) != source.sha256:
        raise BenchmarkFailed(f"{kept} has the hash {found}; the truth belongs to {source.sha256}. Remove it.")
    return data
