"""What several tests of configs share."""

import os

import pytest


@pytest.fixture
def effective(read_settings, dataset, project_dir, protos):
    """function(**variables) -> Effective of the mini-pets config on two virtual CPUs."""
    from tfod_train.config import pipeline
    from tfod_train.devices import devices

    def make(config="ssd_mobilenet_v1_mini_pets", **environ):
        settings = read_settings(DEVICE="cpu", **environ)
        parsed = pipeline.parse(os.path.join(project_dir, "configs", config + ".config"))
        return pipeline.effective(parsed, settings, dataset, devices.choose(settings, []))

    return make
