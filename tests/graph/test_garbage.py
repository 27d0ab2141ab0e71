"""Work without the search for garbage leaves that as it found it."""

import gc

import pytest

from clew.graph.build.builder import without_garbage_collection


@without_garbage_collection
def collecting(*, fails: bool = False) -> bool:
    if fails:
        raise ValueError("no")
    return gc.isenabled()


# Verifies: REQ-d00044-A
def test_nothing_is_collected_while_the_work_is_done_and_again_after_it() -> None:
    assert gc.isenabled()
    assert collecting() is False
    assert gc.isenabled()
    with pytest.raises(ValueError, match="no"):
        collecting(fails=True)
    assert gc.isenabled()


# Verifies: REQ-d00044-A
def test_whoever_switched_it_off_finds_it_off() -> None:
    gc.disable()
    try:
        assert collecting() is False
        assert not gc.isenabled()
    finally:
        gc.enable()
