"""The questions that answers are measured with are the ones that were frozen."""

import re
from pathlib import Path

import pytest
from benchmarks import kb_corpus, kb_golden
from benchmarks.kb_golden import golden, halves
from benchmarks.workspace import BenchmarkFailed


# Verifies: REQ-d00188-A
def test_the_golden_set_is_large_enough_whole_and_split_the_same_way_each_time() -> None:
    questions = golden()
    assert len(questions) >= 60
    assert len({question.id for question in questions}) == len(questions)
    assert all(question.answers and question.sections for question in questions)
    tuning, held_out = halves(questions)
    assert halves(questions) == (tuning, held_out)
    assert {*tuning, *held_out} == set(questions)
    assert not {*tuning} & {*held_out}
    for kind in ("named", "paraphrased"):
        counts = [sum(question.kind == kind for question in half) for half in (tuning, held_out)]
        assert abs(counts[0] - counts[1]) <= 1


# Verifies: REQ-d00188-A
def test_a_golden_set_that_was_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = kb_golden.FILE.read_text(encoding="utf-8")
    changed = tmp_path / "questions.toml"
    changed.write_text(re.sub(r'text = "([^"]*)"', r'text = "\1 please"', text, count=1), encoding="utf-8")
    monkeypatch.setattr(kb_golden, "FILE", changed)
    with pytest.raises(BenchmarkFailed, match="changed since it was frozen"):
        golden()


# Verifies: REQ-d00188-B
def test_a_phrase_is_found_across_line_breaks_and_in_any_case() -> None:
    question = golden()[0]
    assert question.is_answered_by(
        f"Some text:\n  {question.answers[0].upper().replace(' ', chr(10) + '   ')} and more"
    )
    assert not question.is_answered_by("Some text.")


# Verifies: REQ-d00188-A
def test_pages_that_git_does_not_give_cannot_be_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kb_corpus, "OWN_COMMIT", "0" * 40)
    with pytest.raises(BenchmarkFailed, match="git fetch --unshallow"):
        kb_corpus.own_pages(tmp_path)
