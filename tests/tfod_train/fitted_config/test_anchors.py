"""Anchors fitted to boxes."""

import numpy as np
import pytest

from tfod_train.fitted_config.boxes import Sample
from tfod_train.fitted_config.models import MODELS

pytestmark = pytest.mark.usefixtures("protos")


def sample_of(size=(640, 480), count=200, **kinds):
    """A Sample of boxes anywhere in images of a size; kinds: class=(width, height) in px, each varied by a tenth."""
    chance = np.random.RandomState(0)
    boxes, numbers = [], []
    for number, name in enumerate(sorted(kinds)):
        sides = np.array(kinds[name]) * chance.uniform(0.9, 1.1, (count, 2)) / size
        centres = chance.uniform(sides / 2, 1 - sides / 2)
        boxes.append(np.concatenate([centres - sides / 2, centres + sides / 2], axis=1))
        numbers += [number] * count
    everything = np.concatenate(boxes)
    return Sample(everything, np.array(numbers), np.full((len(everything), 2), size), sorted(kinds), count)


CELLS = dict(large=(200, 200), medium=(80, 80), tiny=(20, 20))


@pytest.mark.parametrize("model", sorted(MODELS))
def test_fitted_anchors_serve_the_worst_class_better_than_the_usual_ones(model):
    from tfod_train.fitted_config import anchors

    sample = sample_of(**CELLS)
    chosen, usual = anchors.choose(MODELS[model], sample), anchors.usual(MODELS[model], sample)
    assert min(chosen.shares.values()) > min(usual.values()) or min(chosen.shares.values()) > 0.95
    assert chosen.shares["medium"] > 0.9 and chosen.shares["large"] > 0.9


def test_tiny_objects_bring_a_finer_map_and_large_ones_alone_the_smallest_input():
    from tfod_train.fitted_config import anchors

    small = MODELS["ssd_mobilenet_v1_small"]
    assert anchors.choose(small, sample_of(**CELLS)).pyramid.kind == "multiscale"
    large = anchors.choose(small, sample_of(large=(300, 250)))
    assert large.pyramid.kind == "ssd" and large.size == (160, 128) and large.shares == {"large": 1.0}


def test_long_objects_get_long_anchors():
    from tfod_train.fitted_config import anchors

    usual = anchors.usual(MODELS["ssd_mobilenet_v1_small"], sample_of(pencil=(400, 60)))["pencil"]
    chosen = anchors.choose(MODELS["ssd_mobilenet_v1_small"], sample_of(pencil=(400, 60)))
    assert usual < 0.1 and chosen.shares["pencil"] > 0.9


def test_the_input_has_the_images_proportions_and_is_at_most_twice_as_large():
    from tfod_train.fitted_config import anchors

    small = MODELS["ssd_mobilenet_v1_small"]
    tiny = anchors.choose(small, sample_of(size=(120, 240), tiny=(3, 3)))
    assert tiny.size[1] <= 480 and tiny.size[0] in (tiny.size[1] // 2, tiny.size[1] // 2 + 16, tiny.size[1] // 2 - 16)
    assert anchors.choose(small, sample_of(size=(4000, 1000), any=(900, 700))).size[0] > 1.5 * 64


def test_the_share_that_is_said_is_that_of_the_check(cells_folder, cells_dataset):
    """Counted once more, record by record, by the code of `check --config`."""
    from data_prep.check import anchor_shares, model_input
    from tfod_train.config import pipeline
    from tfod_train.fitted_config import boxes, write

    written = write.text_for(cells_dataset, "ssd_mobilenet_v1_small", "data", "it.config")
    facts = model_input.facts(pipeline.of_text(written.text, "it.config"))
    shares = anchor_shares.AnchorShares(facts)
    for image in boxes.sample(cells_dataset):
        shares.see(image.boxes, image.classes, facts.resize(*image.size))
    said = {name: f"{shares._fitted[name] / shares._boxes[name]:.0%}" for name in shares._boxes}
    assert said == {name: here for name, _, _, here in written.choices.anchors.served}


def test_without_a_box_there_is_still_a_config():
    from tfod_train.fitted_config import anchors
    from tfod_train.fitted_config.boxes import gather

    for model in MODELS.values():
        assert anchors.choose(model, gather([])).shares == {}


def test_a_rare_class_is_looked_at_whole_where_there_are_many_boxes():
    from tfod_train.fitted_config import anchors

    many = sample_of(count=9000, often=(90, 90))
    few = sample_of(count=20, rare=(30, 30))
    both = Sample(
        np.concatenate([many.boxes, few.boxes]),
        np.concatenate([many.kinds, few.kinds + 1]),
        np.concatenate([many.sizes, few.sizes]),
        ["often", "rare"],
        1,
    )
    thinned = anchors._thinned(both)
    assert len(thinned.boxes) <= anchors.BOXES_LOOKED_AT and (thinned.kinds == 1).sum() == 20
