"""The line of progress, as far as it is known."""

from tfod_train.devices.gpu_monitor import Use
from tfod_train.observers.progress_line import ProgressLine


class Speed(object):
    """Of eight images a second."""

    def __init__(self, rate=8.0, waits=None, uses=()):
        self._rate, self._waits, self._uses = rate, waits, list(uses)

    def images_per_sec(self):
        return self._rate

    def input_wait_percent(self):
        return self._waits

    def gpu_uses(self):
        return self._uses


def line(training, step, speed):
    """Of step 4 of 8, of 16 images each."""
    return ProgressLine(training._replace(speed=speed))._text(step(4, 0.12345))


def test_before_a_rate_is_known_there_is_the_loss_alone(training, step):
    assert line(training, step, Speed(None)) == "loss 0.123"


def test_the_time_left_is_that_of_the_images_left(training, step):
    assert line(training, step, Speed()) == "loss 0.123  8.0 images/s  8 s left"
    assert line(training, step, Speed(0.1)) == "loss 0.123  0.1 images/s  10 min 40 s left"


def test_what_is_known_of_input_and_gpus_is_shown(training, step):
    shown = line(training, step, Speed(waits=12.3, uses=[Use(87.25, 4096), Use(None, 300)]))
    assert shown == "loss 0.123  8.0 images/s  input wait 12 %  GPU 87/? % 4.0 GiB  8 s left"


def test_steps_are_told_of_with_their_number_and_of_how_many(training_of, terminal, tmp_path, protos, step):
    now = [0.0]
    observer = ProgressLine(training_of(str(tmp_path), terminal, clock=lambda: now[0]))
    for number in (1, 2, 3):
        now[0] += 30
        observer.on_step(step(number))
    observer.on_end()
    assert terminal.getvalue().splitlines()[-1] == "step 3 of 8  loss 0.500"
