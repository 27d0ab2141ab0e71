"""The benchmark of stories: its questions are well-formed."""

import re

import pytest
from benchmarks.story.sets import FROZEN, QuestionSet, frozen, sets

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
