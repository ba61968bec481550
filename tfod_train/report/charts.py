"""Curves over steps as SVG that takes the colours of the page it stands in."""

import io
import re
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple
from xml.dom import minidom

# matplotlib writes these into the SVG, and each becomes what the page says: its text's colour, its series' colours.
INK, GRID = "#010101", "#020202"
SERIES = ("#030301", "#030302", "#030303", "#030304", "#030305", "#030306")
WIDTH, HEIGHT = 5.2, 2.6  # inches of 72 units; the page stretches them
# What XML cannot hold, not even escaped.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
BINS = 200  # a long training's values are drawn as so many means, over the range they had
LOGARITHMIC_FROM = 20.0  # times between the smallest and the largest value


class Line(NamedTuple):
    """`values` (float or None) at `steps`; `label` for the legend, "" for a line that stands alone."""

    label: str
    steps: List[int]
    values: List[Any]


class Chart(NamedTuple):
    """Lines over the same steps.

    logarithmic: where the values span much. top: where the axis ends. marks: a dot at each value.
    """

    title: str
    lines: List[Line]
    logarithmic: bool = False
    top: Optional[float] = None
    marks: bool = False

    def has_points(self) -> bool:
        """Whether there is a value to draw."""
        return any(value is not None for line in self.lines for value in line.values)


def svg(chart: Chart, last_step: int, resumed: Sequence[int] = ()) -> str:
    """The chart as an <svg> element for an HTML page; texts in it are escaped.

    Args:
        chart: one with at least one value.
        last_step: where the axis of steps ends.
        resumed: steps where a dotted line stands.

    Returns:
        Markup, written from a parsed document: whatever the labels hold, it is one well-formed element.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # The salt names what the SVG refers to within itself; two charts of a page must not share those.
    look = {
        "svg.fonttype": "none",
        "svg.hashsalt": chart.title,
        "font.size": 9,
        "font.family": "sans-serif",
        "axes.formatter.useoffset": False,
    }
    with matplotlib.rc_context(look):
        figure = Figure(figsize=(WIDTH, HEIGHT))
        FigureCanvasSVG(figure)
        # The same place for all, so that steps stand below steps.
        place = {"left": 0.12, "right": 0.98, "top": 0.89, "bottom": 0.1}
        _draw(figure.subplots(gridspec_kw=place), chart, last_step, resumed)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return _for_a_page(out.getvalue(), chart.title)


def _draw(axes, chart, last_step, resumed):
    for index, line in enumerate(chart.lines):
        _draw_line(axes, chart, line, SERIES[index % len(SERIES)])
    for step in sorted(set(resumed)):
        axes.axvline(step, color=INK, linewidth=0.8, linestyle=":", alpha=0.6)
    axes.set_title(chart.title, loc="left", fontsize=10, color=INK)
    _step_axis(axes, last_step)
    _scale(axes, chart)
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", colors=INK, length=0)
    for name, spine in axes.spines.items():
        spine.set_visible(name == "bottom")
        spine.set_color(GRID)
    if any(line.label for line in chart.lines):
        axes.legend(frameon=False, labelcolor=INK, fontsize=8, loc="best")


def _draw_line(axes, chart, line, colour):
    points = [(step, value) for step, value in zip(line.steps, line.values) if value is not None]
    if not points:
        return
    steps, values, lowest, highest = binned(*zip(*points))
    axes.plot(
        steps,
        values,
        color=colour,
        linewidth=1.6,
        clip_on=not chart.marks,
        label=_plain(line.label) or None,
        marker="o" if chart.marks or len(points) == 1 else None,
        markersize=4,
    )
    # Of several lines the ranges would cover each other.
    if lowest is not None and len(chart.lines) == 1:
        axes.fill_between(steps, lowest, highest, color=colour, alpha=0.25, linewidth=0)


def _plain(label):
    """A label that matplotlib shows as it is: a dollar sign would begin a formula."""
    return NOT_XML.sub("\ufffd", label).replace("$", r"\$")


def _step_axis(axes, last_step):
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda step, _: f"{step / 1000.0:g}k" if step and last_step >= 10000 else f"{step:g}")
    )
    axes.set_xlim(0, max(last_step, 1) * 1.02)


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


def binned(
    steps: Sequence[int], values: Sequence[float]
) -> Tuple[List[int], List[float], Optional[List[float]], Optional[List[float]]]:
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
    """matplotlib's document as an element that is as wide as its place and has the page's font and colours."""
    root = minidom.parseString(text.encode("utf-8")).documentElement
    for element in root.getElementsByTagName("metadata"):
        element.parentNode.removeChild(element)
    root.removeAttribute("width")
    root.removeAttribute("height")
    root.setAttribute("role", "img")
    root.setAttribute("aria-label", title)
    for element in root.getElementsByTagName("*"):
        if element.hasAttribute("style"):
            element.setAttribute("style", _style_of_the_page(element.getAttribute("style")))
    return root.toxml()


def _style_of_the_page(style):
    style = re.sub(
        r"font-family:[^;]*;?|font:(?P<size>[\d.]+px) [^;]*",
        lambda match: f"font-size:{match.group('size')}" if match.group("size") else "",
        style,
    )
    style = style.replace(INK, "currentColor").replace(GRID, "var(--grid)")
    for number, colour in enumerate(SERIES, 1):
        style = style.replace(colour, f"var(--series-{number})")
    return style
