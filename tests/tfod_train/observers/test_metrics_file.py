"""metrics.jsonl is a record a line, whatever ended the training before."""

import io

import pytest

pytestmark = pytest.mark.usefixtures("protos")


@pytest.mark.parametrize(
    "before, kept",
    [
        (b'{"step": 1}\n{"step": 2}\n', b'{"step": 1}\n{"step": 2}\n'),
        (b'{"step": 1}\n{"st', b'{"step": 1}\n'),
        (b'{"st', b""),
        (None, None),
    ],
)
def test_half_a_line_that_a_killed_training_left_gets_no_record_appended(before, kept, tmp_path, training_of):
    from tfod_train.observers.metrics_file import MetricsFile

    metrics = tmp_path / "metrics.jsonl"
    if before is not None:
        metrics.write_bytes(before)
    MetricsFile(training_of(str(tmp_path), io.StringIO())).on_begin(2)
    assert (metrics.read_bytes() if metrics.exists() else None) == kept
