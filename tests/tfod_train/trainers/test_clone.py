"""What the clone trainer hands on, and what its quantised models are good for."""

import os
import subprocess
import sys

import pytest

from tests.training_fixtures import TINY_CONFIG

EXPORT = """
import sys
from tests.end_to_end.scenarios import tiny_ssd
import tensorflow.compat.v1 as tf
from object_detection import exporter
from tfod_train.config import pipeline
tiny_ssd.register()
exporter.export_inference_graph("image_tensor", pipeline.parse(sys.argv[1]), sys.argv[2], sys.argv[3])
with tf.Graph().as_default(), tf.Session() as session:
    tf.saved_model.loader.load(session, ["serve"], sys.argv[3] + "/saved_model")
    boxes, scores = session.run(["detection_boxes:0", "detection_scores:0"],
                                {"image_tensor:0": [[[[127] * 3] * 64] * 64]})
    kinds = [operation.type for operation in tf.get_default_graph().get_operations()]
    print("exported", boxes.shape, scores.max() > 0, kinds.count("FakeQuantWithMinMaxVars"))
"""


@pytest.mark.tensorflow
def test_the_clone_trainers_saver_keeps_what_settings_and_config_say(config, planned_run):
    import tensorflow.compat.v1 as tf

    from tfod_train.trainers import clone

    with tf.Graph().as_default():
        tf.train.create_global_step()
        saver = clone.saver(planned_run("runs/none", config, KEEP_CHECKPOINTS="7")).as_saver_def()
    assert (saver.max_to_keep, saver.keep_checkpoint_every_n_hours) == (7, 3)


@pytest.fixture(scope="module")
def quantized_config(tmp_path_factory):
    """The tiny model's config with quantisation from the first step on."""
    with open(TINY_CONFIG) as source:
        text = source.read().replace("train_config {", "graph_rewriter { quantization { delay: 0 } }\ntrain_config {")
    path = tmp_path_factory.mktemp("quantized") / "tiny.config"
    path.write_text(text)
    return str(path)


@pytest.fixture(scope="module")
def quantized(tiny_training, quantized_config, tmp_path_factory):
    """Four quantised steps on two clones."""
    run = tiny_training(
        tmp_path_factory.mktemp("quantized") / "run", TRAINER="clone", NUM_STEPS="4", PIPELINE_CONFIG=quantized_config
    )
    assert run.code == 0, run.console
    return run


@pytest.mark.long
def test_what_two_clones_trained_quantised_is_evaluated(quantized, command, quantized_config):
    # PLUGINS is not set: the run remembers what its model needs.
    argv, arguments = command("eval", quantized.folder, PIPELINE_CONFIG=quantized_config)
    done = subprocess.run(argv, timeout=300, **arguments)
    assert done.returncode == 0, done.stdout
    assert "Evaluated 59 of 59 images" in done.stdout


@pytest.mark.long
def test_what_two_clones_trained_quantised_is_exported(quantized, command, tmp_path):
    _, arguments = command("eval", quantized.folder)
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            EXPORT,
            os.path.join(quantized.folder, "pipeline.config"),
            os.path.join(quantized.folder, "model.ckpt-4"),
            str(tmp_path / "exported"),
        ],
        timeout=300,
        **arguments,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "exported (1, 100, 4) True 12" in done.stdout


@pytest.mark.long
def test_the_mirrored_trainer_resumes_from_what_two_clones_trained_quantised(
    quantized, tiny_training, quantized_config
):
    resumed = tiny_training(
        quantized.folder, TRAINER="mirrored", NUM_GPUS="1", NUM_STEPS="5", PIPELINE_CONFIG=quantized_config
    )
    assert resumed.code == 0, resumed.console
    assert "Resuming from step 4 to 5." in resumed.lines and 5 in resumed.checkpoints


def test_quantising_on_several_replicas_is_refused(protos, read_settings, dataset, two_cpus, quantized_config):
    from common.errors import Refused
    from tfod_train.config import pipeline

    parsed = pipeline.parse(quantized_config)
    with pytest.raises(Refused) as refused:
        pipeline.effective(parsed, read_settings(DEVICE="cpu", TRAINER="mirrored"), dataset, two_cpus)
    assert refused.value.code == 2 and "TRAINER=clone" in refused.value.do
    pipeline.effective(parsed, read_settings(DEVICE="cpu", TRAINER="clone"), dataset, two_cpus)
