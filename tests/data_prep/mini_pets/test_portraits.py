"""Three breeds that can be told apart, and the masks that boxes and trimaps are made from."""

from random import Random

import pytest
from PIL import Image, ImageStat

from data_prep.mini_pets import portraits
from data_prep.mini_pets.canvas import Canvas, Frame

BREEDS = (portraits.siamese, portraits.bengal, portraits.pug)
GREEN = (0, 200, 0)
SIZE = (120, 160)


def draw(breed, seed=1):
    """(image, Painted) of a pet whose head, 40 px wide, is about (60, 50)."""
    canvas, rng = Canvas(Image.new("RGB", SIZE, GREEN)), Random(seed)
    found = breed(canvas, rng, portraits.pose(rng, 60, 50, 20))
    return canvas.image, found


def test_a_pose_is_small_turns_about_the_place_that_is_asked_for():
    for seed in range(20):
        pose = portraits.pose(Random(seed), 60, 50, 20)
        assert (pose.head.x, pose.head.y, pose.head.scale) == (pose.chest.x, pose.chest.y, pose.chest.scale)
        assert abs(pose.look_x) < 0.2 and abs(pose.look_y) < 0.1
        assert pose.head.place([(0, 0)]) == [(60, 50)]
        assert isinstance(pose.head, Frame)


@pytest.mark.parametrize("breed", BREEDS)
def test_the_masks_are_of_the_head_and_of_a_body_below_it(breed):
    _, (head, body) = draw(breed)
    assert (head.mode, head.size, body.mode, body.size) == ("L", SIZE, "L", SIZE)
    left, top, right, bottom = head.getbbox()
    assert left < 60 < right and top < 50 < bottom and 30 < right - left < 70 and 30 < bottom - top < 70
    assert body.getbbox()[3] > bottom + 10


@pytest.mark.parametrize("breed", BREEDS)
def test_what_is_in_the_masks_is_painted_and_the_rest_is_the_backdrop(breed):
    image, (head, body) = draw(breed)
    solid = [(x, y) for x in range(SIZE[0]) for y in range(SIZE[1]) if head.getpixel((x, y)) == 255]
    assert sum(image.getpixel(place) == GREEN for place in solid) == 0
    assert image.getpixel((1, 1)) == GREEN and head.getpixel((1, 1)) == body.getpixel((1, 1)) == 0


def test_breeds_differ_in_colour_and_the_generator_decides_the_rest():
    means = [ImageStat.Stat(image, found.head).mean for image, found in map(draw, BREEDS)]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert max(abs(a - b) for a, b in zip(means[one], means[other])) > 15
    assert draw(portraits.pug, 2)[0].tobytes() == draw(portraits.pug, 2)[0].tobytes()
    assert len({draw(portraits.pug, seed)[0].tobytes() for seed in range(4)}) == 4
