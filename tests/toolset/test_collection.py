"""A diff is made without a search for cyclic garbage, which afterwards goes on as before."""

import gc

import pytest

from driftwatch.toolset.collection import collection_paused


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
