"""Patch: SSD's loss and the mask loss are those of the whole batch, on any number of devices."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    function = {
        "ssd_meta_arch.py": "SSDMetaArch.loss",
        "trainer.py": "train",
        "faster_rcnn_meta_arch.py": "FasterRCNNMetaArch._loss_box_classifier",
    }[path.rsplit("/", 1)[1]]
    file.insert_first("from object_detection.utils import whole_batch", function)
    if path.endswith("ssd_meta_arch.py"):
        file.replace_statement(
            "return loss_dict",
            "return whole_batch.sums(loss_dict, tf.reduce_sum(batch_reg_weights) "
            "if self._normalize_loss_by_num_matches else 0.)",
            inside=function,
        )
    elif path.endswith("faster_rcnn_meta_arch.py"):
        file.replace_statement(
            "loss_dict['Loss/BoxClassifierLoss/mask_loss'] = mask_loss",
            "loss_dict.update(whole_batch.sums({'Loss/BoxClassifierLoss/mask_loss': mask_loss}, "
            "tf.reduce_sum(mask_losses_weights * mask_height * mask_width)))",
            inside=function,
        )
    else:
        file.replace_expression(
            "model_deploy.create_clones(deploy_config, model_fn, [input_queue])",
            "whole_batch.shared(model_deploy.create_clones(deploy_config, model_fn, [input_queue]))",
            inside=function,
        )


PATCH = Patch(
    name="whole_batch_loss",
    symptom="Two devices take half the step of one, or a step that depends on which images share a device.",
    cause=(
        "Trainers average their devices' losses, but SSD's is a sum over a device's images; with "
        "`normalize_loss_by_num_matches` each device divides by its own matches, and Mask R-CNN's mask loss by its "
        "own mask pixels, so an image weighs more beside images with few objects."
    ),
    cure=(
        "Each device's loss is divided by what was counted on all devices, and multiplied by their number. "
        "Replicas sum their counts, also over machines; clones are rescaled when all are built. Clones of several "
        "workers are asynchronous: each worker's batch stays its own. On one device nothing changes. A rate tuned "
        "on n devices with `normalize_loss_by_num_matches: false` was a rate for a step n times smaller."
    ),
    proven_by=(
        "the cases `ssd*`, `mobilenet` and `mask_rcnn`, and, for machines, `test_two_workers_take_the_step_of_one`."
    ),
    files=(
        "object_detection/meta_architectures/ssd_meta_arch.py",
        "object_detection/meta_architectures/faster_rcnn_meta_arch.py",
        "object_detection/legacy/trainer.py",
    ),
    transform=transform,
    adds=("object_detection/utils/whole_batch.py", "object_detection/utils/replicas.py"),
)
