"""The mirrored trainer: the API's model function in an Estimator under MirroredStrategy."""

import functools

import tensorflow.compat.v1 as tf
from object_detection import inputs, model_hparams, model_lib
from object_detection.builders import model_builder
from object_detection.utils import config_util

from trainers import batch_ids, fine_tune, first_step, scalars
from trainers.checkpoint_hook import checkpoint_hook
from trainers.devices import session_config


def all_reduce(settings, devices):
    """The cross-device ops of the settings, and a sentence where they cannot be had.

    Returns:
        (tf.distribute.CrossDeviceOps, str or None).
    """
    name, packs = settings.all_reduce.value, settings.all_reduce_packs
    if name == "nccl" and devices.kind != "gpu":
        return (
            tf.distribute.ReductionToOneDevice(),
            "ALL_REDUCE=nccl needs GPUs; on CPU devices gradients are reduced to one device.",
        )
    if name == "nccl":
        return tf.distribute.NcclAllReduce(num_packs=packs), None
    if name == "hierarchical_copy":
        return tf.distribute.HierarchicalCopyAllReduce(num_packs=packs), None
    return tf.distribute.ReductionToOneDevice(), None


def run_config(config, settings, devices, run_dir, strategy):
    """RunConfig of the Estimator, with the checkpoint limits of settings and config."""
    return tf.estimator.RunConfig(
        model_dir=run_dir,
        train_distribute=strategy,
        session_config=session_config(devices),
        tf_random_seed=settings.seed,
        keep_checkpoint_max=settings.keep_checkpoints,
        keep_checkpoint_every_n_hours=config.train_config.keep_checkpoint_every_n_hours,
        save_checkpoints_secs=None,
        save_checkpoints_steps=None,  # checkpoint_hook saves
        save_summary_steps=0,
        log_step_count_steps=None,
    )  # ScalarsHook writes summaries


def train(config, settings, devices, run_dir, make_step_hook, say):
    """Trains to config.train_config.num_steps.

    Args:
        config: effective TrainEvalPipelineConfig; batch_size is global.
        settings: Settings.
        devices: Devices; one replica on each.
        run_dir: checkpoints and events go there.
        make_step_hook: function(None) -> StepHook, which finds the loss itself.
        say: function(sentence) for what people must know.
    """
    cross_device_ops, remark = all_reduce(settings, devices)
    if remark:
        say(remark)
    strategy = tf.distribute.MirroredStrategy(devices=list(devices.names), cross_device_ops=cross_device_ops)
    configs = config_util.create_configs_from_pipeline_proto(config)
    build_model = fine_tune.watched(
        functools.partial(model_builder.build, model_config=configs["model"]), configs["train_config"], say
    )
    model_fn = batch_ids.kept(model_lib.create_model_fn(build_model, configs, model_hparams.create_hparams()))
    train_input_fn = inputs.create_train_input_fn(
        configs["train_config"], configs["train_input_config"], configs["model"]
    )
    estimator = tf.estimator.Estimator(
        model_fn=model_fn, config=run_config(config, settings, devices, run_dir, strategy)
    )

    # The patched input function divides the batch by the replicas; one that takes no context would not.
    def input_fn(input_context):
        first_step.skip_ready_checks()
        return train_input_fn(input_context=input_context)

    step_hook = make_step_hook(None)
    estimator.train(
        input_fn,
        max_steps=config.train_config.num_steps,
        hooks=fine_tune.hooks(config.train_config)
        + [
            step_hook,
            scalars.ScalarsHook(run_dir, step_hook),
            checkpoint_hook(run_dir, settings),
            first_step.CollectsGarbageAgain(),
        ],
    )
