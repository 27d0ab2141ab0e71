"""Writes a project of any size: requirements in elspais markdown, on three levels, with links, gaps and faults, and the
code, the tests and the results of those tests that cite them.

The same shape gives the same bytes. `python -m benchmarks.generate FOLDER` writes the project that the figures are
measured on; the options make it smaller or larger.
"""

import argparse
import hashlib
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.prose import Prose
from benchmarks.sources import LINES_FILE, RESULTS_FILE, sources, write

SETTLED_SECONDS = 1_700_000_000
"""The time every generated file carries: long past, as in a project that nobody edits at this moment."""

FEWEST_ASSERTIONS, MOST_ASSERTIONS = 2, 12
BROKEN_SHARE = 0.005
STALE_SHARE = 0.02
LABELLED_SHARE = 0.4
SECOND_PARENT_SHARE = 0.15
SAME_LEVEL_SHARE = 0.2

CONFIGURATION = f"""[project]
name = "generated"

[requirements]
folders = ["spec"]

[code]
folders = ["src"]

[tests]
folders = ["tests"]
results = ["{RESULTS_FILE}", "{LINES_FILE}"]
"""


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the project is. Everything else follows from it."""

    requirements: int = 5_000
    assertions: int = 25_000
    files: int = 100
    """Of requirements."""
    code_files: int = 2_000
    references: int = 16_000
    """In code."""
    test_files: int = 2_000
    tests: int = 12_000
    seed: int = 2_026

    @property
    def files_in_all(self) -> int:
        return self.files + self.code_files + self.test_files + bool(self.test_files) + bool(self.code_files)

    def check(self) -> None:
        fewest, most = self.requirements * FEWEST_ASSERTIONS, self.requirements * MOST_ASSERTIONS
        if not fewest <= self.assertions <= most:
            raise ValueError(
                f"{self.assertions} assertions for {self.requirements} requirements: pass {fewest} to {most}."
            )
        if not len(LEVELS) <= self.files <= self.requirements:
            raise ValueError(f"{self.files} files: pass {len(LEVELS)} to {self.requirements}.")
        for files, inside, what in (
            (self.code_files, self.references, "references"),
            (self.test_files, self.tests, "tests"),
        ):
            if inside < files or (inside and not files):
                raise ValueError(f"{inside} {what} in {files} files: pass at least one for each file, and some file.")


@dataclass(frozen=True, slots=True)
class Level:
    name: str
    letter: str
    share: float
    """Of all requirements and files."""


LEVELS = (Level("PRD", "p", 0.1), Level("OPS", "o", 0.3), Level("DEV", "d", 0.6))


@dataclass(frozen=True, slots=True)
class Planned:
    """A requirement before its text is written: what code and tests need to cite it."""

    id: str
    level: Level
    labels: str
    implements: tuple[str, ...]
    refines: tuple[str, ...]
    stale: bool


@dataclass(frozen=True, slots=True)
class Generated:
    """What was written."""

    requirements: tuple[Planned, ...]
    files: tuple[Path, ...]
    """Of requirements."""
    bytes: int


def generate(folder: Path, shape: Shape | None = None) -> Generated:
    """Write the project into a folder that is empty or does not exist."""
    shape = shape or Shape()
    shape.check()
    rng = random.Random(shape.seed)
    planned = plan(shape, rng)
    spec = folder / "spec"
    spec.mkdir(parents=True)
    (folder / "clew.toml").write_text(CONFIGURATION, encoding="utf-8")
    (folder / ".gitignore").write_text(".clew/\n", encoding="utf-8")
    prose = Prose(rng)
    files: list[Path] = []
    written = 0
    for number, (name, requirements) in enumerate(_divided(planned, shape)):
        # Every other file is in the older dialect: real projects are found in both.
        text = _document(name, requirements, prose, rng, _OLDER if number % 2 else _NEWER)
        path = spec / f"{name}.md"
        path.write_text(text, encoding="utf-8", newline="\n")
        files.append(path)
        written += len(text.encode())
    written += write(
        folder,
        sources(
            planned,
            # Numbers of its own: the requirements stay the same however much code there is.
            random.Random(shape.seed + 1),
            code_files=shape.code_files,
            references=shape.references,
            test_files=shape.test_files,
            tests=shape.tests,
        ),
    )
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (SETTLED_SECONDS, SETTLED_SECONDS))
    return Generated(tuple(planned), tuple(files), written)


# The plan


def plan(shape: Shape, rng: random.Random) -> list[Planned]:
    """All requirements, the general ones first, each linked to some that stand before it."""
    label_counts = _label_counts(shape, rng)
    planned: list[Planned] = []
    above: list[Planned] = []
    for level, count in zip(LEVELS, _shares(shape.requirements), strict=True):
        own: list[Planned] = []
        for number in range(1, count + 1):
            implements, refines = _links(above, own, rng)
            own.append(
                Planned(
                    id=f"REQ-{level.letter}{number:05}",
                    level=level,
                    labels="ABCDEFGHIJKL"[: label_counts.pop()],
                    implements=implements,
                    refines=refines,
                    stale=rng.random() < STALE_SHARE,
                )
            )
        planned.extend(own)
        above = own
    return planned


def _label_counts(shape: Shape, rng: random.Random) -> list[int]:
    """How many assertions each requirement has; together exactly as many as asked for."""
    counts = [FEWEST_ASSERTIONS] * shape.requirements
    left = shape.assertions - sum(counts)
    while left:
        index = rng.randrange(shape.requirements)
        if counts[index] < MOST_ASSERTIONS:
            counts[index] += 1
            left -= 1
    return counts


def _shares(total: int) -> list[int]:
    """The total divided among the levels, at least one for each."""
    upper = [max(1, int(total * level.share)) for level in LEVELS[:-1]]
    return [*upper, total - sum(upper)]


def _links(
    above: Sequence[Planned], own: Sequence[Planned], rng: random.Random
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a requirement implements one level up, and what it refines on its own level."""
    implements: list[str] = []
    refines: list[str] = []
    if above:
        parents = 2 if rng.random() < SECOND_PARENT_SHARE else 1
        implements.extend(_reference(above, rng) for _ in range(parents))
    if own and rng.random() < SAME_LEVEL_SHARE:
        refines.append(_reference(own[-50:], rng))
    return tuple(dict.fromkeys(implements)), tuple(refines)


def _reference(candidates: Sequence[Planned], rng: random.Random) -> str:
    # Some requirements are cited far more often than others.
    target = candidates[int(len(candidates) * rng.random() ** 1.5)]
    if rng.random() < BROKEN_SHARE:
        return rng.choice((f"REQ-{target.level.letter}9{target.id[-4:]}", f"{target.id}-Z"))
    if rng.random() >= LABELLED_SHARE:
        return target.id
    labels = sorted(rng.sample(target.labels, rng.choice((1, 1, 2))))
    return f"{target.id}-{'+'.join(labels)}"


def _divided(planned: Sequence[Planned], shape: Shape) -> list[tuple[str, Sequence[Planned]]]:
    """Names of files with their requirements; no file mixes levels."""
    documents: list[tuple[str, Sequence[Planned]]] = []
    for level, files in zip(LEVELS, _shares(shape.files), strict=True):
        own = [requirement for requirement in planned if requirement.level is level]
        bounds = [len(own) * number // files for number in range(files + 1)]
        documents.extend(
            (f"{level.name.lower()}-{number:03}", own[start:end])
            for number, (start, end) in enumerate(pairwise(bounds), start=1)
        )
    return documents


# The text


@dataclass(frozen=True, slots=True)
class _Dialect:
    heading: str
    section: str
    between_assertions: str
    sorts_hashes: bool

    def hash(self, assertions: Sequence[str]) -> str:
        """Of assertions without line breaks or runs of blanks, which need no normalising."""
        lines = sorted(_sha256(line) for line in assertions) if self.sorts_hashes else assertions
        return _sha256("\n".join(lines))[:8]


_OLDER = _Dialect(heading="#", section="##", between_assertions="\n", sorts_hashes=False)
_NEWER = _Dialect(heading="##", section="###", between_assertions="\n\n", sorts_hashes=True)


def _document(name: str, requirements: Sequence[Planned], prose: Prose, rng: random.Random, dialect: _Dialect) -> str:
    blocks = [f"# Requirements {name}\n\n{prose.paragraph(2)}\n"]
    blocks.extend(_requirement(requirement, prose, rng, dialect) for requirement in requirements)
    return "\n---\n\n".join(blocks)


def _requirement(requirement: Planned, prose: Prose, rng: random.Random, dialect: _Dialect) -> str:
    title = prose.title()
    assertions = [f"{label}. {prose.assertion()}" for label in requirement.labels]
    hash = f"{rng.getrandbits(32):08x}" if requirement.stale else dialect.hash(assertions)
    parts = [
        f"{dialect.heading} {requirement.id}: {title}",
        _metadata(requirement, rng),
        prose.paragraph(1),
        f"{dialect.section} Assertions",
        dialect.between_assertions.join(assertions),
    ]
    if rng.random() < 0.5:
        parts.extend((f"{dialect.section} Rationale", prose.paragraph(rng.randint(1, 2))))
    if rng.random() < 0.05:
        parts.extend((f"{dialect.section} Notes", f"```text\n{prose.paragraph(1)}\n```"))
    parts.append(f"*End* *{title}* | **Hash**: {hash}")
    return "\n\n".join(parts) + "\n"


def _metadata(requirement: Planned, rng: random.Random) -> str:
    status = rng.choices(("Active", "Draft", "Deprecated"), weights=(90, 8, 2))[0]
    fields = [f"**Level**: {requirement.level.name}", f"**Status**: {status}"]
    if requirement.implements:
        fields.append(f"**Implements**: {', '.join(requirement.implements)}")
    line = " | ".join(fields)
    return f"{line}\n**Refines**: {', '.join(requirement.refines)}" if requirement.refines else line


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def main() -> None:
    default = Shape()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generate", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where to write; must be empty or not exist")
    parser.add_argument("--requirements", type=int, default=default.requirements, metavar="N")
    parser.add_argument("--assertions", type=int, metavar="N", help="default: five for each requirement")
    parser.add_argument("--files", type=int, metavar="N", help="default: one for fifty requirements")
    parser.add_argument("--code-files", type=int, default=default.code_files, metavar="N", help="0 for none")
    parser.add_argument("--test-files", type=int, default=default.test_files, metavar="N", help="0 for none")
    parser.add_argument("--seed", type=int, default=default.seed, metavar="N")
    args = parser.parse_args()
    if args.folder.exists() and (not args.folder.is_dir() or any(args.folder.iterdir())):
        parser.error(f"'{args.folder}' is not an empty folder")
    shape = Shape(
        requirements=args.requirements,
        assertions=args.requirements * 5 if args.assertions is None else args.assertions,
        files=max(len(LEVELS), args.requirements // 50) if args.files is None else args.files,
        code_files=args.code_files,
        references=args.code_files * 8,
        test_files=args.test_files,
        tests=args.test_files * 6,
        seed=args.seed,
    )
    try:
        generated = generate(args.folder, shape)
    except ValueError as error:
        parser.error(str(error))
    print(f"{len(generated.requirements)} requirements, {shape.files_in_all} files, {generated.bytes:,} bytes")


if __name__ == "__main__":
    main()
