"""The training input: what each worker reads, and in which order."""

import pytest

pytestmark = pytest.mark.tensorflow

EVERY_RECORD = sorted(f"{file}-{place}" for file in range(12) for place in range(2))


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


def test_workers_that_outnumber_the_files_share_them_record_by_record(workers):
    assert "error" not in workers["two files"], workers["two files"]["error"][-2000:]
    read = [names for names, _ in workers["two files"]]
    assert all(read) and sorted(sum(read, [])) == ["0-0", "0-1", "1-0", "1-1"]


def test_batch_size_is_divided_among_the_replicas(workers):
    assert "error" not in workers["in order"], workers["in order"]["error"][-2000:]
    assert [size for _, size in workers["in order"]] == [3, 3]


@pytest.fixture(scope="module")
def seeded(play):
    """What the input of a seeded graph is, and how the clones' queue is emptied."""
    return play("seeded")


@pytest.mark.parametrize("augmentation", ["brightness", "crop"])
def test_the_input_of_a_seeded_graph_repeats_with_random_augmentation(augmentation, seeded):
    one, again, other, *unseeded = seeded[augmentation]
    assert one == again and one != other
    assert unseeded[0] != unseeded[1]


def test_a_seeded_graph_maps_one_image_at_a_time_and_others_as_many_as_before(seeded):
    assert seeded["calls"] == [[16], [1]]


def test_the_second_clone_takes_its_batch_after_the_first(seeded):
    assert seeded["second waits"]
