"""Documentation that nobody here wrote: the pages in source distributions of the Python package registry.

The archives are fetched when the benchmark runs, checked against the hashes below and kept in a cache folder. Nothing
of them is in the repository; the questions about them are (`kb_questions_registry.toml`, `kb_questions_foreign.toml`,
and `kb_questions_named.toml` about eight projects more).
"""

import hashlib
import html
import io
import os
import re
import tarfile
import tomllib
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urljoin

import msgspec

from benchmarks.kb_corpus import NOTHING_ELSE
from benchmarks.workspace import BenchmarkFailed

INDEX = "https://pypi.org/simple/{name}/"
HERE = Path(__file__).parent

Kind = Literal["named", "paraphrased", "other_field", "neighbour", "near_miss"]


class Pages(msgspec.Struct, frozen=True):
    """The documentation in one source distribution."""

    distribution: str
    version: str
    sha256: str
    folder: str
    """Of its pages in the archive."""
    without: tuple[str, ...]
    """Parts of the names of pages that are left out: lists of changes."""


PROJECTS = {
    "copier": Pages(
        "copier", "9.19.1", "3fe48c38a290c90dfa67cfc7811bc3f576c03f59d3a1e6a09a8d46c2f0403988", "docs", ("changelog",)
    ),
    "gunicorn": Pages(
        "gunicorn",
        "27.0.0",
        "88d52e7c60b3af07bc8db431fbb450a94780f2cbe7c420c7cf1891392661c591",
        "docs/content",
        ("news",),
    ),
    "huey": Pages(
        "huey", "3.5.4", "328f5a2dd1406621e5edb17d45655ae232ad9f32c0795ca8dc0bfc121dd7b30c", "docs", ("changes",)
    ),
    "borg": Pages(
        "borgbackup",
        "1.4.5",
        "4f9a5fe584c504b15485841236750dea16aa7cd2ddbc4a594e9d2ce5c49c4508",
        "docs",
        ("changes", "authors"),
    ),
}
"""Two in Markdown, two in reStructuredText."""

_LISTS = ("author", "change", "history", "news", "release", "whatsnew")
_MORE = (
    ("black", "26.5.1", "dd321f668053961824bcc1be1cc1df748b2d7e4fa28086b08331e577b0100a73", "docs"),
    ("cibuildwheel", "4.3.5", "43c30292b9ec8d08a8eb3873436e64d4d1434c5dcbc855fb0afbfc69732048f1", "docs"),
    ("scikit_build_core", "1.1.1", "e347a59193c878ac56a363e57506938652a6dd8c965790cb1cbc6bc7e8d5abad", "docs"),
    ("starlette", "1.9.0", "3d931de246ed870e35ce605974440816ef895e592f255d1396cfdf191d4c4318", "docs"),
    ("aiohttp", "4.0.0a1", "b5036133c1ba77ed5a70208d2a021a90b76fdf8bf523ae33dae46d4f4380d86f", "docs"),
    ("falcon", "4.4.0rc1", "1018fca41bdc395ca024a00a1a6d2fcaac1c31970a2daca6300fe3e51cab8572", "docs"),
    ("Whoosh", "2.7.4", "7ca5633dbfa9e0e0fa400d3151a8a0c4bec53bd2ecedc0a67705b17565c31a83", "docs/source"),
    ("invoke", "3.0.3", "437b6a622223824380bfb4e64f612711a6b648c795f565efc8625af66fb57f0c", "sites/docs"),
)
MORE_PROJECTS = {name.lower(): Pages(name, version, hash, folder, _LISTS) for name, version, hash, folder in _MORE}
"""Four in Markdown, four in reStructuredText; asked about by name only."""

CONFIG = """
[docs]
folders = [{folders}]
patterns = ["*.md", "*.rst"]

[kb]
timeout_seconds = 60
"""
"""What is found is measured, however slow the machine is."""


class RegistryQuestion(msgspec.Struct, frozen=True):
    id: str
    project: str
    kind: Kind
    text: str
    answers: tuple[str, ...] = ()
    """One of these phrases answers the question; none where the pages do not answer it."""

    def is_answered_by(self, text: str) -> bool:
        said = flat(text)
        return any(flat(answer) in said for answer in self.answers)


def flat(text: str) -> str:
    """A text as phrases are compared: without case, line breaks, indentation and marks of emphasis."""
    return " ".join(text.lower().replace("`", "").replace("*", "").split())


def questions(name: str) -> tuple[RegistryQuestion, ...]:
    """The frozen questions of a file: `registry`, `foreign` or `named`."""
    file = HERE / f"kb_questions_{name}.toml"
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    found = msgspec.convert(data["questions"], tuple[RegistryQuestion, ...])
    rows = [(each.id, each.project, each.kind, each.text, each.answers) for each in found]
    present = hashlib.sha256(msgspec.json.encode(rows)).hexdigest()
    if present != data["frozen"]:
        raise BenchmarkFailed(f"{file.name} was changed since it was frozen: its questions give {present}.")
    return found


def build(folder: Path, cache: Path, projects: Mapping[str, Pages] = PROJECTS) -> Path:
    """A project that holds the pages of all projects, each in a folder of its name."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ", ".join(f'"{name}"' for name in projects)
    (folder / "clew.toml").write_text(CONFIG.format(folders=names) + NOTHING_ELSE, encoding="utf-8")
    for name, pages in projects.items():
        if not (folder / name).exists():
            _unpack(archive(pages, cache), pages, folder / name)
    return folder


def archive(pages: Pages, cache: Path) -> bytes:
    kept = cache / f"{pages.distribution}-{pages.version}.tar.gz"
    if not kept.exists():
        cache.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(f".{os.getpid()}")
        partial.write_bytes(_fetched(pages))
        partial.replace(kept)
    data = kept.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != pages.sha256:
        raise BenchmarkFailed(f"{kept} has the hash {found}; what is measured belongs to {pages.sha256}. Remove it.")
    return data


def _fetched(pages: Pages) -> bytes:
    """The archive with the known hash, from the registry's list of files: the interface that every index has."""
    index = INDEX.format(name=pages.distribution)
    try:
        listed = re.search(rf'href="([^"#]+)#sha256={pages.sha256}"', _get(index).decode())
        if listed is None:
            raise BenchmarkFailed(f"{index} lists no {pages.distribution} {pages.version} with hash {pages.sha256}.")
        return _get(urljoin(index, html.unescape(listed[1])))
    except (OSError, ValueError) as error:
        raise BenchmarkFailed(f"{pages.distribution} {pages.version} cannot be fetched: {error}.") from error


def _get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=120) as answer:  # noqa: S310
        data: bytes = answer.read()
        return data


def _unpack(archive: bytes, pages: Pages, target: Path) -> None:
    root = f"{pages.distribution}-{pages.version}/{pages.folder}/"
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        for member in packed.getmembers():
            inside = member.name.removeprefix(root)
            wanted = inside != member.name and inside.endswith((".md", ".rst"))
            if not wanted or not member.isfile() or any(part in inside for part in pages.without):
                continue
            content = packed.extractfile(member)
            if content is not None:
                place = target / inside
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content.read())
