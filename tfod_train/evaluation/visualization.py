"""Draws detections on pictures, as a sheet that people look at."""

import collections
import glob
import io

import numpy as np

CELL = 320
COLUMNS = 4
MIN_SCORE = 0.5
TINT = 100  # of 255: how much of a mask's colour covers the picture
COLOURS = ("#e6194b", "#3cb44b", "#4363d8", "#f58231", "#911eb4", "#008080", "#9a6324", "#800000", "#808000", "#000075")


def sheet(pictures, names, title):
    """PNG bytes of a sheet: each picture with its detections (solid, named, masks tinted) and truth (dashed white).

    Args:
        pictures: list of tfod_train.evaluation.evaluator.Picture.
        names: class names by id.
        title: line above the sheet.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns = min(COLUMNS, max(1, len(pictures)))
    rows = max(1, -(-len(pictures) // columns))
    figure, axes = pyplot.subplots(
        rows, columns, squeeze=False, figsize=(columns * CELL / 100.0, rows * CELL / 100.0 + 0.3), dpi=100
    )
    for axis in axes.flat:
        axis.axis("off")
    for axis, picture in zip(axes.flat, pictures):
        _draw(axis, picture, names)
    figure.suptitle(title, fontsize=11, y=0.995)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.15 / rows), pad=0.4)
    png = io.BytesIO()
    figure.savefig(png, format="png")
    pyplot.close(figure)
    return png.getvalue()


def with_originals(pictures, patterns):
    """The pictures with the records' own image in place of the one the model saw, which is small and squeezed.

    Where a source id is that of several records, the model's image stays.

    Args:
        pictures: list of tfod_train.evaluation.evaluator.Picture.
        patterns: file name patterns of the records they come from.
    """
    from PIL import Image

    from data_prep.tfrecord import codec

    wanted = {picture.source_id for picture in pictures if picture.source_id}
    originals, times = {}, collections.Counter()
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
        picture._replace(image=originals[picture.source_id]) if times[picture.source_id] == 1 else picture
        for picture in pictures
    ]


def _draw(axis, picture, names):
    from matplotlib.patches import Rectangle

    height, width = picture.size
    extent = (0, width, height, 0)
    axis.imshow(picture.image, extent=extent, interpolation="bicubic")
    for mask in () if picture.true_masks is None else picture.true_masks:
        if 0 < mask.sum() < mask.size:  # else it has no outline
            axis.contour(
                mask, levels=[0.5], colors="white", linewidths=0.8, linestyles="dashed", extent=extent, origin="upper"
            )
    for ymin, xmin, ymax, xmax in np.asarray(picture.true_boxes):
        axis.add_patch(
            Rectangle(
                (xmin, ymin), xmax - xmin, ymax - ymin, fill=False, linewidth=1.2, linestyle="--", edgecolor="white"
            )
        )
    for index, (box, score, class_id) in enumerate(zip(picture.boxes, picture.scores, picture.classes)):
        if score < MIN_SCORE:
            continue
        ymin, xmin, ymax, xmax = box
        colour = _colour(class_id)
        if picture.masks is not None:
            axis.imshow(_tint(picture.masks[index], colour), extent=extent, interpolation="nearest")
        axis.add_patch(Rectangle((xmin, ymin), xmax - xmin, ymax - ymin, fill=False, linewidth=2, edgecolor=colour))
        # A dollar sign would begin a formula.
        text = "%s %.2f" % (names[int(class_id)].replace("$", r"\$"), score)
        axis.text(
            xmin,
            max(ymin, 0),
            text,
            fontsize=7,
            color="white",
            verticalalignment="bottom",
            clip_on=True,
            bbox={"facecolor": colour, "edgecolor": "none", "pad": 1},
        )


def _colour(class_id):
    return COLOURS[(int(class_id) - 1) % len(COLOURS)]


def _tint(mask, colour):
    """A mask [height, width] as an RGBA picture, uint8 [height, width, 4]: the colour inside, nothing outside."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    tinted = np.zeros(mask.shape + (4,), np.uint8)
    tinted[mask > 0] = (red, green, blue, TINT)
    return tinted


def on_picture(image, boxes, scores, classes, labels, masks=None):
    """A copy of a picture with named boxes, at its own size.

    Args:
        image: RGB Pillow image.
        boxes: [n, 4] in pixels: ymin, xmin, ymax, xmax.
        scores: [n]; classes: [n], ids from 1, which choose the colour; labels: n class names.
        masks: None, or [n, height, width] of the picture's size, 1 inside.
    """
    from matplotlib import font_manager
    from PIL import Image, ImageDraw, ImageFont

    drawn = image.copy()
    for index in np.argsort(scores) if masks is not None else ():
        tint = Image.fromarray(_tint(masks[index], _colour(classes[index])))
        drawn.paste(tint, (0, 0), tint)
    pen = ImageDraw.Draw(drawn)
    # As large as can be read when the picture fills a screen.
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
        # Above the box, or inside of it where the picture ends.
        top = ymin - height - 4 if ymin >= height + 4 else ymin
        pen.rectangle((left, top, left + width + 4, top + height + 4), fill=colour)
        pen.text((left + 2, top + 1), text, fill="white", font=font)
    return drawn
