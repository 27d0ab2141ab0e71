"""The pairs that measure the judge of the memory: enough of each class, and the held out half as it was written."""

from benchmarks.memory_pairs import HALVES, HELD_OUT_AS_WRITTEN, LABELS, digest, read_pairs


def test_each_half_has_pairs_of_each_class_from_five_projects_and_no_pair_is_there_twice() -> None:
    halves = [read_pairs(half) for half in HALVES]
    for pairs in halves:
        assert len({pair.project for pair in pairs}) == 5
        assert all(sum(pair.label == label for pair in pairs) >= 20 for label in LABELS)
    everything = [frozenset((pair.old, pair.new)) for pairs in halves for pair in pairs]
    assert len(set(everything)) == len(everything) >= 400
    assert {pair.project for pair in halves[0]}.isdisjoint(pair.project for pair in halves[1])


def test_the_held_out_half_is_as_it_was_written_before_the_judge() -> None:
    assert digest("held_out") == HELD_OUT_AS_WRITTEN
