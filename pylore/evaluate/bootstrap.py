"""How sure a difference between two ways of searching is: the paired bootstrap.

Efron and Tibshirani, An Introduction to the Bootstrap, 1993: queries are drawn with
replacement as often as there are queries, and each draw gives a mean difference.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
SEED = 1993
_BLOCK = 500


def interval(differences: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The 95 % interval of the mean of each column: an array (2, columns), low and high.

    ``differences``: (queries, measures), each row one query's, so that whatever makes
    a query hard counts on both sides. The same rows give the same interval.
    """
    queries = len(differences)
    generator = np.random.default_rng(SEED)
    shares = np.full(queries, 1 / queries)
    means = [
        generator.multinomial(queries, shares, size=_BLOCK) @ differences / queries
        for _ in range(RESAMPLES // _BLOCK)
    ]
    bounds: npt.NDArray[np.float64] = np.percentile(np.concatenate(means), [2.5, 97.5], axis=0)
    return bounds
