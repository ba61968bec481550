"""The charts of a page: their colours are the page's, their labels anybody's, and many values are few points."""

import pytest

from tests.tfod_train.report.runs import Page
from tfod_train.report import charts


def test_a_chart_has_the_colours_of_the_page_and_its_labels_are_left_alone():
    lines = [charts.Line(f"{charts.INK} font-family:x; {number}", [1, 2], [1.0, 3.0]) for number in range(6)]
    drawn = charts.svg(charts.Chart('Loss "<&', lines), 2, resumed=[1])
    texts = Page(drawn).texts
    assert [text for text in texts if charts.INK in text] == [line.label for line in lines]
    assert drawn.count(charts.INK) == len(lines) and "font-family" not in drawn.replace(charts.INK + " font", "")
    assert not [colour for colour in (charts.GRID,) + charts.SERIES if colour in drawn]
    for name in ("currentColor", "var(--grid)", "var(--series-1)", "var(--series-6)"):
        assert name in drawn
    assert Page(drawn).elements[0][1]["aria-label"] == 'Loss "<&'


@pytest.mark.parametrize("text", ["a\x00b", "a\x1bb", "a\ud800b", "a\uffffb"])
def test_a_label_that_xml_cannot_hold_is_drawn_with_a_replacement(text):
    lines = [charts.Line(text, [1], [1.0])]
    assert "a\ufffdb" in Page(charts.svg(charts.Chart("Loss", lines), 1)).texts


def test_many_values_are_drawn_as_means_of_neighbours_and_few_as_they_are():
    assert charts.binned((1, 2), (5.0, 7.0)) == ([1, 2], [5.0, 7.0], None, None)
    values = [float(number % 4) for number in range(100000)]
    steps, means, lowest, highest = charts.binned(range(100000), values)
    assert len(steps) == len(means) == charts.BINS and steps == sorted(steps)
    assert set(means) == {1.5} and set(lowest) == {0.0} and set(highest) == {3.0}
