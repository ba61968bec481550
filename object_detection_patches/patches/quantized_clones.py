"""Patch: what several clones train quantised is one model, with the names of one device, on the clones' devices."""

NAME = "quantized_clones"
CURES = '"Key .../act_quant/max not found in checkpoint" after quantised training with --num_clones'
WHY = (
    "The quantisation ranges take their names from operations, so those of several clones are saved as "
    "clone_0/..., clone_1/..., which no other graph (evaluation, export, another number of devices) finds. The "
    "rewritten convolutions are put where the variables are: on the CPU. Now the ranges of clone 0 have the "
    "names of one device, those of the other clones are their own and not saved, and every operation stays on its "
    "clone's device."
)
REPORTS = ("tensorflow/models#8481",)
FILES = ("object_detection/builders/graph_rewriter_builder.py", "object_detection/legacy/trainer.py")
ADDS = ("object_detection/utils/clone_quantization.py",)


def transform(path, file):
    """Edits object_detection/builders/graph_rewriter_builder.py and object_detection/legacy/trainer.py."""
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
