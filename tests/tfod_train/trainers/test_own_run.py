"""Fine-tuning from a run of one's own: its folder is named, and the classes that stay keep their heads, by name."""

import json
import os

import numpy as np
import pytest

from data_prep.tfrecord import label_map
from tfod_train.trainers.class_heads import by_name

AVERAGE = "/ExponentialMovingAverage"
CLASSES = {"Bengal": 1, "pug": 2, "Siamese": 3}
OLD = ["Siamese", "horse", "Bengal", "cow"]


def shapes_of(batch_norm, *layers):
    """{name: shape} of some (name, shape of the weights), with biases or with batch normalisation."""
    found = {}
    for name, shape in layers:
        found[name + "/weights"] = shape
        for part in ("beta", "gamma", "moving_mean", "moving_variance") if batch_norm else ():
            found[f"{name}/BatchNorm/{part}"] = shape[-1:]
        if not batch_norm:
            found[name + "/biases"] = shape[-1:]
    return found


# Of the models of tests/end_to_end/scenarios, with the four classes of OLD.
EXTRACTOR = "FeatureExtractor/TinySsd/"
SSD = dict(
    shapes_of(True, (EXTRACTOR + "first", [16, 16, 3, 8]), (EXTRACTOR + "second", [3, 3, 8, 8])),
    **shapes_of(
        False,
        ("BoxPredictor_0/BoxEncodingPredictor", [1, 1, 8, 12]),
        ("BoxPredictor_0/ClassPredictor", [1, 1, 8, 15]),
        ("BoxPredictor_1/BoxEncodingPredictor", [1, 1, 8, 8]),
        ("BoxPredictor_1/ClassPredictor", [1, 1, 8, 10]),
    ),
)
MASK_RCNN = shapes_of(
    False,
    ("FirstStageFeatureExtractor/FirstStageFeatureExtractor/first", [16, 16, 3, 8]),
    ("Conv", [3, 3, 8, 8]),
    ("FirstStageBoxPredictor/BoxEncodingPredictor", [1, 1, 8, 4]),
    ("FirstStageBoxPredictor/ClassPredictor", [1, 1, 8, 2]),
    ("SecondStageFeatureExtractor/SecondStageFeatureExtractor/second", [3, 3, 8, 8]),
    ("SecondStageBoxPredictor/BoxEncodingPredictor", [8, 16]),
    ("SecondStageBoxPredictor/ClassPredictor", [8, 5]),
    ("SecondStageBoxPredictor/Conv", [3, 3, 8, 4]),
)
# (name of the layer, whether it has a background, numbers of a class)
SSD_HEADS = (("BoxPredictor_0/ClassPredictor", True, 1), ("BoxPredictor_1/ClassPredictor", True, 1))
MASK_RCNN_HEADS = (
    ("SecondStageBoxPredictor/BoxEncodingPredictor", False, 4),
    ("SecondStageBoxPredictor/ClassPredictor", True, 1),
    ("SecondStageBoxPredictor/Conv", False, 1),
)


def save_run(folder, shapes, classes):
    """Path of a checkpoint of random values from 0.5 to 1, the best of a run."""
    import tensorflow.compat.v1 as tf

    random = np.random.RandomState(7)
    (folder / "best").mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"settings": {}, "dataset": {"classes": classes}}))
    (folder / "best" / "best.json").write_text(
        json.dumps({"checkpoint": "model.ckpt-4", "step": 4, "metric": "COCO mAP", "value": 0.25})
    )
    with tf.Graph().as_default(), tf.Session() as session:
        for name, shape in shapes.items():
            tf.get_variable(name, initializer=random.uniform(0.5, 1, shape).astype("f"))
        tf.get_variable("global_step", initializer=np.int64(4))
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, str(folder / "best" / "model.ckpt"), global_step=4)


def read(checkpoint):
    import tensorflow.compat.v1 as tf

    reader = tf.train.load_checkpoint(checkpoint)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def by_slot(value, classes, background, size):
    """A head's values as [..., group, slot, number]."""
    return value.reshape(value.shape[:-1] + (-1, classes + int(background), size))


def assert_rows_are_kept(before, after, heads, classes):
    """Background and the classes of both are the checkpoint's, the new ones' are the model's own small beginnings."""
    names = by_name({name: number for number, name in enumerate(OLD, 1)}, classes)
    assert names.kept and names.new and names.dropped
    for layer, background, size in heads:
        for name in (layer + "/weights", layer + "/biases"):
            old = by_slot(before[name], len(OLD), background, size)
            new = by_slot(after[name], len(classes), background, size)
            first = int(background)
            assert (new[..., :first, :] == old[..., :first, :]).all()
            for new_id, old_id in names.old_ids.items():
                assert (new[..., new_id - 1 + first, :] == old[..., old_id - 1 + first, :]).all(), (name, new_id)
            for added in names.new:
                assert (np.abs(new[..., classes[added] - 1 + first, :]) < 0.45).mean() > 0.9, (name, added)


def assert_the_rest_is_the_same(before, after, heads, count):
    of_heads = {layer + part for layer, _, _ in heads for part in ("/weights", "/biases")}
    others = [name for name in before if name not in of_heads and name != "global_step"]
    assert len(others) == count
    assert [name for name in others if (before[name] != after[name]).any()] == []


def assert_averages_begin_there(after):
    averages = [name for name in after if name.endswith(AVERAGE)]
    assert averages and [name for name in averages if (after[name] != after[name[: -len(AVERAGE)]]).any()] == []


@pytest.mark.training
@pytest.mark.parametrize("trainer", ["mirrored", "clone"])
def test_an_ssd_keeps_the_heads_of_its_runs_classes_by_name(trainer, tiny_training, tiny_config, tmp_path):
    """Two devices; with nothing learned, and statistics that keep what they have, one step changes no value."""
    checkpoint = save_run(tmp_path / "old", SSD, OLD)
    config = tiny_config(("learning_rate: 0.01", "learning_rate: 0"), ("decay: 0.5", "decay: 1"))
    settings = dict(TRAINER=trainer, PIPELINE_CONFIG=config, FINE_TUNE_CHECKPOINT=str(tmp_path / "old"))
    done = tiny_training(tmp_path / "run", NUM_STEPS="1", **settings)
    assert done.code == 0, done.console
    chosen = "18 of 18 variables match; classification would find 0"
    for line in (
        f"  fine_tune_checkpoint: none -> {checkpoint} ({tmp_path}/old: the best of its evaluations, COCO mAP 0.250)",
        f"Fine-tuning: restored 18 of 18 variables from {checkpoint} (fine_tune_checkpoint_type: detection, chosen "
        f"since {chosen}).",
        "  Kept from the run: Bengal, Siamese. New: pug. Dropped: horse, cow.",
    ):
        assert done.lines.count(line) == 1, (line, done.console)
    before, after = read(checkpoint), read(os.path.join(done.folder, "model.ckpt-1"))
    assert_rows_are_kept(before, after, SSD_HEADS, CLASSES)
    assert_the_rest_is_the_same(before, after, SSD_HEADS, 14)
    assert_averages_begin_there(after)
    manifest = done.manifest()
    assert f"fine_tune_checkpoint_type: none -> detection ({chosen})" in manifest["config_changes"]
    assert manifest["fine_tuning"]["classes"] == {
        "kept": ["Bengal", "Siamese"],
        "new": ["pug"],
        "dropped": ["horse", "cow"],
    }
    with open(os.path.join(done.folder, "pipeline.config")) as source:
        assert [line.rstrip("\n") for line in source] == manifest["config"]
    if trainer == "mirrored":
        assert_a_resumed_run_does_not_do_it_again(done, tiny_training, settings, manifest)


def assert_a_resumed_run_does_not_do_it_again(done, tiny_training, settings, manifest):
    resumed = tiny_training(done.folder, NUM_STEPS="2", **settings)
    assert resumed.code == 0 and "Resuming from step 1" in resumed.console, resumed.console
    assert "Fine-tuning" not in resumed.console and "Kept from the run" not in resumed.console
    assert "fine_tune_checkpoint:" not in resumed.console and "fine_tune" not in " ".join(
        resumed.manifest()["config_changes"]
    )
    assert resumed.manifest()["fine_tuning"] == manifest["fine_tuning"]
    with open(os.path.join(done.folder, "pipeline.config")) as source:
        assert '  fine_tune_checkpoint_type: "detection"\n' in list(source)


@pytest.mark.parametrize(
    "trainer", [pytest.param("clone", marks=pytest.mark.training), pytest.param("mirrored", marks=pytest.mark.long)]
)
def test_a_second_stage_keeps_classes_boxes_and_masks_by_name(
    trainer, tiny_training, with_masks, project_dir, tmp_path
):
    """From a model of 4 classes to one of 37."""
    classes = label_map.read(str(with_masks / "label_map.pbtxt")).ids
    checkpoint = save_run(tmp_path / "old", MASK_RCNN, OLD)
    with open(os.path.join(project_dir, "tests", "end_to_end", "scenarios", "tiny_mask_rcnn.config")) as source:
        text = source.read().replace("learning_rate: 0.01", "learning_rate: 0")
    (tmp_path / "rcnn.config").write_text(text.replace("use_moving_average: false", "use_moving_average: true"))
    done = tiny_training(
        tmp_path / "run",
        TRAINER=trainer,
        DATASET=str(with_masks),
        BATCH_SIZE="2",
        NUM_STEPS="1",
        PIPELINE_CONFIG=str(tmp_path / "rcnn.config"),
        FINE_TUNE_CHECKPOINT=checkpoint,
    )
    assert done.code == 0, done.console
    assert "restored 16 of 16 variables" in done.console
    assert "  Kept from the run: Bengal, Siamese. New: Abyssinian, " in done.console
    before, after = read(checkpoint), read(os.path.join(done.folder, "model.ckpt-1"))
    assert_rows_are_kept(before, after, MASK_RCNN_HEADS, classes)
    assert_the_rest_is_the_same(before, after, MASK_RCNN_HEADS, 10)
    assert_averages_begin_there(after)
