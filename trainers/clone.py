"""The clone trainer: the API's legacy trainer.train builds one graph with a clone of the model on each device.

The patched trainer takes a session config and the function that runs the steps, so that both trainers share their
hooks: checkpoints at the interval and limit of the settings, progress, stopping.
"""

import functools

import tensorflow.compat.v1 as tf
from object_detection.builders import dataset_builder, model_builder
from object_detection.legacy import trainer

from trainers import fine_tune, first_step, scalars, seed
from trainers.checkpoint_hook import checkpoint_hook
from trainers.devices import session_config


def train(config, settings, devices, run_dir, make_step_hook, say, servers):
    """Trains to config.train_config.num_steps.

    Args:
        config: effective TrainEvalPipelineConfig; batch_size is global, the API divides it by the clones.
        settings: Settings.
        devices: Devices; one clone on each.
        run_dir: checkpoints and events go there.
        make_step_hook: function(loss tensor) -> StepHook.
        say: function(sentence) for what people must know.
        servers: ParameterServers that hold the variables; none of them keeps the variables in this process.
    """
    session_options = session_config(devices)
    build_model = functools.partial(model_builder.build, model_config=config.model, is_training=True)

    def run_steps(train_tensor, **arguments):
        _run_steps(train_tensor, settings, run_dir, make_step_hook(train_tensor), config, arguments)

    trainer.train(
        create_tensor_dict_fn=seed.seeded(functools.partial(_next_example, config.train_input_reader), settings.seed),
        create_model_fn=fine_tune.watched(build_model, config.train_config, say),
        train_config=config.train_config,
        master=servers.connect(session_options),
        task=0,
        num_clones=devices.count,
        worker_replicas=1,
        clone_on_cpu=devices.kind == "cpu",
        ps_tasks=servers.count,
        worker_job_name=servers.worker,
        is_chief=True,
        train_dir=run_dir,
        graph_hook_fn=_graph_rewriter(config),
        session_config=session_options,
        train_fn=run_steps,
    )


def saver(config, settings):
    """A Saver of the default graph with the limits of settings and config."""
    return tf.train.Saver(
        sharded=True,
        max_to_keep=settings.keep_checkpoints,
        save_relative_paths=True,
        keep_checkpoint_every_n_hours=config.train_config.keep_checkpoint_every_n_hours,
    )


def _next_example(input_reader_config):
    return dataset_builder.make_initializable_iterator(dataset_builder.build(input_reader_config)).get_next()


def _graph_rewriter(config):
    if not config.HasField("graph_rewriter"):
        return None
    from object_detection.builders import graph_rewriter_builder

    return graph_rewriter_builder.build(config.graph_rewriter, is_training=True)


def _run_steps(train_tensor, settings, run_dir, step_hook, config, arguments):
    """Runs the steps of the graph that the API built, in place of slim.learning.train.

    Args:
        arguments: the keyword arguments meant for slim.learning.train.
    """
    init_fn = arguments["init_fn"]
    scaffold = tf.train.Scaffold(
        ready_op=first_step.nothing_uninitialised(),
        ready_for_local_init_op=first_step.nothing_uninitialised(),
        saver=saver(config, settings),
        summary_op=arguments["summary_op"],
        init_fn=(lambda scaffold, session: init_fn(session)) if init_fn else None,
    )
    with tf.train.MonitoredTrainingSession(
        master=arguments["master"],
        checkpoint_dir=run_dir,
        scaffold=scaffold,
        config=arguments["session_config"],
        # In this order: a diverged step must not be saved.
        hooks=fine_tune.hooks(config.train_config)
        + [
            step_hook,
            scalars.ScalarsHook(run_dir, step_hook, arguments["summary_op"]),
            checkpoint_hook(run_dir, settings, scaffold=scaffold),
            first_step.CollectsGarbageAgain(),
        ],
        save_checkpoint_secs=None,
        save_summaries_steps=None,
        save_summaries_secs=None,
        log_step_count_steps=None,
    ) as session:
        while not session.should_stop():
            session.run(train_tensor)
