"""Progress where there is no terminal: a plain line now and then, with rate and time left."""

import io
import re
import time

from common import progress


def test_elsewhere_than_on_a_terminal_lines_are_plain(monkeypatch):
    out = io.StringIO()
    now = [0.0]
    monkeypatch.setattr(progress.sys, "stderr", out)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.Progress("Converting", 100, "images") as bar:
        for _ in range(50):
            now[0] += 0.5
            bar.update(1)
    assert out.getvalue().splitlines() == [
        "Converting: 21 of 100 images, 2 images/s, 40 s left",
        "Converting: 42 of 100 images, 2 images/s, 29 s left",
    ]


def test_a_download_that_goes_on_counts_its_rate_from_there(monkeypatch):
    out = io.StringIO()
    now = [0.0]
    monkeypatch.setattr(progress.sys, "stderr", out)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.Progress("Downloading", 3000000, "B", scale=True) as bar:
        bar.start_at(1000000)
        now[0] = 20
        bar.update(1000000)
    assert out.getvalue() == "Downloading: 2.00M of 3.00MB, 50.0kB/s, 20 s left\n"


class Terminal(io.StringIO):
    """Text that a terminal would show."""

    def isatty(self):
        return True


def test_on_a_terminal_a_bar_shows_the_rate_and_the_time_left(monkeypatch):
    out = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", out)
    with progress.Progress("Converting", 100, "images") as bar:
        time.sleep(0.2)  # a bar is drawn anew ten times a second at most
        bar.update(50)
    last = out.getvalue().split("\r")[-1]
    assert last.startswith("Converting:  50%|") and re.search(r"50/100 \[\d\d:\d\d<\d\d:\d\d, +[0-9.]+images/s\]", last)


def test_on_a_terminal_a_download_that_goes_on_begins_where_it_was(monkeypatch):
    out = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", out)
    with progress.Progress("Downloading", 3000000, "B", scale=True) as bar:
        bar.start_at(1000000)
        time.sleep(0.2)
        bar.update(1000000)
    last = out.getvalue().split("\r")[-1]
    assert last.startswith("Downloading:  67%|") and "2.00M/3.00M" in last
    assert float(re.search(r"([0-9.]+)MB/s", last).group(1)) < 5.1  # of the 1 MB that came, not of 2
