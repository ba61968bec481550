"""Reads one record, flipped, through the API's training input, on a machine where lvis and OpenCV cannot be
imported.

Argument: a file for the results (a JSON object).
"""

import io
import json
import os
import sys
import tempfile
import time

import numpy as np
import PIL.Image
import tensorflow.compat.v1 as tf
from google.protobuf import text_format
from tensorflow.python.autograph.impl import conversion

BOX = [0.1, 0.3, 0.6, 0.8]


def write_record(path):
    """One red image, 40 wide and 30 high, with one box."""
    image = io.BytesIO()
    PIL.Image.fromarray(np.tile(np.uint8([[[255, 0, 0]]]), [30, 40, 1])).save(image, "PNG")

    def floats(*values):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))

    def integers(*values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    def text(value):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    example = tf.train.Example(
        features=tf.train.Features(
            feature={
                "image/encoded": text(image.getvalue()),
                "image/format": text(b"png"),
                "image/source_id": text(b"1"),
                "image/object/class/label": integers(1),
                "image/height": integers(30),
                "image/width": integers(40),
                "image/object/bbox/ymin": floats(BOX[0]),
                "image/object/bbox/xmin": floats(BOX[1]),
                "image/object/bbox/ymax": floats(BOX[2]),
                "image/object/bbox/xmax": floats(BOX[3]),
            }
        )
    )
    with tf.python_io.TFRecordWriter(path) as writer:
        writer.write(example.SerializeToString())


def lvis(results):
    """Imports what needs lvis in the API as it is, and asks for its metrics."""
    sys.modules.update(lvis=None, cv2=None)
    try:
        from object_detection import eval_util
        from object_detection.protos import eval_pb2
    except ImportError as error:
        results["import_error"] = str(error)
        return
    categories = [{"id": 1, "name": "cat"}]
    results["coco"] = len(
        eval_util.get_evaluators(eval_pb2.EvalConfig(metrics_set=["coco_detection_metrics"]), categories)
    )
    try:
        eval_util.get_evaluators(eval_pb2.EvalConfig(metrics_set=["lvis_mask_metrics"]), categories)
    except ImportError as error:
        results["lvis_error"] = str(error)


def read(results, folder):
    """Builds the training input and reads a batch, counting what AutoGraph converts."""
    import line_model
    from object_detection import inputs
    from object_detection.protos import input_reader_pb2, model_pb2, train_pb2

    write_record(os.path.join(folder, "record"))
    converted = []
    convert = conversion.convert

    def counted(entity, *arguments):
        converted.append(repr(entity))
        return convert(entity, *arguments)

    conversion.convert = counted
    started = time.time()
    train = "batch_size: 2 data_augmentation_options { random_horizontal_flip { probability: 1 } }"
    reader = f"max_number_of_boxes: 3 tf_record_input_reader {{ input_path: '{folder}/record' }}"
    model = "ssd { num_classes: 2 image_resizer { fixed_shape_resizer { height: 8 width: 8 } } }"
    dataset = inputs.train_input(
        text_format.Parse(train, train_pb2.TrainConfig()),
        text_format.Parse(reader, input_reader_pb2.InputReader()),
        text_format.Parse(model, model_pb2.DetectionModel()),
        model=line_model.LineModel(),
    )
    features, labels = tf.data.make_one_shot_iterator(dataset).get_next()
    results["build_seconds"] = time.time() - started
    results["converted"] = converted
    with tf.Session() as session:
        image, boxes, classes = session.run(
            [features["image"], labels["groundtruth_boxes"], labels["groundtruth_classes"]]
        )
    red, green, _ = image.mean(axis=(0, 1, 2))
    results.update(
        shape=list(image.shape),
        red=float(red),
        green=float(green),
        boxes=boxes[0].tolist(),
        classes=classes[0].tolist(),
    )


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    lvis(found)
    with tempfile.TemporaryDirectory() as temporary:
        read(found, temporary)
    with open(sys.argv[1], "w") as results_file:
        json.dump(found, results_file)
