"""An observer that overrides nothing is told of everything, and changes nothing."""

from tfod_train import observers
from tfod_train.observers.base import StepObserver


def test_an_observer_that_says_nothing_does_not_end_the_training(step):
    observer = StepObserver()
    assert (observer.on_begin(0), observer.on_step(step(1)), observer.on_end()) == (None, None, None)


def test_all_of_the_list_are_observers_and_each_training_has_its_own(training):
    made, again = observers.make(training), observers.make(training)
    assert made[0] is again[0] is training.speed  # the others ask it of the step that has ended
    assert len(made) == len(observers.OBSERVERS) + 1
    assert all(isinstance(one, StepObserver) for one in made)
    assert not {id(one) for one in made[1:]} & {id(one) for one in again[1:]}
