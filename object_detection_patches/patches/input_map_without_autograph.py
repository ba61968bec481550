"""Patch: AutoGraph leaves the functions mapped over the input alone."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    file.insert_first("fn_to_map = tf.autograph.experimental.do_not_convert(fn_to_map)", "build.dataset_map_fn")


PATCH = Patch(
    name="input_map_without_autograph",
    symptom="Minutes pass before the first step.",
    cause=(
        "tf.data converts each function it maps with AutoGraph; the decoder and the augmentations are written with "
        "TensorFlow's own control flow, so the conversion changes nothing and takes most of the time before the "
        "first step."
    ),
    cure="The functions that the dataset builder maps are marked as not to be converted.",
    proven_by=(
        "`test_autograph_converts_nothing_of_the_input`; that the input stays the same, by "
        "`test_the_input_is_decoded_augmented_and_padded_as_before` (which passes either way)."
    ),
    files=("object_detection/builders/dataset_builder.py",),
    transform=transform,
)
