"""Takes one step from one checkpoint with the same four images on one device, two replicas and two clones.

Arguments: a file for the results (a JSON object by case), and the cases, a JSON object: name -> {"model":
"SSD" or "FASTER_RCNN", "changes": list of text protos merged into its pipeline config}. One device is the
Estimator without a strategy, and the two others are compared with it.
"""

import json
import os
import shutil
import sys
import tempfile
import traceback
import types

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.training import training_util

# What evaluates LVIS metrics is another scenario's matter: this one runs with or without lvis.
sys.modules["object_detection.metrics.lvis_evaluation"] = types.SimpleNamespace(LVISMaskEvaluator=None)

import small_detectors
from object_detection import model_lib
from object_detection.builders import model_builder
from object_detection.core import standard_fields
from object_detection.legacy import trainer
from object_detection.protos import eval_pb2, input_reader_pb2

SESSION = tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True)
# A graph that takes one step is not worth optimizing, nor writing as text.
SESSION.graph_options.rewrite_options.disable_meta_optimizer = True
SESSION.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
training_util.write_graph = lambda *arguments, **keywords: None
MAX_BOXES = 3
_FIELDS = standard_fields.InputDataFields


def case(folder, model, changes):
    """One comparison.

    Returns by topology: `difference` from one device after the step (the largest of all variables and
    optimizer slots, and `where`), `unmatched` variables, how far the step `moved`, and its `summaries`.
    """
    config = small_detectors.pipeline(getattr(small_detectors, model), changes)
    initial = os.path.join(folder, "one", "model.ckpt-0")
    results = {}
    for topology in ("one", "replicas", "clones"):
        target = os.path.join(folder, topology)
        os.makedirs(target)
        with tf.Graph().as_default():
            TOPOLOGIES[topology](config, target, initial)
        after = variables_of(os.path.join(target, "model.ckpt-1"))
        results[topology] = distance(after, variables_of(os.path.join(folder, "one", "model.ckpt-1")))
        results[topology]["moved"] = distance(after, variables_of(initial))["difference"]
        results[topology]["summaries"] = _summaries(target)
    return results


def one(config, folder, initial):
    del initial  # this one makes it
    _estimate(config, folder, None, 4)


def _replicas(config, folder, initial):
    begin_at(initial, folder)
    _estimate(
        config,
        folder,
        tf.distribute.MirroredStrategy(
            ["/cpu:0", "/cpu:1"], cross_device_ops=tf.distribute.HierarchicalCopyAllReduce(num_packs=1)
        ),
        2,
    )


def begin_at(initial, folder):
    """Makes a checkpoint the newest of a folder."""
    for part in tf.gfile.Glob(initial + ".*"):
        shutil.copy(part, folder)
    tf.train.update_checkpoint_state(folder, os.path.join(folder, os.path.basename(initial)))


def _estimate(config, folder, strategy, batch_size):
    estimator, build = estimator_of(config, folder, strategy)
    estimator.train(lambda: batches(build, config, batch_size), steps=1)


def estimator_of(config, folder, strategy):
    """(the Estimator of a pipeline config, the function that builds its detector)."""
    configs = {
        "train_config": config.train_config,
        "eval_config": eval_pb2.EvalConfig(),
        "eval_input_config": input_reader_pb2.InputReader(),
    }

    def build(is_training, add_summaries=True):
        return model_builder.build(config.model, is_training, add_summaries)

    return tf.estimator.Estimator(
        model_lib.create_model_fn(build, configs),
        folder,
        tf.estimator.RunConfig(
            train_distribute=strategy,
            session_config=SESSION,
            tf_random_seed=1,
            save_checkpoints_steps=1,
            save_summary_steps=1,
        ),
    ), build


def batches(build, config, batch_size):
    """The images in order, as the API's input functions give them to the model function."""
    detector = build(is_training=True)

    def padded(example):
        image, shape = detector.preprocess(tf.expand_dims(example[_FIELDS.image], 0))
        features = {_FIELDS.image: image[0], _FIELDS.true_image_shape: shape[0], "hash": tf.constant(0)}
        labels = {
            _FIELDS.groundtruth_boxes: example[_FIELDS.groundtruth_boxes],
            _FIELDS.groundtruth_classes: tf.one_hot(example[_FIELDS.groundtruth_classes] - 1, small_detectors.CLASSES),
            _FIELDS.groundtruth_weights: example[_FIELDS.groundtruth_weights],
            _FIELDS.num_groundtruth_boxes: tf.shape(example[_FIELDS.groundtruth_boxes])[0],
        }
        if _FIELDS.groundtruth_instance_masks in example:
            labels[_FIELDS.groundtruth_instance_masks] = example[_FIELDS.groundtruth_instance_masks]
        for name in set(labels) - {_FIELDS.num_groundtruth_boxes}:
            rest = labels[name].shape.as_list()[1:]
            missing = MAX_BOXES - tf.shape(labels[name])[0]
            labels[name] = tf.pad(labels[name], [[0, missing]] + [[0, 0]] * len(rest))
            labels[name].set_shape([MAX_BOXES] + rest)
        features[_FIELDS.image].set_shape([small_detectors.SIZE] * 2 + [3])
        return features, labels

    return _examples(config).map(padded).batch(batch_size, drop_remainder=True)


def _clones(config, folder, initial):
    def loop(train_op, logdir, summary_op=None, **unused):
        saver = tf.train.Saver()
        restorer = tf.train.Saver(
            [variable for variable in tf.global_variables() if variable.op.name in variables_of(initial)]
        )
        with tf.Session(config=SESSION) as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
            restorer.restore(session, initial)
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            _, summary = session.run([train_op, summary_op])
            saver.save(session, os.path.join(logdir, "model.ckpt-1"))
            coordinator.request_stop()
            session.run([queue.close(cancel_pending_enqueues=True) for queue in _queues()])
            coordinator.join(threads, ignore_live_threads=True)
        with tf.summary.FileWriter(logdir) as events:
            events.add_summary(summary, 1)

    stock, trainer.slim.learning.train = trainer.slim.learning.train, loop
    try:
        trainer.train(
            lambda: tf.data.make_one_shot_iterator(_examples(config).repeat()).get_next(),
            lambda: model_builder.build(config.model, is_training=True),
            config.train_config,
            master="",
            task=0,
            num_clones=2,
            worker_replicas=1,
            clone_on_cpu=True,
            ps_tasks=0,
            worker_job_name="lonely_worker",
            is_chief=True,
            train_dir=folder,
        )
    finally:
        trainer.slim.learning.train = stock


TOPOLOGIES = {"one": one, "replicas": _replicas, "clones": _clones}


def _queues():
    return [runner.queue for runner in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]


def _examples(config):
    examples = small_detectors.examples(small_detectors.SIZE, masks=small_detectors.wants_masks(config))
    types = {name: value.dtype for name, value in examples[0].items()}
    shapes = {name: [None] + list(value.shape[1:]) for name, value in examples[0].items()}
    shapes[_FIELDS.image] = examples[0][_FIELDS.image].shape
    return tf.data.Dataset.from_generator(lambda: iter(examples), types, shapes)


def variables_of(checkpoint):
    reader = tf.train.load_checkpoint(checkpoint)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map() if name != "global_step"}


def distance(ours, theirs):
    """The largest absolute difference of any value of any variable, and the variables that only one of
    them has."""
    distances = {name: float(np.max(np.abs(ours[name] - theirs[name]))) for name in set(ours) & set(theirs)}
    worst = max(distances, key=distances.get)
    return {"difference": distances[worst], "where": worst, "unmatched": sorted(set(ours) ^ set(theirs))}


def _summaries(folder):
    """The scalars of the first step, by tag."""
    return {
        value.tag: value.simple_value
        for path in tf.gfile.Glob(os.path.join(folder, "events.*"))
        for event in tf.train.summary_iterator(path)
        for value in event.summary.value
        if value.WhichOneof("value") == "simple_value"
    }


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    for name, given in json.loads(sys.argv[2]).items():
        with tempfile.TemporaryDirectory() as temporary:
            try:
                found[name] = case(temporary, given["model"], given["changes"])
            except Exception:
                found[name] = {"error": traceback.format_exc()}
    with open(sys.argv[1], "w") as results_file:
        json.dump(found, results_file, indent=1, sort_keys=True)
