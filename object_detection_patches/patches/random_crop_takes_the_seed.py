"""Patch: random crops follow the graph's seed."""

NAME = "random_crop_takes_the_seed"
CURES = "random crops that differ from run to run although the graph has a seed"
WHY = (
    "Every random crop of the API draws its window with tf.image.sample_distorted_bounding_box, which, unlike "
    "TensorFlow's other random operations, ignores the graph's seed unless it is given one. It is now given "
    "the seeds that any other operation would take in its place. In a graph without a seed it draws as before."
)
REPORTS = ()
FILES = ("object_detection/core/preprocessor.py",)
ADDS = ("object_detection/utils/seeded_crop.py",)


def transform(path, file):
    """Edits object_detection/core/preprocessor.py."""
    file.insert_first("from object_detection.utils import seeded_crop", "_strict_random_crop_image")
    file.replace_expression(
        "tf.image.sample_distorted_bounding_box",
        "seeded_crop.sample_distorted_bounding_box",
        inside="_strict_random_crop_image",
    )
