"""Patch: what several clones train quantised is one model, with the names of one device, on the clones' devices."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    if path.endswith("trainer.py"):
        file.insert_first("from object_detection.utils import clone_quantization", "train")
        file.replace_expression(
            "graph_hook_fn()", "clone_quantization.on_clone_devices(graph_hook_fn, deploy_config)", inside="train"
        )
    else:
        file.insert_first("from object_detection.utils import clone_quantization", "build")
        file.replace_expression(
            "contrib_quantize.experimental_create_training_graph",
            "clone_quantization.create_training_graph",
            inside="build",
        )


PATCH = Patch(
    name="quantized_clones",
    symptom=(
        "A model trained quantised (`graph_rewriter`) with `--num_clones=2` is neither exported nor evaluated: "
        '"Key .../act_quant/max not found in checkpoint".'
    ),
    cause=(
        "`tf.contrib.quantize` names the variables that hold a tensor's range after the operations around them, so "
        "they are saved as `clone_0/...` and `clone_1/...`, which no other graph finds (evaluation, export, "
        "another number of devices); and the folded convolutions it adds go where the variables are, to the CPU."
    ),
    cure=(
        "The ranges of clone 0 get the names of one device. Every other clone keeps ranges of its own, which are "
        "not saved: it quantises its part of the batch with what that part shows, so for as long as the ranges "
        "still move, gradients of different clones see slightly different rounding, and the exported ranges are "
        "those of clone 0's images, as with batch norm's statistics. One set of ranges that all clones write was "
        "not taken: an average is a sum and a count of steps in two variables, and read between another clone's "
        "two writes they give half the range, or twice. When a run is resumed, the other clones start from the "
        "saved ranges. What is added runs on the device of its clone."
    ),
    proven_by=(
        "`tests/object_detection_patches/patches/test_quantized_clones.py` and, in "
        "`tests/tfod_train/trainers/test_clone.py`, training, evaluation, export and resuming with the mirrored "
        "trainer."
    ),
    files=("object_detection/builders/graph_rewriter_builder.py", "object_detection/legacy/trainer.py"),
    transform=transform,
    adds=("object_detection/utils/clone_quantization.py",),
    reports=("tensorflow/models#8481",),
)
