"""Generated histories, and questions about them whose answers are known."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest
from tests.why.asking import Servers, Verdict, judged, questions
from tests.why.histories import SHAPES

from clew.text.tokens import estimate_tokens

RIGHT_AT_LEAST = 0.95
TOKENS_AT_MOST = 900


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Verdict]]:
    servers, made, found = Servers(), {}, []
    try:
        for question in (each for each in questions() if each.shape != "clew"):
            if question.shape not in made:
                made[question.shape] = tmp_path_factory.mktemp("shape") / "project"
                SHAPES[question.shape](made[question.shape])
            folder: Path = made[question.shape] / question.project
            found.append(judged(question, *servers.why(folder, question.target)))
        yield found
    finally:
        servers.close()


# Verifies: REQ-o00043-A, REQ-d00361-A, REQ-d00361-B, REQ-d00361-E, REQ-d00361-F, REQ-d00757-A+B+C
def test_answers_are_right_and_a_confident_wrong_one_counts_double(verdicts: list[Verdict]) -> None:
    wrong = [each for each in verdicts if not each.is_right]
    cost = sum(2 if each.is_confident else 1 for each in wrong)
    shown = "\n\n".join(f"{each.question}\n{each.text}" for each in wrong)
    score = 1 - cost / len(verdicts)
    tokens = median(estimate_tokens(each.text) for each in verdicts)
    right = len(verdicts) - len(wrong)
    print(f"why: {right} of {len(verdicts)} questions right, score {score:.3f}, median answer {tokens:.0f} tokens")  # noqa: T201
    assert score >= RIGHT_AT_LEAST, shown


# Verifies: REQ-o00043-A
def test_there_are_enough_questions_of_each_sort(verdicts: list[Verdict]) -> None:
    assert len(verdicts) >= 60
    assert sum(each.question.unknown for each in verdicts) >= 10
    assert len({each.question.shape for each in verdicts}) >= 15


# Verifies: REQ-d00360-D
def test_an_answer_is_short(verdicts: list[Verdict]) -> None:
    assert median(estimate_tokens(each.text) for each in verdicts) <= TOKENS_AT_MOST
