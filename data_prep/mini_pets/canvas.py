"""Drawing with polygons on a supersampled canvas: soft edges, tilt and shading for the mini-pets images.

Points are in a unit frame (x to the right, y down, a head about two units wide) that a Frame places on the
canvas. They are rounded to whole canvas pixels, so that a last digit of a sine cannot change an image.
"""

import math
from random import Random
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

from PIL import Image, ImageChops, ImageDraw, ImageFilter

# Not 0.5: symmetric outlines often lie exactly between two pixels, where a last digit would decide.
_HALF = 0.500001

Point = Tuple[float, float]
Pixel = Tuple[int, int]
Colour = Tuple[int, ...]


class Frame:
    """Where the unit frame lies on the canvas: centre and scale in canvas pixels, tilt in radians."""

    def __init__(self, x: float, y: float, scale: float, tilt: float = 0.0, stretch: float = 1.0):
        self.x, self.y, self.scale, self.stretch = x, y, scale, stretch
        self._cos, self._sin = math.cos(tilt), math.sin(tilt)

    def place(self, points: Sequence[Point]) -> List[Pixel]:
        """Canvas pixels of unit points."""
        placed = []
        for x, y in points:
            x, y = x * self.scale * self.stretch, y * self.scale / self.stretch
            placed.append(
                (
                    math.floor(self.x + x * self._cos - y * self._sin + _HALF),
                    math.floor(self.y + x * self._sin + y * self._cos + _HALF),
                )
            )
        return placed


def ellipse(
    x: float,
    y: float,
    rx: float,
    ry: Optional[float] = None,
    turn: float = 0.0,
    arc: Tuple[float, float] = (0.0, 2 * math.pi),
) -> List[Point]:
    """Points of an ellipse, or of an arc of it.

    Args:
        x, y: its centre.
        rx, ry: its half axes; ry is rx where there is none.
        turn: by how much it is turned.
        arc: where it begins and ends, radians, clockwise from the right.
    """
    start, stop = arc
    ry = rx if ry is None else ry
    steps = 40
    angles = [start + (stop - start) * step / steps for step in range(steps + 1)]
    cos, sin = math.cos(turn), math.sin(turn)
    return [
        (x + rx * math.cos(a) * cos - ry * math.sin(a) * sin, y + rx * math.cos(a) * sin + ry * math.sin(a) * cos)
        for a in angles
    ]


def smooth(points: Sequence[Point], closed: bool = True, steps: int = 6) -> List[Point]:
    """A Catmull-Rom curve through points."""
    count = len(points)
    curve = []
    for index in range(count if closed else count - 1):
        nearby = [index + offset for offset in (-1, 0, 1, 2)]
        around = [points[i % count] if closed else points[min(max(i, 0), count - 1)] for i in nearby]
        curve += [_spline(around, step / steps) for step in range(steps)]
    return curve if closed else curve + [points[-1]]


def _spline(around, t):
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = around
    weights = (-t + 2 * t**2 - t**3, 2 - 5 * t**2 + 3 * t**3, t + 4 * t**2 - 3 * t**3, t**3 - t**2)
    return (
        sum(w * v for w, v in zip(weights, (x0, x1, x2, x3))) / 2,
        sum(w * v for w, v in zip(weights, (y0, y1, y2, y3))) / 2,
    )


def mirrored(half: List[Point]) -> List[Point]:
    """Close an outline whose right half is given from top to bottom."""
    return half + [(-x, y) for x, y in reversed(half) if x > 0]


def mix(colour: Colour, other: Colour, share: float) -> Colour:
    """The colour that is share of the way to other."""
    return tuple(int(round(a + (b - a) * share)) for a, b in zip(colour, other))


def noise(rng: Random, size: Tuple[int, int], cell: int, mode: str = "L") -> Image.Image:
    """Smooth noise: random pixels of about cell canvas pixels, enlarged to size."""
    small = (max(2, size[0] // cell), max(2, size[1] // cell))
    count = small[0] * small[1] * len(mode)
    values = Image.frombytes(mode, small, rng.getrandbits(8 * count).to_bytes(count, "little"))
    return values.resize(size, Image.BICUBIC)


class _Brush(NamedTuple):
    """clip: a mask outside of which nothing is painted. blur: canvas pixels."""

    colour: Any
    clip: Optional[Image.Image]
    blur: float
    opacity: float


class Canvas:
    """An image being painted, `supersample` times larger than it will be."""

    def __init__(self, image: Image.Image):
        self.image = image

    def mask(self, polygons: Sequence[Sequence[Pixel]]) -> Image.Image:
        """A full-size mask (mode L) of polygons in canvas pixels."""
        mask = Image.new("L", self.image.size, 0)
        draw = ImageDraw.Draw(mask)
        for polygon in polygons:
            draw.polygon(polygon, fill=255)
        return mask

    def fill(
        self,
        polygon: Sequence[Pixel],
        colour: Any,
        clip: Optional[Image.Image] = None,
        blur: float = 0,
        opacity: float = 1.0,
    ) -> None:
        """Paint polygon (canvas pixels), softened by blur pixels, only where the mask clip allows."""
        brush = _Brush(colour, clip, blur, opacity)
        self._paint(polygon, brush, blur * 2.5 + 1, lambda draw, local, ink: draw.polygon(local, fill=ink))

    def line(
        self,
        points: Sequence[Pixel],
        colour: Any,
        width: float,
        clip: Optional[Image.Image] = None,
        blur: float = 0,
        opacity: float = 1.0,
    ) -> None:
        """Paint a line with round ends; width in canvas pixels."""
        whole_width = max(1, int(round(width)))

        def stroke(draw, local, ink):
            draw.line(local, fill=ink, width=whole_width, joint="curve")
            radius = whole_width / 2
            for x, y in (local[0], local[-1]):
                draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=ink)

        self._paint(points, _Brush(colour, clip, blur, opacity), blur * 2.5 + whole_width, stroke)

    def _paint(self, points: Sequence[Pixel], brush: "_Brush", margin: float, draw_on: Callable[..., Any]) -> None:
        colour, clip, blur, opacity = brush
        if clip is None and not blur and opacity == 1:
            draw_on(ImageDraw.Draw(self.image), points, colour)
            return
        xs, ys = [x for x, _ in points], [y for _, y in points]
        margin = int(math.ceil(margin))
        left, top = max(0, min(xs) - margin), max(0, min(ys) - margin)
        right = min(self.image.width, max(xs) + margin + 1)
        bottom = min(self.image.height, max(ys) + margin + 1)
        if right <= left or bottom <= top:
            return
        mask = Image.new("L", (right - left, bottom - top), 0)
        draw_on(ImageDraw.Draw(mask), [(x - left, y - top) for x, y in points], 255)
        if blur:
            mask = mask.filter(ImageFilter.GaussianBlur(blur))
        if clip is not None:
            mask = ImageChops.multiply(mask, clip.crop((left, top, right, bottom)))
        if opacity < 1:
            mask = mask.point([int(value * opacity) for value in range(256)])
        self.image.paste(colour, (left, top, right, bottom), mask)

    def texture(self, rng: Random, clip: Optional[Image.Image], cell: int, strength: float) -> None:
        """Mottle a part of the canvas, so that fur and cloth are not flat.

        Args:
            rng: of the noise.
            clip: the mask of the part, None for everything.
            cell: size of the noise in canvas pixels.
            strength: 0 to 1.
        """
        box = (0, 0) + self.image.size if clip is None else clip.getbbox()
        if box is None:
            return
        size = (box[2] - box[0], box[3] - box[1])
        values = noise(rng, size, cell).point([128 + int((value - 128) * strength) for value in range(256)])
        mottled = ImageChops.soft_light(self.image.crop(box), Image.merge("RGB", (values, values, values)))
        self.image.paste(mottled, box, None if clip is None else clip.crop(box))
