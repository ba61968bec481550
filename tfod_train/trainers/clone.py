"""The clone trainer: the API's legacy trainer.train builds one graph with a clone of the model on each device.

The patched trainer takes a session config and the function that runs the steps, so that both trainers share their
hooks: checkpoints at the interval and limit of the settings, progress, stopping.
"""

import functools
from typing import Any, Dict

import tensorflow.compat.v1 as tf
from object_detection.builders import dataset_builder, model_builder
from object_detection.legacy import trainer

from tfod_train.devices.devices import session_config
from tfod_train.hooks import summaries
from tfod_train.hooks.checkpoint import checkpoint_hook
from tfod_train.hooks.step import StepHook
from tfod_train.run.context import Run
from tfod_train.trainers import fast_start, fine_tune, seed
from tfod_train.trainers.session import Parts


def train(parts: Parts) -> None:
    """Trains to the run's last step, one clone on each of its devices; the API divides the batch by the clones."""
    run, servers = parts.run, parts.servers
    session_options = session_config(run.devices)
    next_example = functools.partial(_next_example, run.config.train_input_reader)
    build_model = functools.partial(model_builder.build, model_config=run.config.model, is_training=True)
    fine_tuning = fine_tune.of_run(run, parts.console.say)
    trainer.train(
        create_tensor_dict_fn=seed.seeded(next_example, run.settings.seed),
        create_model_fn=fine_tuning.watched(build_model),
        train_config=run.config.train_config,
        master=servers.connect(session_options),
        task=0,
        num_clones=run.devices.count,
        worker_replicas=1,
        clone_on_cpu=run.devices.kind == "cpu",
        ps_tasks=servers.count,
        worker_job_name=servers.worker,
        is_chief=True,
        train_dir=run.run_dir.path,
        graph_hook_fn=_graph_rewriter(run.config),
        session_config=session_options,
        train_fn=lambda train_tensor, **arguments: _run_steps(train_tensor, parts, arguments, fine_tuning),
    )


def saver(run: Run) -> tf.train.Saver:
    """A Saver of the default graph with the limits of settings and config."""
    return tf.train.Saver(
        sharded=True,
        max_to_keep=run.settings.keep_checkpoints,
        save_relative_paths=True,
        keep_checkpoint_every_n_hours=run.config.train_config.keep_checkpoint_every_n_hours,
    )


def _next_example(input_reader_config):
    return dataset_builder.make_initializable_iterator(dataset_builder.build(input_reader_config)).get_next()


def _graph_rewriter(config):
    if not config.HasField("graph_rewriter"):
        return None
    from object_detection.builders import graph_rewriter_builder

    return graph_rewriter_builder.build(config.graph_rewriter, is_training=True)


def _run_steps(train_tensor: Any, parts: Parts, arguments: Dict[str, Any], fine_tuning: fine_tune.FineTuning) -> None:
    """Runs the steps of the graph that the API built, in place of slim.learning.train.

    Args:
        arguments: the keyword arguments meant for slim.learning.train.
        fine_tuning: how the model begins.
    """
    run, init_fn = parts.run, arguments["init_fn"]
    scaffold = tf.train.Scaffold(
        ready_op=fast_start.nothing_uninitialised(),
        ready_for_local_init_op=fast_start.nothing_uninitialised(),
        saver=saver(run),
        summary_op=arguments["summary_op"],
        init_fn=(lambda scaffold, session: init_fn(session)) if init_fn else None,
    )
    # In this order: a step that diverged must not be saved.
    hooks = [
        StepHook(parts.observers, train_tensor),
        summaries.ScalarsHook(run.run_dir, parts.speed, arguments["summary_op"]),
        checkpoint_hook(run, scaffold=scaffold),
        fast_start.CollectsGarbageAgain(),
    ]
    with tf.train.MonitoredTrainingSession(
        master=arguments["master"],
        checkpoint_dir=run.run_dir.path,
        scaffold=scaffold,
        config=arguments["session_config"],
        hooks=fine_tuning.hooks() + hooks,
        save_checkpoint_secs=None,
        save_summaries_steps=None,
        save_summaries_secs=None,
        log_step_count_steps=None,
    ) as session:
        while not session.should_stop():
            session.run(train_tensor)
