"""Reading a folder with two sides of texts and the true links between them, to measure suggestions on it."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from clew.errors import FormatError, InvalidArgument, NotFound
from clew.trace.links.match.texts import Artefact, readable
from clew.trace.links.measure import LinkSet
from clew.workspace.find import files_below

SOURCES, TARGETS, ANSWERS = "sources", "targets", "answers.csv"

_MOST_BYTES = 16 * 1024 * 1024
_UNKNOWN_SHOWN = 3


def read_link_set(folder: Path, *, sources: str = SOURCES, targets: str = TARGETS, answers: str = ANSWERS) -> LinkSet:
    """The two folders of texts, and the links of `answers`: a line for each, source and target by the names of their
    files, with or without ending."""
    if not folder.is_dir():
        raise NotFound(f"There is no folder '{folder}'.", hint=f"Pass one with {SOURCES}/, {TARGETS}/ and {ANSWERS}.")
    one, other = _artefacts(folder / sources), _artefacts(folder / targets)
    pairs = _pairs(folder / answers)
    from_name, to_name = _names(one), _names(other)
    if pairs and pairs[0][0] not in from_name and pairs[0][1] not in to_name:
        del pairs[0]  # headings
    found: dict[str, set[str]] = {}
    unknown: list[str] = []
    for source, target in pairs:
        if source in from_name and target in to_name:
            found.setdefault(from_name[source], set()).add(to_name[target])
        else:
            unknown.append(source if source not in from_name else target)
    if not found:
        raise InvalidArgument(
            f"No line of '{folder / answers}' names a file of {sources}/ and one of {targets}/.",
            hint=f"Write one link on each line, such as '{_example(one)},{_example(other)}'.",
        )
    notes: tuple[str, ...] = ()
    if unknown:
        named = ", ".join(dict.fromkeys(unknown[:_UNKNOWN_SHOWN]))
        notes = (f"{len(unknown)} of {len(pairs)} links name files that are not there, such as {named}.",)
    return LinkSet(one, other, {id: frozenset(targets) for id, targets in found.items()}, notes)


def _artefacts(folder: Path) -> tuple[Artefact, ...]:
    if not folder.is_dir():
        raise NotFound(
            f"There is no folder '{folder}'.", hint=f"The texts lie in {SOURCES}/ and {TARGETS}/, a file for each."
        )
    paths = sorted(filter(_is_text, files_below(folder)), key=_natural)
    if not paths:
        raise InvalidArgument(f"'{folder}' holds no text files.", hint="Put one file there for each text.")
    return tuple(_artefact(path, path.relative_to(folder).as_posix()) for path in paths)


def _is_text(path: Path) -> bool:
    if path.name.startswith("."):
        return False
    with path.open("rb") as file:
        return b"\0" not in file.read(8_192)


def _artefact(path: Path, relative: str) -> Artefact:
    if (size := path.stat().st_size) > _MOST_BYTES:
        raise FormatError(
            f"'{path}' has {size:,} bytes; files over {_MOST_BYTES:,} bytes are not read.", hint="Split or remove it."
        )
    text = path.read_bytes().decode("utf-8", "replace")
    return Artefact(relative, path.stem, readable(text, relative))


def _natural(path: Path) -> tuple[tuple[int, int | str], ...]:
    """In the order in which people number: UC2 before UC10."""
    parts = re.findall(r"\d+|\D+", path.as_posix().casefold())
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in parts)


def _names(artefacts: Sequence[Artefact]) -> Mapping[str, str]:
    """Every spelling under which a file may be named: its path or name, with or without ending, where it is the only
    one of that name."""
    found: dict[str, str | None] = {}
    for artefact in artefacts:
        path = PurePosixPath(artefact.id)
        for name in {artefact.id, path.with_suffix("").as_posix(), path.name, path.stem}:
            found[name] = artefact.id if name not in found else None
    found.update((artefact.id, artefact.id) for artefact in artefacts)
    return {name: id for name, id in found.items() if id is not None}


def _pairs(path: Path) -> list[tuple[str, str]]:
    try:
        text = path.read_bytes().decode("utf-8-sig", "replace")
    except FileNotFoundError as error:
        raise NotFound(
            f"There is no file '{path}'.", hint="It holds the true links, a line for each: source,target."
        ) from error
    first = text.partition("\n")[0]
    delimiter = next((sign for sign in ",;\t" if sign in first), ",")
    pairs: list[tuple[str, str]] = []
    for number, row in enumerate(csv.reader(io.StringIO(text), delimiter=delimiter), start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) < 2 or not cells[0] or not cells[1]:
            raise FormatError(
                f"Line {number} of '{path}' is {','.join(row)!r}; it has to name a source and a target.",
                hint="Write one link on each line: source,target.",
            )
        pairs.append((cells[0], cells[1]))
    return pairs


def _example(artefacts: Sequence[Artefact]) -> str:
    return PurePosixPath(artefacts[0].id).stem
