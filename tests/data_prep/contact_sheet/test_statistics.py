"""The counts of a sheet's second plot."""

from data_prep.check import inputs
from data_prep.contact_sheet import collect, statistics
from tests.data_prep.foreign_records import example, write


def test_boxes_are_counted_by_their_sides(tmp_path):
    path = write(
        tmp_path / "a.record", example(0, labels=[1] * 3, boxes=[(0, 0, 1, 1), (0, 0, 0.26, 0.51), (4, 4, 20, 20)])
    )
    gathered = collect.gather(inputs.find([path]), 12)
    bins = statistics.OCTAVES * statistics.BINS_PER_OCTAVE
    counted = {(row, column) for row in range(bins) for column in range(bins) if gathered.sizes[row][column]}
    # One octave below the whole is three bins; the whole itself goes into the last bin.
    assert counted == {(bins - 1, bins - 1), (bins - 3, bins - 6)}
    assert gathered.odd_boxes == 1
