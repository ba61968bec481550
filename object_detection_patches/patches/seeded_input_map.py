"""Patch: in a seeded graph, the functions mapped over the input are seeded too and run one image at a time."""

NAME = "seeded_input_map"
CURES = "augmentation that differs from run to run although the graph has a seed"
WHY = (
    "The input is mapped through legacy functions, which do not take over the graph's seed, so the random "
    "operations of the augmentation start anywhere; and several images are mapped at once, so which image "
    "gets which random number is decided by threads. Where the graph has a seed (tf_random_seed in RunConfig, "
    "tf.set_random_seed) the functions now get one made from it and map one image after the other. Without "
    "a seed nothing changes."
)
REPORTS = ()
FILES = ("object_detection/builders/dataset_builder.py",)
ADDS = ("object_detection/utils/input_seed.py",)


def transform(path, file):
    """Edits object_detection/builders/dataset_builder.py."""
    # Imported in the function, first: what is inserted last comes first.
    file.insert_first("fn_to_map = input_seed.seeded(fn_to_map)", "build.dataset_map_fn")
    file.insert_first("from object_detection.utils import input_seed", "build.dataset_map_fn")
    file.replace_expression(
        "dataset.map_with_legacy_function(fn_to_map, num_parallel_calls=num_parallel_calls)",
        "dataset.map_with_legacy_function(\n"
        "            fn_to_map, num_parallel_calls=input_seed.parallel_calls(num_parallel_calls))",
        inside="build.dataset_map_fn",
    )
