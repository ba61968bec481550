"""Random crops repeat with the seed, too."""

import pytest

pytestmark = pytest.mark.tensorflow


def test_random_crops_of_a_seeded_graph_repeat(seeded):
    one, again, other, *unseeded = seeded["crop"]
    assert one == again and one != other
    assert unseeded[0] != unseeded[1]
