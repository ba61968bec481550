"""Patch: in a seeded graph, the functions mapped over the input are seeded too and run one image at a time."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    # Imported in the function, first: what is inserted last comes first.
    file.insert_first("fn_to_map = input_seed.seeded(fn_to_map)", "build.dataset_map_fn")
    file.insert_first("from object_detection.utils import input_seed", "build.dataset_map_fn")
    file.replace_expression(
        "dataset.map_with_legacy_function(fn_to_map, num_parallel_calls=num_parallel_calls)",
        "dataset.map_with_legacy_function(\n"
        "            fn_to_map, num_parallel_calls=input_seed.parallel_calls(num_parallel_calls))",
        inside="build.dataset_map_fn",
    )


PATCH = Patch(
    name="seeded_input_map",
    symptom="With a seed and the augmentation on, two runs differ.",
    cause=(
        "The input is mapped through legacy functions: each is a graph of its own that does not take over the "
        "seed, so its random operations start anywhere; and several images are mapped at once, so threads decide "
        "which one gets which random number."
    ),
    cure=(
        "In a graph with a seed (`tf_random_seed` of `RunConfig`, `tf.set_random_seed`) the mapped functions get "
        "one made from it and run one image at a time. In a graph without a seed nothing changes."
    ),
    proven_by=(
        "`test_the_input_of_a_seeded_graph_repeats_with_random_augmentation`, "
        "`test_random_crops_of_a_seeded_graph_repeat`, "
        "`test_a_seeded_graph_maps_one_image_at_a_time_and_others_as_many_as_before` and, of the trainings, "
        "`test_two_runs_with_one_seed_end_in_the_same_checkpoint`."
    ),
    files=("object_detection/builders/dataset_builder.py",),
    transform=transform,
    adds=("object_detection/utils/input_seed.py",),
    without="`SEED` then repeats only runs without random augmentation",
)
