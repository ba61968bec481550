"""What the mirrored trainer hands on to the Estimator."""

import pytest


@pytest.mark.tensorflow
def test_the_estimators_saver_keeps_what_settings_and_config_say(config, planned_run):
    from tfod_train.trainers import mirrored

    run_config = mirrored.run_config(planned_run("runs/none", config, KEEP_CHECKPOINTS="7"), None)
    assert (run_config.keep_checkpoint_max, run_config.keep_checkpoint_every_n_hours) == (7, 3)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "name, kind, op, packs",
    [
        ("hierarchical_copy", "cpu", "HierarchicalCopyAllReduce", 3),
        ("hierarchical_copy", "gpu", "HierarchicalCopyAllReduce", 3),
        ("nccl", "gpu", "NcclAllReduce", 3),
        ("nccl", "cpu", "ReductionToOneDevice", None),
        ("reduction_to_one_device", "gpu", "ReductionToOneDevice", None),
    ],
)
def test_all_reduce_is_what_was_asked_for_or_says_why_not(name, kind, op, packs, config, planned_run):
    from tfod_train.trainers import mirrored

    run = planned_run("runs/none", config, ALL_REDUCE=name, ALL_REDUCE_PACKS="3")
    ops, remark = mirrored.all_reduce(run._replace(devices=run.devices._replace(kind=kind)))
    assert (type(ops).__name__, getattr(ops, "_num_packs", None)) == (op, packs)
    assert (remark is not None) == (op.startswith("Reduction") and name == "nccl")
