"""Takes one step with the same four images on one device and on two worker processes that each get two of them.

Arguments: a file for the results (a JSON object: `moved`, `difference`, `where` and `unmatched` as in
one_step.py, or `error`), and a case of one_step.py, a JSON object. The workers run this file too: with their
folder instead of a file, and TensorFlow's TF_CONFIG.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile

import one_step
import small_detectors
import tensorflow.compat.v1 as tf

SECONDS = 300


def compared(case, folder):
    config = _pipeline(case)
    one, workers = (os.path.join(folder, name) for name in ("one", "workers"))
    os.makedirs(one)
    os.makedirs(workers)
    with tf.Graph().as_default():
        one_step.one(config, one, None)
    initial = os.path.join(one, "model.ckpt-0")
    one_step.begin_at(initial, workers)
    error = _run_workers(case, workers)
    if error:
        return {"error": error}
    after = one_step.variables_of(os.path.join(workers, "model.ckpt-1"))
    result = one_step.distance(after, one_step.variables_of(os.path.join(one, "model.ckpt-1")))
    result["moved"] = one_step.distance(after, one_step.variables_of(initial))["difference"]
    return result


def _run_workers(case, folder):
    """Runs both to their end; returns their output where one failed, else None."""
    with socket.socket() as first, socket.socket() as second:
        for each in (first, second):
            each.bind(("127.0.0.1", 0))
        addresses = [f"127.0.0.1:{each.getsockname()[1]}" for each in (first, second)]
    running = []
    for index in range(2):
        cluster = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        running.append(
            subprocess.Popen(
                [sys.executable, "-W", "ignore", __file__, folder, case],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                universal_newlines=True,
                env=dict(os.environ, TF_CONFIG=json.dumps(cluster)),
            )
        )
    try:
        outputs = [process.communicate(timeout=SECONDS)[0] for process in running]
    except subprocess.TimeoutExpired:
        return "The workers wait for each other."
    finally:
        for process in running:
            process.kill()
    return "\n".join(outputs) if any(process.returncode for process in running) else None


def work(case, folder):
    """One of the workers: its part of the one step."""
    config, task = _pipeline(case), json.loads(os.environ["TF_CONFIG"])["task"]["index"]
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    estimator, build = one_step.estimator_of(config, folder, strategy)

    def input_fn():
        return one_step.batches(build, config, 2).skip(task).take(1)

    tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(input_fn, max_steps=1), tf.estimator.EvalSpec(input_fn)
    )


def _pipeline(case):
    given = json.loads(case)
    return small_detectors.pipeline(getattr(small_detectors, given["model"]), given["changes"])


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    if "TF_CONFIG" in os.environ:
        work(sys.argv[2], sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            found = compared(sys.argv[2], temporary)
        with open(sys.argv[1], "w") as results_file:
            json.dump(found, results_file)
