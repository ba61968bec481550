"""Trains the line model with the API's legacy trainer on two clones.

Argument: a file for the results (a JSON object).
"""

import json
import os
import sys
import tempfile
import traceback

import line_model
import tensorflow.compat.v1 as tf
import tf_slim as slim
from deployment import model_deploy
from google.protobuf import text_format
from object_detection.legacy import trainer
from object_detection.protos import train_pb2

CONFIG = """
  batch_size: 4 num_steps: 3 batch_queue_capacity: 8 num_batch_queue_threads: 1 prefetch_queue_capacity: 2
  optimizer { momentum_optimizer { learning_rate { constant_learning_rate { learning_rate: 0.05 } } }
              use_moving_average: true }
"""


def tensors():
    """One image, as the API's input readers give it to the trainer."""
    images, boxes = line_model.images_and_boxes()
    image, box = tf.train.slice_input_producer([images, boxes], shuffle=False)
    return {
        "image": image,
        "groundtruth_boxes": box,
        "groundtruth_classes": tf.constant([1], tf.int64),
        "groundtruth_weights": tf.constant([1.0]),
        "source_id": tf.constant("an image"),
    }


def place(results):
    """Notes on which devices two clones and their variables are put."""

    def build():
        return line_model.LineModel().predict(tf.zeros([1, 8, 8, 3]), None)

    with tf.Graph().as_default() as graph:
        deployment = model_deploy.DeploymentConfig(num_clones=2, clone_on_cpu=True)
        model_deploy.create_clones(deployment, build)
        results["clone_devices"] = [graph.get_operation_by_name(f"clone_{clone}/MatMul").device for clone in range(2)]
        results["variable_devices"] = sorted({variable.device for variable in tf.global_variables()})


def train(results, folder):
    """Trains, noting what the loop is called with and running the loop it stands for."""
    session = tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=False)

    def loop(train_op, logdir, **keywords):
        results["same_session"] = keywords["session_config"] is session
        results["keywords"] = sorted(keywords)
        results["image_ids"] = [(ids.dtype.name, ids.shape.as_list()) for ids in tf.get_collection("image_ids")]
        results["loss_checks"] = [
            operation.name
            for operation in tf.get_default_graph().get_operations()
            if operation.type == "CheckNumerics" and b"LossTensor" in operation.get_attr("message")
        ]
        slim.learning.train(train_op, logdir, **keywords)

    trainer.train(
        tensors,
        line_model.LineModel,
        text_format.Parse(CONFIG, train_pb2.TrainConfig()),
        master="",
        task=0,
        num_clones=2,
        worker_replicas=1,
        clone_on_cpu=True,
        ps_tasks=0,
        worker_job_name="lonely_worker",
        is_chief=True,
        train_dir=folder,
        session_config=session,
        train_fn=loop,
    )
    results["variables"] = sorted(
        tf.train.load_checkpoint(os.path.join(folder, "model.ckpt-3")).get_variable_to_shape_map()
    )


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    place(found)
    with tempfile.TemporaryDirectory() as temporary:
        try:
            train(found, temporary)
        except Exception:
            found["error"] = traceback.format_exc()
    with open(sys.argv[1], "w") as results_file:
        json.dump(found, results_file)
