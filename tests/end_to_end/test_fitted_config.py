"""What a config that was written for the data brings, measured: the same steps, with the shipped one and with that.

Nightly: two trainings of 300 steps; 26 minutes in all on two cores with other work beside.
"""

import json

import pytest

from tests import cells

pytestmark = [pytest.mark.training, pytest.mark.nightly]

STEPS = "300"


@pytest.fixture(scope="module")
def cells_folder(tmp_path_factory):
    return cells.converted(tmp_path_factory.mktemp("cells"), 160)


@pytest.fixture(scope="module")
def trained(run, cells_folder, tmp_path_factory):
    """function(config) -> (AP@.5 by class, what the console said); config: PIPELINE_CONFIG, "" for none."""

    def train(config):
        folder = tmp_path_factory.mktemp("runs") / "run"
        done = run(
            "train",
            str(folder),
            DATASET=str(cells_folder),
            PIPELINE_CONFIG=config,
            BATCH_SIZE="16",
            NUM_GPUS="1",
            NUM_STEPS=STEPS,
            EVAL_AT_END="1",
        )
        assert done.code == 0, done.console
        entry = json.loads((folder / "eval" / "metrics.json").read_text())["evaluations"][-1]
        print(config or "written", entry["per_class_ap50"])
        return entry["per_class_ap50"], done.console

    return train


def test_a_written_config_finds_the_tiny_class_that_the_shipped_small_one_misses(trained):
    shipped, said = trained("configs/ssd_mobilenet_v1_small_pets.config")
    assert "class tiny: 0% of its boxes have an anchor" in said
    written, said = trained("")
    assert "fitted.config" in said and "of its boxes have an anchor" not in said
    assert shipped["tiny"] < 0.05 and written["tiny"] > 0.5
    assert min(written["medium"], written["large"]) > 0.9
