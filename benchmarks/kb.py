"""`make bench-kb`: how often the evidence holds the answer, what it costs, and how fast it is on 100,000 sections.

Quality is measured on real documents (kb_corpus.py) with a golden set that was frozen before anything was tuned
(kb_golden.py), through the tools that agents call, beside the naive way: pasting the five best sections. Figures are of
the half that is held out. Misses are marked; they never fail the command.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from benchmarks import kb_corpus, kb_scale
from benchmarks.kb_asking import Asked, QuestionRunner
from benchmarks.kb_golden import GoldenQuestion, golden, halves
from benchmarks.workspace import BenchmarkFailed
from clew.project import Project
from clew.search.eval.metrics import percentile

FOUND, TOKENS = 0.85, 900
KINDS = ("named", "paraphrased")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kb", description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=("quality", "scale"), help="one half")
    parser.add_argument("--sections", type=int, default=kb_scale.SECTIONS, help="for the speed (default: 100000)")
    parser.add_argument("--tuning", action="store_true", help="the half for tuning instead of the one held out")
    parser.add_argument("--misses", action="store_true", help="list what was not found; only with --tuning")
    parser.add_argument("--corpus", type=Path, help="keep the documents in this folder, or use those that are there")
    parser.add_argument("--library", type=Path, help="the same for the generated library")
    args = parser.parse_args()
    try:
        if args.only != "scale":
            quality(args.corpus, tuning=args.tuning, misses=args.misses)
        if args.only != "quality":
            kb_scale.report(args.sections, args.library)
    except BenchmarkFailed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def quality(folder: Path | None, *, tuning: bool = False, misses: bool = False) -> None:
    questions = golden()
    with _folder(folder) as place:
        corpus = kb_corpus.build(Path(place, "corpus"))
        print(f"Clew's own documents and those of {', '.join(corpus.present)}")
        if corpus.absent:
            print(f"not installed, so not asked about: {', '.join(corpus.absent)}")
        project = Project.open(corpus.folder)
        try:
            project.kb.index()
            _make_vectors(project)
            runner = QuestionRunner(project)
            chosen = halves(questions)[0 if tuning else 1]
            answerable = [question for question in chosen if runner.is_answerable(question)]
            _print_stale(chosen, answerable)
            asked = [runner.ask(question) for question in answerable]
        finally:
            project.close()
    print(f"{len(asked)} questions of the half {'for tuning' if tuning else 'that is held out'}")
    for name in (*KINDS, "all"):
        _print_row(name, [each for each in asked if name in (each.question.kind, "all")])
    if tuning and misses:
        for each in asked:
            if not each.found:
                print(f"  not found: {each.question.id} {each.question.text}")


def _folder(folder: Path | None) -> AbstractContextManager[str | Path]:
    return tempfile.TemporaryDirectory(prefix="clew-bench-") if folder is None else nullcontext(folder)


def _make_vectors(project: Project) -> None:
    engine = project.index.engine
    if engine is None or (note := engine.index_vectors().note) is not None:
        raise BenchmarkFailed(f"No vectors were made: {note if engine is not None else 'there is no index'}.")


def _print_stale(chosen: Sequence[GoldenQuestion], answerable: Sequence[GoldenQuestion]) -> None:
    """A document that was rewritten may have lost the answer; then nobody can find it."""
    for question in chosen:
        if question not in answerable:
            print(f"not asked, because its sections do not answer it any more: {question.id} {question.text}")


def _print_row(name: str, asked: Sequence[Asked]) -> None:
    count = len(asked)
    found, twice = _share([each.found for each in asked]), _share([each.found_twice for each in asked])
    tokens = _mean([each.tokens_twice for each in asked])
    ranks = [each.rank for each in asked]
    seconds = [each.seconds for each in asked]
    print(f"{name}: {count} questions")
    print(f"  kb.search: hit@5 {_share([rank > 0 for rank in ranks]):.3f}, MRR {_reciprocal(ranks):.3f}")
    print(
        f"  five sections pasted: found {_share([each.found_naively for each in asked]):.3f},"
        f" {_mean([each.naive_tokens for each in asked]):.0f} tokens"
    )
    print(
        f"  kb.retrieve_evidence: found {found:.3f}, {_mean([each.tokens for each in asked]):.0f} tokens as text,"
        f" {_mean([each.data_tokens for each in asked]):.0f} as data;"
        f" p50 {percentile(seconds, 0.5) * 1000:.0f} ms, p95 {percentile(seconds, 0.95) * 1000:.0f} ms"
    )
    print(
        f"  and asked for twelve more where six had none:"
        f" found {twice:.3f} (at least {FOUND}) {_verdict(twice >= FOUND)},"
        f" {tokens:.0f} tokens (at most {TOKENS}) {_verdict(tokens <= TOKENS)}"
    )


def _verdict(reached: bool) -> str:
    return "ok" if reached else "MISSED"


def _share(values: Sequence[bool]) -> float:
    return _mean([float(value) for value in values])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


def _reciprocal(ranks: Sequence[int]) -> float:
    return _mean([1 / rank if rank else 0.0 for rank in ranks])


if __name__ == "__main__":
    sys.exit(main())
