"""Work in another process keeps within what it is allowed."""

import subprocess
import sys

import pytest

from clew.workspace.worker import PROCESSOR_SECONDS, SET_ASIDE, WALL_SECONDS

ASK = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from clew.workspace.worker import answer_apart
print(answer_apart("builtins:bytes", b"read"))
"""


# Verifies: REQ-d00269-B
@pytest.mark.skipif(sys.platform == "win32", reason="Windows counts no processor time")
def test_a_large_file_is_read_where_the_system_allows_less_time_than_it_gets() -> None:
    done = subprocess.run([sys.executable, "-c", ASK], check=True, capture_output=True, text=True)
    assert done.stdout == "b'read'\n"
    assert all(limit in SET_ASIDE for limit in (f"{PROCESSOR_SECONDS} s", f"{WALL_SECONDS:.0f} s", "system allows"))
