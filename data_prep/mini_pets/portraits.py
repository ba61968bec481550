"""Three pets of clearly different breeds: how each is drawn, and where its head ends up.

Every portrait has the head at the origin of its frame, about two units wide, and a body below it. What varies
(coat, eyes, look, mouth, collar) comes from the random generator that is handed in.
"""

import math
from random import Random
from typing import List, NamedTuple

from PIL import Image, ImageChops

from data_prep.mini_pets.canvas import Canvas, Colour, Frame, Point, ellipse, mirrored, mix, smooth

_INK = (38, 30, 30)
_COLLARS = ((206, 58, 58), (52, 110, 180), (70, 150, 90), (236, 176, 50), (140, 84, 160), (230, 110, 150))
_TONGUE = (232, 122, 136)


class Pose(NamedTuple):
    """How a pet sits: head and chest frames, and how far it looks to the side and down (unit lengths)."""

    head: Frame
    chest: Frame
    look_x: float
    look_y: float


class Painted(NamedTuple):
    """Masks (mode L, canvas size) of a painted pet."""

    head: Image.Image
    body: Image.Image


def pose(rng: Random, x: float, y: float, scale: float) -> Pose:
    """A random pose with the head's centre at x, y (canvas pixels) and a half width of about scale."""
    stretch = rng.uniform(0.95, 1.06)
    return Pose(
        Frame(x, y, scale, rng.uniform(-0.3, 0.3), stretch),
        Frame(x, y, scale, 0, stretch),
        rng.uniform(-0.13, 0.13),
        rng.uniform(-0.06, 0.08),
    )


def siamese(canvas: Canvas, rng: Random, at: Pose) -> Painted:
    """A cream cat with a dark mask, dark large ears and blue eyes."""
    cream = rng.choice(((238, 224, 202), (244, 234, 220), (228, 212, 190)))
    point = rng.choice(((74, 52, 44), (62, 54, 58), (98, 70, 56), (84, 82, 94)))
    body = _chest(canvas, rng, at, _Fur(cream, mix(cream, (255, 255, 255), 0.4), point), ("long", point, None))
    ears = [[(0.22, -0.72), (0.62, -1.3), (0.98, -1.52), (1.06, -1.2), (0.93, -0.22)]]
    outline = mirrored([(0, -0.8), (0.5, -0.75), (0.88, -0.36), (0.93, 0.02), (0.7, 0.46), (0.4, 0.82), (0, 0.93)])
    head = _head(canvas, rng, at, outline, cream, _Ears(ears, point, mix(point, (210, 150, 140), 0.45)))
    face = _face_frame(at)
    scale = at.head.scale
    canvas.fill(
        face([(x * 0.72, 0.32 + y * 0.8) for x, y in ellipse(0, 0, 0.95, 0.9)]), point, head.inner, scale * 0.16, 0.92
    )
    canvas.fill(face(ellipse(0, -0.25, 0.24, 0.5)), point, head.inner, scale * 0.14, 0.7)
    for side in (-1, 1):
        canvas.fill(face(ellipse(side * 0.82, -0.62, 0.22, 0.3)), point, head.inner, scale * 0.13, 0.8)
    iris = rng.choice(((74, 150, 222), (96, 176, 236), (60, 124, 206)))
    _cat_eyes(canvas, rng, at, _Eyes(iris, mix(point, (0, 0, 0), 0.45), slant=0.3, height=0.19))
    _cat_mouth(
        canvas, rng, at, mix(point, (0, 0, 0), 0.55), mix(point, (230, 220, 210), 0.25), mix(point, (0, 0, 0), 0.6)
    )
    return Painted(head.mask, body)


def bengal(canvas: Canvas, rng: Random, at: Pose) -> Painted:
    """An orange cat with dark stripes and spots, a white muzzle and green eyes."""
    coat = rng.choice(((226, 150, 72), (214, 132, 58), (232, 168, 96), (204, 140, 78)))
    stripe = rng.choice(((92, 50, 28), (70, 40, 26), (116, 58, 26)))
    white = (250, 242, 228)
    body = _chest(canvas, rng, at, _Fur(coat, white, white), ("long", coat, stripe))
    _spots(canvas, rng, at.chest, stripe, body)
    ears = [[(0.2, -0.74), (0.52, -1.12), (0.78, -1.36), (0.94, -1.05), (0.98, -0.3)]]
    outline = mirrored(
        [(0, -0.84), (0.5, -0.78), (0.9, -0.4), (1.0, 0.0), (1.1, 0.3), (0.82, 0.56), (0.45, 0.84), (0, 0.92)]
    )
    head = _head(canvas, rng, at, outline, coat, _Ears(ears, mix(coat, stripe, 0.3), (236, 176, 160)))
    face = _face_frame(at)
    scale = at.head.scale
    canvas.fill(face(ellipse(0, 0.56, 0.52, 0.36)), white, head.inner, scale * 0.08)
    for side in (-1, 1):
        canvas.fill(face(ellipse(side * 0.42, -0.02, 0.34, 0.27)), white, head.inner, scale * 0.09, 0.6)
    stripes: List[List[Point]] = [
        [(0, -0.9), (0, -0.5)],
        [(0.2, -0.88), (0.17, -0.6), (0.24, -0.42)],
        [(0.46, -0.82), (0.4, -0.6), (0.47, -0.38)],
        [(0.66, 0.06), (0.9, 0.0), (1.1, 0.06)],
        [(0.62, 0.28), (0.86, 0.26), (1.1, 0.36)],
        [(0.7, -0.28), (0.9, -0.36), (1.05, -0.4)],
        [(0.52, 0.52), (0.72, 0.5), (0.95, 0.56)],
    ]
    width = rng.uniform(0.08, 0.12)
    for side in (-1, 1):
        for line in stripes:
            wobble = [(side * (x + rng.uniform(-0.02, 0.02)), y + rng.uniform(-0.03, 0.03)) for x, y in line]
            canvas.line(face(smooth(wobble, closed=False)), stripe, scale * width, head.inner, scale * 0.012)
    iris = rng.choice(((134, 178, 70), (170, 186, 62), (206, 176, 56)))
    _cat_eyes(canvas, rng, at, _Eyes(iris, mix(stripe, (0, 0, 0), 0.4), slant=0.16, height=0.23))
    _cat_mouth(canvas, rng, at, (222, 122, 116), white, mix(stripe, (0, 0, 0), 0.3))
    return Painted(head.mask, body)


def pug(canvas: Canvas, rng: Random, at: Pose) -> Painted:
    """A fawn dog with folded dark ears, a wrinkled forehead and a broad black muzzle."""
    fawn = rng.choice(((218, 184, 138), (226, 196, 154), (206, 170, 122), (214, 200, 176)))
    dark = rng.choice(((48, 42, 42), (58, 48, 44), (40, 38, 42)))
    fur = _Fur(fawn, mix(fawn, (255, 250, 240), 0.35), mix(fawn, (255, 250, 240), 0.2))
    body = _chest(canvas, rng, at, fur, ("curl", fawn, None))
    outline = mirrored([(0, -0.86), (0.5, -0.86), (0.92, -0.58), (1.06, -0.08), (1.02, 0.38), (0.7, 0.84), (0, 1.0)])
    head = _head(canvas, rng, at, outline, fawn, _Ears([], fawn, fawn))
    face = _face_frame(at)
    scale = at.head.scale
    crease = mix(fawn, dark, 0.62)
    for y, half, bow in ((-0.6, 0.42, 0.1), (-0.45, 0.5, 0.13), (-0.3, 0.3, 0.1)):
        for side in (-1, 1):
            line = [(side * 0.06, y + bow), (side * half * 0.5, y - bow * 0.3), (side * half, y + bow * 0.5)]
            canvas.line(face(smooth(line, closed=False)), crease, scale * 0.05, head.inner, scale * 0.02, 0.85)
    canvas.fill(face(ellipse(0, -0.5, 0.07, 0.22)), dark, head.inner, scale * 0.05, 0.7)
    for side in (-1, 1):
        canvas.fill(face(ellipse(side * 0.5, -0.06, 0.33, 0.3)), dark, head.inner, scale * 0.08, 0.72)
        canvas.line(
            face(
                ellipse(
                    side * 0.62,
                    0.3,
                    0.32,
                    0.42,
                    arc=(-0.5 if side > 0 else math.pi - 0.5, 0.9 if side > 0 else math.pi + 0.9),
                )
            ),
            crease,
            scale * 0.04,
            head.inner,
            scale * 0.02,
            0.7,
        )
    _pug_mouth(canvas, rng, at, head, dark)
    _round_eyes(canvas, rng, at, dark)
    flaps = _ears_of_pug(canvas, rng, at, dark)
    return Painted(ImageChops.lighter(head.mask, flaps), body)


class _Fur(NamedTuple):
    coat: Colour
    bib: Colour
    paws: Colour


class _Ears(NamedTuple):
    outlines: List[List[Point]]  # of the right one, each
    colour: Colour
    inside: Colour


class _Eyes(NamedTuple):
    iris: Colour
    rim: Colour
    slant: float
    height: float


class _Head(NamedTuple):
    mask: Image.Image  # with the ears
    inner: Image.Image  # the head without the ears, to keep markings inside


def _face_frame(at):
    """Place points of the face, shifted and squeezed to the side where the pet looks: a head is round."""

    def face(points):
        return at.head.place(
            [
                (
                    x * (1 - abs(at.look_x) * 0.3) + at.look_x * (1.15 - min(1.0, x * x + y * y)),
                    y + at.look_y * (1.15 - min(1.0, x * x + y * y)),
                )
                for x, y in points
            ]
        )

    return face


def _head(canvas, rng, at, outline, coat, ears):
    scale = at.head.scale
    head_polygon = at.head.place(smooth(outline))
    ear_polygons = []
    for ear in ears.outlines:
        for side in (-1, 1):
            droop = rng.uniform(-0.05, 0.05)
            points = [(side * x, y + (droop if y < -0.8 else 0)) for x, y in ear]
            ear_polygons.append(at.head.place(smooth(points)))
            canvas.fill(ear_polygons[-1], ears.colour)
            mid_x, mid_y = (sum(values) / len(points) for values in zip(*points))
            inside = [(mid_x + (x - mid_x) * 0.58, mid_y + 0.05 + (y - mid_y) * 0.6) for x, y in points]
            canvas.fill(at.head.place(smooth(inside)), ears.inside, blur=scale * 0.03)
    inner = canvas.mask([head_polygon])
    # The head throws a soft shadow on the chest, without which it would be a sticker.
    canvas.fill([(x, y + int(scale * 0.12)) for x, y in head_polygon], (30, 24, 28), blur=scale * 0.09, opacity=0.35)
    for ear_polygon in ear_polygons:
        canvas.line(ear_polygon, mix(ears.colour, _INK, 0.5), scale * 0.025, opacity=0.7)
    canvas.fill(head_polygon, coat)
    mask = canvas.mask([head_polygon] + ear_polygons)
    canvas.fill(
        at.head.place(ellipse(-0.3, -0.35, 0.7, 0.55)), mix(coat, (255, 255, 255), 0.4), inner, scale * 0.2, 0.6
    )
    canvas.fill(at.head.place(ellipse(0.1, 1.0, 1.1, 0.45)), mix(coat, (60, 40, 40), 0.4), inner, scale * 0.2, 0.6)
    canvas.texture(rng, mask, max(2, int(scale * 0.04)), 0.4)
    return _Head(mask, inner)


def _chest(canvas, rng, at, fur, tail):
    """A sitting body with tail, paws and collar, painted before the head; returns the mask."""
    place, scale = at.chest.place, at.chest.scale
    coat, bib, paws = fur
    shade = mix(coat, (60, 40, 40), 0.45)
    tail_mask = _tail(canvas, at.chest, rng.choice((-1, 1)), *tail)
    wide = rng.uniform(0.94, 1.08)
    outline = smooth(
        mirrored(
            [
                (0, 0.2),
                (0.62, 0.3),
                (0.8, 0.95),
                (0.98 * wide, 1.7),
                (1.36 * wide, 2.5),
                (1.36 * wide, 3.1),
                (0.9, 3.36),
                (0, 3.36),
            ]
        )
    )
    polygon = place(outline)
    mask = canvas.mask([polygon])
    canvas.fill(place(ellipse(0, 3.3, 1.7, 0.28)), (20, 16, 24), blur=scale * 0.15, opacity=0.5)
    canvas.fill(polygon, coat)
    canvas.fill(place(ellipse(0, 1.6, 0.55, 0.75)), bib, mask, scale * 0.15)
    for side in (-1, 1):
        canvas.fill(place(ellipse(side * 1.5 * wide, 2.0, 0.42, 1.2)), shade, mask, scale * 0.2, 0.6)
        _leg(canvas, at.chest, side, wide, (shade, mask))
        canvas.fill(place(ellipse(side * 1.0, 3.28, 0.36, 0.17)), mix(paws, (40, 30, 30), 0.15))
    canvas.texture(rng, mask, max(2, int(scale * 0.05)), 0.4)
    for side in (-1, 1):
        canvas.fill(place(ellipse(side * 0.36, 3.26, 0.32, 0.2)), paws)
        for toe in (-0.1, 0.1):
            canvas.line(
                place([(side * 0.36 + toe, 3.26), (side * 0.36 + toe, 3.42)]), mix(paws, _INK, 0.5), scale * 0.035
            )
    if rng.random() < 0.75:
        _collar(canvas, rng, at, mask)
    return ImageChops.lighter(mask, tail_mask)


def _leg(canvas, frame, side, wide, paint):
    """The line of a haunch and that of the leg before it; paint: (their colour, the body's mask)."""
    shade, mask = paint
    haunch = ellipse(
        side * 0.86 * wide,
        2.78,
        0.6,
        0.66,
        arc=(math.pi * (1.05 if side < 0 else 1.2), math.pi * (1.8 if side < 0 else 1.95)),
    )
    canvas.line(frame.place(haunch), shade, frame.scale * 0.07, mask, frame.scale * 0.03, 0.8)
    canvas.line(
        frame.place(smooth([(side * 0.06, 2.3), (side * 0.08, 2.8), (side * 0.06, 3.3)], closed=False)),
        shade,
        frame.scale * 0.06,
        mask,
        frame.scale * 0.03,
        0.8,
    )


def _tail(canvas, frame, side, kind, colour, rings):
    """A long raised tail or a pug's curl; rings: their colour, None for a plain one. Returns the mask."""
    if kind == "curl":
        points = smooth([(1.0, 2.5), (1.5, 2.3), (1.75, 2.0), (1.55, 1.75), (1.35, 1.95)], closed=False)
        width = 0.3
    else:
        points = smooth([(0.9, 3.1), (1.6, 3.05), (1.95, 2.5), (1.85, 1.9), (2.05, 1.45)], closed=False)
        width = 0.26
    placed = frame.place([(side * x, y) for x, y in points])
    canvas.line(placed, mix(colour, _INK, 0.45), frame.scale * (width + 0.06))
    canvas.line(placed, colour, frame.scale * width)
    if rings:
        for start in range(5, len(placed) - 2, 5):
            canvas.line(placed[start : start + 3], rings, frame.scale * width)
    mask = Canvas(Image.new("L", canvas.image.size, 0))
    mask.line(placed, 255, frame.scale * (width + 0.06))
    return mask.image


def _collar(canvas, rng, at, mask):
    scale, colour = at.chest.scale, rng.choice(_COLLARS)
    canvas.line(at.chest.place(ellipse(0, 0.72, 0.92, 0.5, arc=(0.1, math.pi - 0.1))), colour, scale * 0.2, mask)
    if rng.random() < 0.35:
        for side in (-1, 1):
            canvas.fill(
                at.chest.place(smooth([(0, 1.24), (side * 0.42, 1.02), (side * 0.46, 1.46)], steps=4)),
                mix(colour, (255, 255, 255), 0.15),
            )
        canvas.fill(at.chest.place(ellipse(0, 1.24, 0.1)), mix(colour, (0, 0, 0), 0.25))
    else:
        canvas.fill(at.chest.place(ellipse(0, 1.36, 0.16)), (240, 206, 96))
        canvas.fill(at.chest.place(ellipse(-0.04, 1.31, 0.05)), (255, 248, 214))
        canvas.fill(at.chest.place(ellipse(0.02, 1.42, 0.04)), (120, 90, 30))


def _spots(canvas, rng, frame, colour, mask):
    for _ in range(16):
        x, y = rng.uniform(-1.3, 1.3), rng.uniform(1.1, 3.0)
        if abs(x) > 0.5:
            canvas.fill(
                frame.place(ellipse(x, y, rng.uniform(0.08, 0.16), rng.uniform(0.06, 0.1), rng.uniform(0, 3))),
                colour,
                mask,
                frame.scale * 0.015,
            )


def _cat_eyes(canvas, rng, at, eyes):
    """Almond eyes with slit pupils: open, half shut, or closed in a smile; now and then a wink."""
    iris, rim, slant, height = eyes
    face, scale = _face_frame(at), at.head.scale
    mood = rng.choice(("open", "open", "open", "wide", "sleepy", "happy"))
    wink = rng.random() < 0.1
    glance = rng.uniform(-0.05, 0.05)
    pupil = rng.uniform(0.035, 0.1)
    for side in (-1, 1):
        x, y = side * 0.43, -0.08
        if mood == "happy" or (wink and side > 0):
            canvas.line(face(ellipse(x, y + 0.08, 0.22, 0.16, arc=(math.pi, 2 * math.pi))), rim, scale * 0.07)
            continue
        tall = height * {"open": 1, "wide": 1.2, "sleepy": 0.62}[mood]
        almond = smooth(
            [(-0.26, 0.05), (-0.1, -tall), (0.12, -tall), (0.27, -0.03), (0.1, tall * 0.9), (-0.12, tall * 0.85)]
        )
        turned = [
            (px * math.cos(-slant) - py * math.sin(-slant), px * math.sin(-slant) + py * math.cos(-slant))
            for px, py in almond
        ]
        placed = face([(x + side * px, y + py) for px, py in turned])
        eye = canvas.mask([placed])
        canvas.fill(placed, iris)
        canvas.fill(face(ellipse(x, y + 0.12, 0.2, 0.1)), mix(iris, (255, 255, 255), 0.5), eye, scale * 0.04, 0.7)
        canvas.fill(face(ellipse(x + glance, y, pupil, tall * 0.92)), (12, 10, 14), eye)
        canvas.line(placed + placed[:1], rim, scale * 0.055)
        canvas.fill(face(ellipse(x + glance - 0.06, y - 0.08, 0.05)), (255, 255, 255))


def _cat_mouth(canvas, rng, at, nose, pads, ink):
    """Whisker pads, nose, the w of a cat's mouth, whiskers, and sometimes the tip of the tongue."""
    face, scale = _face_frame(at), at.head.scale
    for side in (-1, 1):
        canvas.fill(face(ellipse(side * 0.19, 0.53, 0.23, 0.17)), pads, blur=scale * 0.02)
    if rng.random() < 0.25:
        canvas.fill(face(smooth([(-0.1, 0.64), (0.1, 0.64), (0.09, 0.82), (0, 0.88), (-0.09, 0.82)])), _TONGUE)
    smile = rng.uniform(0.06, 0.13)
    for side in (-1, 1):
        mouth = [(0, 0.47), (0, 0.58), (side * 0.12, 0.58 + smile), (side * 0.27, 0.57)]
        canvas.line(face(smooth(mouth, closed=False)), ink, scale * 0.04)
        for index in range(3):
            start = (side * 0.26, 0.46 + 0.07 * index)
            end = (side * rng.uniform(1.1, 1.35), 0.3 + 0.2 * index + rng.uniform(-0.06, 0.06))
            middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 - 0.05)
            canvas.line(
                face(smooth([start, middle, end], closed=False)), (252, 250, 246), max(2, scale * 0.022), opacity=0.85
            )
            canvas.fill(face(ellipse(side * 0.2, 0.47 + 0.055 * index, 0.016)), ink)
    canvas.fill(face(smooth([(-0.13, 0.3), (0, 0.275), (0.13, 0.3), (0.07, 0.41), (0, 0.47), (-0.07, 0.41)])), nose)
    canvas.fill(face(ellipse(-0.04, 0.32, 0.035, 0.02)), mix(nose, (255, 255, 255), 0.5))


def _round_eyes(canvas, rng, at, dark):
    """Large wet eyes far apart; lids and a white rim make the look."""
    face, scale = _face_frame(at), at.head.scale
    mood = rng.choice(("open", "open", "open", "up", "sleepy", "happy"))
    iris = rng.choice(((92, 54, 30), (74, 44, 28), (112, 66, 34)))
    glance_x, glance_y = rng.uniform(-0.06, 0.06), -0.05 if mood == "up" else rng.uniform(-0.02, 0.04)
    for side in (-1, 1):
        x, y = side * 0.5, -0.05
        if mood == "happy":
            canvas.line(face(ellipse(x, y + 0.08, 0.2, 0.16, arc=(math.pi, 2 * math.pi))), (16, 12, 12), scale * 0.07)
            continue
        white = face(ellipse(x, y, 0.235, 0.225))
        eye = canvas.mask([white])
        canvas.fill(white, (244, 240, 234))
        canvas.fill(face(ellipse(x + glance_x, y + glance_y, 0.2)), iris, eye)
        canvas.fill(face(ellipse(x + glance_x, y + glance_y, 0.13)), (10, 8, 10), eye)
        if mood == "sleepy":
            canvas.fill(face(ellipse(x, y - 0.23, 0.3, 0.2)), mix(dark, (150, 120, 90), 0.25), eye)
        canvas.line(white, (18, 14, 14), scale * 0.035)
        canvas.fill(face(ellipse(x + glance_x - 0.07, y + glance_y - 0.08, 0.065)), (255, 255, 255))
        canvas.fill(face(ellipse(x + glance_x + 0.07, y + glance_y + 0.07, 0.03)), (230, 230, 240))


def _pug_mouth(canvas, rng, at, head, dark):
    """The broad black muzzle with its jowls and nose, and often a tongue."""
    face, scale = _face_frame(at), at.head.scale
    canvas.fill(face(ellipse(0, 0.42, 0.6, 0.5)), dark, head.inner, scale * 0.07, 0.95)
    if rng.random() < 0.55:
        long = rng.uniform(0.86, 1.0)
        canvas.fill(
            face(smooth([(-0.17, 0.62), (0.17, 0.62), (0.17, long - 0.06), (0, long), (-0.17, long - 0.06)])), _TONGUE
        )
        canvas.line(face([(0, 0.68), (0, long - 0.1)]), mix(_TONGUE, (120, 30, 50), 0.5), scale * 0.03)
    for side in (-1, 1):
        canvas.fill(
            face(ellipse(side * 0.25, 0.47, 0.3, 0.23, side * 0.25)),
            mix(dark, (130, 120, 118), 0.22),
            head.inner,
            scale * 0.025,
        )
        jowl = [(0, 0.36), (side * 0.05, 0.58), (side * 0.26, 0.7), (side * 0.5, 0.56)]
        canvas.line(face(smooth(jowl, closed=False)), (16, 12, 12), scale * 0.045)
        for index in range(3):
            canvas.fill(face(ellipse(side * (0.22 + 0.08 * index), 0.46 + 0.04 * (index % 2), 0.014)), (14, 10, 10))
    canvas.line(
        face(ellipse(0, 0.28, 0.3, 0.16, arc=(math.pi + 0.3, 2 * math.pi - 0.3))),
        mix(dark, (170, 150, 130), 0.35),
        scale * 0.05,
    )
    canvas.fill(
        face(smooth([(-0.2, 0.2), (0, 0.15), (0.2, 0.2), (0.15, 0.32), (0, 0.37), (-0.15, 0.32)])), (14, 12, 14)
    )
    canvas.fill(face(ellipse(-0.06, 0.21, 0.06, 0.025)), (150, 150, 160))


def _ears_of_pug(canvas, rng, at, dark):
    scale = at.head.scale
    polygons = []
    for side in (-1, 1):
        lift = rng.uniform(-0.06, 0.08)
        flap = [
            (0.5, -0.88),
            (0.82, -0.86),
            (1.08, -0.62 + lift),
            (1.2, -0.16 + lift),
            (1.02, -0.06 + lift),
            (0.84, -0.3),
            (0.68, -0.52),
        ]
        polygons.append(at.head.place(smooth([(side * x, y) for x, y in flap])))
        canvas.fill(
            [(x, y + int(scale * 0.06)) for x, y in polygons[-1]], (30, 20, 20), blur=scale * 0.05, opacity=0.35
        )
        canvas.fill(polygons[-1], dark)
        fold = [(side * x, y) for x, y in ((0.6, -0.8), (0.86, -0.66), (1.06, -0.3 + lift))]
        canvas.line(
            at.head.place(smooth(fold, closed=False)),
            mix(dark, (160, 140, 130), 0.3),
            scale * 0.05,
            blur=scale * 0.02,
            opacity=0.8,
        )
    return canvas.mask(polygons)
