"""Each file in configs/ says what it is for and what is known of it, and builds with its input."""

import glob
import os
import re

import pytest

from common.project import PROJECT_DIR

ROOT = PROJECT_DIR
CONFIGS = sorted(os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "configs", "*.config")))
BATCH = {"ssd": "2", "faster_rcnn": "1"}


def parse(name):
    from tfod_train.config import pipeline

    return pipeline.parse(os.path.join(ROOT, "configs", name))


# Deprecated in the API's protos, and still read by the clone trainer's input.
READ_ALL_THE_SAME = {"train_input_reader.num_parallel_map_calls"}


def deprecated(message, prefix=""):
    """Dotted names of the fields set in a message that the API's protos call deprecated."""
    found = set()
    for field, value in message.ListFields():
        found |= {prefix + field.name} if field.GetOptions().deprecated else set()
        if field.message_type is not None:
            for one in value if field.label == field.LABEL_REPEATED else [value]:
                found |= deprecated(one, prefix + field.name + ".")
    return found


@pytest.mark.parametrize("name", CONFIGS)
class TestEach(object):
    pytestmark = pytest.mark.usefixtures("protos")

    def test_the_header_has_a_command_and_says_what_is_known(self, name):
        with open(os.path.join(ROOT, "configs", name)) as source:
            header = re.match(r"(#.*\n)+", source.read()).group(0)
        assert "make train" in header or "docker compose up train" in header
        assert re.search(r"Reaches .*0\.[0-9]|Should reach: .* 0\.[0-9]+|far too small", header)
        assert re.search(r"tests hold it to|Not known|shows that", header)
        for model in re.findall(r"FINE_TUNE_CHECKPOINT=(\S+)", header):
            from tfod_train.checkpoints import model_zoo

            assert model_zoo.find(model), model
        for path in re.findall(r"PIPELINE_CONFIG=(\S+)", header):
            assert os.path.basename(path) == name

    def test_it_has_no_field_that_nothing_reads(self, name):
        assert deprecated(parse(name)) - READ_ALL_THE_SAME == set()

    def test_it_trains_one_image_a_device_or_says_why_not(self, name, dataset, two_cpus, read_settings):
        from tfod_train.config import learning_rates, pipeline

        described = dataset._replace(
            description=dict(dataset.description, config={"load_instance_masks": True, "mask_type": "PNG_MASKS"})
        )
        made = pipeline.effective(parse(name), read_settings(DEVICE="cpu", BATCH_SIZE="2"), described, two_cpus)
        assert made.config.train_config.batch_size == 2 and learning_rates.initial(made.config) > 0

    @pytest.mark.long
    def test_its_graph_is_built_with_a_batch_of_its_input(self, name, request, read_settings):
        """The training graph with losses, and the inference graph that an export has; a batch is read."""
        import tensorflow.compat.v1 as tf
        from object_detection import exporter, inputs, model_lib
        from object_detection.builders import model_builder
        from object_detection.core import standard_fields as fields
        from object_detection.utils import config_util

        from tfod_train.config import dataset as datasets
        from tfod_train.config import pipeline
        from tfod_train.devices import devices

        masks = "mask_rcnn" in name
        folder = str(request.getfixturevalue("with_masks" if masks else "mini"))
        parsed = parse(name)
        settings = read_settings(
            DEVICE="cpu", NUM_GPUS="1", DATASET=folder, BATCH_SIZE=BATCH[parsed.model.WhichOneof("model")]
        )
        config = pipeline.effective(parsed, settings, datasets.load(settings), devices.choose(settings, [])).config
        configs = config_util.create_configs_from_pipeline_proto(config)
        with tf.Graph().as_default(), tf.Session() as session:
            iterator = tf.data.make_initializable_iterator(
                inputs.create_train_input_fn(configs["train_config"], configs["train_input_config"], configs["model"])()
            )
            features, labels = iterator.get_next()
            model = model_builder.build(config.model, is_training=True)
            model_lib.provide_groundtruth(model, model_lib.unstack_batch(labels))
            shapes = features[fields.InputDataFields.true_image_shape]
            losses = model.loss(model.predict(features[fields.InputDataFields.image], shapes), shapes)
            assert ("Loss/BoxClassifierLoss/mask_loss" in losses) == masks, sorted(losses)
            session.run([iterator.initializer, tf.tables_initializer()])
            size, count = session.run(
                [tf.shape(features[fields.InputDataFields.image]), labels[fields.InputDataFields.num_groundtruth_boxes]]
            )
            assert size[0] == config.train_config.batch_size and min(size[1:3]) >= 160 and count.max() >= 1
        with tf.Graph().as_default():
            outputs, _ = exporter.build_detection_graph(
                "image_tensor", model_builder.build(config.model, is_training=False), None, None, None
            )
            assert ("detection_masks" in outputs) == masks
