"""A fine_tune_checkpoint is restored as said, or refused before the first step."""

import os

import pytest

from common.errors import Refused

EXTRACTOR = "FeatureExtractor/TinySsd/"
SHAPES = {"first/weights": [16, 16, 3, 8], "second/weights": [3, 3, 8, 8]}
SHAPES.update(
    {
        f"{layer}/BatchNorm/{name}": [8]
        for layer in ("first", "second")
        for name in ("beta", "gamma", "moving_mean", "moving_variance")
    }
)
AVERAGE = "/ExponentialMovingAverage"


def save(folder, shapes):
    """Path of a checkpoint of random values with these names and shapes, an optimizer's slot and a global step."""
    import numpy as np
    import tensorflow.compat.v1 as tf

    random = np.random.RandomState(5)
    with tf.Graph().as_default(), tf.Session() as session:
        for name, shape in shapes.items():
            tf.get_variable(name, initializer=random.uniform(0.5, 1, shape).astype("f"))
        tf.get_variable(EXTRACTOR + "first/weights/Momentum", initializer=np.ones([16, 16, 3, 8], "f"))
        tf.get_variable("global_step", initializer=np.int64(4000))
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, os.path.join(str(folder), "pretrained", "model.ckpt"))


def read(checkpoint):
    import tensorflow.compat.v1 as tf

    reader = tf.train.load_checkpoint(checkpoint)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


class Model(object):
    """What fine_tune needs of a detection model: the maps of its variables below a scope."""

    def __init__(self, names=("a", "b")):
        import tensorflow.compat.v1 as tf

        with tf.variable_scope("net"):
            self.variables = {name: tf.get_variable(name, [2]) for name in names}
            tf.get_variable("a/Momentum", [2])

    def restore_map(self, fine_tune_checkpoint_type, load_all_detection_checkpoint_vars=False):
        scope = {"detection": "net/", "classification": ""}[fine_tune_checkpoint_type]
        return {scope + name: variable for name, variable in self.variables.items()}


def restored(checkpoint, checkpoint_type="detection", build=Model, label_map="", **train):
    """(what restore_map gives, the sentences) of a watched Model, asked as the API asks, for its default where the
    config sets no type."""
    import tensorflow.compat.v1 as tf
    from object_detection.protos import pipeline_pb2, train_pb2

    from tfod_train.trainers import fine_tune

    sentences = []
    train = train_pb2.TrainConfig(fine_tune_checkpoint=checkpoint, fine_tune_checkpoint_type=checkpoint_type, **train)
    config = pipeline_pb2.TrainEvalPipelineConfig(train_config=train)
    config.model.ssd.num_classes = 1
    config.train_input_reader.label_map_path = str(label_map)
    with tf.Graph().as_default():
        model = fine_tune.FineTuning(config, sentences.append).watched(build)()
        return model.restore_map(fine_tune_checkpoint_type=checkpoint_type or "classification"), sentences


@pytest.mark.tensorflow
class TestWatched(object):
    pytestmark = pytest.mark.usefixtures("protos")

    def test_all_that_is_found_is_said_in_one_line(self, tmp_path):
        checkpoint = save(tmp_path, {"net/a": [2], "net/b": [2]})
        found, sentences = restored(checkpoint)
        assert sorted(found) == ["net/a", "net/b"]
        assert sentences == [
            f"Fine-tuning: restored 2 of 2 variables from {checkpoint} (fine_tune_checkpoint_type: detection)."
        ]

    def test_what_is_missing_or_of_another_shape_is_named(self, tmp_path):
        found, sentences = restored(save(tmp_path, {"net/a": [2], "net/b": [3]}))
        assert sorted(found) == ["net/a"]
        assert sentences[1] == "  Not in the checkpoint: net/b (shape [2], in the checkpoint [3])."

    def test_a_checkpoint_of_the_other_type_is_refused_with_the_type_that_matches(self, tmp_path):
        with pytest.raises(Refused) as refused:
            restored(save(tmp_path, {"a": [2], "b": [2]}))
        assert refused.value.code == 2
        assert refused.value.what.startswith("Only 0 of the 2 variables that fine_tune_checkpoint_type: detection")
        assert refused.value.do == 'Set fine_tune_checkpoint_type: "classification" in train_config: it finds 2 of 2.'

    @pytest.mark.parametrize(
        "scope, chosen, other", [("net/", "detection", "classification"), ("", "classification", "detection")]
    )
    def test_a_type_that_the_config_leaves_open_is_chosen_by_what_matches(self, scope, chosen, other, tmp_path):
        checkpoint = save(tmp_path, {scope + "a": [2], scope + "b": [2]})
        found, sentences = restored(checkpoint, "")
        assert sorted(found) == [scope + "a", scope + "b"]
        assert sentences == [
            f"Fine-tuning: restored 2 of 2 variables from {checkpoint} (fine_tune_checkpoint_type: {chosen}, chosen "
            f"since 2 of 2 variables match; {other} would find 0)."
        ]

    def test_from_detection_checkpoint_of_older_configs_leaves_no_type_open(self, tmp_path):
        with pytest.raises(Refused) as refused:
            restored(save(tmp_path, {"net/a": [2], "net/b": [2]}), "", from_detection_checkpoint=False)
        assert refused.value.do == 'Set fine_tune_checkpoint_type: "detection" in train_config: it finds 2 of 2.'

    def test_a_checkpoint_of_another_model_is_refused(self, tmp_path):
        with pytest.raises(Refused) as refused:
            restored(save(tmp_path, {"other/a": [2]}))
        assert "missing: net/a, net/b" in refused.value.what and "of another model" in refused.value.do

    @pytest.mark.parametrize(
        "size, said", [(2, "are restored as they are, by number"), (3, "of another size are left out")]
    )
    def test_heads_of_classes_that_nobody_knows_are_told(self, size, said, tmp_path):
        checkpoint = save(tmp_path, {"net/a": [2], "net/ClassPredictor/biases": [size]})
        found, sentences = restored(checkpoint, build=lambda: Model(["a", "ClassPredictor/biases"]))
        assert ("net/ClassPredictor/biases" in found) == (size == 2)
        why = "neither run.json nor pipeline.config is beside it"
        assert sentences[-1] == f"  The classes of {checkpoint} are not known ({why}): its class heads {said}."

    def test_a_head_of_known_classes_is_not_restored_by_number(self, tmp_path):
        checkpoint = save(tmp_path, {"net/a": [2], "net/ClassPredictor/biases": [2]})
        (tmp_path / "pretrained" / "run.json").write_text('{"dataset": {"classes": ["cat"]}}')
        label_map = tmp_path / "label_map.pbtxt"

        def lines():
            found, sentences = restored(
                checkpoint, build=lambda: Model(["a", "ClassPredictor/biases"]), label_map=label_map
            )
            assert sorted(found) == ["net/a"]
            return sentences

        with pytest.raises(Refused) as refused:
            lines()
        assert refused.value.code == 3 and refused.value.what.startswith(f"The label map {label_map} cannot be read: ")
        label_map.write_text("item { id: 1 name: 'dog' }")
        assert lines()[1:] == ["  Kept from the run: no class. New: dog. Dropped: cat."]
        (tmp_path / "pretrained" / "run.json").write_text('{"dataset": {"classes": ["cat", "dog", "cow"]}}')
        shapes = "(shape [2], in the checkpoint [2])"
        assert lines()[1:] == [f"  Not in the checkpoint: net/ClassPredictor/biases {shapes}."]

    @pytest.mark.parametrize("count, refused", [(10, False), (11, True)])
    def test_below_a_tenth_is_refused_and_a_tenth_is_not(self, count, refused, tmp_path):
        checkpoint, names = save(tmp_path, {"net/v0": [2]}), [f"v{number}" for number in range(count)]
        try:
            _, sentences = restored(checkpoint, build=lambda: Model(names))
        except Refused as error:
            assert refused and error.what.startswith("Only 1 of the 11 variables")
        else:
            assert not refused and sentences[0].startswith("Fine-tuning: restored 1 of 10 variables from")

    def test_a_file_that_is_no_checkpoint_is_refused(self, tmp_path):
        (tmp_path / "model.ckpt.index").write_bytes(b"nonsense")
        with pytest.raises(Refused) as refused:
            restored(str(tmp_path / "model.ckpt"))
        assert "cannot be read" in refused.value.what


# The same on one device takes as long again and shows less: it is left to the long tests.
@pytest.mark.parametrize(
    "trainer, devices",
    [
        pytest.param(trainer, devices, marks=pytest.mark.training if devices == "2" else pytest.mark.long)
        for devices in ("2", "1")
        for trainer in ("mirrored", "clone")
    ],
)
def test_values_and_their_averages_are_the_checkpoints_at_the_first_step(
    trainer, devices, tiny_training, tiny_config, tmp_path
):
    pretrained = {EXTRACTOR + name: shape for name, shape in SHAPES.items() if name != "second/BatchNorm/beta"}
    checkpoint = save(tmp_path, pretrained)
    # With nothing learned, and statistics that keep what they have, one step changes no value.
    # By its path, or as a model of the zoo that was fetched before, which brings its type along.
    of_the_zoo = trainer == "clone"
    config = tiny_config(
        ("learning_rate: 0.01", "learning_rate: 0"),
        ("decay: 0.5", "decay: 1"),
        ("batch_size: 8", "batch_size: 8" if of_the_zoo else 'batch_size: 8 fine_tune_checkpoint_type: "detection"'),
    )
    named = checkpoint
    if of_the_zoo:
        named, folder = "ssd_mobilenet_v1_coco", tmp_path / "zoo" / "ssd_mobilenet_v1_coco_2018_01_28"
        folder.parent.mkdir()
        os.rename(os.path.dirname(checkpoint), str(folder))
        checkpoint = str(folder / "model.ckpt")
    run = tmp_path / "run"
    done = tiny_training(
        run,
        TRAINER=trainer,
        NUM_GPUS=devices,
        NUM_STEPS="1",
        PIPELINE_CONFIG=config,
        FINE_TUNE_CHECKPOINT=named,
        DATA_DIR=str(tmp_path),
    )
    assert done.code == 0, done.console
    assert done.console.count(f"Fine-tuning: restored 9 of 10 variables from {checkpoint}") == 1
    assert done.console.count(f"  Not in the checkpoint: {EXTRACTOR}second/BatchNorm/beta.\n") == 1
    before, after = read(checkpoint), read(str(run / "model.ckpt-1"))
    assert [name for name in pretrained if (before[name] != after[name]).any()] == []
    averages = [name for name in after if name.endswith(AVERAGE)]
    assert len(averages) == 14
    assert [name for name in averages if (after[name] != after[name[: -len(AVERAGE)]]).any()] == []


@pytest.mark.parametrize(
    "trainer", [pytest.param("mirrored", marks=pytest.mark.training), pytest.param("clone", marks=pytest.mark.long)]
)
def test_a_checkpoint_of_the_wrong_type_ends_with_2_before_the_first_step(
    trainer, tiny_training, tiny_config, tmp_path
):
    checkpoint = save(tmp_path, {"TinySsd/" + name: shape for name, shape in SHAPES.items()})
    config = tiny_config(("batch_size: 8", 'batch_size: 8 fine_tune_checkpoint_type: "detection"'))
    done = tiny_training(tmp_path / "run", TRAINER=trainer, PIPELINE_CONFIG=config, FINE_TUNE_CHECKPOINT=checkpoint)
    assert done.code == 2, done.console
    assert "First step" not in done.console and done.checkpoints == []
    assert done.lines[-2].startswith("Only 0 of the 10 variables that fine_tune_checkpoint_type: detection")
    assert done.lines[-1].endswith('"classification" in train_config: it finds 10 of 10.')
