"""What each replica or clone is given, and what becomes of the statistics that its batch norm gathers."""

import os

import pytest

pytestmark = [pytest.mark.training, pytest.mark.long]

CONVOLUTION = "FeatureExtractor/TinySsd/first/Conv2D"
SCOPES = {"mirrored": ("", "replica_1/"), "clone": ("clone_0/", "clone_1/")}


@pytest.fixture(scope="module", params=sorted(SCOPES))
def by_device(request, tiny_training, tmp_path_factory):
    """(trainer, Run) of one step at learning rate 0, in which the first device sees 1 everywhere, the second 3."""
    folder = tmp_path_factory.mktemp("by_device")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "scenarios", "tiny_ssd.config")) as source:
        text = source.read().replace("learning_rate: 0.01", "learning_rate: 0")
    (folder / "by_device.config").write_text(text.replace('type: "tiny_ssd"', 'type: "tiny_ssd_by_device"'))
    run = tiny_training(
        folder / "run",
        TRAINER=request.param,
        NUM_STEPS="1",
        BATCH_SIZE="16",
        PIPELINE_CONFIG=str(folder / "by_device.config"),
    )
    assert run.code == 0, run.console
    return request.param, run


def test_each_device_gets_its_share_of_the_batch(by_device):
    import tensorflow.compat.v1 as tf

    trainer, run = by_device
    assert "batch 16 = 2 devices x 8" in run.console
    meta_graph = tf.MetaGraphDef()
    with open(os.path.join(run.folder, "model.ckpt-1.meta"), "rb") as source:
        meta_graph.ParseFromString(source.read())
    shapes = {
        node.name: [size.size for size in node.attr["_output_shapes"].list.shape[0].dim]
        for node in meta_graph.graph_def.node
        if node.name.endswith(CONVOLUTION)
    }
    assert shapes == {scope + CONVOLUTION: [8, 4, 4, 8] for scope in SCOPES[trainer]}


def test_mirrored_averages_the_statistics_of_the_replicas_and_clones_keep_those_of_the_first(by_device):
    import tensorflow.compat.v1 as tf

    trainer, run = by_device
    reader = tf.train.load_checkpoint(os.path.join(run.folder, "model.ckpt-1"))
    # A convolution without padding of 1 everywhere gives the sums of its weights; of 3, three times them. The
    # statistics start at 0 and decay by 0.5.
    sums = reader.get_tensor("FeatureExtractor/TinySsd/first/weights").sum(axis=(0, 1, 2))
    seen = {"mirrored": (1 + 3) / 2.0, "clone": 1}[trainer]
    moving_mean = reader.get_tensor("FeatureExtractor/TinySsd/first/BatchNorm/moving_mean")
    assert moving_mean == pytest.approx(0.5 * seen * sums, rel=1e-4, abs=1e-6)


def test_a_run_too_short_for_its_batch_norm_says_so_once(by_device):
    _, run = by_device
    assert (
        run.console.count(
            "  After 1 step the batch norm statistics of feature_extractor.conv_hyperparams "
            "(decay 0.5) are still 50 % their initial values"
        )
        == 1
    )
