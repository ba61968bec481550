"""The size of a checkpoint: that of the run's newest, else estimated from the model, else not known."""

import pytest

from tfod_train.preflight import checkpoint_size
from tfod_train.run.run_dir import GRAPH_BYTES

pytestmark = pytest.mark.usefixtures("protos")


def config_of(extractor, optimizer="adam_optimizer { }", averages="false", rest=""):
    from google.protobuf import text_format
    from object_detection.protos import pipeline_pb2

    text = (
        f'model {{ ssd {{ feature_extractor {{ type: "{extractor}" {rest} }} }} }} '
        f"train_config {{ optimizer {{ {optimizer} use_moving_average: {averages} }} }}"
    )
    return text_format.Parse(text, pipeline_pb2.TrainEvalPipelineConfig())


def test_the_newest_checkpoint_of_the_run_says_it_exactly(tmp_path, write_checkpoint):
    write_checkpoint(str(tmp_path / "model.ckpt-7"), b"\0" * 16)
    written = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert checkpoint_size.estimate(config_of("mine"), str(tmp_path)) == (written, "as model.ckpt-7", True)


@pytest.mark.parametrize(
    "optimizer, averages, copies",
    [("momentum_optimizer { }", "false", 2), ("rms_prop_optimizer { }", "false", 3), ("adam_optimizer { }", "true", 4)],
)
def test_the_optimizers_slots_and_the_averages_count(optimizer, averages, copies, tmp_path):
    size, how, exact = checkpoint_size.estimate(config_of("ssd_mobilenet_v1", optimizer, averages), str(tmp_path))
    assert size == 4 * copies * checkpoint_size.VALUES["ssd_mobilenet_v1"] + GRAPH_BYTES
    assert "estimated from a ssd_mobilenet_v1" in how and not exact


def test_a_narrower_model_is_smaller_by_the_square(tmp_path):
    whole, half = (
        checkpoint_size.estimate(config_of("ssd_mobilenet_v1", rest=rest), str(tmp_path))[0] - GRAPH_BYTES
        for rest in ("", "depth_multiplier: 0.5")
    )
    assert half == pytest.approx(whole / 4, rel=1e-6)


def test_a_model_that_nobody_counted_is_not_guessed(tmp_path):
    size, why, exact = checkpoint_size.estimate(config_of("ssd_inception_v2"), str(tmp_path))
    assert (size, exact) == (None, False) and "ssd_inception_v2 is known when its graph is built" in why
