"""The last step ends a training, and so does a signal after the step in hand."""

import pytest

from tfod_train.observers.stop import Stop


@pytest.mark.parametrize("number, requested, ends", [(7, 0, False), (8, 0, True), (9, 0, True), (1, 15, True)])
def test_it_ends_at_the_last_step_or_when_it_was_asked_for(number, requested, ends, training, step):
    training.stop.requested = requested
    assert Stop(training).on_step(step(number)) is ends


def test_from_the_beginning_on_a_signal_waits_for_the_step_in_hand(training):
    assert not training.stop.in_steps
    Stop(training).on_begin(0)
    assert training.stop.in_steps
