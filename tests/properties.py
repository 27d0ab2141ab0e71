"""The size of property tests: a tenth of their examples in every run, all of them with CLEW_THOROUGH=1.

`make properties` and `make attack` run them in full. The examples of a run are the same every time (see conftest).
"""

import os

THOROUGH = bool(os.environ.get("CLEW_THOROUGH"))
_FEWEST = 5


def examples(count: int) -> int:
    """The examples of a property that is tried `count` times when it is tried in full."""
    return count if THOROUGH else max(count // 10, min(count, _FEWEST))
