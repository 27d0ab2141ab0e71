"""`python -m benchmarks.kb_found`: answers from documentation that nobody here wrote, and silence where it has none.

Each question is asked within the pages of its project, through `kb.retrieve_evidence`, in at most two calls of six
quotes: the second, which follows `next_cursor`, is made where the first did not hold the answer. Figures are of the
half of the questions that is held out; the other was for tuning. With `--more`, named questions about eight other
projects are asked, none of which is held out. What misses its limit is marked; it never fails the command.
"""

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import kb_registry
from benchmarks.kb_asking import wait_for_encoder
from benchmarks.kb_golden import SPLIT_SEED
from benchmarks.kb_registry import RegistryQuestion
from benchmarks.workspace import BenchmarkFailed
from clew.operation.call import Answer, Call, carry_out
from clew.operation.listing import all_tools
from clew.project import Project
from clew.search.quote.certainty import Certainty
from clew.text.tokens import estimate_tokens

TOKENS = 800
FOUND = {"named": 0.9, "paraphrased": 0.65}
KEPT = {"named": 0.95, "paraphrased": 0.85}
FOREIGN = 0.05
_TOOL = next(tool for tool in all_tools() if tool.name == "kb.retrieve_evidence")


class Asked(msgspec.Struct, frozen=True):
    question: RegistryQuestion
    is_answered: bool
    """True if a quote of the first answer is shown as sure or likely; what is nearest comes as unsure."""
    found: bool
    found_twice: bool
    tokens: int
    """Of the answers as text, the second one included where there was one."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kb_found", description=__doc__.split("\n")[0])
    parser.add_argument("--tuning", action="store_true", help="the half for tuning instead of the one held out")
    parser.add_argument("--more", action="store_true", help="named questions about eight other projects")
    parser.add_argument("--misses", action="store_true", help="list what was not found; not of what is held out")
    parser.add_argument("--corpus", type=Path, help="keep the pages and their index in this folder")
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/clew-bench").expanduser(), help="of the archives")
    args = parser.parse_args()
    try:
        with nullcontext(args.corpus) if args.corpus else tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
            projects = kb_registry.MORE_PROJECTS if args.more else kb_registry.PROJECTS
            asked = measure(kb_registry.build(Path(folder), args.cache, projects), questions(args))
    except BenchmarkFailed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    report(asked)
    if args.misses and (args.tuning or args.more):
        for each in asked:
            if (each.question.answers and not each.found_twice) or each.is_answered > bool(each.question.answers):
                print(f"  {each.question.id} {each.question.kind}: {each.question.text}")
    return 0


def questions(args: argparse.Namespace) -> list[RegistryQuestion]:
    if args.more:
        return list(kb_registry.questions("named"))
    return half((*kb_registry.questions("registry"), *kb_registry.questions("foreign")), tuning=args.tuning)


def measure(folder: Path, questions: Iterable[RegistryQuestion]) -> list[Asked]:
    project = Project.open(folder)
    try:
        project.kb.index()
        engine = project.index.engine
        if engine is None or (note := engine.index_vectors().note) is not None:
            raise BenchmarkFailed(f"No vectors were made: {note if engine is not None else 'there is no index'}.")
        return [ask(project, question) for question in questions]
    finally:
        project.close()


def half(questions: Iterable[RegistryQuestion], *, tuning: bool) -> list[RegistryQuestion]:
    """Of each kind one half, drawn by the hash of the ids."""
    drawn = sorted(questions, key=lambda each: hashlib.sha256(f"{SPLIT_SEED}{each.id}".encode()).digest())
    chosen = []
    for kind in dict.fromkeys(each.kind for each in drawn):
        own = [each for each in drawn if each.kind == kind]
        chosen += own[: len(own) // 2] if tuning else own[len(own) // 2 :]
    return chosen


def ask(project: Project, question: RegistryQuestion) -> Asked:
    arguments = {"question": question.text, "filters": {"path_prefix": f"{question.project}/"}}
    wait_for_encoder(project, question.text)
    answer = _call(project, arguments)
    found, tokens, twice = _holds(question, answer), estimate_tokens(answer.text), False
    if question.answers and not found and answer.data["next_cursor"] is not None:
        more = _call(project, {**arguments, "cursor": answer.data["next_cursor"]})
        twice, tokens = _holds(question, more), tokens + estimate_tokens(more.text)
    return Asked(question, _is_answered(answer), found, found or twice, tokens)


def _call(project: Project, arguments: Mapping[str, Any]) -> Answer:
    return carry_out(_TOOL, arguments, Call(project, all_tools()))


def _is_answered(answer: Answer) -> bool:
    return any(quote["certainty"] != Certainty.UNSURE for quote in answer.data["quotes"])


def _holds(question: RegistryQuestion, answer: Answer) -> bool:
    return any(question.is_answered_by(quote["quote"]) for quote in answer.data["quotes"])


def report(asked: Sequence[Asked]) -> None:
    for kind in FOUND:
        own = [each for each in asked if each.question.kind == kind]
        if not own:
            continue
        found, twice = _share(each.found for each in own), _share(each.found_twice for each in own)
        tokens = sum(each.tokens for each in own) / max(1, len(own))
        kept = _share(each.is_answered for each in own)
        print(
            f"{kind}, {len(own)}: found {found:.3f}, in two calls {twice:.3f} (at least {FOUND[kind]})"
            f" {_verdict(twice >= FOUND[kind])}, {tokens:.0f} tokens (at most {TOKENS}) {_verdict(tokens <= TOKENS)};"
            f" answered {kept:.3f} (at least {KEPT[kind]}) {_verdict(kept >= KEPT[kind])}"
        )
    foreign = [each for each in asked if each.question.kind in ("other_field", "neighbour")]
    if not foreign:
        return
    share = _share(each.is_answered for each in foreign)
    print(f"foreign, {len(foreign)}: answered {share:.3f} (at most {FOREIGN}) {_verdict(share <= FOREIGN)}")
    for name in ("other_field", "neighbour", "near_miss"):
        own = [each for each in asked if each.question.kind == name]
        print(f"  {name}, {len(own)}: answered {_share(each.is_answered for each in own):.3f}")


def _share(values: Iterable[bool]) -> float:
    known = list(values)
    return sum(known) / max(1, len(known))


def _verdict(reached: bool) -> str:
    return "ok" if reached else "MISSED"


if __name__ == "__main__":
    sys.exit(main())
