"""How long a call on documents may take."""

import pytest

from clew.errors import TimedOut
from clew.operation.call import Deadline


# Verifies: REQ-d00177-D
def test_a_deadline_ends_a_call_once_its_time_is_over() -> None:
    now = 0.0
    deadline = Deadline(lambda: None, 5.0, monotonic=lambda: now)
    now = 5.0
    deadline()
    now = 5.1
    with pytest.raises(TimedOut):
        deadline()
