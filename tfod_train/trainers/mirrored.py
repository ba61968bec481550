"""The mirrored trainer: the API's model function in an Estimator under MirroredStrategy."""

import functools
from typing import Any, Optional, Tuple

import tensorflow.compat.v1 as tf
from object_detection import inputs, model_hparams, model_lib
from object_detection.builders import model_builder
from object_detection.utils import config_util

from tfod_train.devices.devices import session_config
from tfod_train.hooks import image_ids, summaries
from tfod_train.hooks.checkpoint import checkpoint_hook
from tfod_train.hooks.step import StepHook
from tfod_train.run.context import Run
from tfod_train.trainers import fast_start, fine_tune
from tfod_train.trainers.session import Parts


def all_reduce(run: Run) -> Tuple[Any, Optional[str]]:
    """The cross-device ops of the settings (tf.distribute.CrossDeviceOps), and a sentence where they cannot be had."""
    name, packs = run.settings.all_reduce.value, run.settings.all_reduce_packs
    if name == "nccl" and run.devices.kind != "gpu":
        return (
            tf.distribute.ReductionToOneDevice(),
            "ALL_REDUCE=nccl needs GPUs; on CPU devices gradients are reduced to one device.",
        )
    if name == "nccl":
        return tf.distribute.NcclAllReduce(num_packs=packs), None
    if name == "hierarchical_copy":
        return tf.distribute.HierarchicalCopyAllReduce(num_packs=packs), None
    return tf.distribute.ReductionToOneDevice(), None


def run_config(run: Run, strategy: Any) -> tf.estimator.RunConfig:
    """RunConfig of the Estimator, with the checkpoint limits of settings and config."""
    return tf.estimator.RunConfig(
        model_dir=run.run_dir.path,
        train_distribute=strategy,
        session_config=session_config(run.devices),
        tf_random_seed=run.settings.seed,
        keep_checkpoint_max=run.settings.keep_checkpoints,
        keep_checkpoint_every_n_hours=run.config.train_config.keep_checkpoint_every_n_hours,
        save_checkpoints_secs=None,
        save_checkpoints_steps=None,  # checkpoint_hook saves
        save_summary_steps=0,
        log_step_count_steps=None,  # ScalarsHook writes summaries
    )


def train(parts: Parts) -> None:
    """Trains to the run's last step, one replica on each of its devices."""
    run = parts.run
    cross_device_ops, remark = all_reduce(run)
    if remark:
        parts.console.say(remark)
    strategy = tf.distribute.MirroredStrategy(devices=list(run.devices.names), cross_device_ops=cross_device_ops)
    configs = config_util.create_configs_from_pipeline_proto(run.config)
    fine_tuning = fine_tune.of_run(run, parts.console.say)
    build_model = fine_tuning.watched(functools.partial(model_builder.build, model_config=configs["model"]))
    model_fn = image_ids.kept(model_lib.create_model_fn(build_model, configs, model_hparams.create_hparams()))
    train_input_fn = inputs.create_train_input_fn(
        configs["train_config"], configs["train_input_config"], configs["model"]
    )
    estimator = tf.estimator.Estimator(model_fn=model_fn, config=run_config(run, strategy))

    # The patched input function divides the batch by the replicas; one that takes no context would not.
    def input_fn(input_context: Any) -> Any:
        fast_start.skip_ready_checks()
        return train_input_fn(input_context=input_context)

    # In this order: a step that diverged must not be saved.
    hooks = [
        StepHook(parts.observers),
        summaries.ScalarsHook(run.run_dir, parts.speed),
        checkpoint_hook(run),
        fast_start.CollectsGarbageAgain(),
    ]
    estimator.train(input_fn, max_steps=run.total_steps, hooks=fine_tuning.hooks() + hooks)
