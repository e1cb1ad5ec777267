import numpy as np
import pytest

from kmcompile.program.stages.early_exits.nearest_centre import turned


@pytest.mark.parametrize("n_queries", [0, 1, 2, 3, 9])
def test_each_query_finds_the_row_of_its_centre(n_queries):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3, 2, 4)).astype(np.float32)
    node = rng.integers(3, size=n_queries)
    found, own = turned(table, node)
    for j in range(4):
        assert np.array_equal(found[j][own], table[node][:, :, j])
