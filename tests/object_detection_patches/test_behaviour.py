"""What the patches are for: each of these fails with its patch left out (--without-patch NAME)."""

import pytest

from object_detection_patches import tree
from object_detection_patches.patches import PATCHES

pytestmark = pytest.mark.tensorflow

OPTIMIZERS = {
    "momentum": "momentum_optimizer { learning_rate { constant_learning_rate { learning_rate: 0.05 } } "
    "momentum_optimizer_value: 0.9 }",
    "rms_prop": "rms_prop_optimizer { learning_rate { constant_learning_rate { learning_rate: 0.05 } } }",
    "adam": "adam_optimizer { learning_rate { constant_learning_rate { learning_rate: 0.05 } } }",
}
DECAY = 0.9
AVERAGE = "/ExponentialMovingAverage"


@pytest.fixture(scope="module", params=sorted(OPTIMIZERS))
def averaged(request, play):
    """Trainings with a moving average, by the number of replicas; "0" is one device without a strategy."""
    average = f" use_moving_average: true moving_average_decay: {DECAY}"
    return play("estimator", "LineModel", OPTIMIZERS[request.param] + average, "0", "1", "2")


@pytest.fixture(scope="module")
def plain(play):
    """Trainings without a moving average, by the number of replicas."""
    return play("estimator", "LineModelWithStatistics", OPTIMIZERS["momentum"] + " use_moving_average: false", "0", "2")


@pytest.fixture(scope="module")
def clones(play):
    """A training on two clones, each on a virtual CPU device of its own."""
    return play("clones")


@pytest.fixture(scope="module")
def inputs(play):
    """A batch of the training input."""
    return play("inputs")


def test_training_evaluation_and_export_work_under_a_strategy(plain):
    for devices in ("0", "2"):
        assert "error" not in plain[devices], plain[devices]["error"][-2000:]
        assert plain[devices]["eval_step"] == 10 and plain[devices]["exported"]


def test_only_as_many_checkpoints_are_kept_as_run_config_says(plain):
    assert [plain[devices].get("checkpoints") for devices in ("0", "2")] == [2, 2]


@pytest.mark.parametrize("devices", ["1", "2"])
def test_variables_and_averages_are_those_of_one_device(averaged, devices):
    assert "error" not in averaged[devices], averaged[devices]["error"][-2000:]
    one, several = averaged["0"]["variables"], averaged[devices]["variables"]
    assert set(several) == set(one)
    assert {name for name in one if AVERAGE in name} == {"line/weights" + AVERAGE, "line/bias" + AVERAGE}
    for name in one:
        assert several[name] == pytest.approx(one[name], abs=1e-5), name


@pytest.mark.parametrize("devices", ["0", "1", "2"])
def test_averages_take_the_weights_of_the_same_step(averaged, devices):
    assert "error" not in averaged[devices], averaged[devices]["error"][-2000:]
    now, before = averaged[devices]["variables"], averaged[devices]["before_last_step"]
    for name in ("line/weights", "line/bias"):
        expected = [
            DECAY * average + (1 - DECAY) * weight for average, weight in zip(before[name + AVERAGE], now[name])
        ]
        assert now[name + AVERAGE] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("devices", ["0", "2"])
def test_evaluation_reads_the_averages(averaged, devices):
    run = averaged[devices]
    assert "error" not in run, run["error"][-2000:]
    assert run["eval_loss"] == pytest.approx(run["loss_of_averages"], rel=1e-4)
    assert run["loss_of_averages"] != pytest.approx(run["loss_of_weights"], rel=0.1)


def test_every_clone_has_its_own_virtual_device(clones):
    assert clones["clone_devices"] == ["/device:CPU:0", "/device:CPU:1"]
    assert clones["variable_devices"] == ["/device:CPU:0"]


def test_the_clone_trainer_uses_the_session_and_the_loop_it_is_given(clones):
    assert "error" not in clones, clones["error"][-2000:]
    assert clones["same_session"]
    assert {"saver", "number_of_steps", "init_fn", "summary_op", "is_chief"} <= set(clones["keywords"])


def test_the_images_of_each_clone_are_known_and_the_loss_is_for_the_caller_to_judge(clones):
    assert "error" not in clones, clones["error"][-2000:]
    assert clones["image_ids"] == [["string", [2]], ["string", [2]]]
    assert clones["loss_checks"] == []


def test_checkpoints_of_clones_have_the_names_of_one_device(clones):
    assert "error" not in clones, clones["error"][-2000:]
    assert clones["variables"] == [
        "global_step",
        "line/bias",
        "line/bias" + AVERAGE,
        "line/bias/Momentum",
        "line/weights",
        "line/weights" + AVERAGE,
        "line/weights/Momentum",
    ]


def test_lvis_and_opencv_are_not_needed(inputs):
    assert "import_error" not in inputs and inputs["coco"] == 1


def test_asking_for_lvis_metrics_without_the_package_says_what_to_install(inputs):
    assert "pip install lvis==0.5.3" in inputs.get("lvis_error", "")


def test_autograph_converts_nothing_of_the_input(inputs):
    assert inputs["converted"] == []


def test_the_input_is_decoded_augmented_and_padded_as_before(inputs):
    assert inputs["shape"] == [2, 8, 8, 3]
    assert (inputs["red"], inputs["green"]) == (255, 0)
    assert inputs["boxes"][0] == pytest.approx([0.1, 0.2, 0.6, 0.7], abs=1e-6)
    assert inputs["boxes"][1:] == [[0, 0, 0, 0]] * 2
    assert inputs["classes"] == [[1, 0], [0, 0], [0, 0]]


def test_the_diff_of_every_patch_is_small(pristine_api):
    for name in PATCHES:
        (patch,) = tree.select(only=[name])
        lines = list(tree.diff(pristine_api, [patch]))
        edits = [line for line in lines if line.startswith("-") and not line.startswith("---")]
        assert len(edits) <= 5, name
