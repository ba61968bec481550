"""Which entry of metrics.json is a checkpoint's, and which is the best."""

from tfod_train.run import evaluations


def entry(step, value=None, **more):
    return dict(step=step, metrics={} if value is None else {evaluations.MAP: value}, **more)


def test_a_checkpoint_is_told_from_another_of_the_same_step_by_its_index(tmp_path, write_checkpoint):
    first, other = str(tmp_path / "model.ckpt-1"), str(tmp_path / "model.ckpt-2")
    write_checkpoint(first)
    write_checkpoint(other, b"\1" * 16)
    assert evaluations.identity(first) not in (None, evaluations.identity(other))
    assert evaluations.identity(str(tmp_path / "model.ckpt-3")) is None


def test_the_newest_entry_of_a_checkpoint_counts_and_one_without_an_identity_is_taken_for_it():
    written = {"evaluations": [entry(2, 0.1), entry(4, 0.2, checkpoint="a"), entry(4, 0.3, checkpoint="a")]}
    assert evaluations.done(written, 4, "a") == entry(4, 0.3, checkpoint="a")
    assert evaluations.done(written, 4, "b") is None
    assert evaluations.done(written, 2, "b") == entry(2, 0.1)
    assert evaluations.done(written, 6, "a") is None


def test_the_best_has_the_highest_map_and_is_the_earliest_of_equals():
    assert evaluations.best({"evaluations": [entry(2, 0.5), entry(6, 0.7), entry(4, 0.7), entry(8)]})["step"] == 4
    assert evaluations.best({"evaluations": [entry(4), entry(2)]})["step"] == 2
