"""The training input: what each worker reads, and in which order."""
import pytest

pytestmark = pytest.mark.tensorflow

EVERY_RECORD = sorted("%d-%d" % (file, place) for file in range(12) for place in range(2))


@pytest.fixture(scope="module")
def workers(play):
    """What each of two workers reads in an epoch, with and without shuffling: [source ids, size of a batch]."""
    return play("workers")


@pytest.mark.parametrize("order", ["in order", "shuffled"])
def test_every_record_is_read_once_an_epoch_by_one_of_the_workers(order, workers):
    assert "error" not in workers[order], workers[order]["error"][-2000:]
    (first, _), (second, _) = workers[order]
    assert sorted(first + second) == EVERY_RECORD
    # Whole files: nobody reads the other's.
    assert not {name.split("-")[0] for name in first} & {name.split("-")[0] for name in second}


def test_batch_size_is_divided_among_the_replicas(workers):
    assert "error" not in workers["in order"], workers["in order"]["error"][-2000:]
    assert [size for _, size in workers["in order"]] == [3, 3]
