"""What of a config may differ from that of the run it resumes; test_run_dir.py has how a run is refused."""

import copy
import os

import pytest

pytestmark = pytest.mark.usefixtures("protos")


@pytest.fixture
def config(project_dir):
    from tfod_train.config import pipeline

    return pipeline.parse(os.path.join(project_dir, "configs/ssd_mobilenet_v1_mini_pets.config"))


@pytest.mark.parametrize(
    "name, changed, lacking",
    [
        ("a/ExponentialMovingAverage", "train_config { optimizer { use_moving_average: true } }", False),
        ("a/Momentum", "train_config { optimizer { momentum_optimizer {} } }", False),
        ("a/RMSProp", "train_config { optimizer { momentum_optimizer {} } }", True),
    ],
)
def test_what_a_checkpoint_holds_all_the_same_is_gone_on_with(name, changed, lacking, config):
    """A training that was killed before its first save left its config and the checkpoint of the one before."""
    from google.protobuf import text_format

    from tfod_train.run import resume_check

    config.train_config.optimizer.use_moving_average = False
    config.train_config.optimizer.rms_prop_optimizer.SetInParent()
    now = copy.deepcopy(config)
    text_format.Merge(changed, now)
    assert bool(resume_check.fields(config, now, ["a", name])) is lacking
