"""Quantised training of several clones gives the model that one device would: the patch quantized_clones."""

import pytest

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def quantized(play):
    """A convolution trained quantised for three steps, on one clone and on two."""
    results = play("quantized")
    assert "error" not in results, results["error"][-2000:]
    return results


def test_the_ranges_of_several_clones_have_the_names_of_one_device(quantized):
    assert any(name.endswith("act_quant/max") for name in quantized["variables_1"])
    assert quantized["variables_2"] == quantized["variables_1"]


def test_evaluation_finds_the_ranges_that_two_clones_trained(quantized):
    highest = [value for name, value in quantized["evaluated"].items() if name.endswith("act_quant/max")]
    assert highest and all(0 < value < 6 for value in highest)  # 6 is what it starts from


def test_what_quantisation_adds_runs_on_its_clones_device(quantized):
    assert quantized["devices"] == {"clone_0": ["/device:CPU:0"], "clone_1": ["/device:CPU:1"]}


def test_the_other_clones_resume_from_the_saved_ranges(quantized):
    assert any(name.endswith("act_quant/max") for name in quantized["restarted"])
    for name, (of_clone_0, of_clone_1) in quantized["restarted"].items():
        assert of_clone_1 == of_clone_0, name
