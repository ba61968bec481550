"""Draws detections on kept images, as a sheet that people look at."""

import collections
import glob
import io
from typing import Any, Counter, Dict, List, NamedTuple, Optional, Sequence

import numpy as np

CELL = 320
COLUMNS = 4
MIN_SCORE = 0.5
TINT = 100  # of 255: how much of a mask's colour covers the image
COLOURS = ("#e6194b", "#3cb44b", "#4363d8", "#f58231", "#911eb4", "#008080", "#9a6324", "#800000", "#808000", "#000075")


class KeptImage(NamedTuple):
    """An image kept for drawing.

    `source_id` is the record's, "" where the reader gives none; `pixels` is uint8 [height, width, 3] as the model
    saw it, `size` the image's own (height, width); boxes are float [n, 4] (ymin, xmin, ymax, xmax) in pixels of
    that size; masks are uint8 [n, height, width] of that size, 1 inside, and None for a model that learns none. Of
    what was detected, only what scores MIN_SCORE and more is kept.
    """

    source_id: str
    pixels: Any
    size: Any
    boxes: Any
    scores: Any
    classes: Any
    true_boxes: Any
    true_classes: Any
    masks: Any = None
    true_masks: Any = None


def sheet(kept_images: Sequence[KeptImage], names: Dict[int, str], title: str) -> bytes:
    """PNG bytes of a sheet: each image with its detections (solid, named, masks tinted) and truth (dashed white).

    Args:
        kept_images: what to draw, a cell each.
        names: class names by id.
        title: line above the sheet.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns = min(COLUMNS, max(1, len(kept_images)))
    rows = max(1, -(-len(kept_images) // columns))
    figure, axes = pyplot.subplots(
        rows, columns, squeeze=False, figsize=(columns * CELL / 100.0, rows * CELL / 100.0 + 0.3), dpi=100
    )
    for axis in axes.flat:
        axis.axis("off")
    for axis, kept in zip(axes.flat, kept_images):
        _draw(axis, kept, names)
    figure.suptitle(title, fontsize=11, y=0.995)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.15 / rows), pad=0.4)
    png = io.BytesIO()
    figure.savefig(png, format="png")
    pyplot.close(figure)
    return png.getvalue()


def with_originals(kept_images: Sequence[KeptImage], patterns: Sequence[str]) -> List[KeptImage]:
    """The images with the records' own image in place of the one the model saw, which is small and squeezed.

    Where a source id is that of several records, the model's image stays.

    Args:
        kept_images: with the images as the model saw them.
        patterns: file name patterns of the records they come from.
    """
    from PIL import Image

    from data_prep.tfrecord import codec

    wanted = {kept.source_id for kept in kept_images if kept.source_id}
    originals: Dict[str, np.ndarray] = {}
    times: Counter[str] = collections.Counter()
    for path in sorted(path for pattern in patterns for path in glob.glob(pattern)):
        for payload in codec.read(path):
            features = codec.decode(payload)
            source_id = b"".join(features.get("image/source_id", [])).decode("utf-8")
            times[source_id] += 1
            if source_id in wanted and times[source_id] == 1:
                image = Image.open(io.BytesIO(features["image/encoded"][0])).convert("RGB")
                image.thumbnail((2 * CELL, 2 * CELL))
                originals[source_id] = np.asarray(image)
    return [
        kept._replace(pixels=originals[kept.source_id]) if times[kept.source_id] == 1 else kept for kept in kept_images
    ]


def _draw(axis, kept, names):
    from matplotlib.patches import Rectangle

    height, width = kept.size
    extent = (0, width, height, 0)
    axis.imshow(kept.pixels, extent=extent, interpolation="bicubic")
    for mask in () if kept.true_masks is None else kept.true_masks:
        if 0 < mask.sum() < mask.size:  # else it has no outline
            axis.contour(
                mask, levels=[0.5], colors="white", linewidths=0.8, linestyles="dashed", extent=extent, origin="upper"
            )
    for ymin, xmin, ymax, xmax in np.asarray(kept.true_boxes):
        axis.add_patch(
            Rectangle(
                (xmin, ymin), xmax - xmin, ymax - ymin, fill=False, linewidth=1.2, linestyle="--", edgecolor="white"
            )
        )
    for index, (box, score, class_id) in enumerate(zip(kept.boxes, kept.scores, kept.classes)):
        if score < MIN_SCORE:
            continue
        ymin, xmin, ymax, xmax = box
        colour = _colour(class_id)
        if kept.masks is not None:
            axis.imshow(_tint(kept.masks[index], colour), extent=extent, interpolation="nearest")
        axis.add_patch(Rectangle((xmin, ymin), xmax - xmin, ymax - ymin, fill=False, linewidth=2, edgecolor=colour))
        # A dollar sign would begin a formula.
        name = names[int(class_id)].replace("$", r"\$")
        axis.text(
            xmin,
            max(ymin, 0),
            f"{name} {score:.2f}",
            fontsize=7,
            color="white",
            verticalalignment="bottom",
            clip_on=True,
            bbox={"facecolor": colour, "edgecolor": "none", "pad": 1},
        )


def _colour(class_id):
    return COLOURS[(int(class_id) - 1) % len(COLOURS)]


def _tint(mask, colour):
    """A mask [height, width] as an RGBA image, uint8 [height, width, 4]: the colour inside, nothing outside."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    tinted = np.zeros(mask.shape + (4,), np.uint8)
    tinted[mask > 0] = (red, green, blue, TINT)
    return tinted


def on_image(
    image: Any,
    boxes: np.ndarray,
    scores: np.ndarray,
    classes: np.ndarray,
    labels: Sequence[str],
    masks: Optional[np.ndarray] = None,
) -> Any:
    """A copy of an image with named boxes, at its own size.

    Args:
        image: RGB Pillow image.
        boxes: [n, 4] in pixels: ymin, xmin, ymax, xmax.
        scores: [n].
        classes: [n], ids from 1, which choose the colour.
        labels: n class names.
        masks: None, or [n, height, width] of the image's size, 1 inside.

    Returns:
        RGB Pillow image.
    """
    from matplotlib import font_manager
    from PIL import Image, ImageDraw, ImageFont

    drawn = image.copy()
    if masks is not None:
        for index in np.argsort(scores):
            tint = Image.fromarray(_tint(masks[index], _colour(classes[index])))
            drawn.paste(tint, (0, 0), tint)
    pen = ImageDraw.Draw(drawn)
    # As large as can be read when the image fills a screen.
    size = max(10, int(round(max(image.size) / 45.0)))
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), size)
    # The best last, so that its name is on top.
    for index in np.argsort(scores):
        ymin, xmin, ymax, xmax = boxes[index]
        colour = _colour(classes[index])
        pen.rectangle((xmin, ymin, xmax, ymax), outline=colour, width=max(2, size // 6))
        text = f"{labels[index]} {scores[index]:.2f}"
        width, height = pen.textsize(text, font=font)
        left = min(max(xmin, 0), max(image.width - width - 4, 0))
        # Above the box, or inside of it where the image ends.
        top = ymin - height - 4 if ymin >= height + 4 else ymin
        pen.rectangle((left, top, left + width + 4, top + height + 4), fill=colour)
        pen.text((left + 2, top + 1), text, fill="white", font=font)
    return drawn
