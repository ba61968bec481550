"""Each record is read once an epoch, by one worker."""

import pytest

pytestmark = pytest.mark.tensorflow


EVERY_RECORD = sorted(f"{file}-{place}" for file in range(12) for place in range(2))


@pytest.mark.parametrize("order", ["in order", "shuffled"])
def test_every_record_is_read_once_an_epoch_by_one_of_the_workers(order, workers):
    assert "error" not in workers[order], workers[order]["error"][-2000:]
    (first, _), (second, _) = workers[order]
    assert sorted(first + second) == EVERY_RECORD
    # Whole files: nobody reads the other's.
    assert not {name.split("-")[0] for name in first} & {name.split("-")[0] for name in second}


def test_workers_that_outnumber_the_files_share_them_record_by_record(workers):
    assert "error" not in workers["two files"], workers["two files"]["error"][-2000:]
    read = [names for names, _ in workers["two files"]]
    assert all(read) and sorted(sum(read, [])) == ["0-0", "0-1", "1-0", "1-1"]
