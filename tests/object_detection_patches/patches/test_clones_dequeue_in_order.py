"""Clones take their batches in one order."""

import pytest

pytestmark = pytest.mark.tensorflow


def test_the_second_clone_takes_its_batch_after_the_first(seeded):
    assert seeded["second waits"]
