"""What is said of batch norm before a run, and whether it is true of the graphs that the API builds."""

import os

import pytest

pytestmark = pytest.mark.usefixtures("protos")


@pytest.fixture
def config(project_dir):
    """function(name, text proto merged into it) -> TrainEvalPipelineConfig from configs/."""
    from google.protobuf import text_format

    from tfod_train.config import pipeline

    def read(name="ssd_mobilenet_v1_mini_pets", changes=""):
        parsed = pipeline.parse(os.path.join(project_dir, "configs", name + ".config"))
        return text_format.Merge(changes, parsed)

    return read


NO_OVERRIDE = "model { ssd { feature_extractor { override_base_feature_extractor_hyperparams: false } } }"


def test_a_run_of_the_built_in_config_needs_no_word(config):
    from tfod_train.config import batch_norm

    assert batch_norm.cautions(config(), 4) == []


def test_fewer_than_four_images_a_device_are_said(config):
    from tfod_train.config import batch_norm

    (caution,) = batch_norm.cautions(config(), 8)
    assert caution.startswith("Batch norm trains on 2 images a device") and "BATCH_SIZE=32" in caution


def test_the_base_networks_own_decay_is_said_with_what_is_left_and_what_would_do(config):
    from tfod_train.config import batch_norm

    (caution,) = batch_norm.cautions(config(changes=NO_OVERRIDE + "train_config { num_steps: 1200 }"), 2)
    assert caution.startswith(
        "After 1200 steps the batch norm statistics of the base network (decay 0.9997) are still "
        "70 % their initial values"
    )
    assert "override_base_feature_extractor_hyperparams: true and a batch_norm decay of 0.997" in caution
    assert "train 9985 steps" in caution
    assert batch_norm.cautions(config(changes=NO_OVERRIDE + "train_config { num_steps: 9985 }"), 2) == []


def test_a_short_run_at_the_configs_own_decay_is_said(config):
    from tfod_train.config import batch_norm

    assert batch_norm.cautions(config(changes="train_config { num_steps: 29 }"), 2) == []
    (caution,) = batch_norm.cautions(config(changes="train_config { num_steps: 28 fine_tune_checkpoint: 'a' }"), 2)
    assert "(decay 0.9) are still 5 % their fine_tune_checkpoint values" in caution


def test_frozen_batch_norm_needs_no_word(config):
    from tfod_train.config import batch_norm

    # The base network's is frozen unless the config says otherwise, and its box predictors have none.
    frozen = config("faster_rcnn_resnet101_pets")
    assert batch_norm.trained(frozen) == [] and batch_norm.cautions(frozen, 2) == []
    trains = config(
        "faster_rcnn_resnet101_pets", "model { faster_rcnn { feature_extractor { batch_norm_trainable: true } } }"
    )
    assert batch_norm.trained(trains) == [("the base network", 0.997)]


@pytest.mark.tensorflow
@pytest.mark.parametrize("override, freeze", [(False, False), (False, True), (True, False), (True, True)])
def test_what_trains_is_what_moves_in_the_graph(override, freeze, config):
    """Which layers' statistics have an update in the graph, and with which decay, against what the config says."""
    import tensorflow.compat.v1 as tf
    from object_detection.builders import model_builder

    from tfod_train.config import batch_norm

    changed = config(
        changes=f"model {{ ssd {{ freeze_batchnorm: {str(freeze).lower()} feature_extractor {{ "
        f"override_base_feature_extractor_hyperparams: {str(override).lower()} }} }} }}"
    )
    decays = {}
    with tf.Graph().as_default() as graph, tf.Session() as session:
        model = model_builder.build(changed.model, is_training=True)
        model.predict(*model.preprocess(tf.zeros([2, 160, 160, 3])))
        for update in tf.get_collection(tf.GraphKeys.UPDATE_OPS):
            for layer, part in (("/Conv2d_0/", "base"), ("/Conv2d_13_pointwise_2_", "above the base")):
                if layer in update.name:
                    moved_by = session.run(graph.get_tensor_by_name(update.name + "/sub:0"))
                    decays.setdefault(part, set()).add(round(1 - float(moved_by), 4))
    trained = dict(batch_norm.trained(changed))
    of_config = trained["feature_extractor.conv_hyperparams"]
    base = of_config if override else trained.get("the base network")
    assert decays.get("base", {None}) == {base}
    assert decays["above the base"] == {of_config}
