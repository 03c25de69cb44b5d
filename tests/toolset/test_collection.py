"""A diff is made without a search for cyclic garbage, which afterwards goes on as before."""

import gc
from functools import cached_property

import pytest

from driftwatch.toolset import Toolset, diff
from driftwatch.toolset.collection import collection_paused
from driftwatch.toolset.tools import Entry


class _Watched(Toolset):
    """A list that looks, when it is read, whether cyclic garbage is searched for."""

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        assert not gc.isenabled()
        return tuple(map(Entry, self.tools))


def test_no_cyclic_garbage_is_searched_for_while_a_diff_is_made() -> None:
    lists = _Watched(({"name": "one"},)), _Watched(({"name": "two"},))
    assert not diff(*lists).empty
    assert all("entries" in vars(each) for each in lists), "neither list was read"
    assert gc.isenabled()


def test_no_cyclic_garbage_is_searched_for_meanwhile() -> None:
    with collection_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_only_whoever_paused_the_search_takes_it_up_again() -> None:
    with collection_paused():
        with collection_paused():
            pass
        assert not gc.isenabled()
    gc.disable()
    try:
        with collection_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_work_that_fails_leaves_no_search_paused() -> None:
    with pytest.raises(ZeroDivisionError), collection_paused():
        _ = 1 // 0
    assert gc.isenabled()
