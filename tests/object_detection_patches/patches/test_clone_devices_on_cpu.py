"""Each clone has a device of its own."""

import pytest

pytestmark = pytest.mark.tensorflow


def test_every_clone_has_its_own_virtual_device(clones):
    assert clones["clone_devices"] == ["/device:CPU:0", "/device:CPU:1"]
    assert clones["variable_devices"] == ["/device:CPU:0"]
