"""Which images a step was made of, for the step at which a loss is not finite any more.

The clone trainer's graph has the records' source ids. The Estimator's has a hash of each, which the API's input
function adds to the features; the id is found again among the training records.
"""

import glob
import time
from typing import Any, Callable, List

import tensorflow.compat.v1 as tf

COLLECTION = "image_ids"  # as in the patch image_ids_of_clones
UNKNOWN = "(no id found)"
SEARCH_SECS = 60
_AT_ONCE = 1000


def kept(model_fn: Callable[..., Any]) -> Callable[..., Any]:
    """An Estimator's model_fn(features, labels, mode, params) that puts its images' hashes into COLLECTION."""
    from object_detection import inputs

    def model_fn_with_ids(features, labels, mode, params=None):
        if inputs.HASH_KEY in features:
            tf.add_to_collection(COLLECTION, features[inputs.HASH_KEY])
        return model_fn(features, labels, mode, params)

    return model_fn_with_ids


def tensors() -> List[Any]:
    """The ids' tensors of the default graph, one for each replica or clone."""
    return tf.get_collection(COLLECTION)


def names(values: List[Any], patterns: List[str]) -> List[str]:
    """Source ids of the images of a step.

    Args:
        values: what `tensors` evaluated to: arrays of bytes (ids) or int (their hashes), [images of a device].
        patterns: file patterns of the training records, where the ids of hashes are looked up for a minute at most.

    Returns:
        Their ids, UNKNOWN for an image whose id is not found.
    """
    images = [one for of_device in values for one in of_device]
    if not any(isinstance(one, bytes) for one in images):
        known = _ids_of({int(one) for one in images}, patterns)
        return [known.get(int(one), UNKNOWN) for one in images]
    return [one.decode("utf-8", "replace") or UNKNOWN for one in images]


def _ids_of(hashes, patterns):
    """Source id by hash, for those found before all of the time is up."""
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
    from data_prep.tfrecord import codec

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
