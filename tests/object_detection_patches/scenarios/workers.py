"""Reads twelve files of two records through the Estimator's training input as each of two workers, and two of the
files as each of three.

Argument: a file for the results (a JSON object).
"""

import json
import os
import sys
import tempfile
import traceback
import types
from typing import NamedTuple

import tensorflow.compat.v1 as tf
from google.protobuf import text_format

sys.modules["object_detection.metrics.lvis_evaluation"] = types.SimpleNamespace(LVISMaskEvaluator=None)

from object_detection import inputs
from object_detection.protos import input_reader_pb2, model_pb2, train_pb2

FILES, RECORDS = 12, 2
MODEL = """
  ssd { num_classes: 2 image_resizer { fixed_shape_resizer { height: 8 width: 8 } }
        feature_extractor { type: "ssd_mobilenet_v1" conv_hyperparams {
          regularizer { l2_regularizer {} } initializer { truncated_normal_initializer {} } } }
        box_coder { faster_rcnn_box_coder {} } matcher { argmax_matcher {} } similarity_calculator { iou_similarity {} }
        box_predictor { convolutional_box_predictor { conv_hyperparams {
          regularizer { l2_regularizer {} } initializer { truncated_normal_initializer {} } } } }
        anchor_generator { ssd_anchor_generator {} } post_processing { score_converter: SIGMOID }
        loss { localization_loss { weighted_smooth_l1 {} } classification_loss { weighted_sigmoid {} } } }
"""


def write_records(folder):
    """An image of 8 x 8 pixels of all colors with one box, again and again; a source id is its file and place in it."""

    def text(value):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    def floats(value):
        return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))

    box = {
        "image/object/bbox/" + side: floats(at)
        for side, at in (("ymin", 0.4), ("xmin", 0.4), ("ymax", 0.6), ("xmax", 0.6))
    }
    box["image/object/class/label"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
    with tf.Graph().as_default(), tf.Session() as session:
        pixels = tf.cast(tf.reshape(tf.range(8 * 8 * 3), [8, 8, 3]), tf.uint8)
        image = session.run(tf.image.encode_png(pixels))
    for number in range(FILES):
        with tf.python_io.TFRecordWriter(os.path.join(folder, f"records-{number}")) as writer:
            for place in range(RECORDS):
                feature = dict(
                    box,
                    **{
                        "image/encoded": text(image),
                        "image/format": text(b"png"),
                        "image/source_id": text(b"%d-%d" % (number, place)),
                    },
                )
                writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


class Reading(NamedTuple):
    """A way to read the records: the part of the files' names that tells which, and the batch of one worker."""

    shuffle: bool
    workers: int = 2
    files: str = "*"
    batch: int = 3


def read(folder, reading, worker):
    """(source ids in the order they come, images in the first batch) for one of the workers."""
    reader = (
        f"max_number_of_boxes: 3 include_source_id: true num_epochs: 1 shuffle: {str(reading.shuffle).lower()} "
        f"num_readers: 2 tf_record_input_reader {{ input_path: '{folder}/records-{reading.files}' }}"
    )
    with tf.Graph().as_default(), tf.Session() as session:
        input_fn = inputs.create_train_input_fn(
            text_format.Parse(f"batch_size: {reading.batch * reading.workers}", train_pb2.TrainConfig()),
            text_format.Parse(reader, input_reader_pb2.InputReader()),
            text_format.Parse(MODEL, model_pb2.DetectionModel()),
        )
        context = tf.distribute.InputContext(reading.workers, worker, num_replicas_in_sync=reading.workers)
        features, _ = tf.data.make_one_shot_iterator(input_fn(input_context=context)).get_next()
        batches = []
        while True:
            try:
                batches.append([name.decode() for name in session.run(features["source_id"]).tolist()])
            except tf.errors.OutOfRangeError:
                return sum(batches, []), len(batches[0])


READINGS = {
    "in order": Reading(shuffle=False),
    "shuffled": Reading(shuffle=True),
    "two files": Reading(shuffle=True, workers=3, files="[01]", batch=1),
}


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    with tempfile.TemporaryDirectory() as temporary:
        write_records(temporary)
        for order, reading in READINGS.items():
            try:
                found[order] = [read(temporary, reading, worker) for worker in range(reading.workers)]
            except Exception:
                found[order] = {"error": traceback.format_exc()}
    with open(sys.argv[1], "w") as results_file:
        json.dump(found, results_file)
