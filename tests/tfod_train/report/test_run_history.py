"""What is read of a run: each step once, and nothing of lines that a kill cut off or that are no numbers."""

import pytest

from tests.tfod_train.report.runs import page_of, record
from tfod_train.report import run_history

pytestmark = pytest.mark.usefixtures("protos")


def test_what_a_resumed_training_repeated_counts_once_and_as_it_was_resumed_from(write):
    run = write(
        records=[
            record(1, 9.0),
            record(100, 5.0),
            record(150, 4.0),
            record(101, 4.5),
            record(200, 2.0),
            record(200, 2.0),
        ]
    )
    found = run_history.read(str(run)).records
    assert [(one.step, one.loss) for one in found] == [(1, 9.0), (100, 5.0), (101, 4.5), (200, 2.0)]


def test_half_a_line_and_lines_that_are_none_are_left_out_and_said(write):
    run = write(records=[record(1), "[1, 2]\n", '{"step": true, "loss": 1}\n', "\n", record(2), '{"step": 3, "lo'])
    assert [one.step for one in run_history.read(str(run)).records] == [1, 2]
    assert "4 lines of metrics.jsonl could not be read and are left out." in page_of(run).text


def test_values_that_are_no_numbers_leave_a_gap(write):
    run = write(records=[record(1, None), '{"step": 2, "loss": NaN, "images_per_sec": "fast", "gpus": 5}\n'])
    found = run_history.read(str(run)).records
    assert [one.loss for one in found] == [None, None] and found[1].images_per_sec is None
    page_of(run)
