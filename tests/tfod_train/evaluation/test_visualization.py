"""What is drawn is where it was found, and the image that it is drawn on is the right one."""

import io

import numpy as np
import pytest
from PIL import Image

from data_prep.tfrecord import codec
from tfod_train.evaluation import visualization

HEIGHT, WIDTH = 40, 60


def kept_image(source_id="a", shade=0):
    """One on which nothing is, and nothing was found."""
    pixels = np.full((HEIGHT, WIDTH, 3), shade, np.uint8)
    boxes, none = np.zeros((0, 4)), np.zeros(0)
    return visualization.KeptImage(source_id, pixels, (HEIGHT, WIDTH), boxes, none, none, boxes, none)


def half(side):
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    mask[:, : WIDTH // 2] = side == "left"
    mask[:, WIDTH // 2 :] = side == "right"
    return mask


def test_a_mask_tints_the_image_inside_of_it_and_nowhere_else():
    drawn = np.asarray(
        visualization.on_image(
            Image.new("RGB", (WIDTH, HEIGHT), "white"),
            np.array([[5.0, 5, 10, 10]]),
            np.array([0.9]),
            np.array([1]),
            ["cat"],
            [half("left")],
        )
    )
    assert tuple(drawn[HEIGHT - 2, 2]) != (255, 255, 255) and tuple(drawn[HEIGHT - 2, WIDTH - 2]) == (255, 255, 255)
    red, green, blue = drawn[HEIGHT - 2, 2].astype(int)
    assert red > green and red > blue  # the first class's colour


def test_a_model_without_masks_draws_boxes_alone():
    drawn = np.asarray(
        visualization.on_image(
            Image.new("RGB", (WIDTH, HEIGHT), "white"),
            np.array([[5.0, 5, 30, 30]]),
            np.array([0.9]),
            np.array([1]),
            ["cat"],
        )
    )
    assert tuple(drawn[26, 15]) == (255, 255, 255) and tuple(drawn[30, 15]) != (255, 255, 255)


def test_a_sheet_takes_any_name_any_class_id_and_masks_without_an_outline():
    box = np.array([[5.0, 5, 30, 30]])
    full = np.ones((1, HEIGHT, WIDTH), np.uint8)
    one = visualization.KeptImage(
        "a",
        np.zeros((8, 8, 3), np.uint8),
        (HEIGHT, WIDTH),
        box,
        np.array([0.9]),
        np.array([7]),
        box,
        np.array([7]),
        full,
        np.concatenate([full, 0 * full, [half("left")]]),
    )
    content = visualization.sheet([one], {7: "$x_{$ <b>"}, "title")
    assert Image.open(io.BytesIO(content)).size[0] > 100


@pytest.fixture
def recorded(tmp_path):
    """function(*(source id, shade)) -> pattern of a file with those images."""

    def write(*images):
        path = str(tmp_path / "val.record")
        with codec.Writer(path) as file:
            for source_id, shade in images:
                encoded = io.BytesIO()
                Image.new("RGB", (WIDTH, HEIGHT), (shade, shade, shade)).save(encoded, "PNG")
                file.write(
                    codec.encode(
                        {
                            "image/source_id": codec.Texts([source_id]),
                            "image/encoded": codec.Texts([encoded.getvalue()]),
                        }
                    )
                )
        return path

    return write


def test_the_records_own_image_is_drawn_on_found_by_its_id(recorded):
    pattern = recorded(("b", 200), ("a", 100))
    (drawn,) = visualization.with_originals([kept_image("a")], [pattern])
    assert drawn.pixels.max() == drawn.pixels.min() == 100


def test_an_id_that_repeats_says_nothing_of_whose_image_it_is(recorded):
    """Boxes on another image would be a lie; the small one that the model saw is right."""
    pattern = recorded(("a", 100), ("b", 50), ("a", 200))
    drawn = visualization.with_originals([kept_image("a", 7), kept_image("b", 9), kept_image("", 3)], [pattern])
    assert [one.pixels.max() for one in drawn] == [7, 50, 3]
