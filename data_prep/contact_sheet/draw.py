"""The sheet that `show` makes: images with boxes, names and masks, a class histogram, a plot of box sizes."""

import functools
import io
import math
import textwrap
import warnings
from typing import Dict, List

import numpy

from common.text import printable
from data_prep.contact_sheet.statistics import BINS_PER_OCTAVE, OCTAVES, Gathered
from data_prep.wording import first_line, size_text

# Dark enough for white names, and far apart; from the 13th class on they repeat.
COLOURS = (
    "#d62728",
    "#1f77b4",
    "#2ca02c",
    "#9467bd",
    "#e06c00",
    "#17808c",
    "#c2185b",
    "#8c564b",
    "#5c6b00",
    "#3949ab",
    "#616161",
    "#00695c",
)
_WIDTH_INCHES = 14.0
_DPI = 100
_BARS = 30
_LONGEST_NAME = 28
_CAPTION_INCHES = 0.32
_TITLE_INCHES = 0.5
_GAP_INCHES = 0.85  # between the images and the plots below them, and under these
# More boxes than this are drawn thin, and only those named that are wider than this share of the image.
_CROWDED, _CROWDED_NAME = 12, 0.15
_SHARES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)

# In each sheet, so that `show` can tell its own from an image of that name.
SOFTWARE = "tfod-train show"


def draw(gathered: Gathered, title: str) -> bytes:
    """PNG bytes of the sheet.

    Args:
        gathered: what it shows.
        title: what the data is called.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    totals = _totals(gathered.classes)
    colours = {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(totals)}
    columns = _columns(len(gathered.images))
    rows = -(-len(gathered.images) // columns)
    cell = _WIDTH_INCHES / columns
    plots = max(3.6, 0.21 * min(len(totals), _BARS + 1) + 0.6)
    row_inches = cell * _tallest(gathered.images) + _CAPTION_INCHES
    images_inches = rows * row_inches
    height = _TITLE_INCHES + images_inches + plots + 2 * _GAP_INCHES
    figure = pyplot.figure(figsize=(_WIDTH_INCHES, height), dpi=_DPI)
    try:
        figure.text(
            0.5,
            1 - 0.5 * _TITLE_INCHES / height,
            _headline(gathered, title),
            ha="center",
            va="center",
            **_font(title, 13),
        )
        for index, image in enumerate(gathered.images):
            place = _place(divmod(index, columns), columns, row_inches, height)
            _draw_image(figure.add_axes(place), image, colours, cell)
        bottom = _GAP_INCHES / height
        _draw_classes(figure.add_axes((0.2, bottom, 0.3, plots / height)), gathered, totals, colours)
        _draw_sizes(figure.add_axes((0.6, bottom, 0.36, plots / height)), gathered)
        png = io.BytesIO()
        # Without the version of matplotlib, which changes no image.
        figure.savefig(png, format="png", metadata={"Software": SOFTWARE})
        return png.getvalue()
    finally:
        pyplot.close(figure)


def _place(row_and_column, columns, row_inches, height):
    """Where an image lies on the sheet, as matplotlib's (left, bottom, width, height) in shares of it."""
    row, column = row_and_column
    top = _TITLE_INCHES + row * row_inches
    return (
        (column + 0.02) / columns,
        1 - (top + row_inches - _CAPTION_INCHES) / height,
        0.96 / columns,
        (row_inches - _CAPTION_INCHES - 0.04) / height,
    )


def _columns(count):
    return 4 if count <= 16 else 6 if count <= 48 else 8


def _tallest(images):
    """Height of a row of images by the cells' width: so that an ordinary portrait loses little room."""
    ratios = sorted(image.size[1] / image.size[0] for image in images if image.size and min(image.size) > 0)
    return min(max(ratios[len(ratios) // 2] if ratios else 0.75, 0.6), 1.2)


def _totals(classes):
    """{name: boxes}, the most frequent first."""
    totals: Dict[str, int] = {}
    for (name, _), count in classes.items():
        totals[name] = totals.get(name, 0) + count
    return dict(sorted(totals.items(), key=lambda item: (-item[1], item[0])))


def _headline(gathered, title):
    counts = [f"{format(count, ',')} {printable(split)}" for split, count in gathered.splits.items()]
    more = ", ..." if len(counts) > 4 else ""
    return (
        f"{legible(title, 60)}: {format(sum(gathered.splits.values()), ',')} images ({', '.join(counts[:4]) + more}), "
        f"{format(gathered.boxes, ',')} boxes"
    )


def _draw_image(axis, image, colours, cell):
    axis.set_xticks([])
    axis.set_yticks([])
    for spine in axis.spines.values():
        spine.set_visible(False)
    size_shown = ""
    try:
        pixels, (width, height) = _pixels(image.encoded, int(2 * cell * _DPI))
        size_shown = size_text((width, height))
        axis.imshow(pixels, extent=(0, width, height, 0), interpolation="bicubic")
        axis.set_xlim(0, width)
        axis.set_ylim(height, 0)
        outside = _draw_objects(axis, image, colours, width, height, small=cell < 3)
        size_shown += f", {outside} outside" if outside else ""
    except ValueError as reason:
        axis.set_facecolor("#dddddd")
        words = textwrap.fill(f"cannot be decoded: {legible(str(reason), 100)}", int(cell * 11))
        axis.text(0.5, 0.5, words, ha="center", va="center", transform=axis.transAxes, fontsize=8)
    name = legible(image.source_id or "(no source_id)", int(cell * 8))
    axis.text(
        0.5,
        -0.02,
        f"{name}   {size_shown}",
        ha="center",
        va="top",
        transform=axis.transAxes,
        color="#333333",
        **_font(image.source_id, 8),
    )


def _pixels(encoded, longest):
    """(RGB array no longer than longest pixels, (width, height) of the image itself). Raises ValueError."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(encoded))
            size = image.size
            image.draft("RGB", (longest, longest))
            image = image.convert("RGB")
            image.thumbnail((longest, longest))
            return numpy.asarray(image), size
    # Pillow raises nearly every built-in exception on damaged files; each means: not usable.
    except Exception as error:
        raise ValueError(first_line(error, "it is no image") if encoded else "there is no image") from error


def _draw_objects(axis, image, colours, width, height, small):
    """Masks below, boxes above, names on top; returns how many boxes do not lie in the image."""
    from matplotlib import patheffects
    from matplotlib.patches import Rectangle

    crowded = len(image.boxes) > _CROWDED
    for mask, name in zip(image.masks, image.names):
        _draw_mask(axis, mask, colours.get(name, COLOURS[-1]), image.size, width, height)
    outside = 0
    labels = []
    for (xmin, ymin, xmax, ymax), name in _largest_first(image):
        if not all(map(math.isfinite, (xmin, ymin, xmax, ymax))) or not _inside((xmin, ymin, xmax, ymax)):
            outside += 1
            continue
        colour = colours.get(name, COLOURS[-1])
        axis.add_patch(
            Rectangle(
                (xmin * width, ymin * height),
                (xmax - xmin) * width,
                (ymax - ymin) * height,
                fill=False,
                linewidth=1.0 if crowded or small else 1.8,
                edgecolor=colour,
                path_effects=[patheffects.withStroke(linewidth=2.0 if crowded or small else 3.2, foreground="white")],
            )
        )
        if not crowded or xmax - xmin > _CROWDED_NAME:
            labels.append((xmin * width, ymin * height, name, colour))
    for x, y, name, colour in labels:
        axis.text(
            min(x, width * 0.9),
            max(y, height * 0.06),
            legible(name, 20),
            color="white",
            va="bottom",
            clip_on=True,
            bbox={"facecolor": colour, "edgecolor": "none", "pad": 1, "alpha": 0.9},
            **_font(name, 5 if crowded or small else 8),
        )
    return outside


def _largest_first(image):
    """[(box, name)], so that small boxes are not covered."""
    return sorted(zip(image.boxes, image.names), key=lambda pair: -_area(pair[0]))


def _area(box):
    xmin, ymin, xmax, ymax = box
    return (xmax - xmin) * (ymax - ymin)


def _inside(box):
    return box[0] < 1 and box[1] < 1 and box[2] > 0 and box[3] > 0 and max(abs(side) for side in box) <= 2


def _draw_mask(axis, mask, colour, stated, width, height):
    from matplotlib import colors

    if isinstance(mask, bytes):
        try:
            from PIL import Image

            inside = numpy.asarray(Image.open(io.BytesIO(mask)).convert("I")) > 0
        except Exception:  # a broken mask is `check`'s to name; the sheet shows the others
            return
    else:
        if stated is None or len(mask) != stated[0] * stated[1]:
            return
        inside = numpy.asarray(mask, dtype=numpy.float32).reshape(stated[1], stated[0]) > 0
    layer = numpy.zeros(inside.shape + (4,))
    layer[..., :3] = colors.to_rgb(colour)
    layer[..., 3] = inside * 0.45
    axis.imshow(layer, extent=(0, width, height, 0), interpolation="nearest")


def _draw_classes(axis, gathered, totals, colours):
    """One bar a class, in the colour of its boxes above; the shade of a bar's part is its split."""
    from matplotlib.patches import Patch

    names = list(totals)[:_BARS]
    splits = list(gathered.splits)
    shades = {split: 1 - 0.6 * index / max(1, len(splits)) for index, split in enumerate(splits)}
    start = [0] * len(names)
    for split in splits:
        counts = [gathered.classes.get((name, split), 0) for name in names]
        axis.barh(
            range(len(names)),
            counts,
            left=start,
            color=[colours[name] for name in names],
            alpha=shades[split],
            height=0.75,
        )
        start = [a + b for a, b in zip(start, counts)]
    longest = max(start or [1])
    for index, count in enumerate(start):
        axis.text(count + longest * 0.01, index, format(count, ","), va="center", fontsize=8)
    axis.set_yticks(range(len(names)))
    axis.set_yticklabels([legible(name, _LONGEST_NAME) for name in names])
    for label, name in zip(axis.get_yticklabels(), names):
        label.set(**_font(name, 9))
    # Few bars are not drawn thick: a class more or less should not change the look of the others.
    axis.set_ylim(max(len(names), 6) - 0.4, -0.6)
    axis.set_xlim(0, longest * 1.15 or 1)
    more = len(totals) - len(names)
    others = format(sum(list(totals.values())[_BARS:]), ",")
    axis.set_title("Boxes a class" + (f"; {more} more with {others} boxes" if more else ""), fontsize=11)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    if 1 < len(splits) <= 4:
        handles = [Patch(color="#555555", alpha=shades[split], label=printable(split)) for split in splits]
        axis.legend(handles=handles, fontsize=8, loc="lower right", frameon=False)


def _draw_sizes(axis, gathered):
    """How many boxes are how wide and high, as shares of the image's sides, on logarithmic scales."""
    counts = numpy.array(gathered.sizes, dtype=float)
    counts[counts == 0] = numpy.nan
    filled = numpy.argwhere(~numpy.isnan(counts))
    # The smallest box with room below it, and never less than three octaves.
    first = min([OCTAVES * BINS_PER_OCTAVE - 3 * BINS_PER_OCTAVE] + [int(filled.min()) - 1] * bool(len(filled)))
    low = 2.0 ** (max(first, 0) / BINS_PER_OCTAVE - OCTAVES)
    edges = 2.0 ** (numpy.arange(OCTAVES * BINS_PER_OCTAVE + 1) / BINS_PER_OCTAVE - OCTAVES)
    axis.set_xscale("log")
    axis.set_yscale("log")
    mesh = axis.pcolormesh(edges, edges, numpy.ma.masked_invalid(counts), cmap="viridis_r", vmin=0)
    for set_limits, set_ticks, set_labels in (
        (axis.set_xlim, axis.set_xticks, axis.set_xticklabels),
        (axis.set_ylim, axis.set_yticks, axis.set_yticklabels),
    ):
        shares = [share for share in _SHARES if share >= low]
        set_ticks(shares)
        set_labels([f"{100 * share:g} %" for share in shares], fontsize=8)
        set_limits(low, 1)
    axis.minorticks_off()
    axis.plot((low, 1), (low, 1), color="#bbbbbb", linewidth=0.8, zorder=0)
    axis.set_xlabel("width, of the image's width", fontsize=9)
    axis.set_ylabel("height, of the image's height", fontsize=9)
    axis.set_title(f"Sizes of {format(int(numpy.nansum(counts)), ',')} boxes", fontsize=11)
    bar = axis.figure.colorbar(mesh, ax=axis, fraction=0.045, pad=0.02)
    bar.ax.tick_params(labelsize=8)
    bar.locator.set_params(integer=True)
    bar.update_ticks()
    bar.set_label("boxes", fontsize=9)


def legible(text: str, longest: int) -> str:
    """Text as one line no longer than longest, shortened in the middle; escapes for what no font here can show.

    A $ would start a formula.
    """
    shown = printable(text, longest=10000)
    if len(shown) > longest:
        shown = shown[: longest // 2] + "\N{HORIZONTAL ELLIPSIS}" + shown[-(longest // 2 - 1) :]
    if _font_file(frozenset(shown)) is None:
        known = _charmaps()[0][1]
        shown = "".join(character if ord(character) in known else f"\\u{ord(character):04x}" for character in shown)
    return shown.replace("$", "\\$")


def _font(text, size):
    """Keyword arguments for matplotlib that show text: DejaVu Sans, or the first font here that has all of it."""
    from matplotlib.font_manager import FontProperties

    path = _font_file(frozenset(printable(text, longest=10000)))
    return {"fontproperties": FontProperties(fname=path, size=size)} if path else {"fontsize": size}


def not_shown(gathered: Gathered) -> List[str]:
    """The class names and ids of the sheet that no font here can show, sorted."""
    texts = {name for name, _ in gathered.classes} | {image.source_id for image in gathered.images}
    return sorted(text for text in texts if _font_file(frozenset(printable(text, longest=10000))) is None)


@functools.lru_cache(maxsize=4096)
def _font_file(characters):
    """The font file that has all characters, "" for matplotlib's own, None where there is none."""
    wanted = {ord(character) for character in characters} | {ord("\N{HORIZONTAL ELLIPSIS}")}
    for index, (path, known) in enumerate(_charmaps()):
        if wanted <= known:
            return path if index else ""
    return None


@functools.lru_cache(maxsize=1)
def _charmaps():
    """[(font file, code points it has)], matplotlib's DejaVu Sans first, then the other upright ones by name."""
    from matplotlib import font_manager, ft2font

    own = font_manager.findfont("DejaVu Sans")
    others = sorted(
        {
            font.fname
            for font in font_manager.fontManager.ttflist
            if font.style == "normal" and font.weight in (400, "normal", "regular")
        }
        - {own}
    )
    charmaps = []
    for path in [own] + others:
        try:
            charmaps.append((path, set(ft2font.FT2Font(path).get_charmap())))
        except (RuntimeError, OSError):  # a font file that FreeType cannot read
            continue
    return charmaps
