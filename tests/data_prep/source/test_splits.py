"""Which images are for training, which for validation."""

import random

from data_prep.source import splits


def test_the_split_is_the_api_converters():
    ids = [f"pug_{number}" for number in range(101)]
    shuffled = list(ids)
    random.seed(42)
    random.shuffle(shuffled)
    assert [part.ids for part in splits.by_seed(ids)] == [shuffled[:70], shuffled[70:]]
