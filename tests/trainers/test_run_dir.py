"""What may be gone on with in RUN_DIR, and what is refused without touching it."""
import os
import subprocess
import sys

import pytest

from trainers.errors import Refused

pytestmark = pytest.mark.usefixtures("protos")


@pytest.fixture
def config(project_dir):
    from trainers import pipeline
    return pipeline.parse(os.path.join(project_dir, "configs/ssd_mobilenet_v1_mini_pets.config"))


def a_run(folder, config, *steps):
    """A folder as a run leaves it."""
    from trainers import run_dir
    folder.mkdir()
    run_dir.write_config(str(folder), config)
    (folder / run_dir.MANIFEST).write_text('{"settings": {}}')
    for step in steps:
        (folder / ("model.ckpt-%d.index" % step)).write_bytes(b"")
        (folder / ("model.ckpt-%d.data-00000-of-00001" % step)).write_bytes(b"")
    return str(folder)


def refusal(*arguments):
    from trainers import run_dir
    with pytest.raises(Refused) as refused:
        run_dir.prepare(*arguments)
    return refused.value


def test_a_new_run_begins_at_step_0(tmp_path, config, read_settings):
    from trainers import run_dir
    assert run_dir.prepare(str(tmp_path / "new"), config, read_settings()) == 0


def test_a_matching_run_goes_on_from_its_newest_whole_checkpoint(tmp_path, config, read_settings):
    from trainers import run_dir
    folder = a_run(tmp_path / "run", config, 2, 10)
    os.remove(os.path.join(folder, "model.ckpt-10.data-00000-of-00001"))
    assert run_dir.prepare(folder, config, read_settings()) == 2


def test_a_run_of_another_model_is_refused_with_the_fields_that_differ(tmp_path, config, read_settings):
    folder = a_run(tmp_path / "run", config, 2)
    before = sorted(os.listdir(folder))
    config.model.ssd.feature_extractor.depth_multiplier = 1.0
    refused = refusal(folder, config, read_settings())
    assert "model.ssd.feature_extractor.depth_multiplier (0.25, now 1.0)" in refused.what
    assert refused.code == 2
    assert sorted(os.listdir(folder)) == before


def test_a_folder_with_somebody_elses_checkpoint_is_refused(tmp_path, config, read_settings):
    (tmp_path / "model.ckpt.index").write_bytes(b"")
    assert "holds checkpoints of something else" in refusal(str(tmp_path), config, read_settings()).what


def test_resume_never_and_require_mean_what_they_say(tmp_path, config, read_settings):
    folder = a_run(tmp_path / "run", config, 2)
    assert "RESUME=never" in refusal(folder, config, read_settings(RESUME="never")).what
    assert "RESUME=require" in refusal(str(tmp_path / "new"), config, read_settings(RESUME="require")).what


def test_a_second_training_in_the_same_folder_is_refused(tmp_path, config, read_settings):
    from trainers import run_dir
    folder = a_run(tmp_path / "run", config)
    lock = "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", lock, os.path.join(folder, ".lock")],
                          stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        assert run_dir.is_training(folder)
        refused = refusal(folder, config, read_settings())
        other.kill()
    assert ("Another training is running" in refused.what, refused.code) == (True, 3)
    assert not run_dir.is_training(folder)


def test_a_run_dir_that_is_no_folder_is_refused(tmp_path, config, read_settings):
    blocked = tmp_path / "file"
    blocked.write_text("")
    for folder in (blocked, blocked / "run"):
        refused = refusal(str(folder), config, read_settings())
        assert (refused.what, refused.code) == ("RUN_DIR=%s is not a folder." % folder, 3)


def test_a_folder_that_cannot_be_written_is_refused(config, read_settings):
    refused = refusal("/proc/run", config, read_settings())
    assert ("cannot be written" in refused.what, refused.code) == (True, 3)


def test_too_little_space_for_the_checkpoints_is_refused(tmp_path):
    from trainers import run_dir
    with pytest.raises(Refused) as refused:
        run_dir.check_free_space(str(tmp_path), 10 ** 18)
    assert refused.value.code == 3


def test_the_manifest_says_how_a_run_ended(tmp_path, config):
    from trainers import files, run_dir
    folder = a_run(tmp_path / "run", config)
    run_dir.finish_manifest(folder, "stopped", 7, 143)
    manifest = files.read_json(os.path.join(folder, run_dir.MANIFEST))
    assert (manifest["outcome"], manifest["step"], manifest["exit_code"]) == ("stopped", 7, 143)


@pytest.mark.parametrize("content", ["precious", '{"other": 1}', "[1]"])
def test_a_foreign_manifest_is_refused_and_left_alone(content, tmp_path, config, read_settings):
    (tmp_path / "run.json").write_text(content)
    assert "a run.json of something else" in refusal(str(tmp_path), config, read_settings()).what
    assert (tmp_path / "run.json").read_text() == content


def test_checkpoints_are_listed_by_step_and_only_when_whole(tmp_path, config):
    from trainers import run_dir
    folder = a_run(tmp_path / "run", config, 2, 10, 9)
    os.remove(os.path.join(folder, "model.ckpt-9.data-00000-of-00001"))
    assert [step for _, step in run_dir.checkpoints(folder)] == [2, 10]
    assert run_dir.newest_checkpoint(folder) == (os.path.join(folder, "model.ckpt-10"), 10)
    assert run_dir.newest_checkpoint(str(tmp_path / "nowhere")) is None
