"""Whether the process that ran a job has ended, as far as anybody here can know."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from clew.store.clock import before_now, now
from clew.store.processes import SILENCE, has_ended, this_process

# Verifies: REQ-d00005-C

LONG_AGO = before_now(SILENCE + timedelta(minutes=1))

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")


def test_this_process_is_alive_however_long_it_is_silent() -> None:
    assert not has_ended(this_process(), last_word=now())
    assert not has_ended(this_process(), last_word=LONG_AGO)


@needs_proc
def test_another_process_with_the_same_number_is_not_the_same_process() -> None:
    assert has_ended(msgspec.structs.replace(this_process(), started="1"), last_word=now())


@needs_proc
def test_no_process_survives_a_restart_of_the_machine() -> None:
    assert has_ended(msgspec.structs.replace(this_process(), boot="an earlier one"), last_word=now())


def test_a_process_without_a_known_start_is_judged_by_its_number() -> None:
    unknown = msgspec.structs.replace(this_process(), started="")
    assert not has_ended(unknown, last_word=LONG_AGO)
    assert has_ended(msgspec.structs.replace(unknown, pid=2**22 + 1), last_word=now())


def test_a_process_elsewhere_has_ended_after_an_hour_of_silence() -> None:
    elsewhere = msgspec.structs.replace(this_process(), host="another machine")
    assert not has_ended(elsewhere, last_word=now())
    assert has_ended(elsewhere, last_word=LONG_AGO)
