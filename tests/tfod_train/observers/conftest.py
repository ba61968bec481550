"""A training whose steps are made up, without TensorFlow."""

import io

import pytest

from tfod_train.observers.base import StepResult


@pytest.fixture
def terminal():
    return io.StringIO()


@pytest.fixture
def training(training_of, terminal, tmp_path, protos):
    """The Training of eight steps of 16 images; what it says goes to `terminal`, what it writes to tmp_path."""
    return training_of(str(tmp_path), terminal)


@pytest.fixture
def step():
    """function(number, ...) -> StepResult of a step of one second that ends at second `number`."""

    def result(number, loss=0.5, image_ids=(), waited=None, ended=None):
        ended = float(number) if ended is None else ended
        return StepResult(number, loss, {}, list(image_ids), ended - 1, ended, waited)

    return result
