"""Patch: AutoGraph leaves the functions mapped over the input alone."""

NAME = "input_map_without_autograph"
CURES = "minutes before the first step"
WHY = (
    "tf.data converts the functions it maps with AutoGraph. The decoder and the API's transformations are "
    "written with TensorFlow's own control flow, so the conversion changes nothing and takes most of the "
    "time before the first step. Every function that the dataset builder maps is now marked as not to be "
    "converted."
)
REPORTS = ()
FILES = ("object_detection/builders/dataset_builder.py",)
ADDS = ()


def transform(path, file):
    """Edits object_detection/builders/dataset_builder.py."""
    file.insert_first("fn_to_map = tf.autograph.experimental.do_not_convert(fn_to_map)", "build.dataset_map_fn")
