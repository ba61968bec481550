"""The source ids of a step's images, of what tfod_train/hooks/image_ids.py read of them: ids, or hashes of ids."""

import glob
import time
from typing import Any, List

from data_prep.tfrecord import codec

UNKNOWN = "(no id found)"
SEARCH_SECS = 60
_AT_ONCE = 1000


def names(values: List[Any], patterns: List[str]) -> List[str]:
    """Source ids of the images of a step.

    Args:
        values: what hooks/image_ids.py read: arrays of bytes (ids) or int (their hashes), [images of a device].
        patterns: file patterns of the training records, where the ids of hashes are looked up for a minute at most.

    Returns:
        Their ids, UNKNOWN for an image whose id is not found.
    """
    images = [one for of_device in values for one in of_device]
    if images and not any(isinstance(one, bytes) for one in images):
        known = _ids_of({int(one) for one in images}, patterns)
        return [known.get(int(one), UNKNOWN) for one in images]
    return [one.decode("utf-8", "replace") or UNKNOWN for one in images]


def _ids_of(hashes, patterns):
    """Source id by hash, for those found before all of the time is up."""
    import tensorflow.compat.v1 as tf
    from object_detection import inputs

    until = time.time() + SEARCH_SECS
    found = {}
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})) as session:
        ids = tf.placeholder(tf.string, [None])
        buckets = tf.cast(tf.string_to_hash_bucket_fast(ids, inputs.HASH_BINS), tf.int32)
        for some in _in_lists(_source_ids(patterns)):
            found.update(
                (int(key), one.decode("utf-8", "replace"))
                for key, one in zip(session.run(buckets, {ids: some}), some)
                if int(key) in hashes
            )
            if len(found) == len(hashes) or time.time() > until:
                break
    return found


def _source_ids(patterns):
    for path in sorted(path for pattern in patterns for path in glob.glob(pattern)):
        for payload in codec.read(path):
            yield (codec.decode(payload).get("image/source_id") or [b""])[0]


def _in_lists(items):
    some = []
    for item in items:
        some.append(item.encode("utf-8") if isinstance(item, str) else item)
        if len(some) == _AT_ONCE:
            yield some
            some = []
    if some:
        yield some
