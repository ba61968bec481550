"""What may be resumed in RUN_DIR, and what is refused without touching it."""

import errno
import os
import subprocess
import sys

import pytest

from common.errors import Refused

pytestmark = pytest.mark.usefixtures("protos")


@pytest.fixture
def config(project_dir):
    from tfod_train.config import pipeline

    return pipeline.parse(os.path.join(project_dir, "configs/ssd_mobilenet_v1_mini_pets.config"))


@pytest.fixture
def a_run(write_checkpoint, config):
    """function(folder, config, *steps) -> the folder as a run leaves it."""
    from tfod_train.run import run_dir

    def make(folder, config, *steps):
        folder.mkdir()
        run_dir.RunDir(str(folder)).write_config(config)
        (folder / run_dir.MANIFEST).write_text('{"settings": {}}')
        for step in steps:
            write_checkpoint(str(folder / (f"model.ckpt-{step}")))
        names = [f"model.ckpt-{step}" for step in steps]
        (folder / "checkpoint").write_text(
            "".join(
                [f'model_checkpoint_path: "{name}"\n' for name in names[-1:]]
                + [f'all_model_checkpoint_paths: "{name}"\n' for name in names]
            )
        )
        return str(folder)

    return make


def spoiled(path, how):
    if how == "missing":
        os.remove(path)
    else:
        with open(path, "r+b") as file:
            content = file.read()
            file.seek(0)
            file.truncate(0 if how == "empty" else len(content) - 3 if how == "cut off" else len(content))
            if how == "a flipped bit":
                file.write(bytes((content[0] ^ 1,)))


def refusal(folder, *arguments):
    from tfod_train.run import run_dir

    with pytest.raises(Refused) as refused:
        run_dir.RunDir(folder).prepare(*arguments)
    return refused.value


def test_a_new_run_begins_at_step_0(tmp_path, config, read_settings):
    from tfod_train.run import run_dir

    assert run_dir.RunDir(str(tmp_path / "new")).prepare(config, read_settings()) == 0


def test_a_matching_run_resumes_from_its_newest_whole_checkpoint(a_run, tmp_path, config, read_settings):
    from tfod_train.run import run_dir

    folder = a_run(tmp_path / "run", config, 2, 10)
    os.remove(os.path.join(folder, "model.ckpt-10.data-00000-of-00001"))
    assert run_dir.RunDir(folder).prepare(config, read_settings()) == 2


def test_a_run_of_another_model_is_refused_with_the_fields_that_differ(a_run, tmp_path, config, read_settings):
    folder = a_run(tmp_path / "run", config, 2)
    before = sorted(os.listdir(folder))
    config.model.ssd.feature_extractor.depth_multiplier = 1.0
    refused = refusal(folder, config, read_settings())
    assert "model.ssd.feature_extractor.depth_multiplier (0.25, now 1.0)" in refused.what
    assert refused.code == 2
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize(
    "changed, missing",
    [
        (
            "train_config { optimizer { use_moving_average: true } }",
            "train_config.optimizer.use_moving_average (False, now True)",
        ),
        (
            "train_config { optimizer { momentum_optimizer {} } }",
            "train_config.optimizer (rms_prop_optimizer, now momentum_optimizer)",
        ),
        ("graph_rewriter { quantization {} }", "graph_rewriter (none, now quantization)"),
        ("train_config { freeze_variables: 'Box' }", "train_config.freeze_variables (Feature, Box, now Box)"),
        (
            "train_config { update_trainable_variables: 'A' update_trainable_variables: 'B' }",
            "train_config.update_trainable_variables (A, now A, B)",
        ),
        (
            "train_config { freeze_variables: 'Feature' freeze_variables: 'Box' freeze_variables: 'More' "
            "update_trainable_variables: 'A' }",
            None,
        ),
    ],
)
def test_a_run_without_what_the_config_trains_is_refused_before_anything_is_written(
    changed, missing, a_run, tmp_path, config, read_settings
):
    from google.protobuf import text_format

    from tfod_train.run import run_dir

    config.train_config.optimizer.use_moving_average = False
    config.train_config.optimizer.rms_prop_optimizer.SetInParent()
    config.train_config.freeze_variables.extend(["Feature", "Box"])
    config.train_config.update_trainable_variables.append("A")
    folder = a_run(tmp_path / "run", config, 2)
    for field in ("freeze_variables", "update_trainable_variables"):
        if field in changed:
            config.train_config.ClearField(field)
    text_format.Merge(changed, config)
    before = sorted(os.listdir(folder))
    if missing is None:
        assert run_dir.RunDir(folder).check(config, read_settings()) == 2
        return
    refused = refusal(folder, config, read_settings())
    assert (refused.what, refused.code) == (f"{folder} holds a run without what this config trains: {missing}.", 2)
    assert f"FINE_TUNE_CHECKPOINT={os.path.join(folder, 'model.ckpt-2')}" in refused.do
    assert sorted(os.listdir(folder)) == before


def test_a_folder_with_somebody_elses_checkpoint_is_refused(tmp_path, config, read_settings):
    (tmp_path / "model.ckpt.index").write_bytes(b"")
    assert "holds checkpoints of something else" in refusal(str(tmp_path), config, read_settings()).what


def test_resume_never_and_require_mean_what_they_say(a_run, tmp_path, config, read_settings):
    folder = a_run(tmp_path / "run", config, 2)
    assert "RESUME=never" in refusal(folder, config, read_settings(RESUME="never")).what
    assert "RESUME=require" in refusal(str(tmp_path / "new"), config, read_settings(RESUME="require")).what


def test_a_second_training_in_the_same_folder_is_refused(a_run, tmp_path, config, read_settings):
    from tfod_train.run import run_dir

    folder = a_run(tmp_path / "run", config)
    lock = (
        "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); "
        "print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", lock, os.path.join(folder, ".lock")], stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        assert run_dir.RunDir(folder).is_training()
        refused = refusal(folder, config, read_settings())
        other.kill()
    assert ("Another training is running" in refused.what, refused.code) == (True, 3)
    assert not run_dir.RunDir(folder).is_training()


def test_a_run_dir_that_is_no_folder_is_refused(tmp_path, config, read_settings):
    blocked = tmp_path / "file"
    blocked.write_text("")
    for folder in (blocked, blocked / "run"):
        refused = refusal(str(folder), config, read_settings())
        assert (refused.what, refused.code) == (f"RUN_DIR={folder} is not a folder.", 3)


def test_a_folder_that_cannot_be_written_is_refused(config, read_settings):
    refused = refusal("/proc/run", config, read_settings())
    assert ("cannot be written" in refused.what, refused.code) == (True, 3)


def test_too_little_space_for_the_checkpoints_is_refused(tmp_path):
    from tfod_train.run import run_dir

    with pytest.raises(Refused) as refused:
        run_dir.RunDir(str(tmp_path)).check_free_space(10**18)
    assert refused.value.code == 3


@pytest.mark.parametrize("content", ["precious", '{"other": 1}', "[1]"])
def test_a_foreign_manifest_is_refused_and_left_alone(content, tmp_path, config, read_settings):
    (tmp_path / "run.json").write_text(content)
    assert "a run.json of something else" in refusal(str(tmp_path), config, read_settings()).what
    assert (tmp_path / "run.json").read_text() == content


@pytest.mark.parametrize(
    "torn",
    [
        ("data-00000-of-00001", "missing", "model.ckpt-10.data-00000-of-00001 is missing"),
        ("data-00000-of-00001", "empty", "model.ckpt-10.data-00000-of-00001 has 0 of 16 bytes"),
        ("data-00000-of-00001", "cut off", "model.ckpt-10.data-00000-of-00001 has 13 of 16 bytes"),
        ("data-00000-of-00001", "a flipped bit", "the checksum of v does not match"),
        ("index", "empty", "its .index has only 0 bytes"),
        ("index", "cut off", "its .index is cut off or no index"),
        ("index", "a flipped bit", "the checksum of its .index does not match"),
    ],
)
def test_a_torn_newest_checkpoint_is_set_aside_for_the_one_before(torn, a_run, tmp_path, config, read_settings):
    from tfod_train.checkpoints import find
    from tfod_train.run import run_dir

    part, how, why = torn
    folder = a_run(tmp_path / "run", config, 2, 10)
    spoiled(os.path.join(folder, "model.ckpt-10." + part), how)
    prefix = os.path.join(folder, "model.ckpt-10")
    assert find.torn_checkpoints(folder) == [f"Checkpoint {prefix} cannot be read: {why}."]
    before = sorted(os.listdir(folder))
    assert run_dir.RunDir(folder).check(config, read_settings()) == 2
    assert sorted(os.listdir(folder)) == before
    sentences = []
    assert run_dir.RunDir(folder).prepare(config, read_settings(), sentences.append) == 2
    assert sentences == [
        (
            f"Checkpoint {prefix} cannot be read: {why}. It is kept as "
            f"{os.path.join(folder, 'torn-model.ckpt-10')}*; the one before it is taken."
        )
    ]
    names = os.listdir(folder)
    assert "torn-model.ckpt-10.meta" in names and not [name for name in names if name.startswith("model.ckpt-10")]
    with open(os.path.join(folder, "checkpoint")) as state:
        assert state.read() == 'model_checkpoint_path: "model.ckpt-2"\nall_model_checkpoint_paths: "model.ckpt-2"\n'


def test_what_a_killed_save_left_is_removed_and_everything_else_stays(a_run, tmp_path, config, read_settings):
    from tfod_train.run import run_dir

    folder = a_run(tmp_path / "run", config, 2)
    before = sorted(os.listdir(folder) + [".lock", "kept_for_good.json"])
    for name in (
        "model.ckpt-9.data-00000-of-00001",
        "model.ckpt-9.meta",
        "model.ckpt-2.meta.tmp91f1182a",
        "checkpoint.tmpdeadbeef",
        ".run.json.7.tmp",
    ):
        (tmp_path / "run" / name).write_bytes(b"half")
    (tmp_path / "run" / "model.ckpt-9_temp_0123abc").mkdir()
    (tmp_path / "run" / "model.ckpt-9_temp_0123abc" / "part-00000-of-00001.index").write_bytes(b"half")
    (tmp_path / "run" / "notes.txt").write_bytes(b"mine")
    assert run_dir.RunDir(folder).prepare(config, read_settings()) == 2
    assert sorted(os.listdir(folder)) == sorted(before + ["notes.txt"])


def test_tensorflow_restores_the_newest_even_where_its_own_list_was_not_written_any_more(
    a_run, tmp_path, config, read_settings
):
    from tfod_train.checkpoints import find
    from tfod_train.run import run_dir

    folder = a_run(tmp_path / "run", config, 2, 4, 6)
    with open(os.path.join(folder, "checkpoint"), "w") as state:
        state.write('model_checkpoint_path: "model.ckpt-4"\nall_model_checkpoint_paths: "model.ckpt-4"\n')
    assert run_dir.RunDir(folder).prepare(config, read_settings()) == 6
    with open(os.path.join(folder, "checkpoint")) as state:
        # 2 is not listed: it was kept for good.
        assert state.read().splitlines() == [
            'model_checkpoint_path: "model.ckpt-6"',
            'all_model_checkpoint_paths: "model.ckpt-4"',
            'all_model_checkpoint_paths: "model.ckpt-6"',
        ]
    assert find.checkpoints(folder)[0][1] == 2


def left_and_listed(folder):
    from tfod_train.checkpoints import find

    with open(os.path.join(folder, "checkpoint")) as state:
        listed = [int(line.rpartition("-")[2].strip('"')) for line in state.read().splitlines()[1:]]
    return [step for _, step in find.checkpoints(folder)], listed


def test_what_a_kill_left_between_the_list_and_the_removal_is_removed(a_run, tmp_path, config, read_settings):
    from tfod_train.run import run_dir

    folder = a_run(tmp_path / "run", config, 2, 4, 6, 8)
    listed = ["model.ckpt-6", "model.ckpt-8"]
    (tmp_path / "run" / "checkpoint").write_text(
        'model_checkpoint_path: "model.ckpt-8"\n'
        + "".join(f'all_model_checkpoint_paths: "{name}"\n' for name in listed)
    )
    (tmp_path / "run" / "kept_for_good.json").write_text('["model.ckpt-2"]')
    assert run_dir.RunDir(folder).prepare(config, read_settings(KEEP_CHECKPOINTS="2")) == 8
    assert left_and_listed(folder) == ([2, 6, 8], [6, 8])


def test_more_than_are_to_be_kept_are_removed_oldest_first_but_never_those_kept_for_good(
    a_run, tmp_path, config, read_settings
):
    from tfod_train.checkpoints import retention
    from tfod_train.run import run_dir

    folder = a_run(tmp_path / "run", config, 2, 4, 6, 8)
    (tmp_path / "run" / "kept_for_good.json").write_text('["model.ckpt-2"]')
    assert run_dir.RunDir(folder).prepare(config, read_settings(KEEP_CHECKPOINTS="2")) == 8
    assert left_and_listed(folder) == ([2, 6, 8], [6, 8])
    os.remove(os.path.join(folder, "checkpoint"))
    retention.put_in_order(folder, ["model.ckpt-2", "model.ckpt-6", "model.ckpt-8"], 1)
    assert left_and_listed(folder) == ([2, 8], [8])


def test_a_run_that_was_killed_is_told_so(a_run, tmp_path, config, read_settings):
    from tfod_train.run import run_dir

    folder = a_run(tmp_path / "run", config, 2)
    (tmp_path / "run" / run_dir.MANIFEST).write_text('{"settings": {}, "outcome": "running"}')
    sentences = []
    run_dir.RunDir(folder).prepare(config, read_settings(), sentences.append)
    assert "it was killed (exit code 137 where memory ran out)" in sentences[0]


def test_a_file_system_without_locks_is_said_and_not_taken_for_another_training(
    a_run, tmp_path, config, read_settings, monkeypatch
):
    from tfod_train.run import run_dir

    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(run_dir.fcntl, "flock", no_locks)
    folder = a_run(tmp_path / "run", config)
    sentences = []
    run_dir.RunDir(folder).prepare(config, read_settings(), sentences.append)
    assert sentences == [f"{folder} cannot be locked (No locks available): nothing will stop a second training in it."]
    assert not run_dir.RunDir(folder).is_training()


@pytest.mark.parametrize(
    "name", ["pipeline.config", "train.log", "metrics.jsonl", "report.html", "eval", "best", "export"]
)
def test_files_with_names_of_a_runs_but_no_run_are_somebodys_and_stay(name, tmp_path, config, read_settings):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / name).write_text("mine")
    refused = refusal(str(folder), config, read_settings())
    assert refused.code == 2 and f"holds {name} of something else" in refused.what
    assert (folder / name).read_text() == "mine" and os.listdir(str(folder)) == [name]


def test_other_files_beside_a_run_are_left_alone(tmp_path, config, read_settings):
    from tfod_train.run.run_dir import RunDir

    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / ".notes.tmp").write_text("mine, too")
    assert RunDir(str(tmp_path)).prepare(config, read_settings()) == 0
    assert {"notes.txt", ".notes.tmp"} <= set(os.listdir(str(tmp_path)))


class TestOwnConfig:
    """PIPELINE_CONFIG may be the run's own file as long as nobody changed it: a training writes it anew."""

    @pytest.fixture
    def begun(self, tmp_path, config, planned_run):
        from tfod_train.run import manifest

        run = planned_run(tmp_path / "run", config)
        (tmp_path / "run").mkdir()
        manifest.start(run)
        run.run_dir.write_config(config)
        return run.run_dir

    def test_unchanged_it_is_taken(self, begun, project_dir):
        begun.check_config_file(begun.config)
        begun.check_config_file(os.path.join(project_dir, "configs/ssd_mobilenet_v1_mini_pets.config"))

    @pytest.mark.parametrize("change", [("num_steps: 500", "num_steps: 900"), ("model {", "# mine\nmodel {")])
    def test_changed_it_is_refused_and_kept(self, change, begun, tmp_path):
        with open(begun.config) as file:
            text = file.read()
        assert change[0] in text
        with open(begun.config, "w") as file:
            file.write(text.replace(*change))
        os.symlink(begun.config, str(tmp_path / "other.config"))
        for path in (begun.config, str(tmp_path / "other.config")):
            with pytest.raises(Refused) as refused:
                begun.check_config_file(path)
            assert refused.value.code == 2 and f"PIPELINE_CONFIG={path} is the run's own file" in refused.value.what

    def test_a_kill_between_run_json_and_the_config_is_no_change(self, begun, config):
        """run.json is of the new start, the file still of the one before, and what was to be it lies beside."""
        from common import files

        with open(begun.config) as file:
            before = file.read()
        with open(begun.config, "w") as file:
            file.write(before.replace("num_steps: 500", "num_steps: 900"))
        with pytest.raises(Refused):
            begun.check_config_file(begun.config)
        files.write_temporary(begun.config, b"")
        begun.check_config_file(begun.config)
