"""Input buffers against the memory: what is set, what is left alone."""

import pytest

from tfod_train.config import input_buffers
from tfod_train.trainer import TRAINERS

pytestmark = pytest.mark.usefixtures("protos")

GB = 10**9
# Oxford-IIIT Pet's size: ten shards, about 100 kB a record, images of 500x375.
PETS = input_buffers.Records(100e3, 500 * 375, 10, 26 * 10**6)


@pytest.fixture
def config():
    from object_detection.protos import pipeline_pb2

    config = pipeline_pb2.TrainEvalPipelineConfig()
    config.train_config.batch_size = 32
    return config


def sized(config, trainer, ram, devices=2):
    asked = input_buffers.of(config, TRAINERS[trainer], devices, PETS)
    changed = input_buffers.fitting(asked, ram)
    for message, field, value in changed:
        setattr(message, field, value)
    total = sum(
        one.unit * min(getattr(one.message, one.field), one.most)
        for one in input_buffers.of(config, TRAINERS[trainer], devices, PETS)
    )
    return {field: value for _, field, value in changed}, total


@pytest.mark.parametrize("trainer", ["mirrored", "clone"])
def test_ample_memory_changes_nothing(trainer, config):
    assert sized(config, trainer, 16 * GB)[0] == {}


@pytest.mark.parametrize("trainer", ["mirrored", "clone"])
@pytest.mark.parametrize("ram", [4 * GB, 2 * GB, GB])
def test_on_a_small_host_the_defaults_shrink_until_they_fit(trainer, ram, config):
    changed, total = sized(config, trainer, ram)
    assert changed and total <= ram / 4
    assert changed.get("batch_queue_capacity", 99) >= 2 * 16


@pytest.mark.parametrize("trainer", ["mirrored", "clone"])
def test_what_the_config_sets_is_left_alone_even_at_the_default(trainer, config):
    reader = config.train_input_reader
    reader.shuffle_buffer_size, reader.num_readers, reader.num_parallel_batches = 2048, 64, 8
    config.train_config.batch_queue_capacity = 150
    changed, _ = sized(config, trainer, GB // 2)
    assert changed
    assert not {"shuffle_buffer_size", "num_readers", "num_parallel_batches", "batch_queue_capacity"} & set(changed)


def test_no_memory_at_all_ends_at_the_least(config):
    assert sized(config, "mirrored", 1)[0] == {
        "num_readers": 1,
        "shuffle_buffer_size": 64,
        "num_parallel_batches": 1,
        "num_prefetch_batches": 1,
    }
    assert sized(config, "clone", 1)[0]["batch_queue_capacity"] == 32


def test_without_shuffling_its_buffer_costs_nothing(config):
    config.train_input_reader.shuffle = False
    assert "shuffle_buffer_size" not in sized(config, "mirrored", 1)[0]


def test_records_are_described_by_shards_and_image_sizes():
    shards = [{"bytes": 1000, "examples": 10}, {"bytes": 3000, "examples": 10}]
    description = {
        "splits": {"train": {"shards": shards}},
        "picture_sizes": {"width": {"median": 20, "max": 90}, "height": {"median": 10, "max": 90}},
    }
    assert input_buffers.records(description) == input_buffers.Records(200, 200, 2, 3000)
    del description["picture_sizes"]
    assert input_buffers.records(description).pixels == pytest.approx(200 * 10 / 3)
    assert input_buffers.records({"splits": {"train": {"shards": []}}}) is None
