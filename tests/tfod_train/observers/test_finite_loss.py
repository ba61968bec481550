"""A loss that is not finite ends the training, and names the images."""

import numpy as np
import pytest

from common.errors import DIVERGED, Refused
from tfod_train.observers.finite_loss import FiniteLoss


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), -float("inf")])
def test_it_ends_the_training_with_its_own_code_and_the_images_of_two_steps(loss, training, step, terminal):
    observer = FiniteLoss(training)
    for number, names in enumerate(([b"old.jpg"], [b"before.jpg"]), 1):
        assert observer.on_step(step(number, image_ids=[names])) is None
    with pytest.raises(Refused) as refused:
        observer.on_step(step(3, loss, [np.array([b"a.jpg", "ä.jpg".encode()], object), [b"b.jpg"]]))
    assert refused.value.code == DIVERGED
    assert refused.value.what == f"Training diverged: the loss at step 3 is {loss}."
    assert refused.value.do.endswith("the newest checkpoint is not there.")
    assert terminal.getvalue().splitlines() == [
        "Images of step 3: a.jpg, ä.jpg, b.jpg.",
        "Images of step 2: before.jpg.",
    ]


def test_the_last_finite_loss_is_kept_for_the_manifest(training, step):
    observer = FiniteLoss(training)
    observer.on_step(step(1, 2.5))
    with pytest.raises(Refused):
        observer.on_step(step(2, float("nan"), [[b"a.jpg"]]))
    assert training.speed.last_loss == 2.5


@pytest.mark.parametrize("count, rest", [(12, "11."), (13, "11 and 1 more, in train.log.")])
def test_of_many_images_the_first_are_shown_and_all_logged(count, rest, training, step, terminal, monkeypatch):
    log = []
    monkeypatch.setattr(training.console, "log", log.append)
    with pytest.raises(Refused):
        FiniteLoss(training).on_step(step(1, float("nan"), [[b"%d" % number for number in range(count)]]))
    assert terminal.getvalue() == f"Images of step 1: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, {rest}\n"
    everyone = f"All images of step 1: {', '.join(map(str, range(count)))}"
    assert log == ([everyone] if count > 12 else [])
