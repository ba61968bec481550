"""What the mirrored trainer hands on to the Estimator."""

import pytest

TINY_CONFIG = "tests/end_to_end/scenarios/tiny_ssd.config"


@pytest.fixture
def config(protos):
    from tfod_train.config import pipeline

    parsed = pipeline.parse(TINY_CONFIG)
    parsed.train_config.keep_checkpoint_every_n_hours = 3
    return parsed


@pytest.mark.tensorflow
def test_the_estimators_saver_keeps_what_settings_and_config_say(config, a_run):
    from tfod_train.trainers import mirrored

    run_config = mirrored.run_config(a_run("runs/none", config, KEEP_CHECKPOINTS="7"), None)
    assert (run_config.keep_checkpoint_max, run_config.keep_checkpoint_every_n_hours) == (7, 3)
