"""Backdrops: the generator decides all, and each covers the whole canvas."""

from random import Random

import pytest
from PIL import Image

from data_prep.mini_pets import backgrounds
from data_prep.mini_pets.canvas import Canvas, Frame

UNPAINTED = (255, 0, 255)
BACKDROPS = ["_stripes", "_dots", "_tartan", "_planks", "_lawn", "_clouds", "_bricks", "_leaves"]
THINGS = ["_ball", "_yarn", "_bone", "_flower", "_mug", "_fish", "_cushion"]


def canvas():
    return Canvas(Image.new("RGB", (60, 40), UNPAINTED))


def painted(seed):
    on = canvas()
    backgrounds.paint(on, Random(seed), 5)
    return on.image.tobytes()


def test_the_generator_decides_everything():
    assert painted(3) == painted(3)
    assert len({painted(seed) for seed in range(6)}) == 6


@pytest.mark.parametrize("name", BACKDROPS)
def test_a_backdrop_covers_the_canvas(name):
    on = canvas()
    getattr(backgrounds, name)(on, Random(1), 5)
    colours = dict((colour, count) for count, colour in on.image.getcolors(2400))
    assert UNPAINTED not in colours and len(colours) > 3


@pytest.mark.parametrize("name", THINGS)
def test_a_thing_is_drawn_where_its_frame_is(name):
    on = canvas()
    getattr(backgrounds, name)(on, Random(1), Frame(30, 20, 8))
    assert UNPAINTED not in {on.image.getpixel((x, 20)) for x in range(29, 32)}
    assert [on.image.getpixel((x, y)) for x in (0, 59) for y in (0, 39)] == [UNPAINTED] * 4
