"""After each save a training looks whether an evaluation asked it to stop."""

import pytest

from tfod_train.run import stop_request
from tfod_train.run.run_dir import RunDir


@pytest.mark.tensorflow
def test_it_ends_after_the_save_that_follows_the_request(tmp_path):
    from tfod_train.hooks import early_stopping

    run_dir = RunDir(tmp_path)
    listener = early_stopping.listener(run_dir)
    assert listener.after_save(None, 2) is False
    stop_request.ask(run_dir, "3 evaluations were no better")
    assert listener.after_save(None, 4) is True
    stop_request.withdraw(run_dir)
    assert listener.after_save(None, 6) is False
