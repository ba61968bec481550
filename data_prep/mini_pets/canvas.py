"""Drawing with polygons on a supersampled canvas: soft edges, tilt and shading for the mini-pets images.

Points are in a unit frame (x to the right, y down, a head about two units wide) that a Frame places on the
canvas. They are rounded to whole canvas pixels, so that a last digit of a sine cannot change an image.
"""

import math

from PIL import Image, ImageChops, ImageDraw, ImageFilter

# Not 0.5: symmetric outlines often lie exactly between two pixels, where a last digit would decide.
_HALF = 0.500001


class Frame:
    """Where the unit frame lies on the canvas: centre and scale in canvas pixels, tilt in radians."""

    def __init__(self, x, y, scale, tilt=0.0, stretch=1.0):
        self.x, self.y, self.scale, self.stretch = x, y, scale, stretch
        self._cos, self._sin = math.cos(tilt), math.sin(tilt)

    def place(self, points):
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


def ellipse(x, y, rx, ry=None, turn=0.0, start=0.0, stop=2 * math.pi):
    """Points of an ellipse, or of its arc from start to stop (radians, clockwise from the right)."""
    ry = rx if ry is None else ry
    steps = 40
    angles = [start + (stop - start) * step / steps for step in range(steps + 1)]
    cos, sin = math.cos(turn), math.sin(turn)
    return [
        (x + rx * math.cos(a) * cos - ry * math.sin(a) * sin, y + rx * math.cos(a) * sin + ry * math.sin(a) * cos)
        for a in angles
    ]


def smooth(points, closed=True, steps=6):
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


def mirrored(half):
    """Close an outline whose right half is given from top to bottom."""
    return half + [(-x, y) for x, y in reversed(half) if x > 0]


def mix(colour, other, share):
    """The colour that is share of the way to other."""
    return tuple(int(round(a + (b - a) * share)) for a, b in zip(colour, other))


def noise(rng, size, cell, mode="L"):
    """Smooth noise: random pixels of about cell canvas pixels, enlarged to size."""
    small = (max(2, size[0] // cell), max(2, size[1] // cell))
    count = small[0] * small[1] * len(mode)
    values = Image.frombytes(mode, small, rng.getrandbits(8 * count).to_bytes(count, "little"))
    return values.resize(size, Image.BICUBIC)


class Canvas:
    """An image being painted, `supersample` times larger than it will be."""

    def __init__(self, image):
        self.image = image

    def mask(self, polygons):
        """A full-size mask (mode L) of polygons in canvas pixels."""
        mask = Image.new("L", self.image.size, 0)
        draw = ImageDraw.Draw(mask)
        for polygon in polygons:
            draw.polygon(polygon, fill=255)
        return mask

    def fill(self, polygon, colour, clip=None, blur=0, opacity=1.0):
        """Paint polygon (canvas pixels), softened by blur pixels, only where the mask clip allows."""
        self._paint(
            polygon, colour, clip, blur, opacity, blur * 2.5 + 1, lambda draw, local, ink: draw.polygon(local, fill=ink)
        )

    def line(self, points, colour, width, clip=None, blur=0, opacity=1.0):
        """Paint a line with round ends; width in canvas pixels."""
        width = max(1, int(round(width)))

        def stroke(draw, local, ink):
            draw.line(local, fill=ink, width=width, joint="curve")
            radius = width / 2
            for x, y in (local[0], local[-1]):
                draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=ink)

        self._paint(points, colour, clip, blur, opacity, blur * 2.5 + width, stroke)

    def _paint(self, points, colour, clip, blur, opacity, margin, draw_on):
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

    def texture(self, rng, clip, cell, strength):
        """Mottle what lies under the mask clip (None: everything), so that fur and cloth are not flat.

        cell: size of the noise in canvas pixels. strength: 0 to 1.
        """
        box = (0, 0) + self.image.size if clip is None else clip.getbbox()
        if box is None:
            return
        size = (box[2] - box[0], box[3] - box[1])
        values = noise(rng, size, cell).point([128 + int((value - 128) * strength) for value in range(256)])
        mottled = ImageChops.soft_light(self.image.crop(box), Image.merge("RGB", (values, values, values)))
        self.image.paste(mottled, box, None if clip is None else clip.crop(box))
