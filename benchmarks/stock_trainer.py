"""Trains two steps as the API's model_main.py would: what `benchmarks.startup` compares ours with.

On two devices this is the write-up's way: MirroredStrategy in the RunConfig, the moving average off in the config.
"""

import sys

import tensorflow.compat.v1 as tf
from object_detection import model_hparams, model_lib


def main(config_path: str, model_dir: str, devices: int) -> None:
    """Trains two steps of a pipeline config on so many virtual CPU devices."""
    tf.logging.set_verbosity(tf.logging.INFO)
    strategy = None
    if devices > 1:
        strategy = tf.distribute.MirroredStrategy(
            devices=[f"/cpu:{index}" for index in range(devices)],
            cross_device_ops=tf.distribute.HierarchicalCopyAllReduce(num_packs=1),
        )
    run_config = tf.estimator.RunConfig(
        model_dir=model_dir,
        train_distribute=strategy,
        session_config=tf.ConfigProto(allow_soft_placement=True, device_count={"CPU": devices}),
    )
    made = model_lib.create_estimator_and_inputs(
        run_config=run_config, hparams=model_hparams.create_hparams(), pipeline_config_path=config_path, train_steps=2
    )
    made["estimator"].train(made["train_input_fn"], max_steps=2)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
