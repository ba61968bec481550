"""Trains, evaluates and exports the line model through the API's model_fn on N devices.

Arguments: a file for the results (a JSON object), the class of the line model, the optimizer's text proto,
and the numbers of devices to do it on, one after the other. 0 devices: one device without a strategy.
"""

import json
import os
import sys
import tempfile
import traceback
import types

import line_model
import tensorflow.compat.v1 as tf
from google.protobuf import text_format

# What evaluates LVIS metrics is another scenario's matter: this one runs with or without lvis.
sys.modules["object_detection.metrics.lvis_evaluation"] = types.SimpleNamespace(LVISMaskEvaluator=None)

from object_detection import model_lib
from object_detection.protos import eval_pb2, input_reader_pb2, train_pb2

SESSION = tf.ConfigProto(device_count={"CPU": 2})
STEPS = 10
BATCH = 8


def run(model, optimizer, devices, folder):
    """One training with everything that follows it; returns what the tests look at."""
    label_map = os.path.join(folder, "label_map.pbtxt")
    with open(label_map, "w") as out:
        out.write("item { id: 1 name: 'cat' }\n")
    configs = {
        "train_config": text_format.Parse(f"optimizer {{{optimizer}}}", train_pb2.TrainConfig()),
        "eval_config": eval_pb2.EvalConfig(metrics_set=["coco_detection_metrics"]),
        "eval_input_config": input_reader_pb2.InputReader(label_map_path=label_map, max_number_of_boxes=1),
    }
    configs["eval_config"].use_moving_averages = configs["train_config"].optimizer.use_moving_average
    strategy = devices and tf.distribute.MirroredStrategy(
        [f"/cpu:{index}" for index in range(devices)],
        cross_device_ops=tf.distribute.HierarchicalCopyAllReduce(num_packs=1),
    )
    estimator = tf.estimator.Estimator(
        model_lib.create_model_fn(model, configs),
        os.path.join(folder, "run"),
        tf.estimator.RunConfig(
            train_distribute=strategy or None,
            session_config=SESSION,
            tf_random_seed=1,
            save_checkpoints_steps=1,
            keep_checkpoint_max=2,
        ),
    )
    estimator.train(lambda: line_model.dataset(BATCH // (devices or 1)), steps=STEPS)
    states = [_variables(os.path.join(folder, "run", f"model.ckpt-{step}")) for step in (STEPS - 1, STEPS)]
    result = {
        "checkpoints": len(tf.gfile.Glob(os.path.join(folder, "run", "model.ckpt-*.index"))),
        "before_last_step": states[0],
        "variables": states[1],
    }
    metrics = estimator.evaluate(lambda: line_model.dataset(1, repeat=False))
    result["eval_step"] = int(metrics["global_step"])
    result["eval_loss"] = float(metrics["Loss/line"])
    result["loss_of_weights"] = line_model.loss(states[1]["line/weights"], states[1]["line/bias"])
    if configs["eval_config"].use_moving_averages:
        result["loss_of_averages"] = line_model.loss(
            *[states[1][f"line/{name}/ExponentialMovingAverage"] for name in ("weights", "bias")]
        )

    def serving():
        features = {
            "image": tf.placeholder(tf.float32, [None, line_model.SIZE, line_model.SIZE, 3]),
            "true_image_shape": tf.placeholder(tf.int32, [None, 3]),
        }
        return tf.estimator.export.ServingInputReceiver(features, dict(features))

    exported = estimator.export_saved_model(os.path.join(folder, "export"), serving)
    result["exported"] = os.path.exists(os.path.join(exported.decode(), "saved_model.pb"))
    return result


def _variables(checkpoint):
    reader = tf.train.load_checkpoint(checkpoint)
    return {name: reader.get_tensor(name).reshape([-1]).tolist() for name in reader.get_variable_to_shape_map()}


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    results = {}
    for argument in sys.argv[4:]:
        with tempfile.TemporaryDirectory() as temporary:
            try:
                results[argument] = run(getattr(line_model, sys.argv[2]), sys.argv[3], int(argument), temporary)
            except Exception:
                results[argument] = {"error": traceback.format_exc()}
    with open(sys.argv[1], "w") as results_file:
        json.dump(results, results_file)
