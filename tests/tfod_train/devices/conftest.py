"""A driver that lists made-up GPUs."""

import sys

import pytest

from tests.tfod_train.devices.fake_nvml import Nvml


@pytest.fixture
def nvml(monkeypatch):
    """function(*gpus, **how) -> Nvml, which is what `import pynvml` gives from then on."""

    def install(*listed, **how):
        made = Nvml(*listed, **how)
        monkeypatch.setitem(sys.modules, "pynvml", made)
        return made

    return install
