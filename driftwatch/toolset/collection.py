"""Python's search for cyclic garbage, which finds none in what a diff makes."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_paused = Lock()


@contextmanager
def collection_paused() -> Iterator[None]:
    """Search for no cyclic garbage meanwhile: for what makes a great many objects and never a cycle.

    The search is one for the whole process. Whoever pauses it takes it up again, after one piece of work; who
    comes meanwhile leaves it as it is: many pieces of work that overlap never put it off for long.
    """
    if not gc.isenabled() or not _paused.acquire(blocking=False):
        yield
        return
    try:
        gc.disable()
        yield
    finally:
        gc.enable()
        _paused.release()
