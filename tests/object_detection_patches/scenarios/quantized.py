"""Trains a convolution quantised with the API's legacy trainer, on one clone and on two.

Argument: a file for the results (a JSON object).
"""

import json
import os
import sys
import tempfile
import traceback

import clones
import line_model
import tensorflow.compat.v1 as tf
import tf_slim as slim
from google.protobuf import text_format
from object_detection.builders import graph_rewriter_builder
from object_detection.legacy import trainer
from object_detection.protos import graph_rewriter_pb2, train_pb2

REWRITER = text_format.Parse(
    "quantization { delay: 0 weight_bits: 8 activation_bits: 8 }", graph_rewriter_pb2.GraphRewriter()
)
RANGES = ("/min", "/max")


class ConvolutionModel(line_model.LineModel):
    """The line model on top of a convolution with batch normalisation."""

    def predict(self, preprocessed_inputs, true_image_shapes):
        convolved = slim.conv2d(
            preprocessed_inputs,
            3,
            3,
            activation_fn=tf.nn.relu6,
            scope="convolution",
            normalizer_fn=slim.batch_norm,
            normalizer_params={"is_training": self._trains},
        )
        return super(ConvolutionModel, self).predict(convolved, true_image_shapes)


def train(folder, count, train_fn):
    """Trains to step 3 on `count` clones with train_fn as the loop."""
    trainer.train(
        clones.tensors,
        ConvolutionModel,
        text_format.Parse(clones.CONFIG, train_pb2.TrainConfig()),
        master="",
        task=0,
        num_clones=count,
        worker_replicas=1,
        clone_on_cpu=True,
        ps_tasks=0,
        worker_job_name="lonely_worker",
        is_chief=True,
        train_dir=folder,
        graph_hook_fn=graph_rewriter_builder.build(REWRITER, is_training=True),
        session_config=tf.ConfigProto(device_count={"CPU": 2}),
        train_fn=train_fn,
    )


def devices():
    """Devices of the rewritten operations, by clone."""
    found = {}
    for operation in tf.get_default_graph().get_operations():
        if operation.type == "FakeQuantWithMinMaxVars" or operation.name.endswith("Conv2D_Fold"):
            found.setdefault(operation.name.split("/")[0], set()).add(operation.device)
    return {clone: sorted(names) for clone, names in found.items()}


def ranges_after_a_restart(checkpoint):
    """(range of clone 0, of clone 1) by name, as a session begins that resumes from a checkpoint."""
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        tf.train.Saver().restore(session, checkpoint)
        session.run(tf.local_variables_initializer())
        saved = {variable.op.name: variable for variable in tf.global_variables()}
        return {
            variable.op.name: session.run([saved[variable.op.name.replace("clone_1/", "")], variable])
            for variable in tf.local_variables()
            if "clone_1/" in variable.op.name
        }


def evaluate(checkpoint):
    """Restores a checkpoint into the evaluation graph, and returns the ranges in it."""
    with tf.Graph().as_default(), tf.Session() as session:
        ConvolutionModel(is_training=False).predict(tf.zeros([1, 8, 8, 3]), None)
        graph_rewriter_builder.build(REWRITER, is_training=False)()
        tf.train.Saver().restore(session, checkpoint)
        return {
            variable.op.name: float(session.run(variable))
            for variable in tf.global_variables()
            if variable.op.name.endswith(RANGES)
        }


def main(results):
    with tempfile.TemporaryDirectory() as temporary:
        checkpoint = os.path.join(temporary, "2", "model.ckpt-3")
        for count in (1, 2):

            def loop(train_op, logdir, **keywords):
                results["devices"] = devices()
                slim.learning.train(train_op, logdir, **keywords)

            train(os.path.join(temporary, str(count)), count, loop)
            trained = tf.train.load_checkpoint(os.path.join(temporary, str(count), "model.ckpt-3"))
            results[f"variables_{count}"] = sorted(trained.get_variable_to_shape_map())

        def look(train_op, logdir, **keywords):
            results["restarted"] = {
                name: [float(value) for value in pair] for name, pair in ranges_after_a_restart(checkpoint).items()
            }

        train(os.path.join(temporary, "look"), 2, look)
        results["evaluated"] = evaluate(checkpoint)


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    try:
        main(found)
    except Exception:
        found["error"] = traceback.format_exc()
    with open(sys.argv[1], "w") as results_file:
        json.dump(found, results_file)
