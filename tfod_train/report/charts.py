"""Curves over steps as SVG that takes the colours of the page it stands in."""

import io
import re
from typing import Any, List, NamedTuple, Optional

# matplotlib writes these into the SVG, and each becomes what the page says: its text's colour, its series' colours.
INK, GRID = "#010101", "#020202"
SERIES = ("#030301", "#030302", "#030303", "#030304", "#030305", "#030306")
WIDTH, HEIGHT = 5.2, 2.6  # inches of 72 units; the page stretches them
BINS = 200  # a long training's values are drawn as so many means, over the range they had
LOGARITHMIC_FROM = 20.0  # times between the smallest and the largest value


class Line(NamedTuple):
    """`values` (float or None) at `steps`; `label` for the legend, "" for a line that stands alone."""

    label: str
    steps: List[int]
    values: List[Any]


class Chart(NamedTuple):
    """logarithmic: where the values span much. top: where the axis ends.
    marks: a dot at each value.
    """

    title: str
    lines: List[Line]
    logarithmic: bool = False
    top: Optional[float] = None
    marks: bool = False

    def has_points(self):
        return any(value is not None for line in self.lines for value in line.values)


def svg(chart, last_step, resumed=()):
    """The chart as an <svg> element for an HTML page.

    Args:
        chart: Chart with at least one value.
        last_step: where the axis of steps ends.
        resumed: steps where a dotted line stands.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # The salt names what the SVG refers to within itself; two charts of a page must not share those.
    with matplotlib.rc_context(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": chart.title,
            "font.size": 9,
            "font.family": "sans-serif",
            "axes.formatter.useoffset": False,
        }
    ):
        figure = Figure(figsize=(WIDTH, HEIGHT))
        FigureCanvasSVG(figure)
        # The same place for all, so that steps stand below steps.
        place = {"left": 0.12, "right": 0.98, "top": 0.89, "bottom": 0.1}
        _draw(figure.subplots(gridspec_kw=place), chart, last_step, resumed)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return _for_a_page(out.getvalue(), chart.title)


def _draw(axes, chart, last_step, resumed):
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    for index, line in enumerate(chart.lines):
        colour = SERIES[index % len(SERIES)]
        # A dollar sign would begin a formula.
        label = line.label.replace("$", r"\$") or None
        points = [(step, value) for step, value in zip(line.steps, line.values) if value is not None]
        if not points:
            continue
        steps, values, lowest, highest = binned(*zip(*points))
        axes.plot(
            steps,
            values,
            color=colour,
            linewidth=1.6,
            clip_on=not chart.marks,
            label=label,
            marker="o" if chart.marks or len(points) == 1 else None,
            markersize=4,
        )
        # Of several lines the ranges would cover each other.
        if lowest is not None and len(chart.lines) == 1:
            axes.fill_between(steps, lowest, highest, color=colour, alpha=0.25, linewidth=0)
    for step in sorted(set(resumed)):
        axes.axvline(step, color=INK, linewidth=0.8, linestyle=":", alpha=0.6)
    axes.set_title(chart.title, loc="left", fontsize=10, color=INK)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda step, _: f"{step / 1000.0:g}k" if step and last_step >= 10000 else f"{step:g}")
    )
    _scale(axes, chart)
    axes.set_xlim(0, max(last_step, 1) * 1.02)
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", colors=INK, length=0)
    for name, spine in axes.spines.items():
        spine.set_visible(name == "bottom")
        spine.set_color(GRID)
    if any(line.label for line in chart.lines):
        axes.legend(frameon=False, labelcolor=INK, fontsize=8, loc="best")


def _scale(axes, chart):
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    values = [value for line in chart.lines for value in line.values if value is not None]
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    if chart.logarithmic and min(values) > 0 and max(values) / min(values) >= LOGARITHMIC_FROM:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(plain)
        axes.yaxis.set_minor_locator(NullLocator())
        return
    axes.yaxis.set_major_formatter(plain)
    # From zero, so that a change is as large as it looks.
    axes.set_ylim(min(min(values), 0), chart.top if chart.top else max(values) * 1.08 or 1)


def binned(steps, values):
    """(steps, means, lowest, highest) of about BINS groups of neighbours; the values themselves where they are few."""
    if len(values) <= 2 * BINS:
        return list(steps), list(values), None, None
    edges = [len(values) * number // BINS for number in range(BINS + 1)]
    groups = list(zip(edges, edges[1:]))
    return (
        [steps[(first + end) // 2] for first, end in groups],
        [sum(values[first:end]) / (end - first) for first, end in groups],
        [min(values[first:end]) for first, end in groups],
        [max(values[first:end]) for first, end in groups],
    )


def _for_a_page(text, title):
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    # As wide as its place, and in the page's font.
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r'\1 role="img" aria-label="%s"' % title, text, count=1)
    text = re.sub(
        r"font-family:[^;\"]*;?|font:(?P<size>[\d.]+px) [^;\"]*",
        lambda match: f"font-size:{match.group('size')}" if match.group("size") else "",
        text,
    )
    for colour, name in ((INK, "currentColor"), (GRID, "var(--grid)")) + tuple(
        (colour, f"var(--series-{number})") for number, colour in enumerate(SERIES, 1)
    ):
        text = text.replace(colour, name)
    return text
