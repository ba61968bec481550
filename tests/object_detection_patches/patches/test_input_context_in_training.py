"""A batch is that of all replicas."""

import pytest

pytestmark = pytest.mark.tensorflow


def test_batch_size_is_divided_among_the_replicas(workers):
    assert "error" not in workers["in order"], workers["in order"]["error"][-2000:]
    assert [size for _, size in workers["in order"]] == [3, 3]
