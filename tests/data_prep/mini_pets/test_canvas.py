"""Drawing: where points go, curves, masks, and paint that stays where it may."""

import math
from random import Random

import pytest
from PIL import Image

from data_prep.mini_pets.canvas import Canvas, Frame, ellipse, mirrored, mix, noise, smooth

WHITE, RED = (255, 255, 255), (255, 0, 0)
SQUARE = [(5, 5), (14, 5), (14, 14), (5, 14)]


@pytest.fixture
def canvas():
    return Canvas(Image.new("RGB", (20, 20), WHITE))


def painted(canvas):
    """The box around all that is not white any more."""
    return Image.eval(canvas.image.convert("L"), lambda value: 255 - value).getbbox()


def test_a_frame_scales_stretches_and_tilts_to_whole_pixels():
    assert Frame(10, 20, 4).place([(0, 0), (1, 1), (-0.5, 0)]) == [(10, 20), (14, 24), (8, 20)]
    assert Frame(0, 0, 10, tilt=math.pi / 2).place([(1, 0), (0, 1)]) == [(0, 10), (-10, 0)]
    assert Frame(0, 0, 10, stretch=2).place([(1, 1)]) == [(20, 5)]


def test_half_a_pixel_does_not_hang_on_the_last_digit():
    frame = Frame(0, 0, 1)
    assert frame.place([(0.5, 0.5 - 1e-9)]) == frame.place([(0.5 + 1e-9, 0.5)]) == [(1, 1)]


def test_an_ellipse_has_its_axes_also_turned_and_an_arc_its_ends():
    xs, ys = zip(*ellipse(3, 4, 2, 1))
    assert (min(xs), max(xs), min(ys), max(ys)) == pytest.approx((1, 5, 3, 5))
    xs, ys = zip(*ellipse(3, 4, 2, 1, turn=math.pi / 2))
    assert (min(xs), max(xs), min(ys), max(ys)) == pytest.approx((2, 4, 2, 6))
    arc = ellipse(0, 0, 1, arc=(0, math.pi / 2))
    assert arc[0] == pytest.approx((1, 0)) and arc[-1] == pytest.approx((0, 1))


@pytest.mark.parametrize("closed", [True, False])
def test_a_smooth_curve_goes_through_its_points(closed):
    points = [(0, 0), (4, 1), (5, 6), (1, 5)]
    curve = smooth(points, closed)
    assert curve[::6] == pytest.approx(points)
    assert len(curve) == (24 if closed else 19)


def test_an_outline_is_closed_by_its_mirror_image():
    assert mirrored([(0, 0), (2, 1), (0, 2)]) == [(0, 0), (2, 1), (0, 2), (-2, 1)]


def test_colours_mix_by_their_share():
    assert [mix((0, 100, 200), (100, 0, 200), share) for share in (0, 0.5, 1)] == [
        (0, 100, 200),
        (50, 50, 200),
        (100, 0, 200),
    ]


def test_noise_is_decided_by_its_generator():
    one, again, other = (noise(Random(seed), (30, 20), 4).tobytes() for seed in (1, 1, 2))
    assert one == again != other and len(one) == 600


@pytest.mark.parametrize("blur, opacity", [(0, 1.0), (2, 1.0), (0, 0.5)])
def test_paint_stays_inside_the_clip(canvas, blur, opacity):
    clip = canvas.mask([[(0, 0), (9, 0), (9, 19), (0, 19)]])
    canvas.fill(SQUARE, RED, clip, blur, opacity)
    left, _, right, _ = painted(canvas)
    assert right == 10 and (left < 5) == bool(blur)
    shade = canvas.image.getpixel((7, 10))
    assert shade[0] == 255 and (shade == RED) == (opacity == 1 and not blur)


def test_a_polygon_without_clip_is_filled_with_its_colour(canvas):
    canvas.fill(SQUARE, RED)
    assert painted(canvas) == (5, 5, 15, 15) and canvas.image.getpixel((10, 10)) == RED


def test_a_line_has_its_width_and_round_ends(canvas):
    canvas.line([(6, 10), (14, 10)], RED, 5)
    left, top, right, bottom = painted(canvas)
    assert 4 <= bottom - top <= 6 and left < 6 and right > 14


def test_what_lies_beside_the_canvas_paints_nothing(canvas):
    canvas.fill([(x + 100, y) for x, y in SQUARE], RED, blur=1)
    assert painted(canvas) is None


def test_texture_mottles_the_clip_alone(canvas):
    canvas.image.paste((120, 120, 120), (0, 0, 20, 20))
    clip = canvas.mask([SQUARE])
    canvas.texture(Random(1), clip, 2, 1.0)
    inside = {canvas.image.getpixel((x, y)) for x in range(5, 15) for y in range(5, 15)}
    outside = {canvas.image.getpixel((x, y)) for x in range(20) for y in range(5)}
    assert len(inside) > 10 and outside == {(120, 120, 120)}
    canvas.texture(Random(1), Image.new("L", (20, 20)), 2, 1.0)  # an empty clip
