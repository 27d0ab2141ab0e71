from collections.abc import Callable

import pytest
from tests.in_process import Done, run


@pytest.fixture
def clew() -> Callable[..., Done]:
    """Runs a command in a folder."""
    return run
