"""Patch: random crops follow the graph's seed."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    file.insert_first("from object_detection.utils import seeded_crop", "_strict_random_crop_image")
    file.replace_expression(
        "tf.image.sample_distorted_bounding_box",
        "seeded_crop.sample_distorted_bounding_box",
        inside="_strict_random_crop_image",
    )


PATCH = Patch(
    name="random_crop_takes_the_seed",
    symptom="With a seed, runs with random crops differ.",
    cause=(
        "`tf.image.sample_distorted_bounding_box`, unlike TensorFlow's other random operations, ignores the "
        "graph's seed unless seeds are passed to it, and the API passes none."
    ),
    cure=(
        "It is passed the seeds that any other random operation would take in its place. In a graph without a seed "
        "it draws as before."
    ),
    proven_by=(
        "`test_random_crops_of_a_seeded_graph_repeat`, and "
        "`test_two_runs_with_one_seed_end_in_the_same_checkpoint`, whose model is trained with them."
    ),
    files=("object_detection/core/preprocessor.py",),
    transform=transform,
    adds=("object_detection/utils/seeded_crop.py",),
)
