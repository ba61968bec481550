"""What stands behind the mini-pets: textured rooms, lawns and blankets, and things that are no pets."""

import math
from random import Random

from PIL import Image, ImageChops, ImageDraw

from data_prep.mini_pets.canvas import Canvas, Frame, ellipse, mix, noise, smooth

_WALLS = (
    (196, 214, 220),
    (222, 205, 186),
    (186, 204, 178),
    (214, 190, 200),
    (170, 186, 208),
    (226, 218, 190),
    (150, 168, 160),
    (198, 160, 140),
    (120, 132, 160),
    (232, 226, 218),
)
_BRIGHT = (
    (214, 72, 62),
    (66, 122, 190),
    (242, 188, 60),
    (96, 160, 92),
    (150, 96, 170),
    (230, 130, 60),
    (60, 160, 160),
    (226, 120, 150),
)


def paint(canvas: Canvas, rng: Random, unit: float) -> None:
    """Cover the canvas with a random backdrop and a few things on it.

    Args:
        canvas: all of it.
        rng: decides everything.
        unit: about a tenth of the canvas's side.
    """
    rng.choice((_stripes, _dots, _tartan, _planks, _lawn, _clouds, _bricks, _leaves))(canvas, rng, unit)
    _light(canvas, rng)
    for _ in range(rng.randrange(1, 5)):
        thing = rng.choice((_ball, _yarn, _bone, _flower, _mug, _fish, _cushion))
        frame = Frame(
            rng.uniform(0, canvas.image.width),
            rng.uniform(0, canvas.image.height),
            unit * rng.uniform(0.8, 1.6),
            rng.uniform(-0.8, 0.8),
        )
        thing(canvas, rng, frame)


def _rectangle(left, top, right, bottom):
    return [(int(left), int(top)), (int(right), int(top)), (int(right), int(bottom)), (int(left), int(bottom))]


def _cover(canvas, colour):
    canvas.image.paste(colour, (0, 0) + canvas.image.size)


def _grain(canvas, rng, cell, strength):
    canvas.texture(rng, None, max(1, cell), strength)


def _light(canvas, rng):
    """Light from one side: a broad soft shadow over a third of the image."""
    width, height = canvas.image.size
    shade = noise(rng, (width, height), max(width, height) // 2)
    shade = shade.point([255 - value // 4 for value in range(256)])
    canvas.image = ImageChops.multiply(canvas.image, Image.merge("RGB", (shade, shade, shade)))


def _stripes(canvas, rng, unit):
    wall = rng.choice(_WALLS)
    _cover(canvas, wall)
    second = mix(wall, rng.choice(_BRIGHT), rng.uniform(0.15, 0.5))
    step, lean = unit * rng.uniform(1.0, 2.4), rng.choice((0, 0, 1)) * canvas.image.height
    x = -lean
    while x < canvas.image.width:
        canvas.fill(
            [
                (int(x + lean), 0),
                (int(x + lean + step / 2), 0),
                (int(x + step / 2), canvas.image.height),
                (int(x), canvas.image.height),
            ],
            second,
        )
        x += step
    _grain(canvas, rng, 3, 0.17)


def _dots(canvas, rng, unit):
    wall, dot = rng.choice(_WALLS), rng.choice(_BRIGHT + _WALLS)
    _cover(canvas, wall)
    step = unit * rng.uniform(1.2, 2.2)
    for row in range(int(canvas.image.height / step) + 2):
        for column in range(int(canvas.image.width / step) + 2):
            frame = Frame((column + row % 2 / 2) * step, row * step, step)
            canvas.fill(frame.place(ellipse(0, 0, 0.24)), mix(wall, dot, 0.7))
    _grain(canvas, rng, 4, 0.21)


def _tartan(canvas, rng, unit):
    base, first, second = rng.choice(_BRIGHT), rng.choice(_BRIGHT), rng.choice(_WALLS)
    _cover(canvas, mix(base, (90, 80, 80), 0.3))
    step = unit * rng.uniform(1.8, 3)
    width, height = canvas.image.size
    for index in range(int(max(width, height) / step) + 1):
        at = index * step
        for offset, thick, colour in ((0, 0.4, first), (0.6, 0.08, second)):
            left, right = at + offset * step, at + (offset + thick) * step
            canvas.fill(_rectangle(left, 0, right, height), colour, opacity=0.4)
            canvas.fill(_rectangle(0, left, width, right), colour, opacity=0.4)
    _grain(canvas, rng, 2, 0.38)


def _planks(canvas, rng, unit):
    wood = rng.choice(((168, 124, 84), (140, 98, 66), (190, 152, 112), (120, 92, 74)))
    _cover(canvas, wood)
    width, height = canvas.image.size
    step, y = unit * rng.uniform(1.2, 2), 0
    while y < height:
        canvas.fill(_rectangle(0, y, width, y + step), mix(wood, (60, 40, 20), rng.uniform(0, 0.25)))
        for _ in range(3):
            grain = y + rng.uniform(0.15, 0.85) * step
            wave = [(x * width / 6, grain + rng.uniform(-0.06, 0.06) * step) for x in range(7)]
            canvas.line(
                [(int(a), int(b)) for a, b in smooth(wave, closed=False)], mix(wood, (50, 30, 10), 0.5), 2, opacity=0.6
            )
        canvas.fill(_rectangle(0, y, width, y + 4), (60, 42, 30))
        y += step
    _grain(canvas, rng, 5, 0.25)


def _lawn(canvas, rng, unit):
    grass = rng.choice(((104, 148, 72), (132, 160, 84), (84, 128, 78)))
    _cover(canvas, grass)
    _grain(canvas, rng, int(unit * 2), 0.8)
    draw = ImageDraw.Draw(canvas.image)
    for _ in range(420):
        x, y = rng.uniform(0, canvas.image.width), rng.uniform(0, canvas.image.height)
        length = unit * rng.uniform(0.3, 0.9)
        shade = mix(grass, rng.choice(((220, 230, 120), (30, 70, 30))), rng.uniform(0.1, 0.5))
        draw.line((int(x), int(y), int(x + rng.uniform(-0.4, 0.4) * length), int(y - length)), fill=shade, width=4)


def _clouds(canvas, rng, unit):
    """A room out of focus, as behind a portrait."""
    first, second = rng.choice(_WALLS + _BRIGHT), rng.choice(_WALLS)
    _cover(canvas, mix(first, (110, 110, 110), 0.35))
    canvas.image.paste(second, (0, 0), noise(rng, canvas.image.size, int(unit * rng.uniform(1.5, 4))))
    _grain(canvas, rng, int(unit * 1.2), 0.4)


def _bricks(canvas, rng, unit):
    brick, mortar = rng.choice(((170, 96, 76), (150, 110, 96), (186, 170, 150))), (206, 198, 188)
    _cover(canvas, mortar)
    high, wide = unit * rng.uniform(0.7, 1.1), unit * rng.uniform(1.8, 2.4)
    gap = max(2, int(unit * 0.1))
    for row in range(int(canvas.image.height / high) + 1):
        for column in range(-1, int(canvas.image.width / wide) + 2):
            x = (column + row % 2 / 2) * wide
            canvas.fill(
                _rectangle(x, row * high, x + wide - gap, (row + 1) * high - gap),
                mix(brick, rng.choice(((255, 220, 190), (60, 30, 30))), rng.uniform(0, 0.25)),
            )
    _grain(canvas, rng, 4, 0.32)


def _leaves(canvas, rng, unit):
    _cover(canvas, rng.choice(((70, 96, 66), (92, 84, 58), (58, 84, 88))))
    for _ in range(50):
        frame = Frame(
            rng.uniform(0, canvas.image.width),
            rng.uniform(0, canvas.image.height),
            unit * rng.uniform(0.6, 1.5),
            rng.uniform(0, 6.3),
        )
        green = mix(
            rng.choice(((96, 146, 80), (150, 160, 70), (176, 120, 60), (70, 120, 90))),
            (30, 40, 30),
            rng.uniform(0, 0.4),
        )
        leaf = smooth([(-1, 0), (-0.2, -0.42), (1, 0), (-0.2, 0.42)])
        canvas.fill(frame.place(leaf), green)
        canvas.line(frame.place([(-1, 0), (0.8, 0)]), mix(green, (240, 240, 190), 0.3), frame.scale * 0.06)


def _ball(canvas, rng, frame):
    colour = rng.choice(_BRIGHT)
    canvas.fill(frame.place(ellipse(0, 0, 0.8)), colour)
    canvas.line(frame.place(ellipse(-0.9, 0, 0.75, arc=(-0.8, 0.8))), (245, 245, 240), frame.scale * 0.12)
    canvas.line(
        frame.place(ellipse(0.9, 0, 0.75, arc=(math.pi - 0.8, math.pi + 0.8))), (245, 245, 240), frame.scale * 0.12
    )
    canvas.fill(frame.place(ellipse(-0.25, -0.35, 0.2)), (255, 255, 255), blur=frame.scale * 0.1, opacity=0.6)


def _yarn(canvas, rng, frame):
    colour = rng.choice(_BRIGHT)
    canvas.line(
        frame.place(smooth([(0.4, 0.6), (1.2, 0.9), (1.6, 0.5), (2.2, 0.8)], closed=False)), colour, frame.scale * 0.09
    )
    canvas.fill(frame.place(ellipse(0, 0, 0.8)), colour)
    for turn in (0.3, 1.2, 2.1, 2.8):
        for bow in (0.2, 0.45, 0.68):
            canvas.line(
                frame.place(ellipse(0, 0, 0.78, bow, turn, (0, math.pi))),
                mix(colour, (255, 255, 255), 0.35),
                frame.scale * 0.05,
                opacity=0.8,
            )


def _bone(canvas, rng, frame):
    colour = mix((244, 236, 216), (200, 180, 150), rng.uniform(0, 0.5))
    for grow, shade in ((0.06, mix(colour, (90, 70, 50), 0.6)), (0, colour)):
        canvas.fill(
            frame.place([(-0.8, -0.2 - grow), (0.8, -0.2 - grow), (0.8, 0.2 + grow), (-0.8, 0.2 + grow)]), shade
        )
        for x in (-0.85, 0.85):
            for y in (-0.24, 0.24):
                canvas.fill(frame.place(ellipse(x, y, 0.3 + grow)), shade)


def _flower(canvas, rng, frame):
    petals, heart = rng.choice(_BRIGHT), (246, 206, 80)
    count = rng.randrange(5, 8)
    for index in range(count):
        angle = index * 2 * math.pi / count
        canvas.fill(
            frame.place(ellipse(0.5 * math.cos(angle), 0.5 * math.sin(angle), 0.42, 0.27, angle)),
            mix(petals, (255, 255, 255), 0.15 * (index % 2)),
        )
    canvas.fill(frame.place(ellipse(0, 0, 0.26)), heart)


def _mug(canvas, rng, frame):
    colour = mix(rng.choice(_BRIGHT), (255, 255, 255), 0.2)
    canvas.line(frame.place(ellipse(0.65, 0, 0.38, arc=(-1.6, 1.6))), colour, frame.scale * 0.16)
    canvas.fill(frame.place(smooth([(-0.65, -0.7), (0.65, -0.7), (0.6, 0.65), (-0.6, 0.65)], steps=3)), colour)
    canvas.fill(frame.place(ellipse(0, -0.68, 0.66, 0.18)), mix(colour, (255, 255, 255), 0.4))
    canvas.fill(frame.place(ellipse(0, -0.66, 0.54, 0.12)), (92, 60, 44))


def _fish(canvas, rng, frame):
    colour = rng.choice(((120, 170, 196), (232, 150, 90), (170, 180, 190)))
    canvas.fill(frame.place([(0.5, 0), (1.3, -0.5), (1.1, 0), (1.3, 0.5)]), mix(colour, (40, 40, 60), 0.2))
    canvas.fill(frame.place(smooth([(-0.95, 0), (-0.1, -0.48), (0.8, 0), (-0.1, 0.48)])), colour)
    canvas.fill(frame.place(ellipse(-0.55, -0.08, 0.09)), (250, 250, 250))
    canvas.fill(frame.place(ellipse(-0.55, -0.08, 0.05)), (20, 20, 20))
    canvas.line(
        frame.place(ellipse(-0.5, 0, 0.3, 0.34, arc=(-1.1, 1.1))), mix(colour, (40, 40, 60), 0.4), frame.scale * 0.06
    )


def _cushion(canvas, rng, frame):
    colour = rng.choice(_BRIGHT)
    outline = [(-1.1, -1.1), (0, -0.85), (1.1, -1.1), (0.85, 0), (1.1, 1.1), (0, 0.85), (-1.1, 1.1), (-0.85, 0)]
    canvas.fill(frame.place(smooth(outline)), mix(colour, (120, 110, 110), 0.35))
    canvas.fill(frame.place(ellipse(0, 0, 0.09)), mix(colour, (30, 30, 30), 0.5))
    for angle in (0.8, 2.3, 3.9, 5.5):
        canvas.line(
            frame.place([(0, 0), (0.4 * math.cos(angle), 0.4 * math.sin(angle))]),
            mix(colour, (30, 30, 30), 0.5),
            frame.scale * 0.04,
            opacity=0.7,
        )
