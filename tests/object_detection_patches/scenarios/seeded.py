"""Reads a seeded training input twice, and takes two batches from the clones' queue.

Argument: a file for the results (a JSON object).
"""

import json
import sys
import tempfile
import types

import tensorflow.compat.v1 as tf
from google.protobuf import text_format

sys.modules["object_detection.metrics.lvis_evaluation"] = types.SimpleNamespace(LVISMaskEvaluator=None)

import line_model
import workers
from object_detection import inputs
from object_detection.core import batcher
from object_detection.protos import input_reader_pb2, model_pb2, train_pb2

AUGMENTATIONS = {"brightness": "random_adjust_brightness {}", "crop": "random_crop_image { random_coef: 0 }"}


def read(folder, augmentation, seed):
    """Sums of the colors of each image in three batches of eight."""
    reader = (
        "max_number_of_boxes: 3 shuffle: true num_readers: 1 "
        f"tf_record_input_reader {{ input_path: '{folder}/records-*' }}"
    )
    with tf.Graph().as_default(), tf.Session() as session:
        if seed is not None:
            tf.set_random_seed(seed)
        dataset = inputs.train_input(
            text_format.Parse(f"batch_size: 8 data_augmentation_options {{ {augmentation} }}", train_pb2.TrainConfig()),
            text_format.Parse(reader, input_reader_pb2.InputReader()),
            text_format.Parse(workers.MODEL, model_pb2.DetectionModel()),
            model=line_model.LineModel(),
        )
        iterator = dataset.make_initializable_iterator()
        sums = tf.reduce_sum(iterator.get_next()[0]["image"], axis=[1, 2, 3])
        session.run([iterator.initializer, tf.tables_initializer()])
        return [session.run(sums).tolist() for _ in range(3)]


def parallel_calls(folder, seed):
    """How many images the functions mapped over the input may work on at once."""
    with tf.Graph().as_default() as graph:
        if seed is not None:
            tf.set_random_seed(seed)
        reader = (
            "max_number_of_boxes: 3 num_parallel_batches: 2 "
            f"tf_record_input_reader {{ input_path: '{folder}/records-*' }}"
        )
        dataset = inputs.train_input(
            text_format.Parse("batch_size: 8", train_pb2.TrainConfig()),
            text_format.Parse(reader, input_reader_pb2.InputReader()),
            text_format.Parse(workers.MODEL, model_pb2.DetectionModel()),
            model=line_model.LineModel(),
        )
        dataset.make_initializable_iterator()
        return sorted(
            {
                int(tf.get_static_value(node.inputs[-1]))
                for node in graph.get_operations()
                if node.type == "ParallelMapDataset"
            }
        )


def queue_order():
    """Whether the second of two batches waits for the first."""
    with tf.Graph().as_default():
        queue = batcher.BatchQueue({"number": tf.constant(1.0)}, 2, 4, 1, 2)
        first, second = [batch[0]["number"].op.inputs[0].op for batch in (queue.dequeue(), queue.dequeue())]
        dequeued = []
        for operation in (first, second):
            while "Dequeue" not in operation.type:
                operation = operation.inputs[0].op
            dequeued.append(operation)
        return dequeued[0] in dequeued[1].control_inputs


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {"second waits": queue_order()}
    with tempfile.TemporaryDirectory() as temporary:
        workers.write_records(temporary)
        for name, augmentation in AUGMENTATIONS.items():
            found[name] = [read(temporary, augmentation, seed) for seed in (7, 7, 8, None, None)]
        found["calls"] = [parallel_calls(temporary, seed) for seed in (None, 7)]
    with open(sys.argv[1], "w") as results_file:
        json.dump(found, results_file)
