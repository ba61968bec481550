"""The weights that an evaluation or an export takes come from what the checkpoint holds, and are named."""

from tfod_train.checkpoints import weights

VARIABLES = {"conv/weights": "w", "conv/bias": "b", "conv/moving_mean": "m", "global_step": "s"}
TRAINABLE = {"conv/weights", "conv/bias"}
AVERAGES = {name + weights.AVERAGE for name in TRAINABLE}


def choose(in_checkpoint, wanted):
    return weights.choose(VARIABLES, TRAINABLE, in_checkpoint, wanted)


def test_the_averages_of_what_is_trained_and_the_rest_as_it_is():
    restore, words = choose(set(VARIABLES) | AVERAGES, True)
    assert words == "moving-average"
    assert restore == {
        "conv/weights/ExponentialMovingAverage": "w",
        "conv/bias/ExponentialMovingAverage": "b",
        "conv/moving_mean": "m",
        "global_step": "s",
    }


def test_a_checkpoint_without_averages_gives_its_raw_weights_and_says_so():
    assert choose(set(VARIABLES), True) == (VARIABLES, "raw (the checkpoint holds no moving averages)")


def test_averages_that_are_there_and_not_wanted_are_mentioned():
    assert choose(set(VARIABLES) | AVERAGES, False) == (VARIABLES, "raw (the checkpoint holds moving averages too)")
    assert choose(set(VARIABLES), False).words == "raw"


def test_a_frozen_layer_has_no_average_and_is_taken_raw():
    restore, words = choose(set(VARIABLES) | {"conv/bias" + weights.AVERAGE}, True)
    assert restore["conv/weights"] == "w" and restore["conv/bias/ExponentialMovingAverage"] == "b"
    assert words == "moving-average (raw for 1 variable without an average)"
