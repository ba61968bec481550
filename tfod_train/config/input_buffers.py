"""Input buffers that fit the memory. Pure.

The API's defaults (2048 shuffled records, 64 readers, 64 or batch x 8 images decoded at once, 150 decoded
images queued) are made for large hosts; on small ones the kernel kills the training. Where a quarter of the
memory is enough for what config and defaults ask for, nothing is changed, so that a training with a SEED repeats
where memory is ample.
"""

import collections
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from tfod_train.trainer import Trainer

SHARE_OF_RAM = 0.25  # the rest is for the model, its variables, TensorFlow itself and images above the median
FILE_BUFFER = 8000000  # bytes that the API has each TFRecordDataset read at once (dataset_builder.build)
# Records that tf.data's parallel_interleave holds ready a file, as multiples of read_block_length, and the files it
# has open, as multiples of num_readers (its defaults of buffer_output_elements and prefetch_input_elements + cycle).
READY_BLOCKS, OPEN_FILES = 2, 3
# Decoded bytes to a byte of record where dataset.json does not say how large its images are: an assumption.
DECODED = 10
UINT8_PIXEL, FLOAT_PIXEL = 3, 12  # bytes of a pixel of three channels


class Records(NamedTuple):
    """Training records: mean bytes of one, median pixels of an image, number of files, bytes of the largest."""

    bytes: float
    pixels: float
    files: int
    largest_file: int


class Buffer(NamedTuple):
    """A field of the config, the bytes that each unit of it costs, and the least it may be."""

    message: Any
    field: str
    unit: float
    least: int
    most: float = float("inf")  # units above it cost nothing


def records(description: Dict[str, Any]) -> Optional[Records]:
    """Records of the training split of a dataset.json; None where it does not list its shards' bytes."""
    shards = description["splits"]["train"]["shards"]
    examples = sum(shard["examples"] for shard in shards)
    if not examples:
        return None
    mean = sum(shard["bytes"] for shard in shards) / float(examples)
    sizes = description.get("picture_sizes")
    pixels = sizes["width"]["median"] * sizes["height"]["median"] if sizes else mean * DECODED / UINT8_PIXEL
    return Records(mean, pixels, len(shards), max(shard["bytes"] for shard in shards))


def of(config: Any, trainer: Trainer, devices: int, described: Records, boxes: int = 0) -> List[Buffer]:
    """The Buffers of a training.

    Args:
        config: TrainEvalPipelineConfig.
        trainer: the one that trains, as their inputs differ.
        devices: number of replicas or clones.
        described: the records to train on.
        boxes: instance masks decoded an image; 0 where none are read.
    """
    reader, train = config.train_input_reader, config.train_config
    batch = train.batch_size // devices
    decoded = described.pixels * (UINT8_PIXEL + 4 * boxes)
    as_floats = described.pixels * (FLOAT_PIXEL + 4 * boxes)
    a_file = min(FILE_BUFFER, described.largest_file) + READY_BLOCKS * reader.read_block_length * described.bytes
    found = [Buffer(reader, "num_readers", OPEN_FILES * a_file, 1, described.files)]
    if reader.shuffle:
        found.append(Buffer(reader, "shuffle_buffer_size", described.bytes, 64))
    if trainer.queues_images:
        return found + [
            Buffer(reader, "num_parallel_map_calls", decoded, 2),
            Buffer(train, "num_batch_queue_threads", decoded + as_floats, 2),
            # Fewer than a batch would never fill one.
            Buffer(train, "batch_queue_capacity", as_floats, 2 * batch),
            Buffer(train, "prefetch_queue_capacity", batch * as_floats, 1),
        ]
    # Both maps, decoding and augmenting, run batch x num_parallel_batches calls at once.
    return found + [
        Buffer(reader, "num_parallel_batches", batch * (decoded + as_floats), 1),
        Buffer(reader, "num_prefetch_batches", batch * as_floats, 1),
    ]


def fitting(buffers: List[Buffer], ram: float) -> List[Tuple[Any, str, int]]:
    """What to set so that the buffers fit SHARE_OF_RAM, leaving alone what the config sets itself.

    The largest is halved, down to its least, until they fit or all are at their least: where the config's own
    numbers are too large for the memory, that is the config's word.

    Args:
        buffers: of the training.
        ram: bytes of memory.

    Returns:
        list of (message, field, value), in the order of `buffers`; empty where nothing need be changed.
    """
    values = collections.OrderedDict(
        (index, getattr(buffer.message, buffer.field)) for index, buffer in enumerate(buffers)
    )
    free = {index for index, buffer in enumerate(buffers) if not buffer.message.HasField(buffer.field)}

    def size(index: int) -> float:
        return buffers[index].unit * min(values[index], buffers[index].most)

    while sum(map(size, values)) > SHARE_OF_RAM * ram:
        shrinkable = [index for index in free if values[index] > buffers[index].least]
        if not shrinkable:
            break
        largest = max(shrinkable, key=size)
        effective = int(min(values[largest], buffers[largest].most))
        values[largest] = max(effective // 2, buffers[largest].least)
    return [
        (buffer.message, buffer.field, values[index])
        for index, buffer in enumerate(buffers)
        if values[index] != getattr(buffer.message, buffer.field)
    ]
