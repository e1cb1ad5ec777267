"""One thread is set in every library that is loaded, those of later imports among them."""

from __future__ import annotations

import sys

from threadpoolctl import threadpool_info

from kit.tools import succeed
from kmcompile.numeric.threads import one_thread

_LATER = """
from threadpoolctl import threadpool_info
from kmcompile.numeric.threads import one_thread
def threads():
    return {library["prefix"]: library["num_threads"] for library in threadpool_info()}
with one_thread():
    before = threads()
import sklearn.cluster
others = {*threads()} - {*before}
with one_thread():
    assert set(threads().values()) == {1}
print(len(others))
"""


def test_every_library_computes_with_one_thread_and_then_with_as_many_as_before():
    before = [library["num_threads"] for library in threadpool_info()]
    with one_thread(), one_thread():
        assert {library["num_threads"] for library in threadpool_info()} == {1}
    assert [library["num_threads"] for library in threadpool_info()] == before


def test_a_library_that_is_loaded_later_is_limited_too():
    assert int(succeed([sys.executable, "-c", _LATER])) > 0
