"""The benchmark of stories: its questions are well-formed and frozen, and answers are scored as by hand."""

import re
from pathlib import Path

import pytest
from benchmarks.story import baseline
from benchmarks.story.repository import Repository
from benchmarks.story.score import has_place, has_tag, verdict
from benchmarks.story.sets import FROZEN, Question, QuestionSet, frozen, sets
from benchmarks.workspace import run

COMMIT = re.compile(r"[0-9a-f]{7,12}")
LINE = re.compile(r"[^:\s]+:\d+")


def test_keys_are_those_that_were_written_before_any_answer_was_seen():
    assert frozen() == FROZEN


def test_eight_repositories_with_eighty_questions_of_which_half_are_held_out():
    found = sets()
    assert len({each.repository for each in found}) == len(found) >= 8
    assert sum(each.held_out for each in found) * 2 == len(found)
    assert sum(len(each.question) for each in found) >= 80
    ids = [question.id for each in found for question in each.question]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("found", sets(), ids=lambda each: each.name)
def test_every_key_is_written_in_the_form_that_the_score_reads(found: QuestionSet):
    assert re.fullmatch(r"[0-9a-f]{40}", found.commit)
    assert {question.kind for question in found.question} >= {"line", "symbol", "when", "where"}
    for question in found.question:
        assert question.commits, question.id
        for anchor in question.commits:
            assert all(COMMIT.fullmatch(each) for each in anchor.split("|")), question.id
        for anchor in question.numbers:
            assert all(re.fullmatch(r"#\d+", each) for each in anchor.split("|")), question.id
        for anchor in (*question.tests, *question.places, *question.tags):
            assert all(each and " " not in each for each in anchor.split("|")), question.id
        assert (question.kind == "line") == bool(LINE.fullmatch(question.ask)), question.id
        assert question.because.endswith("."), question.id
        if not question.is_target:
            assert question.ask.endswith("?"), question.id


def test_place_counts_near_its_line_and_in_a_range_around_it():
    assert has_place("src/a.py:12", "made in src/a.py:12, used twice")
    assert has_place("src/a.py:12", "src/a.py:10-40")
    assert has_place("src/a.py:12", "src/a.py:17")
    assert not has_place("src/a.py:12", "src/a.py:18")
    assert not has_place("src/a.py:12", "old/src/a.py:12")
    assert not has_place("src/a.py:12", "src/a.py")
    assert has_place("src/a.py", "see src/a.py.")


def test_place_counts_where_its_line_is_quoted_below_the_first():
    quote = "NEWS.md:10  Version 2\n  - One thing\n  - `MAX` was removed."
    assert has_place("NEWS.md:20", quote, "- `MAX` was removed.")
    assert not has_place("NEWS.md:20", quote, "- `MIN` was removed.")
    assert not has_place("NEWS.md:90", quote, "- `MAX` was removed.")


def test_tag_counts_as_a_word_with_or_without_its_letter():
    assert has_tag("v5.0.0", "came with 5.0.0.")
    assert has_tag("8.2.0", "(v8.2.0)")
    assert not has_tag("8.2.0", "18.2.0")
    assert not has_tag("5.0.0", "5.0.0-beta.1")
    assert not has_tag("7.0", "7.0.1")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with two commits, of which the second reformats the line of the first."""
    clone = tmp_path / "clones" / "small"
    clone.mkdir(parents=True)
    run("git", "init", "--quiet", "--initial-branch=main", cwd=clone)
    for text, subject in (("LIMIT = 3\n", "Allow three tries (#7)"), ("LIMIT  =  3\n", "Format everything")):
        (clone / "limit.py").write_text(text, encoding="utf-8")
        (clone / "test_limit.py").write_text(f"def test_limit():\n    {text}", encoding="utf-8")
        run("git", "add", "--all", cwd=clone)
        run("git", "commit", "--quiet", f"--message={subject}", cwd=clone)
    head = run("git", "rev-parse", "HEAD", cwd=clone).strip()
    chosen = QuestionSet("somebody/small", head, held_out=False, question=())
    return Repository(chosen, clone.parent, tmp_path / "copies")


def _question(repository: Repository) -> Question:
    decided = repository.git("rev-parse", "HEAD~1")[:7]
    return Question(
        "small-1",
        "line",
        "limit.py:1",
        "The first commit set the number.",
        (decided,),
        ("#7",),
        ("test_limit.py::test_limit",),
    )


def test_answer_is_scored_by_the_anchors_that_it_holds(repository: Repository):
    question = _question(repository)
    (decided,) = question.commits
    whole = verdict(question, f"{decided} allowed three tries (#7); test_limit checks it.", repository)
    assert (whole.missed, whole.is_wrong, whole.shown, whole.belonging) == ((), False, 2, 2)
    by_subject = verdict(question, "It came with: Allow three tries (#7)", repository)
    assert by_subject.missed == ("test_limit.py::test_limit",)
    assert verdict(question, "Nothing is known about it.", repository).missed == (
        decided,
        "#7",
        "test_limit.py::test_limit",
    )


def test_answer_that_names_another_commit_first_is_wrong(repository: Repository):
    question = _question(repository)
    (decided,), formatted = question.commits, repository.chosen.commit[:9]
    assert verdict(question, f"Made by {formatted}, after {decided}.", repository).is_wrong
    assert not verdict(question, f"Made by {decided}; {formatted} only formatted it.", repository).is_wrong
    assert not verdict(question, "Nobody knows.", repository).is_wrong


def test_log_of_the_lines_stands_behind_the_message_of_the_blamed_commit(repository: Repository):
    log = baseline.of_lines(_question(repository), repository, 10_000)
    assert log.index("Format everything") < log.index("Allow three tries")
    assert "limit.py:1:LIMIT" in baseline.of_names(_question(repository), repository, 10_000)
