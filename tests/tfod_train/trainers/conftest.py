"""The tiny model's config, for what trainers hand on of it."""

import pytest

from tests.training_fixtures import TINY_CONFIG


@pytest.fixture
def config(protos):
    """Its TrainEvalPipelineConfig, which keeps a checkpoint for good every three hours."""
    from tfod_train.config import pipeline

    parsed = pipeline.parse(TINY_CONFIG)
    parsed.train_config.keep_checkpoint_every_n_hours = 3
    return parsed
