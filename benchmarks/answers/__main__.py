"""`python -m benchmarks.answers --clones FOLDER`: questions to six repositories that nobody here wrote.

Questions about documentation, named and paraphrased, are asked of `kb_retrieve_evidence` in at most two calls, those of
a first week of `ask`, and foreign ones of both. The misses of repositories that are held out are never printed.
"""

import argparse
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.answers.asking import Said
from benchmarks.answers.sets import FROZEN, QuestionSet, frozen, sets
from benchmarks.workspace import REPOSITORY, BenchmarkFailed, run

COLUMNS = (
    "set",
    "named",
    "in two",
    "paraphrased",
    "in two",
    "foreign",
    "near",
    "week",
    "foreign (all)",
    "text",
    "data",
)
LEGEND = """named, paraphrased: answered in one call and in two; foreign, near: shares that were answered as sure or
likely, of documents and by `ask` (all); week: answered by `ask`; text: median tokens of an answer as text; data: tokens
of its data for one of its quotes."""
CLASSES = ("sure", "likely", "unsure")
PATIENCE_SECONDS = 3600


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__)
    parser.add_argument("--clones", type=Path, required=True, help="a folder with clones that have the whole history")
    parser.add_argument("--kept", type=Path, required=True, help="a folder for copies and indexes, used again")
    parser.add_argument("--only", action="append", metavar="NAME", help="some of the repositories")
    parser.add_argument("--dev", action="store_true", help="without the repositories that are held out")
    parser.add_argument("--misses", action="store_true", help="print what is missed in those for development")
    options = parser.parse_args()
    if frozen() != FROZEN:
        print(f"The questions were changed since they were frozen: they give {frozen()}.", file=sys.stderr)
        return 1
    measured: list[tuple[QuestionSet, list[Said]]] = []
    try:
        for chosen in sets():
            if (options.only and chosen.name not in options.only) or (options.dev and chosen.held_out):
                continue
            root = _copied(chosen, options.clones.resolve(), options.kept.resolve())
            measured.append((chosen, _asked(root, chosen.name)))
            print(f"{chosen.name} measured", file=sys.stderr, flush=True)
    except BenchmarkFailed as error:
        print(error, file=sys.stderr)
        return 1
    _report(measured, misses=options.misses)
    return 0


def _copied(chosen: QuestionSet, clones: Path, kept: Path) -> Path:
    root = kept / chosen.name
    if not root.exists():
        clone = clones / chosen.name
        if not clone.exists():
            raise BenchmarkFailed(
                f"{clone} is not there: fetch https://github.com/{chosen.repository} with its whole history."
            )
        kept.mkdir(parents=True, exist_ok=True)
        run("git", "clone", "--quiet", "--no-local", str(clone), str(root), patience=PATIENCE_SECONDS)
    run("git", "checkout", "--quiet", "--detach", chosen.commit, cwd=root, patience=PATIENCE_SECONDS)
    return root


def _asked(root: Path, name: str) -> list[Said]:
    """In a process of its own, so that every repository begins with nothing in memory."""
    command = (sys.executable, "-m", "benchmarks.answers.asking", str(root), name)
    done = subprocess.run(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=PATIENCE_SECONDS, check=False
    )
    if done.returncode:
        raise BenchmarkFailed(f"{name}: asking ended with {done.returncode}.")
    return msgspec.json.decode(done.stdout, type=list[Said])


def _report(measured: Sequence[tuple[QuestionSet, list[Said]]], *, misses: bool) -> None:
    halves = [
        (name, [each for chosen, said in measured if chosen.held_out is held for each in said])
        for name, held in (("development", False), ("held out", True))
    ]
    rows = [(chosen.name, said) for chosen, said in measured] + [each for each in halves if each[1]]
    cells = [COLUMNS, *(_row(*each) for each in rows)]
    for row in cells:
        print("  ".join(cell.ljust(len(title)) for cell, title in zip(row, COLUMNS, strict=True)))
    print(
        f"\n{LEGEND}\n\nAnswers by their surest quote: right (right with the first quote) of all, foreign ones included"
    )
    for name, said in halves:
        for asked in ("documents", "all"):
            print(f"{name}, {asked}: " + ", ".join(_class(said, asked, each) for each in CLASSES))
    for chosen, said in measured:
        if misses and not chosen.held_out:
            for each in said:
                if each.question.is_answerable != _found(each, twice=False):
                    shown = "; ".join(f"{quote.certainty} {quote.path}" for quote in each.quotes[:3])
                    print(f"{each.question.id} {each.asked} {each.question.kind}: {each.question.ask} [{shown}]")


def _row(name: str, said: Sequence[Said]) -> tuple[str, ...]:
    documents, everything = ([each for each in said if each.asked == asked] for asked in ("documents", "all"))
    cells = [name]
    for kind in ("named", "paraphrased"):
        own = [each for each in documents if each.question.kind == kind]
        cells += [_share([_found(each, twice=twice) for each in own]) for twice in (False, True)]
    cells += [
        _share([_claims(each) for each in documents if each.question.kind == kind]) for kind in ("foreign", "near_miss")
    ]
    cells.append(_share([_found(each, twice=False) for each in everything if each.question.kind == "week"]))
    cells.append(_share([_claims(each) for each in everything if each.question.kind == "foreign"]))
    answered = [each for each in documents if each.question.is_answerable and each.quote_tokens]
    ratio = sum(each.data_tokens for each in answered) / max(1, sum(each.quote_tokens for each in answered))
    return (*cells, f"{statistics.median([each.text_tokens for each in answered] or [0]):.0f}", f"{ratio:.2f}")


def _found(said: Said, *, twice: bool) -> bool:
    if not said.question.is_answerable:
        return _claims(said)
    return any(
        said.question.is_answered_by(each.text, each.path) for each in said.quotes if twice or each.is_first_call
    )


def _claims(said: Said) -> bool:
    return any(each.certainty != "unsure" for each in said.quotes)


def _class(said: Sequence[Said], asked: str, name: str) -> str:
    """Answers whose surest quote is of a class: those that hold the answer, and those whose first quote does."""
    own = [each for each in said if each.asked == asked and each.quotes and _surest(each) == name]
    right = sum(each.question.is_answerable and _found(each, twice=False) for each in own)
    first = sum(
        each.question.is_answerable and each.question.is_answered_by(each.quotes[0].text, each.quotes[0].path)
        for each in own
    )
    return f"{name} {right} ({first}) of {len(own)}"


def _surest(said: Said) -> str:
    there = {each.certainty for each in said.quotes if each.is_first_call}
    return next((each for each in CLASSES if each in there), "unsure")


def _share(values: Sequence[bool]) -> str:
    return f"{sum(values)}/{len(values)}"


if __name__ == "__main__":
    sys.exit(main())
