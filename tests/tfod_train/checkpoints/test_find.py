"""Which checkpoints a folder holds; ../run/test_run_dir.py has what becomes of torn ones when it is resumed."""

import os

from tfod_train.checkpoints import find


def test_checkpoints_are_listed_by_step_and_only_when_whole(tmp_path, write_checkpoint):
    folder = str(tmp_path)
    for step in (2, 10, 9):
        write_checkpoint(os.path.join(folder, f"model.ckpt-{step}"))
    os.remove(os.path.join(folder, "model.ckpt-9.data-00000-of-00001"))
    assert [step for _, step in find.checkpoints(folder)] == [2, 10]
    assert find.newest_checkpoint(folder) == (os.path.join(folder, "model.ckpt-10"), 10)
    assert find.newest_checkpoint(str(tmp_path / "nowhere")) is None
