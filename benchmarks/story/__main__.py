"""`python -m benchmarks.story --clones FOLDER`: stories of lines, symbols and questions, against keys from git alone.

Nothing here makes the exit code 1 but a benchmark that could not measure. The misses of repositories that are held out
are never printed: nobody can tune on them.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import msgspec

from benchmarks.story import baseline
from benchmarks.story.asking import Said
from benchmarks.story.repository import Repository
from benchmarks.story.score import Verdict, verdict
from benchmarks.story.sets import Kind, QuestionSet, sets
from benchmarks.table import machine
from benchmarks.workspace import REPOSITORY, BenchmarkFailed

COLUMNS = (
    "repository",
    "asked",
    "found",
    "targets",
    "others",
    "log -L",
    "grep",
    "belong",
    "wrong",
    "other",
    "net",
    "tokens",
    "over",
    "first s",
    "warm ms",
)
LEGEND = """found: share of all anchors of the keys in one answer; targets, others: of `why` about lines and symbols, of
`ask`; log -L, grep: the same in as many characters, 1,200 at least, of `git log -L` behind the blamed message (of
lines, and of symbols that are there) and of `git grep` (all); belong: share of the shown commits, tests and places that
belong to the key; wrong: answers of `why` that name another commit first than one that decided; other: answers of `ask`
that do, which quote and claim nothing; net: found, where a wrong answer counts twice with nothing found; tokens:
median; over: share of answers of more than 900 tokens; first s, warm ms: median on the clock."""
ANCHORS = ("commits", "numbers", "tests", "places", "tags")
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST_TOKENS = 900
ONE_HOUR = 3600


class Measured(msgspec.Struct, frozen=True):
    chosen: QuestionSet
    said: tuple[Said, ...]
    verdicts: tuple[Verdict, ...]
    of_lines: tuple[Verdict, ...]
    of_names: tuple[Verdict, ...]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.story", description=__doc__)
    parser.add_argument("--clones", type=Path, required=True, help="a folder with clones that have the whole history")
    parser.add_argument("--only", action="append", metavar="NAME", help="some of the repositories")
    parser.add_argument("--dev", action="store_true", help="without the repositories that are held out")
    parser.add_argument("--misses", action="store_true", help="print what is missed in those for development")
    parser.add_argument("--kept", type=Path, help="a folder whose copies and their indexes are used again")
    parser.add_argument("--answers", type=Path, help="a folder for the answers about those for development")
    options = parser.parse_args()
    measured, failed = [], []
    for chosen in sets():
        if (options.only and chosen.name not in options.only) or (options.dev and chosen.held_out):
            continue
        with tempfile.TemporaryDirectory(prefix="clew-story-") as folder:
            try:
                measured.append(_measured(chosen, options.clones.resolve(), options.kept or Path(folder)))
            except BenchmarkFailed as error:
                failed.append(f"{chosen.name}: {error}")
                continue
        print(f"{chosen.name} measured", file=sys.stderr, flush=True)
        if options.answers and not chosen.held_out:
            _write(options.answers, measured[-1])
    _print_tables(measured)
    if options.misses:
        _print_misses(measured)
    print("\n".join(failed))
    return 1 if failed else 0


def _measured(chosen: QuestionSet, clones: Path, folder: Path) -> Measured:
    folder.mkdir(parents=True, exist_ok=True)
    repository = Repository(chosen, clones, folder)
    said = _asked(repository)
    texts = {each.id: each.text for each in said}
    verdicts, lines, names = [], [], []
    for question in chosen.question:
        text = texts[question.id]
        verdicts.append(verdict(question, text, repository))
        if log := baseline.of_lines(question, repository, len(text)):
            lines.append(verdict(question, log, repository))
        names.append(verdict(question, baseline.of_names(question, repository, len(text)), repository))
    return Measured(chosen, said, tuple(verdicts), tuple(lines), tuple(names))


def _asked(repository: Repository) -> tuple[Said, ...]:
    """In a process of its own, so that every repository begins with nothing in memory."""
    command = (sys.executable, "-m", "benchmarks.story.asking", str(repository.root), repository.chosen.name)
    try:
        done = subprocess.run(
            command, cwd=REPOSITORY, capture_output=True, stdin=subprocess.DEVNULL, timeout=ONE_HOUR, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise BenchmarkFailed("Clew did not answer within an hour.") from error
    if done.returncode:
        raise BenchmarkFailed(done.stderr.decode(errors="replace").strip())
    return msgspec.json.decode(done.stdout, type=tuple[Said, ...])


def _print_tables(measured: Sequence[Measured]) -> None:
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    halves = [
        (name, part)
        for name, is_held in (("development", False), ("held out", True))
        if (part := [each for each in measured if each.chosen.held_out is is_held])
    ]
    _print_table(COLUMNS, [*(_row(each.chosen.name, [each]) for each in measured), *(_row(*half) for half in halves)])
    print(f"\n{LEGEND}\n\nShare of anchors found, by what they are, and of all anchors by kind of question:")
    _print_table(("half", *ANCHORS, *KINDS), [_kinds_row(*half) for half in halves])


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in (columns, *rows)) for column in range(len(columns))]
    for row in (columns, *rows):
        cells = zip(row, widths, strict=True)
        print("  ".join(cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(cells)))


def _kinds_row(name: str, measured: Sequence[Measured]) -> tuple[str, ...]:
    verdicts = [each for part in measured for each in part.verdicts]
    by_anchor = []
    for anchor in ANCHORS:
        wanted = [(each, item) for each in verdicts for item in getattr(each.question, anchor)]
        by_anchor.append(percent(sum(item in each.found for each, item in wanted), len(wanted)))
    return (name, *by_anchor, *(share([each for each in verdicts if each.question.kind == kind]) for kind in KINDS))


def _row(name: str, measured: Sequence[Measured]) -> tuple[str, ...]:
    verdicts = [each for part in measured for each in part.verdicts]
    said = [each for part in measured for each in part.said]
    tokens = [each.tokens for each in verdicts]
    return (
        name,
        str(len(verdicts)),
        share(verdicts),
        share([each for each in verdicts if each.question.is_target]),
        share([each for each in verdicts if not each.question.is_target]),
        share([each for part in measured for each in part.of_lines]),
        share([each for part in measured for each in part.of_names]),
        percent(sum(each.belonging for each in verdicts), sum(each.shown for each in verdicts)),
        wrong([each for each in verdicts if each.question.is_target]),
        wrong([each for each in verdicts if not each.question.is_target]),
        net(verdicts),
        f"{statistics.median(tokens):.0f}",
        percent(sum(each > MOST_TOKENS for each in tokens), len(tokens)),
        f"{statistics.median(each.first_seconds for each in said):.2f}",
        f"{statistics.median(each.seconds for each in said) * 1000:.0f}",
    )


def share(verdicts: Sequence[Verdict]) -> str:
    return percent(sum(len(each.found) for each in verdicts), sum(each.total for each in verdicts))


def wrong(verdicts: Sequence[Verdict]) -> str:
    return percent(sum(each.is_wrong for each in verdicts), len(verdicts))


def net(verdicts: Sequence[Verdict]) -> str:
    told = {each.question.id for each in verdicts if each.is_wrong and each.question.is_target}
    right = sum(len(each.found) for each in verdicts if each.question.id not in told)
    return percent(right, sum(each.total * (2 if each.question.id in told else 1) for each in verdicts))


def percent(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "-"


def _print_misses(measured: Sequence[Measured]) -> None:
    for each in measured:
        if each.chosen.held_out:
            continue
        for one in each.verdicts:
            named = ", another commit first" if one.is_wrong else ""
            missed = ", ".join(one.missed) or "nothing"
            print(f"{one.question.id} {one.question.ask}: {one.tokens} tokens{named}; missed {missed}")


def _write(folder: Path, measured: Measured) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for said in measured.said:
        (folder / f"{said.id}.txt").write_text(said.text + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
