"""The launcher as the Makefile runs it, on machines that have this and lack that."""

import pytest

from tfod_train import __version__


def test_without_docker_training_runs_in_an_environment_on_the_cpu(machine):
    machine.add_python()
    done = machine.run("train")
    lines = done.out.splitlines()
    assert done.returncode == 0, done.err
    assert lines[0] == (
        "Running in a virtual environment (there is no docker command); RUN_IN=docker insists on Docker."
    )
    assert lines[1].startswith("No NVIDIA GPU found: DEVICE=cpu")
    assert lines[-1] == "ran entrypoint.py train DEVICE=cpu CUDA=unset PYTHONPATH=unset"


def test_preflight_looks_where_training_would_run(machine):
    machine.add_python()
    done = machine.run("preflight")
    assert done.returncode == 0, done.err
    assert done.out.splitlines()[-1] == "ran entrypoint.py preflight DEVICE=cpu CUDA=unset PYTHONPATH=unset"


def test_the_exit_code_of_training_is_passed_on(machine):
    machine.add_python()
    assert machine.run("train", EXIT_WITH="4").returncode == 4


def test_with_gpus_the_named_ones_are_visible(machine):
    machine.add_python()
    machine.add_gpus(4)
    assert "DEVICE=gpu CUDA=0,1,2" in machine.run("train", TRAIN_GPUS="0,1,2").out


def test_a_driver_that_fails_is_no_gpu(machine):
    machine.add_python()
    machine.add("nvidia-smi", "#!/bin/sh\necho 'GPU 0: lost'\nexit 9\n")
    assert "No NVIDIA GPU found" in machine.run("train").out


def test_a_pythonpath_that_would_hide_the_patched_api_is_left_out_and_said_so(machine):
    machine.add_python()
    done = machine.run("train", PYTHONPATH="/home/me/models/research")
    assert "PYTHONPATH is left out" in done.out
    assert done.out.splitlines()[-1].endswith("PYTHONPATH=unset")


def test_settings_in_the_file_env_count_and_the_environment_wins(machine):
    machine.add_python()
    lines = ["# mine", "#DEVICE=tpu", "export DEVICE='gpu'  # mine", "PETS_DIR=", "TRAIN_GPUS=1", ""]
    (machine.root / ".env").write_text("\n".join(lines))
    assert "DEVICE=gpu CUDA=1" in machine.run("train").out
    assert "DEVICE=cpu CUDA=1" in machine.run("train", DEVICE="cpu").out


def test_with_docker_training_runs_in_the_container_as_the_user(machine):
    machine.add_docker()
    done = machine.run("train", UID="1234")
    assert done.returncode == 0, done.err
    assert done.out.splitlines()[0] == "Running in Docker (an engine answers; RUN_IN=venv does without)."
    assert done.out.splitlines()[-1] == (
        "ran compose --progress quiet run --rm --no-deps --pull never --no-TTY train"
        " DEVICE=cpu RUNTIME=runc UID=1234 IMAGE=sha256:0123 PETS_DIR="
    )
    last_words = [call.split()[-1] for call in machine.calls("docker compose")]
    assert last_words == ["--short", "build", "--help", "data", "train"]


def test_an_old_compose_is_not_given_an_option_it_lacks(machine):
    machine.add_docker()
    docker = machine.bin / "docker"
    docker.write_text(docker.read_text().replace("--pull string", "--quiet-pull"))
    assert "ran compose --progress quiet run --rm --no-deps --no-TTY train " in machine.run("train").out


def test_data_that_cannot_be_made_ends_training_in_docker_with_its_code(machine):
    machine.add_docker(data=3)
    done = machine.run("train")
    assert done.returncode == 3
    assert "ran" not in done.out.split()


def test_a_misspelt_setting_reaches_the_container_so_that_it_can_refuse_it(machine):
    machine.add_docker()
    out = machine.run("train", TRAINNER="clone", TRAINER="clone", MY_PROJECT="x").out
    assert "--no-TTY --env TRAINNER train " in out


def test_a_misspelt_name_of_the_hosts_reaches_the_container_too(machine):
    machine.add_docker()
    assert "--no-TTY --env RUNIN train " in machine.run("train", RUNIN="venv").out


def test_training_does_not_mind_a_pets_dir_that_is_not_there(machine):
    machine.add_docker()
    assert machine.run("train", PETS_DIR="/nope").returncode == 0


def test_the_exit_code_of_the_container_is_passed_on(machine):
    machine.add_docker()
    assert machine.run("train", EXIT_WITH="143").returncode == 143


def test_a_gpu_is_given_to_the_container(machine):
    machine.add_docker()
    machine.add_gpus(1)
    assert "DEVICE=gpu RUNTIME= " in machine.run("train").out


def test_a_gpu_without_the_nvidia_runtime_is_not_trained_on_in_docker(machine):
    machine.add_docker(info="echo 24.0.7 runc")
    machine.add_gpus(1)
    done = machine.run("train", RUN_IN="docker")
    assert done.returncode == 3
    assert "nvidia-container-toolkit" in done.err and "sudo nvidia-ctk runtime configure" in done.err
    assert machine.run("train", RUN_IN="docker", DEVICE="cpu").returncode == 0


def test_a_runtime_that_docker_does_not_have_is_named_before_compose_fails(machine):
    machine.add_docker(info="echo 24.0.7 runc")
    done = machine.run("train", RUN_IN="docker", DOCKER_RUNTIME="nvidai")
    assert (done.returncode, done.err.splitlines()[0]) == (
        3,
        "RUN_IN=docker cannot be met: Docker has no runtime named nvidai.",
    )


def test_the_image_is_told_the_commit_and_the_version_it_is_built_from(machine):
    machine.add_docker()
    machine.add("git", "#!/bin/sh\n[ \"$1 $3 $5\" = '-C describe --dirty' ] && echo 0123abc-dirty\n")
    assert machine.run("setup", RUN_IN="docker").returncode == 0
    log = (machine.root / "runs" / "docker-build.log").read_text()
    assert f"commit=0123abc-dirty version={__version__}\n" in log


def test_the_image_is_named_after_the_version_once_it_is_built(machine):
    machine.add_docker()
    assert machine.run("setup", RUN_IN="docker").returncode == 0
    assert machine.calls("docker tag") == [f"docker tag tfod-train tfod-train:{__version__}"]


def test_an_image_that_was_not_built_gets_no_version(machine):
    machine.add_docker(build=1)
    assert machine.run("setup", RUN_IN="docker").returncode == 3
    assert machine.calls("docker tag") == []


def test_no_docker_at_all_is_told_where_it_is_asked_for(machine):
    done = machine.run("preflight", RUN_IN="docker")
    assert done.err.splitlines() == [
        "RUN_IN=docker cannot be met: there is no docker command.",
        "Install Docker Engine with compose 2.20 or newer (docs.docker.com/engine/install); RUN_IN=venv runs "
        "without Docker.",
    ]


def test_a_base_image_that_is_only_reachable_will_do(machine):
    machine.add_docker(image=1, manifest=0)
    assert machine.run("train").returncode == 0


@pytest.mark.parametrize(
    "docker, reason, cure",
    [
        ({"info": "exit 1"}, "no Docker engine answers", "systemctl start docker"),
        ({"info": "echo; exit 0"}, "no Docker engine answers", "systemctl start docker"),
        ({"info": "echo 'Permission denied' >&2; exit 1"}, "this user may not use Docker's socket", "usermod -aG"),
        ({"compose": "exit 1"}, "Docker has no compose plugin", "docker-compose-plugin"),
        ({"compose": "echo v2.17.2"}, "docker compose is 2.17", "docker-compose-plugin"),
        ({"compose": "echo 1.29.2"}, "docker compose is 1.29", "docker-compose v1 will not do"),
        ({"image": 1}, "the base image tensorflow/tensorflow:1.15.0-gpu-py3 is neither", "Check BASE_IMAGE"),
    ],
)
@pytest.mark.parametrize("command", ["train", "preflight"])
def test_a_docker_that_will_not_do_is_explained(machine, command, docker, reason, cure):
    machine.add_docker(**docker)
    refused = machine.run(command, RUN_IN="docker")
    assert refused.returncode == 3
    assert refused.err.startswith("RUN_IN=docker cannot be met: " + reason)
    what, do = refused.err.splitlines()
    assert cure in do and do.endswith("; RUN_IN=venv runs without Docker.")
    machine.add_python()
    assert f"virtual environment ({reason}" in machine.run("train").out


def test_another_base_image_is_asked_for(machine):
    machine.add_docker(image=1)
    assert "base image mine:1 is neither" in machine.run("train", RUN_IN="docker", BASE_IMAGE="mine:1").err


def test_an_image_that_does_not_build_shows_the_end_of_the_log(machine):
    machine.add_docker(build=1)
    done = machine.run("train")
    assert done.returncode == 3
    assert "    step 7 failed: no space" in done.err
    assert "RUN_IN=venv" in done.err


def test_a_machine_with_nothing_is_told_the_three_ways_out(machine):
    done = machine.run("train")
    assert done.returncode == 3
    assert "nowhere to run: there is no docker command, and no CPython 3.7 or 3.6 was found" in done.err
    assert all(way in done.err for way in ("  1. Docker Engine", "  2. CPython 3.7", "  3. uv"))
    assert "Traceback" not in done.err


def test_a_misspelt_place_is_refused_before_anything_is_asked(machine):
    machine.add_docker()
    done = machine.run("train", RUN_IN="dokcer")
    assert done.returncode == 2
    assert "Did you mean RUN_IN=docker?" in done.err
    assert machine.calls() == []


def test_a_misspelt_command_is_refused_with_the_nearest(machine):
    done = machine.run("trian")
    assert (done.returncode, done.err) == (2, "There is no command trian.\nDid you mean train?\n")


def test_train_takes_no_arguments(machine):
    done = machine.run("train", "--trainer=clone")
    assert done.returncode == 2
    assert "make train TRAINER=clone" in done.err


def test_pets_are_downloaded_unless_a_folder_is_named(machine, tmp_path):
    machine.add_python()
    (tmp_path / "my pets").mkdir()
    assert "ran entrypoint.py data pets DEVICE" in machine.run("data", "pets").out
    named = machine.run("data", "pets", PETS_DIR="../my pets")
    assert f"ran entrypoint.py data pets --source {tmp_path}/my pets" in named.out


def test_pets_of_a_folder_are_mounted_into_the_container(machine, tmp_path):
    machine.add_docker()
    (tmp_path / "mine").mkdir()
    out = machine.run("data", "pets", PETS_DIR="../mine").out
    assert "--no-TTY data pets --source /pets " in out
    assert out.endswith(f"PETS_DIR={tmp_path}/mine\n")


def test_a_pets_folder_that_is_not_there_is_refused(machine):
    done = machine.run("data", "pets", PETS_DIR="nowhere")
    assert (done.returncode, done.err.splitlines()[0]) == (2, "PETS_DIR=nowhere is not a folder.")


def test_a_folder_of_ones_own_becomes_a_dataset_of_its_name(machine, tmp_path):
    machine.add_python()
    (tmp_path / "my images").mkdir()
    done = machine.run("dataset", "--source", "../my images")
    assert (
        f"ran entrypoint.py data dataset --source {tmp_path}/my images --out {machine.root}/data/my images" in done.out
    )
    done = machine.run("dataset", "--source", "../my images", "--format", "voc", "--out", "data/mine")
    assert f"--out {machine.root}/data/mine --format voc" in done.out


def test_a_container_is_shown_the_folder_that_is_converted(machine, tmp_path):
    machine.add_docker()
    (tmp_path / "mine").mkdir()
    out = machine.run("dataset", "--source", "../mine").out
    assert f"--volume {tmp_path}/mine:{tmp_path}/mine:ro" in out
    assert f"data dataset --source {tmp_path}/mine --out /data/mine" in out
    out = machine.run("dataset", "--source", "../mine", "--out", "../elsewhere").out
    assert f"--volume {tmp_path}/elsewhere:{tmp_path}/elsewhere" in out and (tmp_path / "elsewhere").is_dir()


@pytest.mark.parametrize("source", ["", "nowhere"])
def test_a_source_that_is_no_folder_is_refused(machine, source):
    done = machine.run("dataset", "--source", source)
    assert (done.returncode, done.err.splitlines()[0]) == (2, f"SOURCE={source} is not a folder.")


ADOPT = ("adopt", "--records", "../mine/a.record-*", "../mine/c.record", "--val", "../mine/b.record", "--label-map")


def test_records_that_are_there_are_adopted_with_absolute_paths(machine, tmp_path):
    machine.add_python()
    done = machine.run(*ADOPT, "../mine/map.pbtxt")
    mine = f"{tmp_path}/mine"
    assert (
        f"ran entrypoint.py data adopt --records {mine}/a.record-* {mine}/c.record --val {mine}/b.record "
        f"--label-map {mine}/map.pbtxt --out {machine.root}/data/mine-adopted" in done.out
    )
    done = machine.run(*ADOPT, "../mine/map.pbtxt", "--test", "../t.record", "--out", "data/own", DATA_DIR="../other")
    assert f"--test {tmp_path}/t.record --label-map" in done.out and f"--out {machine.root}/data/own" in done.out


def test_a_container_adopts_what_lies_in_the_datas_folder(machine, tmp_path):
    machine.add_docker()
    (tmp_path / "maps").mkdir()
    out = machine.run(*ADOPT, "../maps/map.pbtxt", DATA_DIR="..").out
    assert f"--volume {tmp_path}/maps" not in out  # that is in it, too
    assert (
        "data adopt --records /data/mine/a.record-* /data/mine/c.record --val /data/mine/b.record "
        "--label-map /data/maps/map.pbtxt --out /data/mine-adopted" in out
    )
    out = machine.run(*ADOPT, "../maps/map.pbtxt", DATA_DIR="../mine").out
    assert f"--volume {tmp_path}/maps:{tmp_path}/maps:ro" in out and f"--label-map {tmp_path}/maps/map.pbtxt" in out
    assert "--records /data/a.record-* /data/c.record" in out


def test_records_that_a_container_could_not_train_on_are_refused(machine, tmp_path):
    machine.add_docker()
    done = machine.run(*ADOPT, "../mine/map.pbtxt")
    assert done.returncode == 2
    assert done.err.startswith(f"{tmp_path}/mine/a.record-* does not lie in {machine.root}/data, and")
    assert "DATA_DIR" in done.err and "RUN_IN=venv" in done.err
    (tmp_path / "mine").mkdir()
    (tmp_path / "outside.record").write_bytes(b"")
    (tmp_path / "mine" / "a.record-1").symlink_to(tmp_path / "outside.record")
    done = machine.run(*ADOPT, "../mine/map.pbtxt", DATA_DIR="../mine")
    assert done.returncode == 2 and f"{tmp_path}/mine/a.record-1 does not lie in {tmp_path}/mine" in done.err
    done = machine.run(*ADOPT, "../mine/map.pbtxt", "--out", "../elsewhere", DATA_DIR="../mine")
    assert done.returncode == 2 and not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("missing", ["RECORDS", "VAL", "LABEL_MAP"])
def test_adopting_needs_all_three(machine, missing):
    given = {"RECORDS": ["--records", "a"], "VAL": ["--val", "b"], "LABEL_MAP": ["--label-map", "c"]}
    given[missing] = given[missing][:1] + ([""] if missing == "LABEL_MAP" else [])
    done = machine.run("adopt", *[word for words in given.values() for word in words])
    assert (done.returncode, done.err.splitlines()[0]) == (2, f"make adopt needs {missing}=.")


def test_a_dataset_is_looked_at_where_a_training_runs(machine):
    machine.add_python()
    assert f"data check {machine.root}/data/mine" in machine.run("check", "data/mine").out
    assert f"data show {machine.root}/data/mini-pets" in machine.run("show", "mini-pets").out
    machine.add_docker()
    assert "data check /data/mine" in machine.run("check", "data/mine").out
    done = machine.run("show", "../elsewhere")
    assert done.returncode == 2 and "is not below" in done.err
    assert machine.run("check").returncode == 2


def test_a_config_is_written_for_the_devices_of_the_machine(machine, tmp_path):
    machine.add_python()
    done = machine.run("config", "--model", "ssd_mobilenet_v2")
    assert "ran entrypoint.py config --model ssd_mobilenet_v2 DEVICE=cpu" in done.out
    machine.add_docker()
    for out, there in (("data/a/x.config", "/data/a/x.config"), ("runs/x.config", "/runs/x.config")):
        assert f"config --out {there}" in machine.run("config", "--out", out).out
    out = machine.run("config", "--out", "../x.config").out
    assert f"--volume {tmp_path}:{tmp_path}" in out and f"config --out {tmp_path}/x.config" in out


def test_mini_pets_need_no_source(machine):
    machine.add_python()
    done = machine.run("data", "mini-pets", PETS_DIR="nowhere")
    assert "ran entrypoint.py data mini-pets DEVICE" in done.out


def test_an_unknown_dataset_is_refused(machine):
    assert machine.run("data", "coco").returncode == 2


def test_tensorboard_listens_on_this_machine_only(machine):
    machine.add_python()
    assert "--host 127.0.0.1" in machine.run("tensorboard").out


def test_image_tests_are_skipped_with_a_line_where_no_engine_answers(machine):
    done = machine.run("image-tests", "../shared/docker")
    assert done.returncode == 0
    assert done.out == "SKIPPED: the image's tests need Docker, but there is no docker command.\n"


def test_image_tests_use_an_engine_that_can_be_had(machine, tmp_path):
    machine.add_python()
    machine.add_docker(info=f"[ -e {tmp_path}/up ] && echo 24 runc", image=1)
    machine.add("engine-up", f"#!/bin/sh\n: >{tmp_path}/up\n", tmp_path / "shared")
    machine.add(
        "base-image", f"#!/bin/sh\n/bin/sed -i 's/exit 1;;/exit 0;;/' {machine.bin}/docker\n", tmp_path / "shared"
    )
    done = machine.run("image-tests", "../shared")
    assert "ran -m pytest tests/image -m image" in done.out, done.out + done.err


def test_image_tests_fail_when_the_engine_cannot_be_started(machine, tmp_path):
    machine.add("engine-up", "#!/bin/sh\nexit 7\n", tmp_path / "shared")
    done = machine.run("image-tests", "../shared")
    assert done.returncode == 3
    assert "engine-up failed with code 7" in done.err


def test_export_passes_its_arguments_on(machine):
    machine.add_python()
    out = machine.run("export", "--checkpoint", "newest").out
    assert "ran entrypoint.py export --checkpoint newest " in out.splitlines()[-1]


def test_report_runs_where_trainings_run(machine):
    machine.add_python()
    assert "ran entrypoint.py report " in machine.run("report", RUN_DIR="runs/mine").out.splitlines()[-1]
    machine.add_docker()
    machine.run("report", RUN_DIR="runs/mine")
    assert machine.calls("docker compose")[-1].endswith(" report")


def test_diff_in_docker_is_shown_the_runs_that_are_named(machine):
    machine.add_docker()
    runs = [machine.root / "runs" / "one", machine.home / "other runs"]
    for run in runs:
        run.mkdir()
    (runs[1] / "run.json").write_text("{}")
    machine.run("diff", "runs/one", str(runs[1] / "run.json"), "--all")
    command = machine.calls("docker compose")[-1]
    assert command.endswith(f" diff {runs[0]} {runs[1] / 'run.json'} --all")
    assert all(f"--volume {run}:{run}:ro" in command for run in runs)


def test_export_in_docker_runs_its_own_service(machine):
    machine.add_docker()
    machine.run("export", "--checkpoint", "newest")
    assert machine.calls("docker compose")[-1].endswith(" export --checkpoint newest")


def test_detect_in_docker_gets_the_folders_it_reads_and_writes(machine, tmp_path):
    machine.add_docker()
    machine.run("detect", "--model", str(tmp_path), "--out", str(tmp_path / "drawn"), str(tmp_path / "a.jpg"))
    call = machine.calls("docker compose")[-1]
    assert (
        f"--volume {tmp_path}:{tmp_path}:ro --volume {tmp_path}/drawn:{tmp_path}/drawn detect --model {tmp_path}"
        in call
    )


AMPERE, BLACKWELL = "NVIDIA A100-SXM4-40GB, 8.0", "NVIDIA B200, 10.0"
NEWER = "nvcr.io/nvidia/tensorflow:23.03-tf1-py3"


@pytest.mark.parametrize("command", ["train", "preflight"])
@pytest.mark.parametrize(
    "gpu, base, what, do",
    [
        (AMPERE, {}, "is too new: CUDA 10.0 knows GPUs up to 7.5.", "Build on BASE_IMAGE=" + NEWER),
        (
            BLACKWELL,
            {"BASE_IMAGE": NEWER + "@sha256:1"},
            "is too new: CUDA 12.1 knows GPUs up to 9.0.",
            "No TensorFlow 1.15 image knows it",
        ),
    ],
)
def test_a_gpu_too_new_for_the_base_is_refused_before_the_base_is_fetched(machine, command, gpu, base, what, do):
    machine.add_docker()
    machine.add_gpus(1, gpu)
    done = machine.run(command, **base)
    assert done.returncode == 3
    lines = done.err.splitlines()
    assert len(lines) == 2 and lines[0].startswith("NVIDIA ") and lines[0].endswith(what) and lines[1].startswith(do)
    assert machine.calls("docker compose build") == []


@pytest.mark.parametrize(
    "gpus, variables",
    [
        ((AMPERE,), {"BASE_IMAGE": NEWER}),
        ((AMPERE, "Tesla T4, 7.5"), {}),
        ((AMPERE,), {"BASE_IMAGE": "mine:1"}),
        ((AMPERE,), {"DEVICE": "cpu"}),
        (('Field "compute_cap" is not a valid field to query.',), {}),
    ],
)
def test_a_gpu_that_may_fit_is_left_to_preflight(machine, gpus, variables):
    machine.add_docker()
    machine.add_gpus(1, *gpus)
    assert machine.run("train", **variables).returncode == 0


def test_a_name_of_another_tool_in_the_file_env_is_refused_with_ours(machine):
    machine.add_python()
    (machine.root / ".env").write_text("LR=0.1\n")
    done = machine.run("train", EPOCHS="3")
    assert done.returncode == 2
    assert "EPOCHS=3: there is no such setting; set NUM_STEPS: epochs times images" in done.err
    assert "LR=0.1: there is no such setting; set LEARNING_RATE." in done.err
    (machine.root / ".env").unlink()
    done = machine.run("train", LR="0.1")
    assert done.returncode == 0 and "LR=0.1 of the environment is not read here" in done.out + done.err


def test_a_variable_of_makes_command_line_that_is_no_setting_is_refused(machine):
    machine.add_python()
    done = machine.run("train", MAKEFLAGS=" -- FOO=3 TRAINERS=4 TF_CPP_MIN_LOG_LEVEL=0 TRAINER=clone")
    assert done.returncode == 2 and "FOO: there is no such setting; docs/settings.md" in done.err
    assert "TRAINERS: there is no such setting; did you mean TRAINER?" in done.err and "TF_CPP" not in done.err
    assert machine.run("train", MAKEFLAGS=" -- TRAINER=clone").returncode == 0
