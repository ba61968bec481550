"""SEED: two runs end in the same checkpoint, bit for bit, with shuffling and random crops; another seed does not."""

import os

import pytest

pytestmark = pytest.mark.long

STEP = 6


def variables_of(run):
    import tensorflow.compat.v1 as tf

    assert run.code == 0, run.console
    reader = tf.train.load_checkpoint(os.path.join(run.folder, f"model.ckpt-{STEP}"))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def differing(one, other):
    assert sorted(one) == sorted(other) and len(one) > 30
    return [name for name in sorted(one) if one[name].tobytes() != other[name].tobytes()]


@pytest.fixture(scope="module")
def trained(tiny_training, tmp_path_factory):
    """function(trainer, devices, seed, turn) -> Run; each is trained once."""
    runs = {}

    def train(*key):
        if key not in runs:
            trainer, devices, seed, _ = key
            runs[key] = tiny_training(
                tmp_path_factory.mktemp("repeatable") / "run",
                TRAINER=trainer,
                NUM_GPUS=devices,
                SEED=seed,
                NUM_STEPS=str(STEP),
                BATCH_SIZE="8",
            )
        return runs[key]

    return train


@pytest.mark.parametrize("trainer, devices", [("mirrored", "2"), ("clone", "2"), ("mirrored", "1"), ("clone", "1")])
def test_two_runs_with_one_seed_end_in_the_same_checkpoint(trainer, devices, trained):
    one, other = trained(trainer, devices, "7", 1), trained(trainer, devices, "7", 2)
    assert differing(variables_of(one), variables_of(other)) == []
    assert "  num_readers: 2 -> 1 (SEED)" in one.lines


@pytest.mark.parametrize("trainer", ["mirrored", "clone"])
def test_another_seed_ends_in_another_checkpoint(trainer, trained):
    one, other = trained(trainer, "2", "7", 1), trained(trainer, "2", "8", 1)
    assert "FeatureExtractor/TinySsd/first/weights" in differing(variables_of(one), variables_of(other))
