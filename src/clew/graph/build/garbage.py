"""Building a graph without looking for garbage.

Reading a project makes hundreds of thousands of objects that all stay and of which none refers back to another. Python
looks through them again and again for circles while they are made, which takes a third of the time, and finds none.
"""

import functools
import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

MANY_OBJECTS = 50_000
"""After so many new objects what is there now is left out of all later searches, too."""


def without_garbage_collection(work: Callable[P, R]) -> Callable[P, R]:
    """Make a function run without the search for garbage. What it makes has to be free of circles."""

    @functools.wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if not gc.isenabled():
            return work(*args, **kwargs)
        gc.disable()
        try:
            return work(*args, **kwargs)
        finally:
            if gc.get_count()[0] > MANY_OBJECTS:
                gc.freeze()
            gc.enable()

    return run
