"""Which files are tests, in the sense that matters to what calls what."""

from __future__ import annotations

import re
from functools import cache

_TESTS = re.compile(
    r"(?:^|/)(?:tests?|testing|specs?|__tests__|__mocks__|fixtures)/|[._](?:test|spec)\.\w+$"
)


@cache
def only_tests_call(path: str, named: str = "") -> bool:
    """Whether nothing but tests calls what a file defines: tests, their fixtures and mocks.

    A name counts where its language takes it for a test's, by the pattern ``named``: other
    than for ``text.is_test``, by which a search ranks, ``test_helpers`` may well be what a
    library offers.

    >>> only_tests_call("src/tests/a.x"), only_tests_call("a_test.x")
    (True, True)
    >>> only_tests_call("lib/test_helpers.x"), only_tests_call("lib/test_helpers.x", "/test_")
    (False, True)
    """
    return _TESTS.search(path) is not None or bool(named and re.search(named, path))
